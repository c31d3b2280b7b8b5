"""What functions of operands of few digits can be: the reduced bounds of functions other than composites.

Unit tests check these bounds, not the cases of operations: a backend has no bounds to get wrong.
"""

import math
from collections.abc import Callable
from itertools import product

import gmpy2

from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REDUCED, Exact, Rounded, has_few_bits, least_normal

#: The ends of what a function can be; a float is an infinity.
Ends = tuple[Exact | float, Exact | float]
#: Powers beyond 2 to this or its inverse are infinite or near 0 in every type.
FAR = 1 << 15


def reduced_result(
    kind: ElementType,
    exact: Exact,
    error: Exact,
    ends: Ends,
    limits: tuple[int | None, int | None] = (None, None),
) -> Rounded:
    """A value with the error that is right, and those of reduced arithmetic at the ends of its operand.

    Right values do not leave the limits, and less accurate ones not those of 0. Values below the least normal
    number may be lost.
    """
    least = least_normal(kind.name)
    low, high = exact - error, exact + error
    wide = [
        end if isinstance(end, float) else end + sign * max(abs(end) * REDUCED, least)
        for sign, end in zip((-1, 1), sorted(ends), strict=True)
    ]
    least_right, most_right = limits
    right = (
        low if least_right is None else max(low, Exact(least_right)),
        high if most_right is None else min(high, Exact(most_right)),
    )
    reduced = (min(low, wide[0]), max(high, wide[1]))
    return Rounded(exact, right, (max(reduced[0], Exact(0)) if least_right == 0 else reduced[0], reduced[1]))


def power_ends(value_of: Callable[[float, float], gmpy2.mpfr], base: float, exponent: float, exact: Exact) -> Ends:
    """The powers at the ends of operands of few digits; a negative base has no power to an end of the exponent."""
    if not (base and math.isfinite(base) and math.isfinite(exponent)):
        return exact, exact
    bases, exponents = (
        (abs(x),) if has_few_bits(Exact(x)) else tuple(abs(x) * (1 + side * float(REDUCED) / 2) for side in (-1, 1))
        for x in (base, exponent)
    )
    if base < 0:
        exponents = (abs(exponent),)
    powers: list[Exact | float] = []
    for x, y in product(bases, exponents):
        value = value_of(x, math.copysign(y, exponent))
        is_far = not gmpy2.is_finite(value) or gmpy2.frexp(value)[0] > FAR
        powers.append(math.inf if is_far else Exact(value) if value and gmpy2.frexp(value)[0] > -FAR else Exact(0))
    sign = 1 if exact > 0 else -1
    low, high = sorted((min(powers) * sign, max(powers) * sign))
    return low, high
