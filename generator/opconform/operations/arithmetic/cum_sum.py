"""CumSum-3, from its specification page: the sums of the elements up to each one along an axis."""

import math

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType
from opconform.operations.arithmetic.elementwise import Keep, elements_of, saturating, tensor_of, without_special
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation import sums as propagation
from opconform.operations.arithmetic.propagation.sums import of_slices
from opconform.operations.arithmetic.sums import OPEN, SUMMED, is_open, partial_sums
from opconform.operations.checks import RANKED
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.exact import bounded_tensor
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor, places_in


def _given_axis(arguments: Arguments) -> int:
    return arguments.integers("axis")[0] if "axis" in arguments.inputs else 0


def _axis(arguments: Arguments) -> int:
    return from_front(_given_axis(arguments), len(arguments.shape("data")))


def _placed(arguments: Arguments, rows: Array) -> Array:
    """Rows in the order in which they are summed, or sums in the order of the output."""
    return rows[..., ::-1] if arguments.attribute("reverse") is True else rows


def _rows(arguments: Arguments, elements: Array) -> Array:
    """The elements of data, with those that are summed along the last axis, in their order."""
    return _placed(arguments, np.moveaxis(elements, _axis(arguments), -1))


def _sums(arguments: Arguments, keep: Keep = low_bits) -> tuple[Tensor, ...]:
    """The output; `keep` gives the integers of the type for those beyond its range."""
    data, axis, is_exclusive = arguments.tensor("data"), _axis(arguments), arguments.attribute("exclusive") is True
    rows = _rows(arguments, elements_of(data))
    sums = np.empty(rows.shape, object)
    for index in places_in(rows, rows.shape[:-1]):
        row = rows[index].tolist()[: len(rows[index]) - is_exclusive]
        if data.type.is_integer:
            partial = [*np.add.accumulate(np.array([*row, None], object)[:-1])] if row else []
        elif any(is_open(data.type, part) for part in (row[:1], row)):
            raise NoGolden(OPEN)
        else:
            partial = partial_sums(data.type, row)
        zero = [0 if data.type.is_integer else 0.0] if is_exclusive else []
        for place, result in enumerate([*zero, *partial]):
            sums[(*index, place)] = result
    placed = np.moveaxis(_placed(arguments, sums), -1, axis)
    if data.type.is_integer:
        return (tensor_of(data.type, placed, keep=keep),)
    return (bounded_tensor(data.element_type, data.shape, placed.reshape(-1).tolist()),)


#: From its specification page.
CUM_SUM = Computation(
    name="CumSum-3",
    inputs=(
        Port("data", types=SUMMED, ranks=RANKED),
        Port("axis", setting=True, optional=True, types=("i32", "i64"), ranks=(0,)),
    ),
    attributes=(
        AttributeSpec("exclusive", type="boolean", default=False),
        AttributeSpec("reverse", type="boolean", default=False),
    ),
    checks={"axis.range": lambda a: is_outside(_given_axis(a), len(a.shape("data")))},
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    calculate=_sums,
    rounded=of_slices(_rows, propagation.partial_sums("exclusive")),
    is_numeric=True,
    products=lambda a: FUNCTION_WORK * math.prod(a.shape("data")),
    contexts={"doubled": contexts.doubled(_axis), "convert": contexts.convert},
    facts={
        "no axis is given": lambda a: "axis" not in a.inputs,
        "the axis is the last one": lambda a: _axis(a) == len(a.shape("data")) - 1,
        "the axis is the first one": lambda a: _axis(a) == 0,
        "exclusive is true": lambda a: a.attribute("exclusive") is True,
        "reverse is true": lambda a: a.attribute("reverse") is True,
        "there is one element along the axis": lambda a: a.shape("data")[_axis(a)] == 1,
    },
    readings={
        "values.wrap": saturating(_sums),
        "values.special": without_special(_sums),
    },
)
