"""The specs of the profiles `transformer` and `vision`: python -m maintenance.profiles writes them to cases/.

Each use in the models is a case with the shapes of the papers. Where a case would take too long, the text is shorter or
the image smaller.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from maintenance import ROOT
from maintenance.architectures import PROFILES, TOKENS
from opconform.errors import counted
from opconform.generation.validation import check_work
from opconform.model.draft import Draft, Fill, TensorDraft
from opconform.operations import OPERATIONS
from opconform.operations.operation import Computation, Operation
from opconform.specs.yaml_document import KeyMistake
from opconform.suite.case import Binding
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.node import Call, Known, ModelNode
from opconform_runners.tools.from_model.models.onnx_model import read_onnx
from opconform_runners.tools.from_model.specs import requirements_shown
from opconform_runners.tools.fuzz.cases.spec_text import group_of, spec_text
from opconform_runners.tools.fuzz.trial import Trial, drawn

#: The most bytes of the inputs at run time and of the outputs of a case.
BYTES = 1_250_000
#: The most uses of a model that have a case with rounded sums.
ROUNDED_USES = 6
#: The most products of a case with rounded sums, and the work of one with functions.
ROUNDED, FUNCTIONS = 600_000, 1_600_000
MARK = "# Written by python -m maintenance.profiles, of layers of {models}."


@dataclass
class Use:
    """Nodes that use an operation alike, and the size of the model in which they do."""

    draft: Draft
    size: int
    nodes: list[str] = field(default_factory=list)


def tensor_of(known: Known, *, is_setting: bool, fill: Fill) -> TensorDraft:
    """A tensor with the elements of a small constant; else indices of some tokens, or data that is filled."""
    shape = tuple(x for x in known.dimensions or () if isinstance(x, int))
    kind, elements = known.element_type, known.elements
    if is_setting and elements is None:
        elements = tuple(7 * place % TOKENS for place in range(math.prod(shape)))
    if elements is not None and (is_setting or not shape):
        return TensorDraft(element_type=kind, shape=shape, fill="values", elements=elements)
    return TensorDraft(element_type=kind, shape=shape, fill=fill if ELEMENT_TYPES[kind].kind == "float" else "ramp")


def all_integers(sizes: Sequence[int | str]) -> bool:
    """Whether every size is known."""
    return all(isinstance(size, int) for size in sizes)


def draft_of(call: Call, fill: Fill) -> Draft | None:
    """The case of a call; None if it is too large, or not every dimension is known."""
    operation = OPERATIONS[call.op]
    if not all(known.dimensions is not None and all_integers(known.dimensions) for known in call.inputs.values()):
        return None
    tensors = {
        name: tensor_of(known, is_setting=operation.port_of(name).role == "setting", fill=fill)
        for name, known in call.inputs.items()
    }
    binding: dict[str, Binding] = {
        name: "constant" if known.is_constant else "parameter" for name, known in call.inputs.items()
    }
    draft = drawn(operation, tensors, call.attributes)
    draft = replace(draft, binding={**draft.binding, **binding})
    moved = [x for name, x in tensors.items() if draft.binding[name] == "parameter"] + [*draft.inferences[0].outputs]
    size = sum(math.prod(x.shape) * ELEMENT_TYPES[x.element_type].storage.itemsize for x in moved)
    products = operation.products(draft.arguments[0]) if isinstance(operation, Computation) else 0
    limit = (math.inf if fill == "exact" else ROUNDED) if has_sums(operation) else FUNCTIONS
    try:
        check_work(draft)
    except KeyMistake:
        return None
    return draft if size <= BYTES and products <= limit else None


def has_sums(operation: Operation) -> bool:
    """Whether its elements are sums of products."""
    return isinstance(operation, Computation) and operation.sums


def fills_of(call: Call) -> tuple[Fill, ...]:
    """How data is filled: of sums so that they are exact, and once more so that they are rounded."""
    operation = OPERATIONS[call.op]
    return ("exact", "normal") if has_sums(operation) else ("ramp",) if operation.moves_data else ("normal",)


def nodes_of(profile: str) -> Iterator[tuple[str, Mapping[int, ModelNode]]]:
    """The nodes of the models of a profile, each by the size of the model; of a graph, the first operation alone."""
    models, sizes = PROFILES[profile]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for name, of_size in models.items():
            by_size = {}
            for size in sizes:
                path.write_bytes(of_size(size))
                by_size[size] = [replace(node, call=node.call and node.call.first) for node in read_onnx(path)]
            for place in range(len(by_size[sizes[0]])):
                yield name, {size: nodes[place] for size, nodes in by_size.items()}


def uses_of(profile: str) -> dict[tuple[str, Fill], dict[str, Use]]:
    """The uses by model and fill, and by their cases."""
    uses: dict[tuple[str, Fill], dict[str, Use]] = {}
    for model, by_size in nodes_of(profile):
        first = next(iter(by_size.values()))
        if first.call is None:
            continue
        for fill in (fills := fills_of(first.call)):
            drafts = ((size, draft_of(node.call, fill)) for size, node in by_size.items() if node.call is not None)
            size, draft = next(((size, draft) for size, draft in drafts if draft is not None), (0, None))
            of_fill = uses.setdefault((model, fill), {})
            is_another = draft is not None and draft.id not in of_fill
            if draft is not None and not (is_another and fill != fills[0] and len(of_fill) >= ROUNDED_USES):
                of_fill.setdefault(draft.id, Use(draft=draft, size=size)).nodes.append(first.name)
    return uses


def specs_of(profile: str) -> dict[str, str]:
    """The text of the spec of each operation."""
    groups: dict[str, dict[str, Any]] = {}
    numbers, names = dict[tuple[str, str], int](), dict[tuple[str, str], str]()
    unit = {"transformer": "tokens", "vision": "pixels"}[profile]
    for (model, fill), uses in uses_of(profile).items():
        for use in uses.values():
            number = numbers[model, use.draft.op] = numbers.get((model, use.draft.op), 0) + 1
            name = f"{model}-{number}"
            names |= {(model, node): name for node in use.nodes if (model, node) not in names}
            counts = Counter(names[model, node] for node in use.nodes)
            if use.draft.id in groups:  # of another model
                groups[use.draft.id]["title"] += f"; {counted(len(use.nodes), 'node')} of {model}"
                groups[use.draft.id]["uses"] |= counts
                continue
            sums = "" if fill != "normal" or not has_sums(use.draft.operation) else ", with rounded sums"
            title = f"{counted(len(use.nodes), 'node')} of {model}, such as {use.nodes[0]}, for {use.size} {unit}{sums}"
            draft = replace(use.draft, requirements=tuple(requirements_shown(use.draft)))
            group = group_of(Trial(draft=draft), title) | {"id": name, "profile": profile}
            keys = ("id", "title", "profile", "requirements")
            groups[use.draft.id] = {key: group[key] for key in keys} | {"uses": dict(counts)} | group
    models, by_op = " and ".join(PROFILES[profile][0]), dict[str, list[Mapping[str, Any]]]()
    for case, group in groups.items():
        by_op.setdefault(case.partition("/")[0], []).append(group)
    return {op: f"{MARK.format(models=models)}\n{spec_text(op, of_op)}" for op, of_op in sorted(by_op.items())}


def write() -> None:
    """Write the specs of every profile, and remove those that are left over."""
    for profile in PROFILES:
        specs = specs_of(profile)
        for op, text in specs.items():
            (ROOT / "cases" / op / f"{profile}.yaml").write_text(text)
        for path in ROOT.glob(f"cases/*/{profile}.yaml"):
            if path.parent.name not in specs:
                path.unlink()


if __name__ == "__main__":
    write()
