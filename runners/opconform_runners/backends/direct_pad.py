"""Pad-12 by a framework's own function, and what the harness does on its behalf."""

from collections.abc import Mapping, Sequence
from typing import Any

from opconform.errors import counted
from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import PAD_MODES, Functions, Support, check_given, integer_list, padded
from opconform_runners.backends.exceptions import Call

_PADS = ("pads_begin", "pads_end")
#: The requirements that the harness fulfils, since frameworks have a list of pairs, other modes and no types of pads.
_MAPPED = (
    "data.required",
    "data.string-mode",
    *(f"{name}.{each}" for name in _PADS for each in ("required", "rank", "element-type", "count")),
    *(f"pad_value.{each}" for each in ("scalar", "element-type", "default", "no-zero", "ignored")),
    *(f"pad_mode.{each}" for each in ("required", "values", "spelling")),
)


def pad_operation(functions: Functions) -> Support:
    """How a framework executes Pad-12."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, begin, end, value = padded(inputs, 4)
        check_given(stage, data=data)
        before, after = (integer_list(*each, stage) for each in zip(_PADS, (begin, end), strict=True))
        for name, each in zip(_PADS, (before, after), strict=True):
            if len(each) != len(data.shape):
                said = f"{name} has {counted(len(each), 'element')}, and data has rank {len(data.shape)}"
                raise Rejected(stage, said, f"{name}.count")
        mode = mode_of(attributes, stage)
        if value is not None and len(value.shape):
            raise Rejected(stage, "pad_value is not a scalar", "pad_value.scalar")
        if value is not None and value.dtype != data.dtype:
            raise Rejected(stage, f"pad_value is of type {value.dtype}", "pad_value.element-type")
        if mode == "constant" and value is None and "e8m0" in str(data.dtype) and max([0, *before, *after]) > 0:
            raise Rejected(stage, f"{data.dtype} has no zero", "pad_value.no-zero")
        if mode not in functions.modes:
            raise Unsupported(f"the framework has no mode {mode}")
        if mode not in functions.crops and min([0, *before, *after]) < 0:
            raise Unsupported(f"the framework has no negative pads in the mode {mode}")
        return [call(functions.pad, data, list(zip(before, after, strict=True)), mode, value)]

    return Support(execute=execute, mapped=_MAPPED)


def mode_of(attributes: Mapping[str, Attribute], stage: Stage) -> Any:
    """The mode; `Rejected` if it is missing or unknown."""
    mode = attributes.get("pad_mode")
    check_given(stage, pad_mode=mode)
    if mode not in PAD_MODES:
        name = "pad_mode.spelling" if str(mode).lower() in PAD_MODES else "pad_mode.values"
        raise Rejected(stage, f"pad_mode is {mode!r}", name)
    return mode
