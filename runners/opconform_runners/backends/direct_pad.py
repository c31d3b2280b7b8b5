"""Pad-12 by a framework's own function, and what the harness does on its behalf."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Support, padded
from opconform_runners.backends.exceptions import Call

_MODES = ("constant", "edge", "reflect", "symmetric")
_PADS = ("pads_begin", "pads_end")
#: The requirements that the harness fulfils, since frameworks have a list of pairs, other modes and no types of pads.
_MAPPED = (
    "data.required",
    "data.string-mode",
    *(f"{name}.{each}" for name in _PADS for each in ("required", "rank", "element-type", "count")),
    *(f"pad_value.{each}" for each in ("scalar", "element-type", "default", "no-zero", "ignored")),
    *(f"pad_mode.{each}" for each in ("required", "values", "spelling")),
)

#: Pads data by a pair of numbers per dimension, in a mode, with a scalar or None for zero.
Pad = Callable[[Any, list[tuple[int, int]], str, Any], Any]


@dataclass(frozen=True, slots=True)
class _Padding:
    pad: Pad
    modes: Collection[str]
    crops: Collection[str]
    stage: Stage

    def refuse(self, requirement: str, message: str) -> Rejected:
        return Rejected(self.stage, message, requirement)


def pad_operation(
    pad: Pad, *, modes: Collection[str] = _MODES, crops: Collection[str] = _MODES, stage: Stage = "build"
) -> Support:
    """How a framework executes Pad-12.

    `modes` are the modes that it has, `crops` are those in which its pads can be negative, and `stage` is where it
    refuses a case.
    """
    return Support(execute=partial(_pad, _Padding(pad, modes, crops, stage)), mapped=_MAPPED)


def _pad(padding: _Padding, call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    data, begin, end, value = padded(inputs, 4)
    if data is None:
        raise padding.refuse("data.required", "data is missing")
    rank, mode = len(data.shape), attributes.get("pad_mode")
    before, after = (_numbers(padding, name, each, rank) for name, each in zip(_PADS, (begin, end), strict=True))
    if mode is None:
        raise padding.refuse("pad_mode.required", "pad_mode is missing")
    if mode not in _MODES:
        name = "spelling" if str(mode).lower() in _MODES else "values"
        raise padding.refuse(f"pad_mode.{name}", f"pad_mode is {mode!r}")
    if value is not None and len(value.shape):
        raise padding.refuse("pad_value.scalar", "pad_value is not a scalar")
    if value is not None and value.dtype != data.dtype:
        raise padding.refuse("pad_value.element-type", f"pad_value is of type {value.dtype}")
    if mode == "constant" and value is None and "e8m0" in str(data.dtype) and max([0, *before, *after]) > 0:
        raise padding.refuse("pad_value.no-zero", f"{data.dtype} has no zero")
    if mode not in padding.modes:
        raise Unsupported(f"the framework has no mode {mode}")
    if mode not in padding.crops and min([0, *before, *after]) < 0:
        raise Unsupported(f"the framework has no negative pads in the mode {mode}")
    return [call(padding.pad, data, list(zip(before, after, strict=True)), mode, value)]


def _numbers(padding: _Padding, name: str, given: Any, rank: int) -> list[int]:
    if given is None:
        raise padding.refuse(f"{name}.required", f"{name} is missing")
    if not isinstance(given, int | float | bool | str | list):
        raise Unsupported(f"{name} is given at run time, and the framework takes Python's numbers")
    if not isinstance(given, list) or any(isinstance(each, list) for each in given):
        raise padding.refuse(f"{name}.rank", f"{name} is not a list")
    if any(type(each) is not int for each in given):
        raise padding.refuse(f"{name}.element-type", f"{name} has elements that are not integers")
    if len(given) != rank:
        raise padding.refuse(f"{name}.count", f"{name} has {len(given)} elements, and data has rank {rank}")
    return given
