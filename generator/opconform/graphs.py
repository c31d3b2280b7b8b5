"""Graphs: the model around an operation, before any dialect spells it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from opconform.case import Attribute, Context, Dynamic
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


def _results(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """A result for each output of the last node."""
    last = len(nodes) - 1
    return tuple(
        Node(kind="result", name=f"output_{number}", inputs=(Edge(node=last, output=number),), outputs=(each,))
        for number, each in enumerate(nodes[last].outputs)
    )


def _bare(_golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return (*nodes, *_results(nodes))


def _concat(golden: Golden, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    last = len(nodes) - 1
    axis = golden.draft.operation.axis(arguments_of(golden.draft, 0))
    joined = Value(
        element_type=nodes[last].outputs[0].element_type,
        dimensions=_declared(golden, golden.draft.operation.inputs[0]),
    )
    edges = tuple(Edge(node=last, output=number) for number in range(len(nodes[last].outputs)))
    concat = Node(kind="concat", name="Concat", inputs=edges, outputs=(joined,), attributes={"axis": axis})
    return (*nodes, concat, *_results((*nodes, concat)))


#: What each context puts around the inputs and the operation.
_CONTEXTS: Mapping[Context, Callable[[Golden, tuple[Node, ...]], tuple[Node, ...]]] = MappingProxyType(
    {"bare": _bare, "folded": _bare, "concat": _concat}
)
