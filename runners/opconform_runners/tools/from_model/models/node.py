"""The nodes of a model, as far as they are known when the model is read, whatever its format."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from opconform.errors import UsageError, quoted
from opconform.suite.case import Attribute
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
        elements: The elements of a small constant in row-major order; None for any other tensor.
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
    """An operation that opconform has, with the tensors by the names of its ports, and its attributes."""

    op: str
    inputs: Mapping[str, Known]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that its attributes are numbers that a spec can have, or raise `NoCounterpart`."""
        for name, value in self.attributes.items():
            elements = value if isinstance(value, tuple) else (value,)
            if any(isinstance(x, float) and not math.isfinite(x) for x in elements):
                raise NoCounterpart(f"with an infinity or a NaN as {name}")


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
