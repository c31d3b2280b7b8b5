"""Split-1 and VariadicSplit-1 in frameworks: what the harness does where their operations lack a notion."""

from collections.abc import Sequence
from typing import Any

from opconform_runners.backends.backend import Rejected, Stage

#: The length that takes what the others leave.
REMAINDER = -1


def given_axis(axis: Any, stage: Stage) -> Any:
    """The axis, for frameworks that have a default for it.

    Raises:
        Rejected: It is left out.
    """
    if axis is None:
        raise Rejected(stage, "axis is missing; the framework would split the first dimension", "axis.required")
    return axis


def scalar_axis(axis: Any, stage: Stage) -> Any:
    """The axis, or the only element of a list, for frameworks whose axis is a scalar.

    Raises:
        Rejected: It is left out.
    """
    given = given_axis(axis, stage)
    return given[0] if isinstance(given, list) and len(given) == 1 and not isinstance(given[0], list) else given


def filled(lengths: Any, shape: Sequence[Any], axis: Any) -> Any:
    """Lengths with a single -1 replaced by what the others leave of the dimension, be it less than nothing.

    Everything else is left for the framework to refuse: two -1, what is not a list of integers, an axis out of range.
    """
    if not isinstance(lengths, list) or any(type(each) is not int for each in lengths):
        return lengths
    if lengths.count(REMAINDER) != 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return lengths
    rest = shape[axis] - sum(each for each in lengths if each != REMAINDER)
    return [rest if each == REMAINDER else each for each in lengths]


def check_equal_outputs(count: Any, shape: Sequence[int], axis: Any, stage: Stage) -> None:
    """Refuse a number of outputs that does not divide the dimension, for frameworks that make uneven outputs.

    Raises:
        Rejected: The outputs would differ in size.
    """
    if type(count) is not int or count < 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return
    size = shape[axis]
    if size == 0 or size % count == 0:
        return
    requirement = "num_splits.at-most-dimension" if count > size else "num_splits.divides"
    raise Rejected(stage, f"{count} does not divide {size}; the framework would make uneven outputs", requirement)
