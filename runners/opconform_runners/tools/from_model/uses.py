"""The uses of a model's operations: what is the same of several nodes, counted."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from opconform.errors import UsageError
from opconform.model.draft import Draft, Neighbour, TensorDraft
from opconform.operations import OPERATIONS
from opconform.specs.operation_names import tested_operations
from opconform_runners.tools.from_model.instance import instance_of
from opconform_runners.tools.from_model.models.node import Call, Known, ModelNode

#: The most different calls of a model.
_MOST = 1_000
#: What the models call a convolution.
_CONVOLUTIONS = ("Conv", "Convolution-1")


@dataclass(slots=True)
class Use:
    """Nodes that use an operation alike.

    Attributes:
        draft: The use as a small valid case.
        nodes: The names of the nodes.
        types: Their types, counted.
        before: The types of the nodes that compute their first inputs, counted.
        behind: The types of the nodes that take their outputs, counted.
        then: The uses that a case can have behind it.
    """

    draft: Draft
    nodes: list[str] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    behind: Counter[str] = field(default_factory=Counter)
    then: dict[str, Neighbour] = field(default_factory=dict)

    @property
    def is_convolved(self) -> bool:
        """Whether a convolution computes its first input."""
        return any(self.before[name] for name in _CONVOLUTIONS)


class ModelUses(NamedTuple):
    """The uses of a model, the most frequent of each operation first, and the other nodes by type and reason."""

    uses: Sequence[Use]
    others: Counter[tuple[str, str]]
    nodes: int


def uses_of(nodes: Sequence[ModelNode], model: str) -> ModelUses:
    """The uses of the nodes of a model; `UsageError` for too many."""
    makers = {name: node for node in nodes for name in node.outputs}
    takers: dict[str, list[ModelNode]] = defaultdict(list)
    for node in nodes:
        for name in dict.fromkeys(node.inputs):
            takers[name].append(node)
    tested, others = {*tested_operations()}, Counter[tuple[str, str]]()
    instances: dict[str, Draft | None] = {}
    uses: dict[str, Use] = {}
    for node in nodes:
        if node.call is None or not tested.issuperset(_operations(node.call)):
            others[node.type, node.reason] += 1
            continue
        call = _named_alike(node.call)
        if (key := repr(call)) not in instances:
            instances[key] = instance_of(call)
            if len(instances) > _MOST:
                raise UsageError(f"{model} uses operations in more than {_MOST:,} ways. Read a part of it.")
        draft = instances[key]
        if draft is None:
            others[node.type, "no small valid arguments were found"] += 1
            continue
        use = uses.setdefault(draft.id, Use(draft=draft))
        use.nodes.append(node.name)
        use.types[node.type] += 1
        use.before.update(makers[name].type for name in node.inputs[:1] if name in makers)
        for taker in (taker for name in node.outputs for taker in takers[name]):
            use.behind[taker.type] += 1
            if taker.inputs[:1] == node.outputs[-1:] and (neighbour := _neighbour(taker.call)) is not None:
                use.then.setdefault(repr(neighbour), neighbour)
    ordered = sorted(uses.values(), key=lambda use: (use.draft.op, -len(use.nodes), use.draft.digits))
    return ModelUses(uses=ordered, others=others, nodes=len(nodes))


def _operations(call: Call) -> Sequence[str]:
    """The operations that a call has."""
    return [call.op] if call.graph is None else [node.op for node in call.graph.nodes]


def _named_alike(call: Call) -> Call:
    """A call whose unknown dimensions have the same names as in a call that is alike."""
    names: dict[str, str] = {}

    def named(known: Known) -> Known:
        if known.dimensions is None:
            return known
        sizes = (x if isinstance(x, int) else names.setdefault(x, f"?{len(names)}") for x in known.dimensions)
        return replace(known, dimensions=tuple(sizes))

    return replace(call, inputs={port: named(known) for port, known in call.inputs.items()})


def _neighbour(call: Call | None) -> Neighbour | None:
    """A call as an operation behind another one, if its other inputs are constants of integers."""
    if call is None or call.graph is not None:
        return None
    first, *others = call.inputs.items()
    operation = OPERATIONS[call.op]
    if first[0] != operation.inputs[0].name or any(not _is_listed(known) for _, known in others):
        return None
    return Neighbour(op=call.op, attributes=call.attributes, settings=dict(_settings(others)))


def _is_listed(known: Known) -> bool:
    return known.elements is not None and all(type(element) is int for element in known.elements)


def _settings(inputs: Sequence[tuple[str, Known]]) -> Iterator[tuple[str, TensorDraft]]:
    for name, known in inputs:
        shape = tuple(size for size in known.dimensions or () if isinstance(size, int))
        yield (
            name,
            TensorDraft(element_type=known.element_type, shape=shape, fill="values", elements=known.elements or ()),
        )
