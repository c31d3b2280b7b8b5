"""Convert-1 and ConvertLike-1, from their specification pages: the elements of data in another element type."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic import other_conversions as other
from opconform.operations.arithmetic.propagation import conversions
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import Number, encoded_floats, low_bits, nearest, numbers_of, vanishes
from opconform.tensors.tensor import Array, Tensor

#: Every type but strings, which the page does not mention.
TYPES = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind != "string")

#: The types that have no NaN and are no integers, for which an interpretation has a rule.
_NUMBERS_ALONE = ("f4e2m1", "nf4")


_Result = TypeVar("_Result")


def _target(arguments: Arguments) -> ElementType:
    return ELEMENT_TYPES[str(arguments.attribute("destination_type"))]


def _integer(target: ElementType, number: Number) -> int:
    """An integer modulo the range of a type (Detailed description); another number without its fraction, clamped."""
    if isinstance(number, int):
        return low_bits(target, number)
    return 0 if math.isnan(number) else int(min(max(number, target.minimum), target.maximum))


def _has_no_number(arguments: Arguments) -> bool:
    """Whether a type without NaNs gets one, or a type without zeros a number near 0, for which the page has no rule."""
    target, data = _target(arguments), arguments.operand("data")
    if data.is_integer or data.element_type == target.name:
        return False
    numbers = numbers_of(arguments.tensor("data"))
    return any((target.name in _NUMBERS_ALONE and math.isnan(x)) or vanishes(target, x) for x in numbers)


def _elements(target: ElementType, numbers: list[Number]) -> Array:
    if target.kind == "boolean":
        return np.array([number != 0 for number in numbers], np.bool_)
    if target.is_integer:
        return encoded(target.name, [_integer(target, number) for number in numbers])
    return encoded_floats(target, [nearest(target, number) for number in numbers])


def _converted(arguments: Arguments) -> tuple[Tensor, ...]:
    data, target = arguments.tensor("data"), _target(arguments)
    if data.element_type == target.name:  # which keeps the payload of a NaN
        return (data,)
    array = _elements(target, numbers_of(data)).reshape(data.shape)
    return (Tensor(element_type=target.name, array=array),)


def _known(arguments: Arguments) -> tuple[int, ...] | None:
    if arguments.attributes.get("destination_type") not in TYPES:
        raise Unknown
    integers, target = arguments.operand("data").known_integers, _target(arguments)
    return None if integers is None or not target.is_integer else tuple(low_bits(target, x) for x in integers)


def _as_convert(arguments: Arguments) -> Arguments:
    """The arguments of the Convert-1 that a ConvertLike-1 stands for."""
    inputs = {"data": arguments.operand("data")}
    return replace(arguments, inputs=inputs, attributes={"destination_type": arguments.operand("like").element_type})


def _is_undefined(arguments: Arguments) -> bool:
    """Whether the type lacks a number of data, as strings lack all, or is unsigned and data has a negative integer."""
    data, target = arguments.operand("data"), _target(arguments)
    if target.name not in TYPES:
        return True
    is_unsigned = data.is_integer and target.kind == "unsigned"
    return _has_no_number(arguments) or (is_unsigned and any(x < 0 for x in arguments.tensor("data").integers()))


def _through_convert(of: Callable[[Arguments], _Result], arguments: Arguments) -> _Result:
    """What a function of the arguments of Convert-1 gives for those of ConvertLike-1."""
    return of(_as_convert(arguments))


def _of_like(reading: Reading) -> Reading:
    """A reading of Convert-1 as one of ConvertLike-1."""
    return replace(reading, computes=tuple(partial(_through_convert, of) for of in reading.computes))


CONVERT = Computation(
    name="Convert-1",
    inputs=(Port("data", types=TYPES),),
    attributes=(AttributeSpec("destination_type", type="enum", values=TYPES),),
    types=lambda a: (TensorType(element_type=_target(a).name, shape=a.shape("data")),),
    calculate=_converted,
    rounded=conversions.converted(_target),
    undefined=_has_no_number,
    integer_output=_known,
    contexts={"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0)},
    facts={
        "the types are equal": lambda a: a.operand("data").element_type == _target(a).name,
        "the destination type is narrower": lambda a: (
            ELEMENT_TYPES[a.operand("data").element_type].bits > _target(a).bits
        ),
    },
    readings={
        "integers.wrap": other.reading_of(_converted, other.integer_clamped),
        "fractions.dropped": other.reading_of(_converted, *map(other.integer_beside, (math.floor, math.ceil))),
        "floats.clamped": other.reading_of(
            _converted,
            *map(other.float_wrapped, (math.floor, math.ceil)),
            *map(other.float_clamped_to, (32, 64)),
            *(other.processor_integer(of, is_nan=False) for of in other.PROCESSOR_INTEGERS),
        ),
        "floats.nan": other.reading_of(
            _converted, *(other.processor_integer(of, is_nan=True) for of in other.PROCESSOR_INTEGERS)
        ),
        "floats.nearest": other.reading_of(_converted, other.float_below, other.float_above),
        "floats.overflow": other.reading_of(_converted, other.saturated, other.overflowed),
        "booleans.nonzero": other.reading_of(_converted, other.untrue),
        "values.negative": replace(other.reading_of(_converted, other.negative_clamped), misreads=True),
    },
)
CONVERT_LIKE = Computation(
    name="ConvertLike-1",
    inputs=(Port("data", types=TYPES), Port("like", setting=True, filled=True)),
    types=lambda a: CONVERT.types(_as_convert(a)),
    calculate=lambda a: CONVERT.calculate(_as_convert(a)),
    rounded=conversions.converted(lambda a: _target(_as_convert(a))),
    undefined=lambda a: _is_undefined(_as_convert(a)),
    integer_output=lambda a: _known(_as_convert(a)),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={fact: partial(_through_convert, holds) for fact, holds in CONVERT.facts.items()},
    readings={id_: _of_like(reading) for id_, reading in CONVERT.readings.items() if not reading.misreads},
)
