"""The results of formulas whose parts are rounded, as intervals whose ends Arb computes.

Each part adds its own error, and a function that is monotone in each argument maps the ends. So an interval has what
right kernels can have, or kernels with operands of few digits, and does not leave the range of a function.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from flint import arb, ctx, fmpq

from opconform.operations.arithmetic.sums import allowed_error, right_error
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
#: The units in the last place of a division (OpenCL C 3.0, section 7.4).
DIVISION = 3
_HALF = Exact(1, 2)
#: The largest number of which Arb computes a function; beyond it, every function is at a limit in every type.
_FAR = 1 << 16


@dataclass(frozen=True, slots=True)
class Interval:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Composition:
    """How the parts of a formula are rounded.

    Attributes:
        kind: The type in which they are computed.
        is_reduced: Whether by reduced arithmetic: operands and parts have few significant bits.
        keeps_exact: Whether parts that the type has are exact.
    """

    kind: ElementType
    is_reduced: bool = False
    keeps_exact: bool = False

    def operand(self, exact: Exact) -> Interval:
        """A number that the formula is of."""
        error = Exact(0) if not self.is_reduced or has_few_bits(exact) else abs(exact) * REDUCED / 2
        return Interval(exact - error, exact + error)

    def rounded(self, part: Interval, units: Exact = _HALF) -> Interval:
        """A part with an error of some units in the last place."""
        if self.keeps_exact and part.low == part.high and is_number(self.kind, part.low):
            return part
        low, high = part.low - self._error(part.low, units), part.high + self._error(part.high, units)
        if part.low > 0 and (power := self._power_above(part.low)) <= part.high:
            low = min(low, power - self._error(power, units))
        if part.high < 0 and (power := self._power_above(-part.high)) <= -part.low:
            high = max(high, self._error(power, units) - power)
        return Interval(low, high, part.overflows or self._is_beyond(low, high))

    def _power_above(self, exact: Exact) -> Exact:
        """The next power of two above a positive number, from which on units are twice as large."""
        return unit(self.kind, exact) * 2 ** (int(self.kind.layout.nmant) + 1)

    def _error(self, exact: Exact, units: Exact) -> Exact:
        error = units * unit(self.kind, exact)
        if not self.is_reduced or not exact:
            return error
        return max(error, abs(exact) * REDUCED, least_normal(self.kind.name))

    def _is_beyond(self, low: Exact, high: Exact) -> bool:
        return max(-low, high) > largest(self.kind.name)

    def sum(self, a: Interval, b: Interval, units: Exact = _HALF) -> Interval:
        """The rounded sum."""
        return self.rounded(Interval(a.low + b.low, a.high + b.high, a.overflows or b.overflows), units)

    def product(self, a: Interval, b: Interval) -> Interval:
        """The rounded product."""
        return self.rounded(_mapped(lambda x, y: x * y, a, b))

    def quotient(self, a: Interval, b: Interval, units: Exact | None = None) -> Interval:
        """The quotient by a part that is positive; 0 if that can be an infinity."""
        part = self.rounded(_mapped(lambda x, y: x / y, a, b), units or Exact(DIVISION))
        if not b.overflows:
            return part
        return Interval(min(part.low, Exact(0)), max(part.high, Exact(0)), a.overflows)

    def total(self, parts: Sequence[Interval]) -> Interval:
        """The sum of parts in any order."""
        part = Interval(
            sum((x.low for x in parts), Exact(0)),
            sum((x.high for x in parts), Exact(0)),
            any(x.overflows for x in parts),
        )
        size = sum((x.size for x in parts), Exact(0))
        if not size:
            return part
        if self.keeps_exact and all(x.low == x.high for x in parts):
            error = right_error(self.kind, [x.low for x in parts])
        else:
            error = allowed_error(self.kind, size, len(parts))
        if self.is_reduced:
            error = max(error, size * REDUCED)
        return Interval(part.low - error, part.high + error, part.overflows or self._is_beyond(-size, size + error))

    def applied(self, function: "Callable[[arb], arb]", part: Interval, units: int) -> Interval:
        """A monotone function of a part, within some units in the last place."""
        with ctx.workprec(PRECISION):
            ends = [function(_ball(max(min(x, Exact(_FAR)), Exact(-_FAR)))) for x in (part.low, part.high)]
            low, high = sorted(_exact(x.mid()) for x in ends)
        return self.rounded(Interval(low, high), Exact(units))


def compositions(kind: ElementType, *, keeps_exact: bool = False) -> tuple[Composition, Composition, Composition]:
    """How kernels compute results of a type: rightly, without gaining from exact parts, and by reduced arithmetic."""
    wide = wide_type(kind)
    return (
        Composition(kind=wide, keeps_exact=keeps_exact),
        Composition(kind=wide),
        Composition(kind=wide, is_reduced=True),
    )


def composed(
    kind: ElementType,
    exact: Exact,
    *ways: Interval,
    is_short: bool = True,
    limits: tuple[int | None, int | None] = (None, None),
) -> Result:
    """A result with its intervals, in the order of `compositions`, which is rounded to its type in the end.

    If it is exact, rounding in any order is less accurate, provided that the operands have few digits (`is_short`), and
    so is 0 for a number below the least normal one. Right results do not leave the limits, and less accurate ones not
    those of 0.
    """
    right, inexact, reduced = ways
    is_exact = right.low == right.high == exact and is_number(kind, exact)
    low, high = (exact, exact) if is_exact else _ends(kind, exact, right)
    least, most = _ends(kind, exact, inexact if is_exact and is_short else reduced)
    lost = [Exact(0)] if abs(exact) < least_normal(kind.name) else []
    least, most = min(low, least, *lost), max(high, most, *lost)
    low = low if limits[0] is None else max(low, Exact(limits[0]))
    high = high if limits[1] is None else min(high, Exact(limits[1]))
    return Rounded(exact, (low, high), (max(least, Exact(0)) if limits[0] == 0 else least, most))


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


def constant(of: "Callable[[], arb]") -> Interval:
    """A constant that no type has."""
    with ctx.workprec(PRECISION):
        exact = _exact(of().mid())
    return Interval(exact, exact)


def _mapped(of: Callable[[Exact, Exact], Exact], a: Interval, b: Interval) -> Interval:
    """A function that is monotone in each of two parts."""
    ends = [of(x, y) for x, y in product((a.low, a.high), (b.low, b.high))]
    return Interval(min(ends), max(ends), a.overflows or b.overflows)


def _ball(exact: Exact) -> "arb":
    return arb(fmpq(int(exact.numerator), int(exact.denominator)))


def _exact(point: "arb") -> Exact:
    """The number of a ball without a radius."""
    mantissa, exponent = point.man_exp()
    return Exact(int(mantissa)) * Exact(2) ** int(exponent)
