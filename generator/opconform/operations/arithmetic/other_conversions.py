"""How other readings of Convert-1's page convert what the page leaves open."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.interpretation import Reading
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import Number, encoded_floats, largest, low_bits, nearest, numbers_of
from opconform.tensors.tensor import Tensor, patterns

#: The element of a type that a number of data becomes by another reading; None where it does not differ.
Way = Callable[[ElementType, Number], Number | None]
_Compute = Callable[[Arguments], tuple[Tensor, ...]]


def _is_beyond(target: ElementType, number: Number) -> bool:
    return target.is_integer and not math.isnan(number) and not target.minimum - 1 < number < target.maximum + 1


def integer_clamped(target: ElementType, number: Number) -> Number | None:
    """The nearest integer of a type; not for negative ones and unsigned types, for which the page has a rule."""
    if not isinstance(number, int) or not target.is_integer or (number < 0 and target.kind == "unsigned"):
        return None
    return min(max(number, target.minimum), target.maximum)


def fraction_rounded(target: ElementType, number: Number) -> Number | None:
    """The nearest integer, and the even one of two."""
    is_inside = target.is_integer and isinstance(number, float) and target.minimum <= number <= target.maximum
    return round(number) if is_inside else None


def float_wrapped(target: ElementType, number: Number) -> Number | None:
    """The low bits of the integer, and 0 for an infinity."""
    if isinstance(number, int) or not _is_beyond(target, number):
        return None
    return 0 if math.isinf(number) else low_bits(target, int(number))


def float_clamped_to(bits: int) -> Way:
    """The low bits of the integer, clamped to a signed type of so many bits first."""

    def way(target: ElementType, number: Number) -> Number | None:
        limit = 1 << (bits - 1)
        is_open = isinstance(number, float) and _is_beyond(target, number)
        return low_bits(target, int(min(max(number, -limit), limit - 1))) if is_open else None

    return way


def indefinite(bits: int, *, is_nan: bool) -> Way:
    """The low bits of the least integer of so many bits, which processors give in place of a NaN or a number beyond."""

    def way(target: ElementType, number: Number) -> Number | None:
        is_open = math.isnan(number) if is_nan else isinstance(number, float) and _is_beyond(target, number)
        return low_bits(target, -(1 << (bits - 1))) if target.is_integer and is_open else None

    return way


def nan_largest(target: ElementType, number: Number) -> Number | None:
    """The largest integer in place of a NaN."""
    return target.maximum if target.is_integer and math.isnan(number) else None


def truncated(target: ElementType, number: Number) -> Number | None:
    """The number of a floating-point type that is next in the direction of zero."""
    is_inside = target.kind == "float" and math.isfinite(number) and abs(number) <= largest(target)
    return nearest(target, number, is_truncated=True) if is_inside else None


def rounded_twice(target: ElementType, number: Number) -> Number | None:
    """The nearest number of f32, rounded again; a number that the type has is kept."""
    is_inside = target.kind == "float" and math.isfinite(number) and abs(number) <= largest(target)
    is_open = is_inside and nearest(target, number) != number
    return nearest(target, nearest(ELEMENT_TYPES["f32"], number)) if is_open else None


def saturated(target: ElementType, number: Number) -> Number | None:
    """The largest number of a floating-point type."""
    if target.kind != "float" or not math.isfinite(number) or abs(number) <= largest(target):
        return None
    return math.copysign(float(largest(target)), number)


def whole_truth(target: ElementType, number: Number) -> Number | None:
    """Whether a number without its fraction is not 0; a NaN is false."""
    return None if target.kind != "boolean" or math.isinf(number) else not math.isnan(number) and int(number) != 0


def odd_truth(target: ElementType, number: Number) -> Number | None:
    """Whether the last bit of an integer is set."""
    return bool(number & 1) if target.kind == "boolean" and isinstance(number, int) else None


def reading_of(compute: _Compute, *ways: Way) -> Reading:
    """Another reading, whose outputs are the ones that are computed, but for what one of its ways changes."""
    return Reading(rewrites=tuple(partial(_otherwise, compute, way) for way in ways))


def _otherwise(compute: _Compute, way: Way, arguments: Arguments) -> Arguments:
    """The arguments with the other output as data, which is then of the destination type; the same if it is ours."""
    data = arguments.operand("data").tensor
    if data is None:
        return arguments
    [output] = compute(arguments)
    target = ELEMENT_TYPES[output.element_type]
    changed = {place: x for place, number in enumerate(numbers_of(data)) if (x := way(target, number)) is not None}
    numbers = [*changed.values()]
    flat = output.array.flatten()  # the other elements keep their bits, also those of a NaN
    flat[[*changed]] = encoded_floats(target, numbers) if target.kind == "float" else encoded(target.name, numbers)
    array = flat.reshape(output.shape)
    if np.array_equal(patterns(array), patterns(output.array)):
        return arguments
    tensor = Tensor(element_type=target.name, array=array)
    other = Operand(element_type=target.name, shape=output.shape, tensor=tensor)
    return replace(arguments, inputs={**arguments.inputs, "data": other})
