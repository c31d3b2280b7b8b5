"""Graphs: the model around an operation, before any dialect spells it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from opconform.case import Attribute, Context, Dynamic
from opconform.contexts import USED, alike, other_axis
from opconform.drafts import arguments_of
from opconform.golden import Golden
from opconform.operations.operation import Shape
from opconform.tensors import Tensor

Kind = Literal["parameter", "constant", "operation", "concat", "result"]
#: The dimensions of a value in the graph; None stands for one that is not known before it is run.
Dimensions = tuple[int | None, ...]

#: No more outputs than this are declared for a rejected case, whatever it asks for.
MOST_DECLARED = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """What flows along an edge."""

    element_type: str
    dimensions: Dimensions


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """Where an input of a node comes from: a node's number, and which of its outputs."""

    node: int
    output: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node. Its number is its place in the graph.

    Attributes:
        inputs: Where each input comes from; None for one that is left out before another.
        outputs: What each output is.
        attributes: What else decides what it does.
        shape: The declared dimensions of a parameter.
        tensor: The value of a constant.
    """

    kind: Kind
    name: str
    op: str = ""
    inputs: tuple[Edge | None, ...] = ()
    outputs: tuple[Value, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    shape: Dynamic | None = None
    tensor: Tensor | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """Nodes in an order in which each comes after what it needs."""

    nodes: tuple[Node, ...]

    @property
    def operation(self) -> Node:
        """The node of the operation under test."""
        return next(each for each in self.nodes if each.kind == "operation")


def graph_of(golden: Golden) -> Graph:
    """The graph of a case in its context."""
    sources = tuple(_source(golden, name) for name in golden.draft.tensors)
    operation = _operation(golden, [each.name for each in sources])
    return Graph(nodes=_CONTEXTS[golden.draft.context](golden, (*sources, operation)))


def _source(golden: Golden, name: str) -> Node:
    draft, tensor = golden.draft, golden.inputs[0][name]
    outputs = (Value(element_type=tensor.element_type, dimensions=_declared(golden, name)),)
    if draft.binding[name] == "constant":
        return Node(kind="constant", name=name, outputs=outputs, tensor=tensor)
    shape = draft.dynamic if draft.dynamic is not None and name == draft.operation.inputs[0] else tensor.shape
    return Node(kind="parameter", name=name, outputs=outputs, shape=shape)


def _declared(golden: Golden, name: str) -> Dimensions:
    draft, shape = golden.draft, golden.inputs[0][name].shape
    if name != draft.operation.inputs[0] or draft.dynamic is None:
        return shape
    if isinstance(draft.dynamic, str):
        return (None,) * len(shape)
    return tuple(each if isinstance(each, int) else None for each in draft.dynamic)


def _operation(golden: Golden, given: Sequence[str]) -> Node:
    draft = golden.draft
    numbers = {name: number for number, name in enumerate(given)}
    named = [Edge(node=numbers[name], output=0) if name in numbers else None for name in draft.operation.inputs]
    while named and named[-1] is None:
        named.pop()
    return Node(
        kind="operation",
        name=draft.op.split("-", maxsplit=1)[0],
        op=draft.op,
        inputs=tuple(named),
        outputs=_declared_outputs(golden),
        attributes=draft.attributes,
    )


def _declared_outputs(golden: Golden) -> tuple[Value, ...]:
    """The operation's outputs as far as they are known before it is run."""
    draft = golden.draft
    data = golden.inputs[0].get(draft.operation.inputs[0])
    element_type = data.element_type if data else "f32"
    if golden.pieces is None or data is None:
        asked = draft.operation.asked(arguments_of(draft, 0)) or 0
        unknown: Dimensions = (None,) * len(data.shape) if data else ()
        count = asked if 0 < asked <= MOST_DECLARED else 1
        return (Value(element_type=element_type, dimensions=unknown),) * count
    declared = _declared(golden, draft.operation.inputs[0])
    known = all(draft.binding[name] == "constant" for name in draft.operation.inputs[1:])
    return tuple(
        Value(element_type=element_type, dimensions=_known(each.shape, data.shape, declared, whole=known))
        for each in golden.pieces[0]
    )


