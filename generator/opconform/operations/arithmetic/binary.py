"""The arithmetic of two tensors whose results are exact or rounded once, from their pages.

Add-1, Subtract-1, Multiply-1, Divide-1, FloorMod-1, Mod-1, Maximum-1 and Minimum-1.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import FEWER_RULES
from opconform.operations.arithmetic.elementwise import BinaryPage, Kernel, KernelOf, binary, each, elements_of
from opconform.operations.arithmetic.propagation import pairs as propagation
from opconform.operations.arithmetic.propagation.pairs import of_pairs
from opconform.operations.arithmetic.propagation.spans import Formula
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Array

#: A function of two arrays of one shape.
_Pairwise = Callable[[Array, Array], Array]


def _truncated(a: int, b: int) -> int:
    """The quotient without its fraction."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _truncated_remainder(a: int, b: int) -> int:
    """The remainder of the division towards zero, which has the sign of the dividend."""
    return a - b * _truncated(a, b)


def _nearest(a: int, b: int) -> int:
    """The quotient rounded to the nearest integer, and to the even one of two."""
    quotient, rest = divmod(a, b)
    twice = 2 * abs(rest) - abs(b)
    return quotient + (twice > 0 or (twice == 0 and quotient % 2))


def _has_nan(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _are_zeros(a: Array, b: Array) -> Array:
    return np.asarray((a == 0) & (b == 0))


def _largest(a: Array, b: Array) -> Array:
    """The larger number; a NaN if there is one, and the positive one of two zeros."""
    return np.where(_has_nan(a, b), a + b, np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b))


def _smallest(a: Array, b: Array) -> Array:
    return -_largest(-a, -b)


def _extreme(
    name: str, floats: _Pairwise, integers: Callable[[int, int], int], is_more: Any, rounded: Formula
) -> Computation:
    """Maximum-1 or Minimum-1; other readings take a number instead of a NaN, or the first or second of two equals."""
    exact = each(2, integers)

    def either(is_open: _Pairwise, of: _Pairwise) -> Kernel:
        return Kernel(floats=lambda a, b: np.asarray(np.where(is_open(a, b), of(a, b), floats(a, b))), integers=exact)

    choices: tuple[_Pairwise, ...] = (
        lambda a, b: np.where(np.isnan(a), b, a),
        lambda a, b: np.where(is_more(a, b), a, b),
        lambda a, b: np.where(is_more(b, a), b, a),
    )
    others: dict[str, tuple[KernelOf, ...]] = {
        "values.nan": tuple(either(_has_nan, of) for of in choices),
        "values.zeros": tuple(either(_are_zeros, of) for of in choices[1:]),
    }
    return binary(
        name, Kernel(floats=floats, integers=exact), BinaryPage(rules=FEWER_RULES, rounded=rounded, others=others)
    )


def _quotient_size(a: Array, b: Array) -> Array:
    return np.asarray(np.abs(a / b))


def _sum_size(a: Array, b: Array) -> Array:
    return np.asarray(np.abs(a) + np.abs(b))


def _product_size(a: Array, b: Array) -> Array:
    return np.asarray(np.abs(a * b))


_FLOOR = Kernel(floats=np.divide, integers=each(2, operator.floordiv), magnitude=_quotient_size)
_TRUNCATION = replace(_FLOOR, integers=each(2, _truncated))
_NEAREST = replace(_FLOOR, integers=each(2, _nearest))
_FLOOR_OF_FLOATS = Kernel(floats=lambda a, b: np.floor(a / b), integers=each(2, operator.floordiv))


def _quotient(arguments: Arguments) -> Kernel:
    """Floor division of integers where the attribute asks for it, else division towards zero."""
    return _FLOOR if arguments.attribute("m_pythondiv") else _TRUNCATION


def _if_regular(kernel: Kernel) -> Callable[[Arguments], Kernel]:
    """A kernel for regular division, which the attribute asks for."""
    return lambda a: _quotient(a) if a.attribute("m_pythondiv") else kernel


def _if_float(of: _Pairwise) -> Callable[[Arguments], Kernel]:
    """Another quotient of numbers with a fraction."""
    return lambda a: Kernel(floats=of, integers=_quotient(a).integers)


def _asks_floats(arguments: Arguments) -> bool:
    """Whether the attribute is written, and true, for numbers with a fraction."""
    is_written = "m_pythondiv" not in arguments.omitted
    return is_written and arguments.attribute("m_pythondiv") is True and not arguments.operand("a").is_integer


