"""How Pad-1 and Pad-12 become a call of a framework."""

from collections.abc import Collection, Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of

_MODES = ("constant", "edge", "reflect", "symmetric")
#: Frameworks have a list of pairs, and no type of pads.
_MAPPED = (
    *("pads_begin.count", "pads_end.count", "data.string-mode"),
    *(f"pad_value.{name}" for name in ("scalar", "element-type", "default", "no-zero", "ignored")),
)


def pairs(modes: Collection[str] = _MODES, crops: Collection[str] = _MODES) -> Adapter:
    """Data, a pair of numbers per dimension, the mode, and the value, if there is one, for a framework with some modes.

    `crops` are the modes in which pads can be negative.
    """

    def arguments(data: Any, begin: list[int], end: list[int], value: Any, *, pad_mode: str) -> Sequence[Any]:
        rank = rank_of(data)
        refuse_if(len(begin) != rank, "pads_begin.count")
        refuse_if(len(end) != rank, "pads_end.count")
        refuse_if(value is not None and rank_of(value), "pad_value.scalar")
        refuse_if(value is not None and value.dtype != data.dtype, "pad_value.element-type")
        is_zero_added = pad_mode == "constant" and value is None and max([0, *begin, *end]) > 0
        refuse_if(is_zero_added and "e8m0" in str(data.dtype), "pad_value.no-zero")
        if pad_mode not in modes:
            raise Unsupported(f"the framework has no mode {pad_mode}")
        if pad_mode not in crops and min([0, *begin, *end]) < 0:
            raise Unsupported(f"the framework has no negative pads in the mode {pad_mode}")
        return data, [*zip(begin, end, strict=True)], pad_mode, value

    return Adapter(arguments, _MAPPED)


def added(modes: Collection[str] = _MODES) -> Adapter:
    """The same for an operation without strings and negative pads, which are left to the framework."""
    adapter = pairs(modes)
    return adapter._replace(mapped=tuple(name for name in adapter.mapped if name != "data.string-mode"))
