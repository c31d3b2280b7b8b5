"""How Tile-1, Reverse-1 and Roll-7 become calls of a framework."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.framework import Adapter, rank_of


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
    if not isinstance(shift, list):
        along = axes if isinstance(axes, list) else [axes]
        return data, (shift,) * len(along), tuple(along)
    refuse_if(not isinstance(axes, list), "shift.length")
    refuse_if(len(shift) != len(axes) and len(shift) != 1, "shift.length")
    return data, tuple(shift), tuple(axes)


#: Data and the repeats, for frameworks that have ones for missing repeats and dimensions, and for others.
REPEATS, ONE_REPEAT_EACH = Adapter(_repeats), Adapter(_one_repeat_each)
#: Data and the axes, each once.
AXES = Adapter(_axes, (*(f"axis.{name}" for name in ("index-type", "mask-type", "mask-length", "count", "repeated")),))
#: Data, the shifts and the axes, of which a scalar shift is for all.
SHIFTS = Adapter(_shifts, ("shift.length", "shift.scalar"))
