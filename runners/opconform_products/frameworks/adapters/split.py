"""How Split-1, VariadicSplit-1 and Concat-1 become calls of a framework."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.constraints import refuse_if

#: The length that takes what the others leave.
REMAINDER = -1
#: The constraint that frameworks have no concept of, since an axis has a default.
_AXIS = ("axis.required",)
#: What Python's numbers fulfil.
_NUMBER = ("axis.element-type",)
_LENGTHS = (*_NUMBER, "axis.shape", "lengths.element-type", "types.independent")
_REMAINDER = ("lengths.remainder", "lengths.remainder-sum", "lengths.remainder-zero")


def _even(data: Any, axis: Any, *, num_splits: Any) -> Sequence[Any]:
    return axis, data, num_splits


def _divided(data: Any, axis: Any, *, num_splits: Any) -> Sequence[Any]:
    if data is not None:
        check_equal_outputs(num_splits, data.shape, axis)
    return axis, data, num_splits


def _sized(data: Any, axis: Any, lengths: Any) -> Sequence[Any]:
    along = scalar_axis(axis)
    return along, data, lengths if data is None else filled(lengths, data.shape, along)


def scalar_axis(axis: Any) -> Any:
    """The axis, or the only element of a list or array, for frameworks whose axis is a scalar."""
    if isinstance(axis, np.ndarray) and axis.shape == (1,):
        return axis.reshape(())
    return axis[0] if isinstance(axis, list) and len(axis) == 1 and not isinstance(axis[0], list) else axis


def filled(lengths: Any, shape: Sequence[Any], axis: Any) -> Any:
    """Lengths with a single -1 replaced by what the others leave of the dimension, even if that is negative.

    Everything else is left for the framework to refuse: two -1, anything but a list of integers, an axis out of range.
    """
    if not isinstance(lengths, list) or any(type(length) is not int for length in lengths):
        return lengths
    if lengths.count(REMAINDER) != 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return lengths
    rest = shape[axis] - sum(length for length in lengths if length != REMAINDER)
    return [rest if length == REMAINDER else length for length in lengths]


def check_equal_outputs(count: Any, shape: Sequence[int], axis: Any) -> None:
    """Raise `Rejected` if the number of outputs does not divide the dimension, for frameworks with uneven outputs."""
    if type(count) is not int or count < 1 or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return
    size = shape[axis]
    refuse_if(0 < size < count, "num_splits.at-most-dimension")
    refuse_if(size % count, "num_splits.divides")


#: The axis, and a list of tensors.
CONCAT = Adapter(lambda *tensors, axis: (axis, [*tensors]), constraints=_AXIS)
#: The axis, data, and the number of outputs.
EVEN = Adapter(_even, _NUMBER, _AXIS)
#: The same, for functions that make uneven outputs where the number does not divide the dimension.
DIVIDED = Adapter(_divided, (*_NUMBER, "num_splits.at-most-dimension", "num_splits.divides"), _AXIS)
#: The axis, data, and the lengths of the outputs.
SIZED = Adapter(_sized, (*_LENGTHS, *_REMAINDER), _AXIS)
#: The same, for functions that would take one number as the length of every output.
SIZED_BY_LIST = SIZED._replace(constraints=(*_AXIS, "lengths.rank"))
#: The axis, data, and the lengths with a -1, for functions that take one.
LENGTHS = Adapter(lambda data, axis, lengths: (axis, data, lengths), _LENGTHS, _AXIS)
