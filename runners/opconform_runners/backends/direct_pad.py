"""Pad-12 by a framework's own function, and what the harness does on its behalf."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Support, integer_list, padded
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


def pad_operation(
    pad: Pad, *, modes: Collection[str] = _MODES, crops: Collection[str] = _MODES, stage: Stage = "build"
) -> Support:
    """How a framework executes Pad-12.

    `modes` are the modes that it has, `crops` are those in which its pads can be negative, and `stage` is where it
    refuses a case.
    """

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, begin, end, value = padded(inputs, 4)
        if data is None:
            raise Rejected(stage, "data is missing", "data.required")
        before, after = (integer_list(*each, stage) for each in zip(_PADS, (begin, end), strict=True))
        for name, each in zip(_PADS, (before, after), strict=True):
            if len(each) != len(data.shape):
                said = f"{name} has {len(each)} elements, and data has rank {len(data.shape)}"
                raise Rejected(stage, said, f"{name}.count")
        mode = _mode(attributes, stage)
        if value is not None and len(value.shape):
            raise Rejected(stage, "pad_value is not a scalar", "pad_value.scalar")
        if value is not None and value.dtype != data.dtype:
            raise Rejected(stage, f"pad_value is of type {value.dtype}", "pad_value.element-type")
        if mode == "constant" and value is None and "e8m0" in str(data.dtype) and max([0, *before, *after]) > 0:
            raise Rejected(stage, f"{data.dtype} has no zero", "pad_value.no-zero")
        if mode not in modes:
            raise Unsupported(f"the framework has no mode {mode}")
        if mode not in crops and min([0, *before, *after]) < 0:
            raise Unsupported(f"the framework has no negative pads in the mode {mode}")
        return [call(pad, data, list(zip(before, after, strict=True)), mode, value)]

    return Support(execute=execute, mapped=_MAPPED)


def _mode(attributes: Mapping[str, Attribute], stage: Stage) -> Attribute:
    mode = attributes.get("pad_mode")
    if mode is None:
        raise Rejected(stage, "pad_mode is missing", "pad_mode.required")
    if mode not in _MODES:
        name = "pad_mode.spelling" if str(mode).lower() in _MODES else "pad_mode.values"
        raise Rejected(stage, f"pad_mode is {mode!r}", name)
    return mode
