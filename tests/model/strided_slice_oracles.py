"""The oracles of StridedSlice-1: a slice that is not ours per dimension, and numpy's `reshape` for the dimensions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.suite.case import Case
from opconform.tensors.tensor import Array

_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: An end beyond every dimension, forwards and, negated, backwards.
_FAR = 1 << 62

Slice = Callable[[Array, Sequence[Sequence[int]]], Array]
Values = Callable[[Case, dict[str, Array], str], list[int]]


def strided(case: Case, tensors: dict[str, Array], values: Values, function: Slice) -> list[Array]:
    """What the graph of a case's context gives, with an oracle in the operation's place."""
    begin, end, *given = [values(case, tensors, str(name)) for name in case.node.inputs[1:]]
    stride = given[0] if given else [1] * len(begin)
    attributes: Mapping[str, Any] = case.attributes
    masks = [[*attributes.get(name, ()), *[0] * len(begin)][: len(begin)] for name in _MASKS]
    steps = list(zip(begin, end, stride, *masks, strict=True))
    output = strided_slice(tensors["data"], steps, function)
    match case.context:
        case "chain":
            return [strided_slice(output, steps, function)]
        case "doubled":
            return [output, np.concatenate([output, output])]
        case _:
            return [output]


def strided_slice(data: Array, steps: Sequence[Sequence[int]], function: Slice) -> Array:
    """One slice of all dimensions, whose sizes are then kept, left out or joined by new ones."""
    indices: list[list[int]] = []
    fates: list[str] = []
    used = sum(not (step[5] or step[7]) for step in steps)
    for begin, end, stride, from_start, to_end, is_new, is_shrunk, is_ellipsis in steps:
        axis = len(indices)
        if is_ellipsis:
            indices += [[0, _FAR, 1, axis + number] for number in range(data.ndim - used)]
            fates += ["kept"] * (data.ndim - used)
        elif is_new:
            fates.append("new")
        elif is_shrunk:
            index = 0 if from_start else begin % data.shape[axis]
            indices.append([index, index + 1, 1, axis])
            fates.append("removed")
        else:
            forwards, size = stride > 0, data.shape[axis]
            first = (0 if forwards else _FAR) if from_start else begin
            first = 0 if not forwards and first < -size else first
            indices.append([first, (_FAR if forwards else -_FAR) if to_end else end, stride, axis])
            fates.append("kept")
    output = function(data, list(zip(*indices, strict=True))) if indices else data
    sizes = iter(output.shape)
    shape = [(fate, 1 if fate == "new" else next(sizes)) for fate in fates]
    return np.reshape(output, [*(size for fate, size in shape if fate != "removed"), *sizes])
