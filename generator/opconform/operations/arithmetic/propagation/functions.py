"""Functions of one rounded number: monotone ones map the ends of its interval, and composites each of their parts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import gmpy2

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.functions import FUNCTIONS, RealFunction, ends_between, reduced_operand
from opconform.operations.arithmetic.propagation.pairs import largest_of, smallest_of
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.arithmetic.units import UNITS
from opconform.tensors.exact import Exact, is_narrow, unit, wide_type

#: A function of an element.
Unary = Callable[[Composition, Part], Part]
_HALF, _ZERO = Exact(1, 2), Exact(0)
#: The values at 0 that are exact inside a graph: by ISO C99, section F.9, as OpenCL C asks, and by the formula.
_AT_ZERO: Mapping[str, Exact] = {"exp": Exact(1), "cos": Exact(1), "sigmoid": Exact(1, 2)}
_SQRT = RealFunction(value=gmpy2.sqrt, limits=(math.nan, math.inf), range=(0, None), root=0)


def of_elements(of: Unary, *, keeps_integers: bool = False) -> Formula:
    """The formula of an operation on one tensor."""

    def formula(_: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        return [of(way, x) for x in parts["data"]]

    return Formula(of=formula, keeps_integers=keeps_integers)


def of_function(real_of: Callable[[Arguments], RealFunction]) -> Formula:
    """The formula of a composite that the arguments decide."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        real = real_of(arguments)
        return [composite(way, real, x) for x in parts["data"]]

    return Formula(of=formula)


def negative(_: Composition, x: Part) -> Part:
    """The number with the other sign."""
    return -x


def absolute(way: Composition, x: Part) -> Part:
    """The number without its sign."""
    if isinstance(x, Interval) and x.low < 0 < x.high:
        return Interval(_ZERO, x.size)
    return largest_of(way, x, -x)


def relu(way: Composition, x: Part) -> Part:
    """The number, or 0 if that is larger."""
    return largest_of(way, x, point(_ZERO))


def half_away(x: Exact) -> int:
    """The nearest integer, and of two the one away from zero."""
    size = math.floor(abs(x) + _HALF)
    return size if x > 0 else -size


def steps(of: Callable[[Exact], int], limits: tuple[float, float] = (-math.inf, math.inf)) -> Unary:
    """A function that steps between integers; `NoGolden` if a rounded number may be on both sides of a step.

    `limits` are the values at minus infinity and infinity.
    """

    def value(way: Composition, x: Part) -> Part:
        if isinstance(x, float):
            return _limited(limits, x)
        low, high = Exact(of(x.low)), Exact(of(x.high))
        if low != high and not way.is_reduced:
            raise NoGolden("a rounded number may be on both sides of a step")
        return Interval(low, high)

    return value


def clamp(limits: Callable[[Arguments], tuple[float, float]]) -> Formula:
    """The formula of an operation that keeps numbers within limits, which the type may not have."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        least, most = (way.rounded(point(Exact(x))) if math.isfinite(x) else x for x in limits(arguments))
        return [smallest_of(way, largest_of(way, x, least), most) for x in parts["data"]]

    return Formula(of=formula)


def square_root(way: Composition, x: Part) -> Part:
    """The square root; `NoGolden` if the number may be negative."""
    if (isinstance(x, Interval) and x.low < 0) or x == -math.inf:
        raise NoGolden("a rounded number of which a root is taken may be negative")
    return _mapped(way, _SQRT, x, _HALF)


def function(name: str) -> Formula:
    """The formula of a function, by its name; a composite is one if it has a formula of its own."""
    real = FUNCTIONS[name]

    def of(way: Composition, x: Part) -> Part:
        if isinstance(x, Interval) and x.low == x.high == 0 and name in _AT_ZERO:
            return point(_AT_ZERO[name])
        if real.parts is not None:
            return composite(way, real, x)
        if name == "log" and isinstance(x, Interval) and x.low <= 0:
            raise NoGolden("a rounded number of which a logarithm is taken may not be positive")
        units = UNITS[name]
        return _mapped(
            replace(way, keeps_exact=False), real, x, Exact(units.narrow if is_narrow(way.kind) else units.wide)
        )

    return of_elements(of)


def _mapped(way: Composition, real: RealFunction, x: Part, units: Exact) -> Part:
    """A function of a number, within some units in the last place."""
    if isinstance(x, float):
        return _limited(real.limits, x)
    if x.low == x.high == real.root:
        return point(_ZERO)
    low, high = ends_between(real, *_cut(way, real, x))
    if isinstance(low, float) or isinstance(high, float):
        raise NoGolden("a function of a rounded number may be beyond every type")
    return _within(way, real, way.rounded(Interval(low, high), units))


def _cut(way: Composition, real: RealFunction, x: Interval) -> tuple[Exact, Exact]:
    """The ends of an operand, which reduced arithmetic cuts to few bits."""
    if way.is_reduced and real.turns is not None:
        return reduced_operand(real, x.low)[0], reduced_operand(real, x.high)[1]
    return way.operand(x)[:2]


def _limited(limits: tuple[float, float], x: float) -> Part:
    """The value at an infinity; a NaN stays one."""
    if math.isinf(x) and all(map(math.isnan, limits)):
        raise NoGolden("a function without limits is taken of an infinity, which may be a number of a wider type")
    value = x if math.isnan(x) else limits[x > 0]
    return value if not math.isfinite(value) else point(Exact(value))


def composite(way: Composition, real: RealFunction, x: Part) -> Part:
    """A composite of a number, by its formula."""
    if isinstance(x, float):
        return _limited(real.limits, x)
    if x.low == x.high == real.root:
        return point(_ZERO)
    if real.parts is None:
        raise NoGolden("a function has no formula")
    return _within(way, real, last(way, real.parts(wide(way), x)))


def _within(way: Composition, real: RealFunction, part: Interval) -> Interval:
    """A part within the range of its function; by reduced arithmetic, it only does not leave it at 0."""
    least, most = (None if end is None or (way.is_reduced and end) else Exact(end) for end in real.range)
    return part.clipped(least, most)


def wide(way: Composition) -> Composition:
    """How the parts of a composite are rounded: in the wide type, and none exactly."""
    return replace(way, kind=wide_type(way.kind), keeps_exact=False)


def last(way: Composition, part: Interval) -> Interval:
    """The result of a composite, rounded to its type in the end."""
    if part.overflows:
        raise NoGolden("a part of a composite of rounded numbers may be beyond the range of its type")
    if way.is_exact or not is_narrow(way.kind):
        return part
    return Interval(part.low - unit(way.kind, abs(part.low)), part.high + unit(way.kind, abs(part.high)))
