"""Pooling, as the `numpy` backend executes it: one place in all windows after the other."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array

_PADS = ("pads_begin", "pads_end")
_INDICES = {"i64": np.int64, "i32": np.int32}


class _Line(NamedTuple):
    """A spatial dimension: its length, where windows start, how far apart their elements are, and where pads end."""

    length: int
    starts: range
    size: int
    step: int
    end: int

    def places(self, at: int) -> Array:
        """The places in data of one element of every window."""
        places: Array = np.array(self.starts, np.int64) + at * self.step
        return places

    @property
    def has_padding_alone(self) -> bool:
        """Whether a window has no element of data."""
        if self.starts[0] + self.size * self.step <= self.step - 1 or self.starts[-1] >= self.length:
            return True
        negative = self.starts[: len(range(self.starts[0], 0, self.starts.step))]
        return any(start % self.step >= self.length for start in negative)


def _check_lists(rank: int, attributes: Mapping[str, Any]) -> None:
    pads = _PADS if attributes.get("auto_pad", "explicit") == "explicit" else ()
    for name in ("strides", "dilations", "kernel", *pads):
        numbers = attributes.get(name, ())
        if name == "dilations" and not numbers:  # which is the default
            continue
        refuse_if(len(numbers) != rank - 2, f"{name}.count")
        refuse_if(min(numbers) < (name == "kernel"), "kernel.positive" if name == "kernel" else f"{name}.negative")
        refuse_if(name in ("strides", "dilations") and 0 in numbers, f"{name}.zero")


def _lines(shape: Sequence[int], attributes: Mapping[str, Any]) -> Iterator[_Line]:
    """The spatial dimensions; raises `Rejected` for windows that do not fit into data with its padding."""
    _check_lists(len(shape), attributes)
    mode, rounding = attributes.get("auto_pad", "explicit"), attributes.get("rounding_type", "floor")
    lists = [attributes[name] for name in ("strides", "kernel")]
    dilations = attributes.get("dilations") or (1,) * (len(shape) - 2)
    pads = [attributes[name] if mode == "explicit" else (0,) * (len(shape) - 2) for name in _PADS]
    for length, stride, size, step, begin, end in zip(shape[2:], *lists, dilations, *pads, strict=True):
        last = (size - 1) * step
        if mode.startswith("same"):
            refuse_if(not length, "kernel.room")
            starts = range(0, length, stride)
            missing = max(starts[-1] + last + 1 - length, 0)
            first = missing // 2 if mode == "same_upper" else missing - missing // 2
            yield _Line(length, range(-first, starts[-1] - first + 1, stride), size, step, length + missing - first)
            continue
        behind = length + end - last
        refuse_if(behind <= -begin, "kernel.room")
        starts = range(-begin, behind if rounding == "floor" else behind - 1 + stride, stride)
        is_shorter = rounding == "ceil_torch" and starts[-1] >= length
        yield _Line(length, starts[:-1] if is_shorter else starts, size, step, length + end)


def _elements(lines: Sequence[_Line]) -> Iterator[tuple[Array, Array]]:
    """Per place in the windows, which element of a channel is there in each window, and whether one is."""
    for at in product(*(range(line.size) for line in lines)):
        places = np.ix_(*(line.places(x) for line, x in zip(lines, at, strict=True)))
        pairs = [*zip(places, lines, strict=True)]
        inside = np.logical_and.reduce(np.broadcast_arrays(*((x >= 0) & (x < line.length) for x, line in pairs)))
        number = np.zeros((), np.int64)
        for place, line in pairs:
            number = number * line.length + place % line.length
        yield number, inside


def _max_pool(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The largest element so far of every window, which a NaN remains, and where it is."""
    [data], axis = inputs, attributes.get("axis", 0)
    rank, shape = len(data.shape), data.shape
    refuse_if(not -rank <= axis < rank, "axis.range")
    lines = [*_lines(shape, attributes)]
    refuse_if(any(line.has_padding_alone for line in lines), "windows.elements")
    channels, sizes = prod(shape[:2]), [len(line.starts) for line in lines]
    numbers = number_array(data).reshape(channels, prod(shape[2:]))
    best = np.full((channels, *sizes), -1, np.int64)
    windows = (channels, prod(sizes))
    for number, inside in _elements(lines):
        new, known = numbers[:, number], np.take_along_axis(numbers, best.reshape(windows), 1).reshape(best.shape)
        is_larger = (new > known) | (np.isnan(new) & ~np.isnan(known))
        best = np.where(inside & ((best < 0) | is_larger), number, best)
    flat = best.reshape(windows)
    values = np.take_along_axis(data.array.reshape(channels, prod(shape[2:])), flat, 1)
    along = (flat + np.arange(channels)[:, np.newaxis] * prod(shape[2:])) % prod(shape[axis % rank :])
    outputs = [Tensor(element_type=data.element_type, array=values.reshape(*shape[:2], *sizes))]
    kind = attributes.get("index_element_type", "i64")
    return [*outputs, Tensor(element_type=kind, array=along.astype(_INDICES[kind]).reshape(*shape[:2], *sizes))]


def _avg_pool(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The sum of the elements of every window, divided by how many there are; quotients of integers lose fractions."""
    [data] = inputs
    shape, array = data.shape, number_array(data)
    lines, excludes = [*_lines(shape, attributes)], attributes["exclude_pad"]
    are_empty = (x.has_padding_alone if excludes else x.starts[-1] >= x.end for x in lines)
    refuse_if(any(are_empty), "windows.elements")
    sizes = [len(line.starts) for line in lines]
    rows = array.astype(object).reshape(prod(shape[:2]), prod(shape[2:]))  # whose integers have any size
    sums, counts = np.zeros((len(rows), *sizes), object), np.zeros(sizes, np.int64)
    for at, (number, inside) in zip(product(*(range(line.size) for line in lines)), _elements(lines), strict=True):
        with np.errstate(all="ignore"):
            sums[:, inside] += rows[:, np.broadcast_to(number, sizes)[inside]]
        ends = [line.places(x) < line.end for line, x in zip(lines, at, strict=True)]
        counts += inside if excludes else reduce(np.logical_and.outer, ends)
    outputs = sums.reshape(*shape[:2], *sizes)
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return result_of(data.element_type, outputs / counts)
    quotients = np.sign(outputs) * (np.abs(outputs) // counts)
    return result_of(data.element_type, quotients.astype(array.dtype))


#: The function of each operation.
POOLS: Mapping[str, Function] = {
    **dict.fromkeys(("AvgPool-1", "AvgPool-14"), _avg_pool),
    **dict.fromkeys(("MaxPool-8", "MaxPool-14"), _max_pool),
}
