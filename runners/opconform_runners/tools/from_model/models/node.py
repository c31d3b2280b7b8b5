"""The nodes of a model, as far as they are known when the model is read, whatever its format."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from opconform.errors import UsageError, quoted
from opconform.model.graph_operation import operation_of_graph
from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.suite.case import Attribute, Graph
from opconform.tensors.literals import Element

#: The most bytes of a model besides its weights, the most nodes, and the most elements of a constant that is read.
STRUCTURE_LIMIT = 64 << 20
NODE_LIMIT = 100_000
CONSTANT_LIMIT = 64
#: The least size of a dimension that is too large for any memory.
_LARGEST_SIZE = 1 << 31


class NoCounterpart(Exception):  # noqa: N818 - an answer, not an error
    """A node that opconform has no operation for; `reason` is a clause, empty where its type alone says why."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A tensor of a model.

    Attributes:
        dimensions: Sizes, and names of unknown ones, which are the same for the same size; None for an unknown rank.
        elements: The elements of a small constant in row-major order; None for any other tensor. At an input of a
            graph, the elements that a case repeats, also if the model computes it.
    """

    element_type: str
    dimensions: tuple[int | str, ...] | None
    is_constant: bool = False
    elements: tuple[Element, ...] | None = None

    def __post_init__(self) -> None:
        """Check that no dimension is larger than any of a real model, or raise `NoCounterpart`."""
        if any(isinstance(size, int) and size >= _LARGEST_SIZE for size in self.dimensions or ()):
            raise NoCounterpart("with a dimension that is too large")


def constant(element_type: str, dimensions: tuple[int, ...], numbers: Sequence[float] | None) -> Known:
    """A constant with its elements in row-major order, if these are few numbers and none is a NaN."""
    is_kept = numbers is not None and len(numbers) <= CONSTANT_LIMIT and not any(map(math.isnan, numbers))
    elements = tuple(numbers or ()) if is_kept else None
    return Known(element_type=element_type, dimensions=dimensions, is_constant=True, elements=elements)


def integers(values: int | Sequence[int]) -> Known:
    """A constant of i64: a scalar, or a list."""
    return constant("i64", (), [values]) if isinstance(values, int) else constant("i64", (len(values),), values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """An operation that opconform has, with the tensors by the names of its ports, and its attributes.

    Attributes:
        graph: The operations that compute what one node of the model does; `op` is then that of graphs, and the inputs
            have the names of the node's own ones.
    """

    op: str
    inputs: Mapping[str, Known]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    graph: Graph | None = None

    def __post_init__(self) -> None:
        """Check that its attributes are numbers that a spec can have, or raise `NoCounterpart`."""
        nodes = self.graph.nodes if self.graph is not None else ()
        given = (*self.attributes.items(), *(item for node in nodes for item in node.attributes.items()))
        for name, value in given:
            elements = value if isinstance(value, tuple) else (value,)
            if any(isinstance(x, float) and not math.isfinite(x) for x in elements):
                raise NoCounterpart(f"with an infinity or a NaN as {name}")

    @property
    def operation(self) -> Operation:
        """The operation that is called; a graph is one, too."""
        return OPERATIONS[self.op] if self.graph is None else operation_of_graph(self.graph, tuple(self.inputs))

    @property
    def first(self) -> "Call":
        """The call of the first operation of its graph, or itself."""
        if self.graph is None:
            return self
        node = self.graph.nodes[0]
        named = OPERATIONS[node.op].declaration.named(node.inputs)
        inputs = {port: self.inputs[name] for port, name in named.items()}
        return Call(op=node.op, inputs=inputs, attributes=node.attributes)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelNode:
    """A node of a model.

    Attributes:
        type: The operation by the model's name for it.
        inputs: The names of the tensors that it takes, without omitted ones; unique in the model, as are `outputs`.
        call: What it calls; where that is None, `reason` says why, or is empty.
    """

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    call: Call | None = None
    reason: str = ""


def check_order(nodes: Sequence[ModelNode], model: str) -> None:
    """Check that no node of a model depends on itself."""
    makers = {name: number for number, node in enumerate(nodes) for name in node.outputs}
    edges = {number: [makers[x] for x in node.inputs if x in makers] for number, node in enumerate(nodes)}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        name = quoted(nodes[error.args[1][0]].name)
        raise UsageError(f"{model} has a cycle through the node {name}. Export it again.") from error


def check_count(nodes: int, model: str) -> None:
    """Check that a model has no more nodes than are read."""
    if nodes > NODE_LIMIT:
        raise UsageError(f"{model} has more than {NODE_LIMIT:,} nodes. Read a part of it.")
