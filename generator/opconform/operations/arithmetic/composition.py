"""The results of formulas whose parts are rounded, as intervals whose ends Arb computes.

Each part adds its own error, and a function that is monotone in each argument maps the ends. So an interval has what
right kernels can have, or kernels with operands of few digits, and does not leave the range of a function.
"""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

import gmpy2
from flint import arb, ctx, fmpq

from opconform.operations.arguments import NoGolden
from opconform.operations.arithmetic.sums import allowed_error, right_error
from opconform.operations.arithmetic.units import DIVISION
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import (
    REDUCED,
    Exact,
    Result,
    Rounded,
    has_few_bits,
    is_narrow,
    largest,
    least_normal,
    unit,
    wide_type,
)

#: The bits of precision of ends; their own error is far below any bound.
PRECISION = 240
_ZERO, _HALF, _DIVISION = Exact(0), Exact(1, 2), Exact(DIVISION)
#: The largest number of which Arb computes a function; beyond it, every function is at a limit in every type.
_FAR = Exact(1 << 16)


class Interval(NamedTuple):
    """The numbers that a part of a formula can be; `overflows` if it can be an infinity as well."""

    low: Exact
    high: Exact
    overflows: bool = False

    @property
    def size(self) -> Exact:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def clipped(self, low: Exact | None, high: Exact | None = None) -> "Interval":
        """The numbers that a function can have."""
        return Interval(
            self.low if low is None else max(self.low, low),
            self.high if high is None else min(self.high, high),
            self.overflows,
        )

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low, self.overflows)


@dataclass(frozen=True, kw_only=True)
class Composition:
    """How the parts of a formula are rounded.

    Attributes:
        kind: The type in which they are computed.
        is_reduced: Whether by reduced arithmetic: operands and parts have few significant bits.
        keeps_exact: Whether parts that the type has are exact.
        is_exact: Whether nothing is rounded.
    """

    kind: ElementType
    is_reduced: bool = False
    keeps_exact: bool = False
    is_exact: bool = False

    def operand(self, number: Exact | Interval) -> Interval:
        """A number that the formula is of, or one that is rounded itself."""
        low, high, overflows = number if isinstance(number, Interval) else (number, number, False)
        if not self.is_reduced or (low == high and has_few_bits(low)):
            return Interval(low, high, overflows)
        return Interval(low - abs(low) * REDUCED / 2, high + abs(high) * REDUCED / 2, overflows)

    def rounded(self, part: Interval, units: Exact = _HALF) -> Interval:
        """A part with an error of some units in the last place.

        Above a power of two within the part, units are twice as large as at its smaller end.
        """
        if self.is_exact:
            return part
        low, high, overflows = part
        below = unit(self.kind, low)
        if low == high:
            if self.keeps_exact and is_number(self.kind, low):
                return part
            error = self._error(low, units * below)
            least, most = low - error, high + error
        else:
            above = unit(self.kind, high)
            least, most = low - self._error(low, units * below), high + self._error(high, units * above)
            if low > 0 and below < above:
                power = below * self._steps
                least = min(least, power - self._error(power, units * 2 * below))
            elif high < 0 and above < below:
                power = above * self._steps
                most = max(most, self._error(power, units * 2 * above) - power)
        return Interval(least, most, overflows or self._is_beyond(least, most))

    @cached_property
    def _steps(self) -> int:
        """How many units there are up to a power of two."""
        return 2 << int(self.kind.layout.nmant)

    @cached_property
    def _most(self) -> Exact:
        return largest(self.kind.name)

    @cached_property
    def _least(self) -> Exact:
        return least_normal(self.kind.name)

    def _error(self, exact: Exact, error: Exact) -> Exact:
        if not self.is_reduced or not exact:
            return error
        return max(error, abs(exact) * REDUCED, self._least)

    def _is_beyond(self, low: Exact, high: Exact) -> bool:
        return high > self._most or low < -self._most

    def sum(self, a: Interval, b: Interval, units: Exact = _HALF) -> Interval:
        """The rounded sum."""
        return self.rounded(Interval(a.low + b.low, a.high + b.high, a.overflows or b.overflows), units)

    def product(self, a: Interval, b: Interval) -> Interval:
        """The rounded product."""
        return self.rounded(_mapped(operator.mul, a, b))

    def quotient(self, a: Interval, b: Interval, units: Exact = _DIVISION) -> Interval:
        """The quotient by a part that is positive; 0 if that can be an infinity."""
        part = self.rounded(_mapped(operator.truediv, a, b), units)
        if not b.overflows:
            return part
        return Interval(min(part.low, _ZERO), max(part.high, _ZERO), a.overflows)

    def total(self, parts: Sequence[Interval]) -> Interval:
        """The sum of parts in any order."""
        part = Interval(
            sum((x.low for x in parts), _ZERO),
            sum((x.high for x in parts), _ZERO),
            any(x.overflows for x in parts),
        )
        size = sum((x.size for x in parts), _ZERO)
        if not size or self.is_exact:
            return part
        if self.keeps_exact and all(x.low == x.high for x in parts):
            error = right_error(self.kind, [x.low for x in parts])
        else:
            error = allowed_error(self.kind, size, len(parts))
        if self.is_reduced:
            error = max(error, size * REDUCED)
        return Interval(part.low - error, part.high + error, part.overflows or self._is_beyond(-size, size + error))

    def applied(
        self, function: "Callable[[arb], arb]", part: Interval, units: int, *, far: Exact | None = _FAR
    ) -> Interval:
        """A monotone function of a part, within some units in the last place; `far` is None if it has no limit."""
        with ctx.workprec(PRECISION):
            ends = [function(_ball(x if far is None else max(min(x, far), -far))) for x in (part.low, part.high)]
            low, high = sorted(_exact(x.mid()) for x in ends)
        return self.rounded(Interval(low, high), Exact(units))


