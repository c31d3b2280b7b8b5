"""Powers of rounded numbers, which are monotone in the base and in the exponent of a positive base."""

import math
from itertools import product

import gmpy2

from opconform.operations.arguments import NoGolden
from opconform.operations.arithmetic.composition import PRECISION, Composition, Interval
from opconform.operations.arithmetic.functions import EXPONENT, exact_of_value
from opconform.operations.arithmetic.propagation.spans import Part, point
from opconform.operations.arithmetic.units import UNITS
from opconform.tensors.exact import Exact, is_narrow

_ZERO, _ONE = Exact(0), Exact(1)


def power(way: Composition, base: Part, exponent: Part) -> Part:
    """The power of a positive base, or of any base to an exact integer; `NoGolden` at a pole."""
    if isinstance(base, float) or isinstance(exponent, float):
        raise NoGolden("a power of a rounded number and an infinity is not followed")
    if exponent.low == exponent.high == 0:  # also of NaN (ISO C99, section F.9)
        return point(_ONE)
    part = _exact(way.operand(base), way.operand(exponent))
    if part.low == part.high == 0:
        return part
    units = UNITS["pow"]
    rounded = Composition(kind=way.kind, is_reduced=way.is_reduced, is_exact=way.is_exact).rounded(
        part, Exact(units.narrow if is_narrow(way.kind) else units.wide)
    )
    return rounded.clipped(_ZERO if part.low >= 0 else None, _ZERO if part.high <= 0 else None)


def _exact(base: Interval, exponent: Interval) -> Interval:
    """The powers without an error."""
    number = exponent.low
    is_integer = exponent.low == exponent.high and number.denominator == 1
    if base.low <= 0 and not (is_integer or (base.low == 0 and exponent.low > 0)):
        raise NoGolden("a rounded base may not be positive, or its exponent is rounded")
    if base.low <= 0 <= base.high and number < 0:
        raise NoGolden("a rounded base may be 0, and its exponent is negative")
    if base.low >= 0:
        return _between([_value(x, y) for x, y in product(base[:2], exponent[:2])])
    is_odd = int(number) % 2 == 1
    ends = [_value(abs(x), number) * (-1 if is_odd and x < 0 else 1) for x in base[:2]]
    return _between([*ends, *([_ZERO] if base.high > 0 else [])])


def _between(ends: list[Exact]) -> Interval:
    return Interval(min(ends), max(ends))


def _value(base: Exact, exponent: Exact) -> Exact:
    """The power of a number that is not negative."""
    if not base:
        return _ZERO
    with gmpy2.context(precision=PRECISION, emin=-EXPONENT, emax=EXPONENT):
        value = gmpy2.mpfr(base) ** gmpy2.mpfr(exponent)
    if not gmpy2.is_finite(value) or math.isinf(value):
        raise NoGolden("a power of a rounded number may be beyond every type")
    return exact_of_value(value)
