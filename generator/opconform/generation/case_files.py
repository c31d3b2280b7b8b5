"""The files of a case as bytes, and its line of the manifest."""

import hashlib
from dataclasses import replace

from opconform.dialects import DIALECTS, Inexpressible
from opconform.generation.options import Options
from opconform.model.draft import Draft, operands_of
from opconform.model.golden import Golden, control_of, golden_of
from opconform.model.graph import inferred, taken
from opconform.suite.case import Accept, Case, Graph, Input, Output, Reject, case_text
from opconform.suite.manifest import CASE, CONTROL, Entry, expected_name, inputs_name
from opconform.tensors.npz import npz_bytes


def case_files(draft: Draft, options: Options) -> tuple[Entry, dict[str, bytes]]:
    """A case's line of the manifest, and the contents of its folder, with its golden evaluated.

    A blind suite has no controls, because their inputs are outputs of the node under test.
    """
    golden = golden_of(draft, options.seed)
    contents, left_out = _contents(golden, draft.id, options)
    control = None if options.blind else control_of(golden)
    if control is not None:
        expressible = tuple(each for each in options.dialects if each not in left_out)
        beside, _ = _contents(control, f"{draft.id}/{CONTROL}", replace(options, dialects=expressible))
        contents |= {f"{CONTROL}/{name}": content for name, content in beside.items()}
    entry = Entry(
        id=draft.id,
        profile=draft.profile,
        requirements=draft.requirements,
        expect="accept" if draft.rejected_for is None else Reject(reject=draft.rejected_for),
        twin=draft.twin,
        files={name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())},
        left_out=left_out,
        essential=draft.essential,
    )
    return entry, contents


def case_document(draft: Draft, graph: Graph, identity: str) -> Case:
    """The document `case.json` of a draft with its graph and its id; no tensors are filled for it."""
    expect: Accept | Reject
    if draft.rejected_for is not None:
        expect = Reject(reject=draft.rejected_for)
    else:
        types = inferred(graph, operands_of(draft, 0))
        outputs = [(f"output_{number}", types[name]) for number, name in enumerate(graph.outputs)]
        expect = Accept(
            accept=tuple(Output(name=name, element_type=each.element_type, shape=each.shape) for name, each in outputs)
        )
    used = taken(graph)
    inputs = tuple(
        Input(
            name=name,
            role=draft.operation.role_of(name),
            element_type=each.element_type,
            shape=each.shape,
            binding=draft.binding[name],
            dynamic=draft.dynamic.get(name),
        )
        for name, each in draft.tensors.items()
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


def _contents(golden: Golden, identity: str, options: Options) -> tuple[dict[str, bytes], dict[str, str]]:
    contents = {CASE: case_text(case_document(golden.draft, golden.graph, identity)).encode()}
    for feed, inputs in enumerate(golden.inputs):
        contents[inputs_name(feed)] = npz_bytes({name: each.array for name, each in inputs.items()})
    for feed, outputs in enumerate(() if options.blind else golden.outputs):
        contents[expected_name(feed)] = npz_bytes({f"output_{i}": each.array for i, each in enumerate(outputs)})
    left_out: dict[str, str] = {}
    for name in options.dialects:
        try:
            contents |= DIALECTS[name].files_of(golden, identity)
        except Inexpressible as answer:
            left_out[name] = answer.reason
    return contents, left_out
