"""What other readings of Convert-1's page make of the numbers that the destination type lacks."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import NF4, Number, encoded_floats, largest, low_bits, nearest, numbers_of
from opconform.tensors.tensor import Array, Tensor, patterns

#: The element of a type that a number of data becomes by another reading; None where the reading is not about it.
Way = Callable[[ElementType, Number], Number | None]


def _clamped(target: ElementType, integer: int) -> int:
    return min(max(integer, target.minimum), target.maximum)


def _is_beyond(target: ElementType, number: Number) -> bool:
    """Whether a number with a fraction is beyond an integer type, even without its fraction."""
    is_number = target.is_integer and isinstance(number, float) and not math.isnan(number)
    return is_number and not target.minimum - 1 < number < target.maximum + 1


def integer_clamped(target: ElementType, number: Number) -> Number | None:
    """The nearest integer of a type; not for negative ones and unsigned types, for which the page has a rule."""
    if not isinstance(number, int) or not target.is_integer or (number < 0 and target.kind == "unsigned"):
        return None
    return _clamped(target, number)


def negative_clamped(target: ElementType, number: Number) -> Number | None:
    """0 for a negative integer and an unsigned type, against the rule of the page."""
    is_negative = target.kind == "unsigned" and isinstance(number, int) and number < 0
    return 0 if is_negative else None


def integer_beside(rounded: Callable[[float], int]) -> Way:
    """The integer below or above a number with a fraction, of which the type keeps the low bits."""

    def way(target: ElementType, number: Number) -> Number | None:
        is_open = target.is_integer and isinstance(number, float) and math.isfinite(number) and number % 1 != 0
        return low_bits(target, rounded(number)) if is_open and not _is_beyond(target, number) else None

    return way


def float_wrapped(rounded: Callable[[float], int]) -> Way:
    """The low bits of the integer below or above a number beyond an integer type, and 0 for an infinity."""

    def way(target: ElementType, number: Number) -> Number | None:
        if not _is_beyond(target, number):
            return None
        return 0 if math.isinf(number) else low_bits(target, rounded(number))

    return way


def float_clamped_to(bits: int) -> Way:
    """The low bits of the integer, clamped to a signed type of so many bits first."""

    def way(target: ElementType, number: Number) -> Number | None:
        limit = 1 << (bits - 1)
        return low_bits(target, int(min(max(number, -limit), limit - 1))) if _is_beyond(target, number) else None

    return way


def processor_integer(of: Callable[[ElementType], int], *, is_nan: bool) -> Way:
    """The integer that processors give in place of a NaN, or of a number beyond an integer type."""

    def way(target: ElementType, number: Number) -> Number | None:
        is_open = target.is_integer and math.isnan(number) if is_nan else _is_beyond(target, number)
        return of(target) if is_open else None

    return way


#: The integers that processors give: the low bits of the least ones of 32 and 64 bits, the least of the type, as after
#: packing with saturation, all bits set, and the largest of the type.
PROCESSOR_INTEGERS: tuple[Callable[[ElementType], int], ...] = (
    lambda target: low_bits(target, -(1 << 31)),
    lambda target: low_bits(target, -(1 << 63)),
    lambda target: target.minimum,
    lambda target: low_bits(target, -1),
    lambda target: target.maximum,
)


def _is_between(target: ElementType, number: Number) -> bool:
    """Whether a number is within the range of a floating-point type, which may lack it."""
    return target.kind == "float" and math.isfinite(number) and abs(number) <= largest(target)


def float_below(target: ElementType, number: Number) -> Number | None:
    """The number of a floating-point type that is next in the direction of zero."""
    if target.kind == "lookup":
        return max((x for x in NF4 if x <= number), default=None)
    return nearest(target, number, is_truncated=True) if _is_between(target, number) else None


def float_above(target: ElementType, number: Number) -> Number | None:
    """The number of a floating-point type that is next in the direction of the infinities."""
    if target.kind == "lookup":
        return min((x for x in NF4 if x >= number), default=None)
    if not _is_between(target, number):
        return None
    below = float(nearest(target, number, is_truncated=True))
    return number if below == number else math.copysign(abs(below) + _unit(target, below), number)


def _unit(target: ElementType, number: float) -> float:
    """The distance from a number of a type to the next one in the direction of the infinities."""
    exponent = math.frexp(number)[1] - 1 if number else int(target.layout.minexp)
    return math.ldexp(1.0, max(exponent, int(target.layout.minexp)) - int(target.layout.nmant))


def _is_too_large(target: ElementType, number: Number) -> bool:
    return target.kind == "float" and not math.isnan(number) and abs(number) > largest(target)


def saturated(target: ElementType, number: Number) -> Number | None:
    """The largest number of a floating-point type, also for an infinity in a type without."""
    is_kept = math.isinf(number) and target.name not in ("f8e4m3", "f8e8m0", "f4e2m1")
    return math.copysign(float(largest(target)), number) if _is_too_large(target, number) and not is_kept else None


def overflowed(target: ElementType, number: Number) -> Number | None:
    """An infinity, also for a number that is nearer to the largest one of its type."""
    return math.copysign(math.inf, number) if _is_too_large(target, number) else None


def untrue(target: ElementType, number: Number) -> Number | None:
    """False for a number other than 0 and 1, of which a type in between or a bit is 0, and for a NaN."""
    return False if target.kind == "boolean" and number not in (0, 1) else None


def reading_of(calculate: Calculate, *ways: Way) -> Reading:
    """Another reading, by which each element is the one that is computed, or the one of one of its ways."""
    return Reading(computes=tuple(partial(_otherwise, calculate, way) for way in ways), by_element=True)


def _has_every(target: ElementType, source: ElementType) -> bool:
    """Whether an integer type has all integers of another one."""
    is_known = target.is_integer and source.is_integer
    return is_known and target.minimum <= source.minimum and source.maximum <= target.maximum


def _otherwise(calculate: Calculate, way: Way, arguments: Arguments) -> tuple[Tensor, ...]:
    """The output of another reading; `Unknown` if it is ours."""
    data, target = arguments.tensor("data"), ELEMENT_TYPES[str(arguments.attribute("destination_type"))]
    if data.element_type == target.name or _has_every(target, data.type):
        raise Unknown
    changed = {place: x for place, number in enumerate(numbers_of(data)) if (x := way(target, number)) is not None}
    if not changed:
        raise Unknown
    [output] = calculate(arguments)
    array = _replaced(target, output.array, changed)
    if np.array_equal(patterns(array), patterns(output.array)):
        raise Unknown
    return (replace(output, array=array),)


def _replaced(target: ElementType, array: Array, changed: dict[int, Number]) -> Array:
    """An array with some elements replaced; the others keep their bits, even a NaN."""
    flat, numbers = array.flatten(), [*changed.values()]
    encode = encoded_floats if target.kind in ("float", "lookup") else _encoded
    flat[[*changed]] = encode(target, numbers)
    return flat.reshape(array.shape)


def _encoded(target: ElementType, numbers: list[Number]) -> Array:
    return encoded(target.name, numbers)
