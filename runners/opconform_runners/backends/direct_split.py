"""Split-1, VariadicSplit-1 and Concat-1 in a framework's functions, and what the harness does on their behalf."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Functions, Support, padded
from opconform_runners.backends.exceptions import Call

#: The length that takes what the others leave.
REMAINDER = -1

#: The requirements that the harness fulfils for every framework: they have a default axis and take Python's numbers.
MAPPED: Mapping[str, tuple[str, ...]] = {
    "Concat-1": ("axis.required",),
    "Split-1": ("axis.element-type", "axis.required"),
    "VariadicSplit-1": (
        "axis.element-type",
        "axis.required",
        "axis.shape",
        "lengths.element-type",
        "types.independent",
    ),
}
_REMAINDER_MAPPED = ("lengths.remainder", "lengths.remainder-sum", "lengths.remainder-zero")
_EVEN_MAPPED = ("num_splits.at-most-dimension", "num_splits.divides")


def split_operations(functions: Functions) -> Mapping[str, Support]:
    """How a framework executes each operation."""
    stage = functions.stage

    def concat(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        if inputs and all(isinstance(each, list) for each in inputs):  # of numbers, for a control input
            return [[number for each in inputs for number in each]]
        along = given_axis(attributes.get("axis"), stage)
        return [call(functions.concat, list(inputs), **{functions.axis: along})]

    def split(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
        data, axis = padded(inputs, 2)
        along = given_axis(axis, stage)
        if functions.is_uneven and data is not None:
            check_equal_outputs(attributes.get("num_splits"), data.shape, along, stage)
        given = [each for each in (data, attributes.get("num_splits")) if each is not None]
        return list(call(functions.split, *given, **{functions.axis: along}))

    def variadic_split(call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
        data, axis, lengths = padded(inputs, 3)
        along = scalar_axis(axis, stage)
        if functions.takes_scalar_lengths and lengths is not None and not isinstance(lengths, list):
            said = "split_lengths is a scalar; the framework would take it as the size of every output"
            raise Rejected(stage, said, "lengths.rank")
        sizes = lengths if data is None else filled(lengths, data.shape, along)
        given = [each for each in (data, sizes) if each is not None]
        return list(call(functions.split_with_sizes, *given, **{functions.axis: along}))

    even = (*MAPPED["Split-1"], *(_EVEN_MAPPED if functions.is_uneven else ()))
    scalar = ("lengths.rank",) if functions.takes_scalar_lengths else ()
    return {
        "Concat-1": Support(execute=concat, mapped=MAPPED["Concat-1"]),
        "Split-1": Support(execute=split, mapped=even),
        "VariadicSplit-1": Support(
            execute=variadic_split, mapped=tuple(sorted({*MAPPED["VariadicSplit-1"], *_REMAINDER_MAPPED, *scalar}))
        ),
    }


def _constant(_call: Call, _inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    value: Any = attributes["value"]
    return [list(value) if attributes["shape"] else value[0]]


def _shape_of(_call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
    return [list(inputs[0].shape)]


#: Python's own numbers, and the list that Python makes of the shape of a tensor, as users of a framework write it.
CONSTANT, SHAPE_OF = Support(execute=_constant), Support(execute=_shape_of)


def given_axis(axis: Any, stage: Stage) -> Any:
    """The axis; `Rejected` if it is omitted, since frameworks have a default for it."""
    if axis is None:
        raise Rejected(stage, "axis is missing; the framework would use the first dimension", "axis.required")
    return axis


def scalar_axis(axis: Any, stage: Stage) -> Any:
    """The axis, or the only element of a list or array, for frameworks whose axis is a scalar."""
    given = given_axis(axis, stage)
    if isinstance(given, np.ndarray) and given.shape == (1,):
        return given.reshape(())
    return given[0] if isinstance(given, list) and len(given) == 1 and not isinstance(given[0], list) else given


def filled(lengths: Any, shape: Sequence[Any], axis: Any) -> Any:
    """Lengths with a single -1 replaced by what the others leave of the dimension, even if that is negative.

    Everything else is left for the framework to refuse: two -1, anything but a list of integers, an axis out of range.
    """
    if not isinstance(lengths, list) or any(type(each) is not int for each in lengths):
        return lengths
    if lengths.count(REMAINDER) != 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return lengths
    rest = shape[axis] - sum(each for each in lengths if each != REMAINDER)
    return [rest if each == REMAINDER else each for each in lengths]


def check_equal_outputs(count: Any, shape: Sequence[int], axis: Any, stage: Stage) -> None:
    """Raise `Rejected` if the number of outputs does not divide the dimension, for frameworks with uneven outputs."""
    if type(count) is not int or count < 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return
    size = shape[axis]
    if size == 0 or size % count == 0:
        return
    requirement = "num_splits.at-most-dimension" if count > size else "num_splits.divides"
    raise Rejected(stage, f"{count} does not divide {size}; the framework would make uneven outputs", requirement)