def _divides_by_zero(arguments: Arguments) -> bool:
    """Whether an element is divided by 0, for which the page has no result."""
    return bool((elements_of(arguments.tensor("b")) == 0).any())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rest:
    """A remainder of numbers of f64 and of Python's integers, and the quotient without its fraction."""

    floats: _Pairwise
    integers: _Pairwise
    whole: Callable[[Array], Array]


def _remainder(
    name: str,
    rest: _Rest,
    *,
    others: tuple[_Pairwise, ...],
    misread: _Rest,
    rounded: Formula | None = None,
) -> Computation:
    """FloorMod-1 or Mod-1; by other readings, zeros have other signs, or the equation of the page gives infinities.

    Args:
        name: The operation.
        rest: The remainder.
        others: The numbers whose signs zeros have by other readings.
        misread: The remainder with the sign of the other operand.
        rounded: The formula for elements that may be rounded themselves.
    """
    of = rest.floats

    def with_zeros(sign_of: _Pairwise, a: Array, b: Array) -> Array:
        return np.asarray(np.where(of(a, b) == 0, np.copysign(0.0, sign_of(a, b)), of(a, b)))

    def of_equation(a: Array, b: Array) -> Array:
        return np.asarray(np.where(np.isfinite(a) & np.isfinite(b), of(a, b), a - rest.whole(a / b) * b))

    def other(floats: _Pairwise) -> Kernel:
        return Kernel(floats=floats, integers=rest.integers)

    return binary(
        name,
        replace(other(of), magnitude=lambda a, b: np.asarray(np.abs(of(a, b)))),
        BinaryPage(
            rules=FEWER_RULES,
            undefined=_divides_by_zero,
            rounded=rounded,
            others={
                "values.zeros": tuple(other(partial(with_zeros, sign_of)) for sign_of in others),
                "values.special": (other(of_equation),),
            },
            misread={"values.sign": Kernel(floats=misread.floats, integers=misread.integers)},
        ),
    )


def _arithmetic(
    name: str, floats: _Pairwise, integers: Callable[[Any, Any], Any], magnitude: _Pairwise, rounded: Formula
) -> Computation:
    """An operation of IEEE 754, whose zeros are positive by another reading."""
    positive = Kernel(floats=lambda a, b: np.asarray(floats(a, b) + 0.0), integers=integers)
    page = BinaryPage(may_overflow=True, rounded=rounded, others={"values.special": (positive,)})
    return binary(name, Kernel(floats=floats, integers=integers, magnitude=magnitude), page)


ADD = _arithmetic("Add-1", np.add, operator.add, _sum_size, of_pairs(propagation.added))
SUBTRACT = _arithmetic("Subtract-1", np.subtract, operator.sub, _sum_size, of_pairs(propagation.subtracted))
MULTIPLY = _arithmetic(
    "Multiply-1",
    np.multiply,
    operator.mul,
    _product_size,
    of_pairs(propagation.multiplied, square=propagation.squared),
)
DIVIDE = binary(
    "Divide-1",
    _quotient,
    BinaryPage(
        attributes=(AttributeSpec("m_pythondiv", type="boolean", default=True),),
        undefined=_divides_by_zero,
        may_overflow=True,
        rounded=of_pairs(propagation.divided, keeps_integers=False),
        others={
            "values.special": (_if_float(lambda a, b: np.asarray(a / b + 0.0)),),
            "m_pythondiv.regular": (_if_regular(_FLOOR), _if_regular(_NEAREST)),
            "m_pythondiv.floats": (lambda a: _FLOOR_OF_FLOATS if _asks_floats(a) else _quotient(a),),
        },
    ),
)
_FLOOR_REST = _Rest(floats=np.mod, integers=each(2, operator.mod), whole=np.floor)
_TRUNCATED_REST = _Rest(floats=np.fmod, integers=each(2, _truncated_remainder), whole=np.trunc)
FLOOR_MOD = _remainder(
    "FloorMod-1",
    _FLOOR_REST,
    others=(lambda _, b: np.abs(b), lambda a, _: a),
    misread=_TRUNCATED_REST,
)
MOD = _remainder(
    "Mod-1",
    _TRUNCATED_REST,
    others=(lambda a, _: np.abs(a), lambda _, b: b),
    misread=_FLOOR_REST,
    rounded=of_pairs(propagation.remainder),
)
MAXIMUM = _extreme("Maximum-1", _largest, max, np.greater, of_pairs(propagation.largest_of))
MINIMUM = _extreme("Minimum-1", _smallest, min, np.less, of_pairs(propagation.smallest_of))
