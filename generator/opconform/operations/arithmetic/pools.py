"""What the pages of MaxPool and AvgPool say alike: windows of some sizes in each channel of data."""

from collections.abc import Mapping
from dataclasses import replace

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.windows import (
    LIST_CHECKS,
    PADS,
    Window,
    is_below,
    is_other_count,
    sliding,
    with_attributes,
)
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec

#: How a number of windows is rounded (Attributes, rounding_type).
ROUNDING_TYPE = AttributeSpec("rounding_type", type="enum", values=("floor", "ceil", "ceil_torch"), default="floor")


def without_ceil_torch(operation: Computation, name: str) -> Computation:
    """An earlier version of an operation, which has the other two rounding types (Attributes, rounding_type)."""
    earlier = replace(ROUNDING_TYPE, values=ROUNDING_TYPE.values[:2])
    attributes = tuple(earlier if x is ROUNDING_TYPE else x for x in operation.attributes)
    return replace(operation, name=name, attributes=attributes)


def windows_of(arguments: Arguments) -> list[Window]:
    """The spatial dimensions; `Unknown` if the attributes have wrong numbers."""
    sizes = arguments.numbers("kernel")
    if any(size < 1 for size in sizes):
        raise Unknown
    rounding = str(arguments.attribute("rounding_type"))
    dilations = arguments.numbers("dilations") if "dilations" in arguments.attributes else ()
    return sliding(arguments, sizes, dilations or (1,) * len(sizes), rounding)


def pooled_shape(arguments: Arguments) -> Shape:
    """The shape of the output: batches, channels and windows."""
    return (*arguments.shape("data")[:2], *(window.number for window in windows_of(arguments)))


def _as_elements(arguments: Arguments) -> Arguments:
    """The arguments with the padding for as many windows as elements (shape rules, auto_pad = same_upper)."""
    windows = windows_of(arguments)
    if all(window.stride == 1 or not window.is_same for window in windows):
        return arguments
    begin, end = zip(*(window.padded_for(window.length) for window in windows), strict=True)
    return with_attributes(arguments, auto_pad="explicit", rounding_type="floor", pads_begin=begin, pads_end=end)


def _valid_by_formula(arguments: Arguments) -> Arguments:
    """The arguments without the rounding of a mode valid (shape rules, auto_pad = valid)."""
    if arguments.attribute("auto_pad") != "valid":
        return arguments
    return with_attributes(arguments, rounding_type="floor")


def _has_no_room(arguments: Arguments) -> bool:
    return any(window.room < 0 for window in windows_of(arguments))


#: The attributes with the windows, without dilations (Attributes).
WINDOWS = tuple(AttributeSpec(name, type="ints") for name in ("strides", *PADS, "kernel"))
#: The checks of the windows, without dilations.
CHECKS: Mapping[str, Predicate] = {
    **{name: check for name, check in LIST_CHECKS.items() if not name.startswith("dilations.")},
    "kernel.count": is_other_count("kernel"),
    "kernel.positive": is_below("kernel", 1),
    "kernel.room": _has_no_room,
}
#: The other readings of the number of windows, and of data without elements.
READINGS: Mapping[str, Reading] = {
    "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
    "same.size": Reading(rewrites=(_as_elements,)),
    "valid.rounding": Reading(rewrites=(_valid_by_formula,)),
}
