"""Graphs: what backends without a dialect share, on whatever a framework calls a tensor."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from opconform.case import Case
from opconform.tensors import Tensor
from opconform_runners.backend import Inputs, Rejected, Stage, Unsupported

T = TypeVar("T")

#: The length that takes what the others leave.
REMAINDER = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph(Generic[T]):
    """The graph that a case's context puts around the operation.

    Attributes:
        case: The case.
        rank: How many dimensions data has.
        alike: The outputs that the context `shared` joins, by their numbers.
        split: The operation with the case's axis and lengths, on any data.
        join: Tensors joined along an axis.
    """

    case: Case
    rank: int
    alike: tuple[int, ...]
    split: Callable[[T, Any], Sequence[T]]
    join: Callable[[Sequence[T], Any], T]

    def outputs(self, data: T, axis: Any) -> list[T]:
        """What the graph gives for data and an axis, be it a number or the framework's own scalar."""
        pieces = self.split(data, axis)
        match self.case.context:
            case "concat":
                return [self.join(pieces, axis)]
            case "chain":
                return [*pieces[:-1], *self.split(pieces[-1], axis)]
            case "partial":
                return list(pieces[1::2])
            case "shared":
                return [*pieces, self.join([pieces[each] for each in self.alike], (axis + 1) % self.rank)]
            case _:
                return list(pieces)


def alike_of(case: Case, feed: Inputs) -> tuple[int, ...]:
    """The outputs that the context `shared` joins: those of the last one's length, as the graph's first feed has them.

    They belong to the graph, which is built once, and not to what it is fed.
    """
    if case.context != "shared":
        return ()
    if "split_lengths" not in feed:
        return tuple(range(int(case.attributes["num_splits"])))
    lengths = filled(feed["split_lengths"].integers(), feed["data"].shape, feed["axis"].integers()[0])
    return tuple(number for number, length in enumerate(lengths) if length == lengths[-1])


def rank_of(feed: Inputs) -> int:
    """How many dimensions data has; 0 without data."""
    return len(feed["data"].shape) if "data" in feed else 0


def size_along(feed: Inputs) -> int | None:
    """The size of the dimension that is split, or None where data and axis do not name one."""
    axis = feed.get("axis")
    if axis is None or not axis.type.is_integer or axis.array.size != 1:
        return None
    value, rank = axis.integers()[0], rank_of(feed)
    return feed["data"].shape[value] if -rank <= value < rank else None


def axis_of(case: Case, feed: Inputs, stage: Stage) -> Tensor:
    """The axis for frameworks whose axis is a scalar and has a default.

    Raises:
        Rejected: There is none. (The framework would split the first dimension.)
    """
    if "axis" not in feed:
        raise Rejected(stage, "axis is missing, and the framework's default is none of the operation", "axis.required")
    axis = feed["axis"]
    if case.op == "VariadicSplit-1" and axis.shape == (1,):
        return Tensor(element_type=axis.element_type, array=axis.array.reshape(()))
    return axis


def filled(lengths: Any, shape: Sequence[Any], axis: Any) -> Any:
    """Lengths with a single -1 replaced by what the others leave of the dimension, be it less than nothing.

    All else is left as it is, for the framework to refuse: two -1, what is no list of integers, an axis out of range.
    """
    if not isinstance(lengths, list) or any(type(each) is not int for each in lengths):
        return lengths
    if lengths.count(REMAINDER) != 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return lengths
    rest = shape[axis] - sum(each for each in lengths if each != REMAINDER)
    return [rest if each == REMAINDER else each for each in lengths]


def check_pieces_are_equal(case: Case, feed: Inputs, stage: Stage) -> None:
    """Refuse a number of pieces that does not divide the dimension, for frameworks that make uneven pieces.

    Raises:
        Rejected: The pieces would differ.
    """
    count, size = case.attributes.get("num_splits"), size_along(feed)
    if type(count) is not int or count < 1 or not size or size % count == 0:
        return
    requirement = "num_splits.at-most-dimension" if count > size else "num_splits.divides"
    raise Rejected(stage, f"{count} does not divide {size}; the framework would make uneven pieces", requirement)


def plain(tensor: Tensor, known: Collection[str]) -> Any:
    """An axis or lengths as Python's own numbers and lists, as a user of a Python framework writes them.

    Args:
        tensor: The axis or the lengths.
        known: The element types that the framework has.

    Raises:
        Unsupported: It is of an integer type that the framework does not have, or of one that is no number in Python.
    """
    if tensor.type.kind == "lookup" or (tensor.type.is_integer and tensor.element_type not in known):
        raise Unsupported(f"the framework has no element type {tensor.element_type}")
    if tensor.type.kind == "float":
        return tensor.array.view(tensor.type.arithmetic).tolist()
    if not tensor.type.is_integer:
        return tensor.array.tolist()
    return np.array(tensor.integers(), object).reshape(tensor.shape).tolist()
