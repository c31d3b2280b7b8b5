"""Conversions of rounded numbers: a conversion rounds them to its type, in which no kernel may keep more digits."""

import math
from collections.abc import Callable, Mapping, Sequence

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.propagation.spans import Formula, Part, is_infinite, point
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, largest, nearest

_ZERO, _ONE = Exact(0), Exact(1)


def converted(target: Callable[[Arguments], ElementType]) -> Formula:
    """The formula of a conversion to the type that the arguments name."""

    def formula(arguments: Arguments, _: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        kind = target(arguments)
        if kind.name not in REALS and not kind.is_integer and kind.kind != "boolean":
            raise NoGolden(f"rounded numbers are not followed to {kind.name}")
        if "data" not in parts:
            raise NoGolden("only the type of rounded numbers is taken")
        return [_converted(kind, x) for x in parts["data"]]

    return Formula(of=formula)


def _converted(kind: ElementType, x: Part) -> Part:
    if kind.kind == "boolean":
        return point(_ONE) if isinstance(x, float) or x.low > 0 or x.high < 0 else _unless_zero(x)
    if isinstance(x, float):
        return x
    if kind.name in REALS and is_infinite(kind, x):
        return math.copysign(math.inf, x.low)
    if kind.name in REALS:
        return Interval(_rounded(kind, x.low), _rounded(kind, x.high))
    least, most = Exact(kind.minimum), Exact(kind.maximum)
    low, high = (Exact(math.trunc(min(max(end, least), most))) for end in x[:2])
    return Interval(low, high)


def _unless_zero(x: Interval) -> Interval:
    """0 for a zero, and both for a number that may be one."""
    return Interval(_ZERO, _ZERO if x.low == x.high else _ONE)


def _rounded(kind: ElementType, exact: Exact) -> Exact:
    if abs(exact) > largest(kind.name):
        raise NoGolden(f"a rounded number may be beyond the range of {kind.name}")
    return nearest(kind, exact)
