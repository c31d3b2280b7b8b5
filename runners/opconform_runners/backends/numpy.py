"""The `numpy` backend: executes a case directly, from the specification pages and with none of the generator's code."""

from collections.abc import Sequence

import numpy as np

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Implementation, Inputs, Outputs, Rejected, Unsupported

_INTEGERS = frozenset({"i4", "i8", "i16", "i32", "i64", "u1", "u2", "u3", "u4", "u6", "u8", "u16", "u32", "u64"})


class Numpy:
    """numpy's slices, behind checks of everything that the pages demand."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="numpy",
            version=np.__version__,
            element_types=tuple(ELEMENT_TYPES),
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed."""
        return [self._executed(case, feed) for feed in feeds]

    def _executed(self, case: Case, feed: Inputs) -> Outputs:
        """The outputs of the graph that the case's context puts around the operation."""
        pieces = self._split(case, feed)
        match case.context:
            case "concat":
                return [_joined(pieces, _axis(feed, _data(feed), one_element=True))]
            case "chain":
                return [*pieces[:-1], *self._split(case, {**feed, "data": pieces[-1]})]
            case "partial":
                return pieces[1::2]
            case "shared":
                alike = [each for each in pieces if each.shape == pieces[-1].shape]
                rank = len(pieces[-1].shape)
                return [*pieces, _joined(alike, (_axis(feed, _data(feed), one_element=True) + 1) % rank)]
            case _:
                return pieces

    def _split(self, case: Case, feed: Inputs) -> list[Tensor]:
        data = _data(feed)
        if case.op == "Split-1":
            axis = _axis(feed, data, one_element=False)
            ends = _even_ends(case, data.shape[axis])
        elif case.op == "VariadicSplit-1":
            axis = _axis(feed, data, one_element=True)
            ends = _given_ends(feed, data.shape[axis])
        else:
            raise Unsupported(f"{case.op} is not implemented")
        kind = feed["data"].element_type
        return [Tensor(element_type=kind, array=each) for each in np.split(data, ends, axis=axis)]


def _joined(pieces: list[Tensor], axis: int) -> Tensor:
    joined = np.concatenate([each.array for each in pieces], axis)
    return Tensor(element_type=pieces[0].element_type, array=joined)


def _refuse(requirement: str, message: str) -> Rejected:
    return Rejected("build", message, requirement)


def _data(feed: Inputs) -> Array:
    if "data" not in feed:
        raise _refuse("data.required", "data is missing")
    data = feed["data"].array
    if data.ndim == 0:
        raise _refuse("data.rank", "data of rank 0 has no axis")
    return data


def _axis(feed: Inputs, data: Array, *, one_element: bool) -> int:
    axis = feed.get("axis")
    if axis is None:
        raise _refuse("axis.required", "axis is missing")
    if axis.element_type not in _INTEGERS:
        raise _refuse("axis.element-type", f"axis is of type {axis.element_type}, which is no integer type")
    if axis.array.ndim > 1 or axis.array.size != 1 or (axis.array.ndim == 1 and not one_element):
        raise _refuse("axis.shape", f"axis has the shape {list(axis.shape)}")
    value = axis.integers()[0]
    if value >= data.ndim or value < -data.ndim:
        raise _refuse("axis.range", f"axis {value} is out of range for rank {data.ndim}")
    return value


def _even_ends(case: Case, size: int) -> list[int]:
    """Where each piece but the last ends."""
    if "num_splits" not in case.attributes:
        raise _refuse("num_splits.required", "num_splits is missing")
    count = case.attributes["num_splits"]
    if type(count) is not int:
        raise _refuse("num_splits.type", f"num_splits is {count!r}, which is no integer")
    if count <= 0:
        raise _refuse("num_splits.positive", f"num_splits is {count}")
    if size == 0:
        raise _refuse("num_splits.zero-dimension", "a dimension of 0 cannot be split")
    if count > size:
        raise _refuse("num_splits.at-most-dimension", f"num_splits is {count}, and the dimension has {size}")
    length, rest = divmod(size, count)
    if rest:
        raise _refuse("num_splits.divides", f"{count} does not divide {size}")
    return [length * each for each in range(1, count)]


def _given_ends(feed: Inputs, size: int) -> list[int]:
    """Where each piece but the last ends."""
    given = feed.get("split_lengths")
    if given is None:
        raise _refuse("lengths.required", "split_lengths is missing")
    if given.element_type not in _INTEGERS:
        raise _refuse("lengths.element-type", f"split_lengths is of type {given.element_type}")
    if given.array.ndim != 1:
        raise _refuse("lengths.rank", f"split_lengths has the shape {list(given.shape)}")
    lengths = given.integers()
    if not lengths:
        raise _refuse("lengths.empty", "split_lengths is empty")
    if min(lengths) < -1:
        raise _refuse("lengths.negative", f"split_lengths holds {min(lengths)}")
    open_ones = [place for place, length in enumerate(lengths) if length == -1]
    if len(open_ones) > 1:
        raise _refuse("lengths.single-remainder", f"split_lengths holds -1 {len(open_ones)} times")
    known = sum(length for length in lengths if length >= 0)
    for place in open_ones:
        if known > size:
            raise _refuse("lengths.remainder-sum", f"the lengths take {known}, and the dimension has {size}")
        lengths[place] = size - known
    if sum(lengths) != size:
        raise _refuse("lengths.sum", f"the lengths take {known}, and the dimension has {size}")
    ends, end = [], 0
    for length in lengths[:-1]:
        end += length
        ends.append(end)
    return ends