def _known(piece: Shape, data: Shape, declared: Dimensions, *, whole: bool) -> Dimensions:
    """A piece's dimensions where they are known: none of them if the axis or the lengths come at run time."""
    if not whole:
        return (None,) * len(piece)
    return tuple(
        size if now is not None else None if size == before else size
        for size, before, now in zip(piece, data, declared, strict=True)
    )


def _results(nodes: tuple[Node, ...], edges: Iterable[Edge]) -> tuple[Node, ...]:
    """A result for each of some edges."""
    return tuple(
        Node(kind="result", name=f"output_{number}", inputs=(edge,), outputs=(nodes[edge.node].outputs[edge.output],))
        for number, edge in enumerate(edges)
    )


def _edges(nodes: tuple[Node, ...], number: int) -> tuple[Edge, ...]:
    """The outputs of a node."""
    return tuple(Edge(node=number, output=output) for output in range(len(nodes[number].outputs)))


def _bare(_golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return (*nodes, *_results(nodes, _edges(nodes, len(nodes) - 1)))


def _partial(_golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return (*nodes, *_results(nodes, _edges(nodes, len(nodes) - 1)[USED]))


def _concat(golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    last = len(nodes) - 1
    whole = _declared(golden, golden.draft.operation.inputs[0])
    nodes = (*nodes, _joined(nodes, _edges(nodes, last), _axis(golden), whole))
    return (*nodes, *_results(nodes, _edges(nodes, last + 1)))


def _shared(golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    own = _edges(nodes, len(nodes) - 1)
    pieces = golden.pieces[0] if golden.pieces else ()
    rank = len(pieces[0].shape)
    axis = other_axis(_axis(golden), rank)
    edges = [own[number] for number in alike([each.shape for each in pieces])]
    sizes = [nodes[each.node].outputs[each.output].dimensions for each in edges]
    known = [each[axis] for each in sizes]
    joined = None if None in known else sum(each for each in known if each is not None)
    whole = (*sizes[0][:axis], joined, *sizes[0][axis + 1 :])
    nodes = (*nodes, _joined(nodes, edges, axis, whole))
    return (*nodes, *_results(nodes, (*own, *_edges(nodes, len(nodes) - 1))))


def _chain(golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    first = len(nodes) - 1
    *kept, split = _edges(nodes, first)
    before = nodes[first].outputs[-1]
    pieces = golden.pieces[0] if golden.pieces else ()
    again = golden.outputs[0][len(kept) :] if golden.outputs else ()
    known = all(golden.draft.binding[name] == "constant" for name in golden.draft.operation.inputs[1:])
    second = replace(
        nodes[first],
        name=f"{nodes[first].name}_1",
        inputs=(split, *nodes[first].inputs[1:]),
        outputs=tuple(
            replace(before, dimensions=_known(each.shape, pieces[-1].shape, before.dimensions, whole=known))
            for each in again
        ),
    )
    nodes = (*nodes, second)
    return (*nodes, *_results(nodes, (*kept, *_edges(nodes, first + 1))))


def _axis(golden: Golden) -> int:
    return golden.draft.operation.axis(arguments_of(golden.draft, 0)) or 0


def _joined(nodes: tuple[Node, ...], edges: Sequence[Edge], axis: int, whole: Dimensions) -> Node:
    """Some edges joined along an axis."""
    element_type = nodes[edges[0].node].outputs[edges[0].output].element_type
    joined = Value(element_type=element_type, dimensions=whole)
    return Node(kind="concat", name="Concat", inputs=tuple(edges), outputs=(joined,), attributes={"axis": axis})


#: What each context puts around the inputs and the operation.
_CONTEXTS: Mapping[Context, Callable[[Golden, tuple[Node, ...]], tuple[Node, ...]]] = MappingProxyType(
    {"bare": _bare, "folded": _bare, "concat": _concat, "chain": _chain, "partial": _partial, "shared": _shared}
)
