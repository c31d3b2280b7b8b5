"""The files of a case as bytes, and its line of the manifest."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.dialects import DIALECTS, Inexpressible
from opconform.errors import SpecError
from opconform.generation.options import Options
from opconform.model.draft import Draft
from opconform.model.evaluation import taken
from opconform.model.golden import Golden, golden_of, neighbour_check_of, proves_nothing
from opconform.model.readings import other_readings
from opconform.operations.arguments import NoGolden, Operand, TensorType
from opconform.operations.operation import Computation
from opconform.specs.requirements import requirements_of
from opconform.suite.alternatives import also_name, otherwise_name
from opconform.suite.bounds import bound_names, flushed_name, reduced_names
from opconform.suite.case import Accept, Case, Comparison, Graph, Input, Output, Reject, case_text
from opconform.suite.file_names import CASE
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, expected_name, inputs_name
from opconform.tensors.npz import Buffer, is_large, npz_bytes, npz_parts
from opconform.tensors.tensor import Array, Tensor

#: The content of a file: bytes, or the parts of a large one, which shares the memory of its arrays.
Content = bytes | Sequence[Buffer]


def files_of_cases(drafts: Iterable[Draft], options: Options) -> Iterator[tuple[Entry, dict[str, Content]]]:
    """What `case_files` gives for each of some cases; `SpecError` with the mistakes of all of them."""
    mistakes: dict[str, None] = {}
    for draft in drafts:
        try:
            files = case_files(draft, options)
        except SpecError as error:
            mistakes[str(error)] = None
        else:
            if not mistakes:
                yield files
    if mistakes:
        raise SpecError("\n".join(mistakes))


def case_files(draft: Draft, options: Options) -> tuple[Entry, dict[str, Content]]:
    """A case's line of the manifest, and the contents of its folder, with its golden evaluated.

    A blind suite has no neighbour checks, because their inputs are outputs of the node under test.
    """
    try:
        golden = golden_of(draft, options.seed)
    except (NoGolden, OverflowError) as error:
        raise SpecError(f"{draft.where}: group {draft.group!r}: {error}.") from error
    if proves_nothing(golden):
        what = "the bounds of its results are as wide as the results, so that it proves nothing"
        raise SpecError(f"{draft.where}: group {draft.group!r}: {what}. Use fewer elements, or others.")
    if _is_rounded(golden) and "rounding" not in requirements_of(draft.op).establishes:
        what = f"its results have bounds, but `establishes` in the requirements of {draft.op} has no `rounding`"
        todo = "List an interpretation on rounding there; without it, a less accurate result breaks another requirement"
        raise SpecError(f"{draft.where}: group {draft.group!r}: {what}. {todo}.")
    contents, left_out = _contents(golden, draft.id, options)
    neighbour_check = None if options.blind else neighbour_check_of(golden)
    if neighbour_check is not None and not proves_nothing(neighbour_check):
        expressible = tuple(dialect for dialect in options.dialects if dialect not in left_out)
        beside, _ = _contents(neighbour_check, f"{draft.id}/{NEIGHBOUR_CHECK}", replace(options, dialects=expressible))
        contents |= {f"{NEIGHBOUR_CHECK}/{name}": content for name, content in beside.items()}
    entry = Entry(
        id=draft.id,
        profile=draft.profile,
        requirements=draft.requirements,
        expect="accept" if draft.rejected_for is None else Reject(reject=draft.rejected_for),
        twin=draft.twin,
        files={name: _digest(content) for name, content in sorted(contents.items())},
        left_out=left_out,
        essential=draft.essential,
        readings=other_readings(golden),
    )
    return entry, contents


def _is_rounded(golden: Golden) -> bool:
    """Whether the operation under test computes outputs with bounds, rather than moves the outputs of another one."""
    tested = [name for node in golden.graph.nodes if node.under_test for name in node.outputs]
    outputs = [feed[name] for feed in golden.tensors for name in tested]
    return isinstance(golden.draft.operation, Computation) and any(x.bounds or x.reduced for x in outputs)


def content_parts(content: Content) -> Sequence[Buffer]:
    """The parts of the content of a file."""
    return (content,) if isinstance(content, bytes) else content


def content_size(content: Content) -> int:
    """The number of bytes."""
    return sum(map(len, content_parts(content)))


def _digest(content: Content) -> str:
    digest = hashlib.sha256()
    for part in content_parts(content):
        digest.update(part)
    return digest.hexdigest()


def _npz(arrays: Mapping[str, Array]) -> Content:
    return npz_parts(arrays) if is_large(arrays) else npz_bytes(arrays)


def case_document(draft: Draft, graph: Graph, identity: str, outputs: Sequence[TensorType | Operand | Tensor]) -> Case:
    """The document `case.json` of a draft with its graph, its id, and the outputs of its first feed."""
    expect: Accept | Reject
    if draft.rejected_for is not None:
        expect = Reject(reject=draft.rejected_for)
    else:
        expect = Accept(accept=expected_outputs({f"output_{n}": output for n, output in enumerate(outputs)}))
    used = taken(graph)
    inputs = tuple(
        Input(
            name=name,
            role=draft.operation.role_of(name),
            element_type=tensor.element_type,
            shape=tensor.shape,
            binding=draft.binding[name],
            dynamic=draft.dynamic.get(name),
        )
        for name, tensor in draft.tensors.items()
        if name in used
    )
    return Case(
        id=identity,
        op=draft.op,
        title=draft.title,
        profile=draft.profile,
        requirements=draft.requirements,
        seen=draft.seen,
        context=draft.context,
        feeds=len(draft.feeds),
        inputs=inputs,
        graph=graph,
        expect=expect,
        twin=draft.twin,
    )


def expected_outputs(outputs: Mapping[str, TensorType | Operand | Tensor]) -> tuple[Output, ...]:
    """What a case says of its outputs, by name."""
    return tuple(
        Output(
            name=name,
            element_type=output.element_type,
            shape=output.shape,
            comparison=_comparison(output) if isinstance(output, Tensor) else "bits",
            flushed=isinstance(output, Tensor) and output.flushed is not None,
            reduced=isinstance(output, Tensor) and output.reduced is not None,
            also=len(output.also) if isinstance(output, Tensor) else 0,
            otherwise=tuple(name for name, _ in output.otherwise) if isinstance(output, Tensor) else (),
        )
        for name, output in outputs.items()
    )


def _comparison(output: Tensor) -> Comparison:
    if output.bounds is not None:
        return "bounds"
    return "numbers" if output.is_computed and output.type.kind == "float" else "bits"


def expected_arrays(outputs: Mapping[str, Tensor]) -> dict[str, Array]:
    """The arrays of the file of golden outputs: the outputs, those without denormals, bounds, and other values."""
    every = dict(outputs) | {flushed_name(name): x.flushed for name, x in outputs.items() if x.flushed is not None}
    arrays = {name: output.array for name, output in every.items()}
    for name, output in every.items():
        arrays |= zip(bound_names(name), output.bounds or (), strict=False)
    for name, output in outputs.items():
        arrays |= zip(reduced_names(name), output.reduced or (), strict=False)
        read = [tensor for _, tensor in output.otherwise]
        others = {also_name(name): output.also, otherwise_name(name): [tensor.array for tensor in read]}
        if output.bounds is not None:
            pairs = [tensor.bounds or (tensor.array,) * 2 for tensor in read]
            others |= zip(bound_names(otherwise_name(name)), zip(*pairs, strict=True), strict=False)
        arrays |= {key: np.stack(values) for key, values in others.items() if values}
    return arrays


def _contents(golden: Golden, identity: str, options: Options) -> tuple[dict[str, Content], dict[str, str]]:
    first = golden.outputs[0] if golden.outputs else ()
    document = case_document(golden.draft, golden.graph, identity, first)
    contents: dict[str, Content] = {CASE: case_text(document).encode()}
    for feed, inputs in enumerate(golden.inputs):
        contents[inputs_name(feed)] = _npz({name: input_.array for name, input_ in inputs.items()})
    for feed, outputs in enumerate(() if options.blind else golden.outputs):
        contents[expected_name(feed)] = _npz(
            expected_arrays({f"output_{i}": output for i, output in enumerate(outputs)})
        )
    left_out: dict[str, str] = {}
    for name in options.dialects:
        try:
            contents |= DIALECTS[name].files_of(golden, identity)
        except Inexpressible as answer:
            left_out[name] = answer.reason
    return contents, left_out
