"""How Broadcast-1, Broadcast-3, Tile-1, Reverse-1, ReverseSequence-1 and Roll-7 become calls of a framework."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


def _repeats(data: Any, repeats: list[int]) -> Sequence[Any]:
    return data, tuple(repeats)


def _one_repeat_each(data: Any, repeats: list[int]) -> Sequence[Any]:
    if len(repeats) != rank_of(data):
        raise Unsupported("the framework takes one repeat per dimension")
    return data, tuple(repeats)


def _axes(data: Any, axis: list[Any], *, mode: str) -> Sequence[Any]:
    rank, is_boolean = rank_of(data), [isinstance(axis_, bool | np.bool_) for axis_ in axis]
    if mode == "mask":
        refuse_if(not all(is_boolean), "axis.mask-type")
        refuse_if(len(axis) != rank, "axis.mask-length")
        return data, tuple(place for place, axis_ in enumerate(axis) if axis_)
    refuse_if(any(is_boolean), "axis.index-type")
    refuse_if(len(axis) > rank, "axis.count")
    return data, tuple(dict.fromkeys(axis))


def _shifts(data: Any, shift: Any, axes: Any) -> Sequence[Any]:
    along = axes if isinstance(axes, list) else [axes]
    if not isinstance(shift, list):
        return data, (shift,) * len(along), tuple(along)
    refuse_if(not isinstance(axes, list) and len(shift) != 1, "shift.length")
    refuse_if(len(shift) != len(along) and len(shift) != 1, "shift.length")
    return data, tuple(shift), tuple(along)


def _target(data: Any, target_shape: list[int], axes_mapping: list[int] | None = None, *, mode: str) -> Sequence[Any]:
    if mode == "explicit":
        refuse_if(axes_mapping is None, "axes_mapping.explicit")
        axes, rank = axes_mapping or [], len(target_shape)
        refuse_if(len(axes) != rank_of(data), "axes_mapping.count")
        refuse_if(any(axis >= rank for axis in axes), "axes_mapping.range")
        refuse_if(any(axis < 0 for axis in axes), "axes_mapping.negative")
        refuse_if(axes != sorted(axes), "axes_mapping.sorted")
        refuse_if(len({*axes}) < len(axes), "axes_mapping.repeated")
        return data[tuple(slice(None) if axis in axes else None for axis in range(rank))], tuple(target_shape)
    refuse_if(axes_mapping is not None, "axes_mapping.other-modes")
    return data, tuple(target_shape) if mode == "numpy" else _both(data, target_shape)


def _both(data: Any, target_shape: list[int]) -> tuple[int, ...]:
    """The target shape with the sizes of data where it has ones or fewer dimensions."""
    missing = rank_of(data) - len(target_shape)
    target, sizes = [1] * missing + target_shape, [1] * -missing + [*data.shape]
    if None in sizes:
        raise Unsupported("the size of a dimension that is only known at run time decides that of the output")
    return tuple(size if other == 1 else other for size, other in zip(sizes, target, strict=True))


#: Data, with dimensions of 1 where the mode explicit needs new ones, and the shape of the output.
TARGET = Adapter(
    _target,
    (
        *(f"axes_mapping.{name}" for name in ("explicit", "other-modes", "count", "range", "negative", "sorted")),
        *("axes_mapping.repeated", "explicit.mapping", "bidirectional.alignment", "mode.default"),
    ),
)
#: Data and the repeats, for frameworks that have ones for missing repeats and dimensions, and for others.
REPEATS, ONE_REPEAT_EACH = Adapter(_repeats), Adapter(_one_repeat_each)
#: Data and the axes, each once.
AXES = Adapter(_axes, (*(f"axis.{name}" for name in ("index-type", "mask-type", "mask-length", "count", "repeated")),))
#: Data, the lengths, and the axes of the sequences and of the slices.
LENGTHS_OF_SLICES = Adapter(lambda data, lengths, *, batch_axis, seq_axis: (data, lengths, seq_axis, batch_axis))
#: Data, the shifts and the axes; a scalar shift holds for all axes.
SHIFTS = Adapter(_shifts, ("shift.length", "shift.scalar"))
