"""The operations on the bits of two tensors of integers, from their pages.

BitwiseAnd-13, BitwiseOr-13, BitwiseXor-13, BitwiseLeftShift-15 and BitwiseRightShift-15.
"""

import operator
from collections.abc import Callable, Mapping

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import stretched
from opconform.operations.arithmetic.elementwise import BinaryPage, Kernel, KernelOf, binary, each, elements_of
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.operation import Computation
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType


def _bitwise(name: str, of: Callable[[int, int], int]) -> Computation:
    """An operation on each bit of two integers, or on two booleans."""
    page = BinaryPage(types=(*INTEGERS, "boolean"), denormals=None)
    return binary(name, Kernel(floats=None, integers=each(2, of)), page)


def _type_of(arguments: Arguments) -> ElementType:
    return ELEMENT_TYPES[arguments.operand("a").element_type]


def _is_outside(arguments: Arguments) -> bool:
    """Whether a number of shifts is negative, or not below the width of the type, for which the page has no result."""
    counts, width = elements_of(arguments.tensor("b")), _type_of(arguments).bits
    return bool(np.any((counts < 0) | (counts >= width)))


def _overflows(arguments: Arguments) -> bool:
    """Whether a signed integer is shifted beyond the range of its type, for which the page has no result."""
    kind, (first, counts) = _type_of(arguments), map(elements_of, stretched(arguments))
    if kind.kind == "unsigned":
        return False
    results = first << counts
    return bool(np.any((results < kind.minimum) | (results > kind.maximum)))


def _shift(
    name: str, of: Callable[[int, int], int], *, undefined: Predicate, others: Mapping[str, tuple[KernelOf, ...]]
) -> Computation:
    """A shift of integers by a number of bits."""
    page = BinaryPage(types=INTEGERS, denormals=None, undefined=undefined, others=others)
    return binary(name, Kernel(floats=None, integers=each(2, of)), page)


def _without_sign(arguments: Arguments) -> Kernel:
    """The right shift that fills with zeros."""
    modulus = 1 << _type_of(arguments).bits
    return Kernel(floats=None, integers=each(2, lambda a, b: (a % modulus) >> b))


BITWISE_AND = _bitwise("BitwiseAnd-13", operator.and_)
BITWISE_OR = _bitwise("BitwiseOr-13", operator.or_)
BITWISE_XOR = _bitwise("BitwiseXor-13", operator.xor)
BITWISE_LEFT_SHIFT = _shift(
    "BitwiseLeftShift-15", operator.lshift, undefined=lambda a: _is_outside(a) or _overflows(a), others={}
)
BITWISE_RIGHT_SHIFT = _shift(
    "BitwiseRightShift-15", operator.rshift, undefined=_is_outside, others={"values.negative": (_without_sign,)}
)