def composed(
    kind: ElementType,
    results: Sequence[Exact],
    parts: Callable[[Composition], Sequence[Interval]],
    *,
    keeps_exact: bool = False,
    is_short: bool = True,
    limits: tuple[int | None, int | None] = (None, None),
) -> list[Result]:
    """Exact results with the intervals that the parts of their formula give, rounded to their type in the end.

    If a result is exact, rounding in any order is less accurate, provided that the operands have few digits
    (`is_short`), and so is 0 for a number below the least normal one. Right results do not leave the limits, and less
    accurate ones not those of 0.

    Args:
        kind: The type of the results; their parts are of its wide type.
        results: The exact results.
        parts: What the formula gives for each result, if its parts are rounded in some way.
        keeps_exact: Whether parts that the type has are exact.
        is_short: Whether the operands have few digits.
        limits: The least and the largest value of the formula; None for an infinity.
    """
    right = parts(_way(kind, keeps_exact=keeps_exact))
    are_exact = [x.low == x.high == y and is_number(kind, y) for x, y in zip(right, results, strict=True)]
    others = [is_short and is_exact for is_exact in are_exact]  # by rounding in any order alone
    inexact = parts(_way(kind)) if any(others) else right
    reduced = right if all(others) else parts(_way(kind, is_reduced=True))
    return [
        _result(kind, y, (y, y) if is_exact else _ends(kind, y, x), _ends(kind, y, less), limits)
        for x, y, is_exact, less in zip(right, results, are_exact, _chosen(others, inexact, reduced), strict=True)
    ]


@cache
def _way(kind: ElementType, *, is_reduced: bool = False, keeps_exact: bool = False) -> Composition:
    """How kernels compute results of a type, in its wide type."""
    return Composition(kind=wide_type(kind), is_reduced=is_reduced, keeps_exact=keeps_exact)


def _chosen(choices: Sequence[bool], ours: Sequence[Interval], others: Sequence[Interval]) -> Iterator[Interval]:
    return (a if is_ours else b for is_ours, a, b in zip(choices, ours, others, strict=True))


def _result(
    kind: ElementType,
    exact: Exact,
    right: "tuple[Exact | float, Exact | float]",
    reduced: "tuple[Exact | float, Exact | float]",
    limits: tuple[int | None, int | None],
) -> Rounded:
    lost = [_ZERO] if abs(exact) < least_normal(kind.name) else []
    (low, high), (least, most) = right, reduced
    least, most = min(low, least, *lost), max(high, most, *lost)
    low = low if limits[0] is None else max(low, Exact(limits[0]))
    high = high if limits[1] is None else min(high, Exact(limits[1]))
    return Rounded(exact, (low, high), (max(least, _ZERO) if limits[0] == 0 else least, most))


def _ends(kind: ElementType, exact: Exact, part: Interval) -> tuple[Exact | float, Exact | float]:
    low, high = min(part.low, exact), max(part.high, exact)
    if is_narrow(kind):
        low, high = low - unit(kind, abs(low)), high + unit(kind, abs(high))
    beyond = Exact(float(wide_type(kind).layout.max))
    is_low, is_high = (part.overflows and sign * end > beyond / 4 for sign, end in ((-1, low), (1, high)))
    return (-math.inf if is_low else low), (math.inf if is_high else high)


def is_number(kind: ElementType, exact: Exact) -> bool:
    """Whether a type has a number."""
    if not exact:
        return True
    return (exact / unit(kind, exact)).denominator == 1 and abs(exact) <= largest(kind.name)


def square_root(number: Exact) -> Exact:
    """The square root of a number; `NoGolden` if it is negative."""
    if number < 0:
        raise NoGolden("a rounded number of which a root is taken may be negative")
    with gmpy2.context(precision=PRECISION, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        return Exact(gmpy2.sqrt(gmpy2.mpfr(number)))


def constant(of: "Callable[[], arb]") -> Interval:
    """A constant that no type has."""
    with ctx.workprec(PRECISION):
        exact = _exact(of().mid())
    return Interval(exact, exact)


def _mapped(of: Callable[[Exact, Exact], Exact], a: Interval, b: Interval) -> Interval:
    """A function that is monotone in each of two parts."""
    ends = [of(x, y) for x, y in product(_ends_of(a), _ends_of(b))]
    return Interval(min(ends), max(ends), a.overflows or b.overflows)


def _ends_of(part: Interval) -> tuple[Exact, ...]:
    return (part.low,) if part.low == part.high else (part.low, part.high)


def _ball(exact: Exact) -> "arb":
    return arb(fmpq(int(exact.numerator), int(exact.denominator)))


def _exact(point: "arb") -> Exact:
    """The number of a ball without a radius."""
    mantissa, exponent = point.man_exp()
    return Exact(int(mantissa)) * Exact(2) ** int(exponent)
