"""Split-1 and VariadicSplit-1: what their mutants read of a call, and steps that divide data otherwise."""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from opconform.suite.case import Dynamic
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hook, converted, gives

SPLIT, VARIADIC = ("Split-1",), ("VariadicSplit-1",)
BOTH = (*SPLIT, *VARIADIC)
#: What a length of -1 stands for (VariadicSplit-1, Inputs, 3).
REMAINDER = -1
#: How far a faulty output may reach beyond the end of data, so that it needs little memory.
_FAR_BEYOND = 1 << 8


def axis_of(call: Call) -> int:
    """The axis, counted from the front."""
    return call.integers("axis")[0] % max(call.data.ndim, 1)


def size_of(call: Call) -> int:
    """The size of the dimension that is split."""
    return int(call.data.shape[axis_of(call)])


def lengths_of(call: Call) -> list[int]:
    """The lengths as they are given."""
    return call.integers("split_lengths")


def fixed(lengths: Sequence[int]) -> list[int]:
    """The lengths that are not -1."""
    return [length for length in lengths if length != REMAINDER]


def dynamic(call: Call) -> Dynamic | None:
    """The dimensions of data in the model, or None where they are its shape."""
    return next((input_.dynamic for input_ in call.case.inputs if input_.name == "data"), None)


def sizes_of(call: Call, outputs: Sequence[Tensor]) -> list[int]:
    """The sizes of outputs along the axis."""
    return [output.shape[axis_of(call)] for output in outputs]


def sized(change: Callable[[Call, list[int]], Sequence[int]]) -> Hook:
    """The step whose outputs follow each other in other sizes, given the right ones."""

    def changed(call: Call, outputs: list[Tensor]) -> list[Tensor]:
        most = size_of(call) + _FAR_BEYOND
        sizes = [min(max(x, 0), most) for x in change(call, sizes_of(call, outputs))]
        return _divided(call, list(accumulate(sizes, initial=0))[:-1], sizes)

    return gives(changed)


def started(change: Callable[[Call, list[int], list[int]], Sequence[int]]) -> Hook:
    """The step whose outputs start at other places along the axis, given the sizes and the right places."""

    def changed(call: Call, outputs: list[Tensor]) -> list[Tensor]:
        sizes = sizes_of(call, outputs)
        return _divided(call, change(call, sizes, list(accumulate(sizes, initial=0))[:-1]), sizes)

    return gives(changed)


def copied(change: Callable[[Call, Array, int, int], Array]) -> Hook:
    """The step that copies the elements of each output otherwise.

    The change is given data as a tensor of rank 3, whose second dimension is the one that is split, and the start and
    the size of the output in it.
    """

    def changed(call: Call, outputs: list[Tensor]) -> list[Tensor]:
        sizes, axis = sizes_of(call, outputs), axis_of(call)
        shape = call.data.shape
        before, after = (int(np.prod(x, dtype=np.int64)) for x in (shape[:axis], shape[axis + 1 :]))
        rows = call.data.reshape(before, shape[axis], after)
        parts = zip(outputs, accumulate(sizes, initial=0), sizes, strict=False)
        return [converted(x, change(call, rows, start, size).reshape(x.shape)) for x, start, size in parts]

    return gives(changed)


def overwritten(change: Callable[[Array], object]) -> Hook:
    """The step that overwrites elements of what it copied: a tensor of rank 3, as in `copied`."""

    def copy(_call: Call, rows: Array, start: int, size: int) -> Array:
        output = rows[:, start : start + size].copy()
        change(output)
        return output

    return copied(copy)


def _divided(call: Call, starts: Sequence[int], sizes: Sequence[int]) -> list[Tensor]:
    """The parts of data with these starts and sizes along the axis; beyond its end are zeros."""
    axis, data = axis_of(call), call.data
    ends = [max(start, 0) + size for start, size in zip(starts, sizes, strict=True)]
    missing = max([0, *(end - data.shape[axis] for end in ends)])
    zeros = np.zeros((*data.shape[:axis], missing, *data.shape[axis + 1 :]), data.dtype)
    whole, before = np.concatenate([data, zeros], axis), (slice(None),) * axis
    return [
        converted(call.inputs["data"], whole[(*before, slice(end - size, end))])
        for end, size in zip(ends, sizes, strict=True)
    ]
