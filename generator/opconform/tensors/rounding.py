"""The exact numbers of elements, and numbers rounded to an element type."""

import math
from fractions import Fraction

import numpy as np

from opconform.tensors.element_types import ElementType
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Array, Tensor

Number = int | float
#: The numbers of nf4 by their codes, which f32 has exactly.
NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
    *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
    *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


def numbers_of(tensor: Tensor) -> list[Number]:
    """The elements of a tensor of any type but `string` as exact numbers, in row-major order; true is 1."""
    flat, kind = tensor.array.reshape(-1), tensor.type
    if kind.kind == "lookup":
        return [NF4[code] for code in flat.tolist()]
    if kind.kind != "float":
        return [*tensor.integers()]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return [*map(float, flat.view(kind.arithmetic).astype(np.float64).tolist())]


def low_bits(element_type: ElementType, integer: int) -> int:
    """The integer of a type that is congruent modulo 2 to the power of its width."""
    return (integer - element_type.minimum) % (1 << element_type.bits) + element_type.minimum


def largest(element_type: ElementType) -> Fraction:
    """The largest number of a floating-point type."""
    return Fraction(float(element_type.layout.max))


def nearest(element_type: ElementType, number: Number, *, is_truncated: bool = False) -> Number:
    """A number rounded to the nearest one of a floating-point type without limits, and to the even one of two.

    `is_truncated` rounds towards zero instead.
    """
    if not number or not math.isfinite(number) or element_type.kind == "lookup":
        return number
    layout, exact = element_type.layout, abs(Fraction(number))
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= exact < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, int(layout.minexp)) - int(layout.nmant))
    count = exact // unit if is_truncated else round(exact / unit)
    return math.copysign(float(count * unit) if count * unit < 1 << 1024 else math.inf, number)


def vanishes(element_type: ElementType, number: Number) -> bool:
    """Whether a number other than 0 would be rounded to 0 in a floating-point type that has no zero."""
    return element_type.name == "f8e8m0" and number != 0 and nearest(element_type, number) == 0


def encoded_floats(element_type: ElementType, numbers: list[Number]) -> Array:
    """Numbers that a floating-point type has, or the nearest ones of nf4, as a flat array in the storage dtype.

    What is beyond its range becomes an infinity, a NaN in a type without, or the largest number in one without both.
    Every NaN is the quiet one without a payload.
    """
    if element_type.kind == "lookup":
        codes = [min(range(len(NF4)), key=lambda code: abs(NF4[code] - number)) for number in numbers]
        return np.array(codes, element_type.storage)
    most = float(largest(element_type))
    if element_type.name == "f4e2m1":
        numbers = [max(-most, min(number, most)) for number in numbers]
    beyond = {"f8e4m3": math.nan, "f8e8m0": math.nan}.get(element_type.name, math.inf)
    kept = (math.nan if math.isnan(x) else math.copysign(beyond, x) if abs(x) > most else float(x) for x in numbers)
    return encoded(element_type.name, [*kept])
