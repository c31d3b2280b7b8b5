"""The operations on two tensors whose results are exact or rounded once, from their pages.

Add-1, Subtract-1, Multiply-1, Divide-1, FloorMod-1, Maximum-1, Minimum-1, Equal-1, Less-1 and LogicalAnd-1.
"""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import FEWER_RULES
from opconform.operations.arithmetic.elementwise import BinaryPage, Kernel, KernelOf, binary, each, elements_of
from opconform.operations.arithmetic.propagation import pairs as propagation
from opconform.operations.arithmetic.propagation.pairs import of_pairs
from opconform.operations.arithmetic.propagation.spans import Formula
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The types whose elements have an order.
_ORDERED = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind != "string")


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


def _remainder_size(a: Array, b: Array) -> Array:
    """The remainder, which every type has exactly."""
    return np.asarray(np.abs(np.mod(a, b)))


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


def _floor_mod_of_formula(a: Array, b: Array) -> Array:
    """The remainder, and for infinities what the equation of the page gives."""
    return np.asarray(np.where(np.isfinite(a) & np.isfinite(b), np.mod(a, b), a - np.floor(a / b) * b))


def _with_zeros(sign_of: _Pairwise) -> Kernel:
    """FloorMod-1 of floating-point numbers, whose zeros have other signs."""

    def floats(a: Array, b: Array) -> Array:
        rest = np.mod(a, b)
        return np.asarray(np.where(rest == 0, np.copysign(0.0, sign_of(a, b)), rest))

    return Kernel(floats=floats, integers=each(2, operator.mod))


def _arithmetic(
    name: str, floats: _Pairwise, integers: Callable[[Any, Any], Any], magnitude: _Pairwise, rounded: Formula
) -> Computation:
    """An operation of IEEE 754, whose zeros are positive by another reading."""
    positive = Kernel(floats=lambda a, b: np.asarray(floats(a, b) + 0.0), integers=integers)
    page = BinaryPage(may_overflow=True, rounded=rounded, others={"values.special": (positive,)})
    return binary(name, Kernel(floats=floats, integers=integers, magnitude=magnitude), page)


def _bits(array: Array) -> Array:
    """Numbers of f64 as integers in the order of IEEE 754, in which zeros have an order and NaN is the largest."""
    signed = np.ascontiguousarray(array).view(np.int64).reshape(array.shape)
    return np.asarray(np.where(signed < 0, signed ^ np.int64(2**63 - 1), signed))


def _comparison(name: str, floats: _Pairwise, integers: Callable[[Any, Any], Any], page: BinaryPage) -> Computation:
    """A comparison of IEEE 754, which compares bits by another reading."""
    by_bits = Kernel(floats=lambda a, b: floats(_bits(a), _bits(b)), integers=integers, output="boolean")
    kernel = Kernel(floats=floats, integers=integers, output="boolean")
    return binary(name, kernel, replace(page, others={"values.special": (by_bits,)}))


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
FLOOR_MOD = binary(
    "FloorMod-1",
    Kernel(floats=np.mod, integers=each(2, operator.mod), magnitude=_remainder_size),
    BinaryPage(
        rules=FEWER_RULES,
        undefined=_divides_by_zero,
        others={
            "values.zeros": (_with_zeros(lambda _, b: np.abs(b)), _with_zeros(lambda a, _: a)),
            "values.special": (Kernel(floats=_floor_mod_of_formula, integers=each(2, operator.mod)),),
        },
        misread={"values.sign": Kernel(floats=np.fmod, integers=each(2, _truncated_remainder))},
    ),
)
MAXIMUM = _extreme("Maximum-1", _largest, max, np.greater, of_pairs(propagation.largest_of))
MINIMUM = _extreme("Minimum-1", _smallest, min, np.less, of_pairs(propagation.smallest_of))
EQUAL = _comparison(
    "Equal-1",
    np.equal,
    operator.eq,
    BinaryPage(types=None, denormals="values.denormals", rounded=of_pairs(propagation.is_equal)),
)
LESS = _comparison(
    "Less-1",
    np.less,
    operator.lt,
    BinaryPage(
        types=_ORDERED,
        denormals="values.denormals",
        rounded=of_pairs(propagation.is_less),
        readings={"booleans.order": Reading(rejects=lambda a: has_kind(a.operand("a"), "boolean"))},
    ),
)
LOGICAL_AND = binary(
    "LogicalAnd-1",
    Kernel(floats=None, integers=np.logical_and, output="boolean"),
    BinaryPage(types=("boolean",), denormals=None),
)
