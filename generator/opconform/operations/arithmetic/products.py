"""Products of many factors: their exact results, and how large an error is right (ReduceProd-1).

A product of n factors is rounded at most n times, each time by a factor within 1 ± u, where u is half a unit in the
last place of 1. So its relative error is at most (1 + u)^n - 1, which is little more than n half units, in any order.
"""

import math
from collections.abc import Sequence

from opconform.operations.arguments import NoGolden
from opconform.operations.arithmetic.sums import OPEN
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REDUCED, Exact, Result, has_few_bits, largest, least_normal, within


def product_of(kind: ElementType, factors: Sequence[float]) -> Result:
    """The product of some numbers of a type. A result below the least normal number may be lost.

    `NoGolden` if their order decides whether it overflows or underflows.
    """
    if any(map(math.isnan, factors)) or (0.0 in factors and any(map(math.isinf, factors))):
        return math.nan
    sign = math.prod(math.copysign(1.0, x) for x in factors)
    sizes = [abs(Exact(x)) for x in factors if x and math.isfinite(x)]
    large, small = (math.prod((of(x, Exact(1)) for x in sizes), start=Exact(1)) for of in (max, min))
    most, least = largest(kind.name), least_normal(kind.name)
    if (
        small < least
        if any(map(math.isinf, factors))
        else (large > most and (small < 1 or 0.0 in factors)) or (small < least and large > 1 and 0.0 not in factors)
    ):
        raise NoGolden(OPEN)
    if any(map(math.isinf, factors)) or 0.0 in factors:
        return sign * (0.0 if 0.0 in factors else math.inf)
    exact, bits = Exact(sign) * large * small, int(kind.layout.nmant) + 1
    lost = least if small < least else Exact(0)
    rounding, reduced = (abs(exact) * ((1 + part) ** len(factors) - 1) + lost for part in (Exact(2) ** -bits, REDUCED))
    if large <= most and small >= least and odd_part(exact).bit_length() <= bits:
        return within(exact, Exact(0), rounding if all(map(has_few_bits, sizes)) else reduced)
    return within(exact, rounding, reduced)


def odd_part(exact: Exact) -> int:
    """The numerator without factors of 2, which no product of some of the factors exceeds."""
    number = abs(int(exact.numerator))
    return number // (number & -number)
