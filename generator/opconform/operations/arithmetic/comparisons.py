"""The comparisons of two tensors, and the operations on two booleans, from their pages.

Equal-1, NotEqual-1, Less-1, LessEqual-1, Greater-1, GreaterEqual-1, LogicalAnd-1, LogicalOr-1 and LogicalXor-1.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.operations.arithmetic.elementwise import BinaryPage, Kernel, binary
from opconform.operations.arithmetic.propagation import pairs as propagation
from opconform.operations.arithmetic.propagation.pairs import Pairwise, of_pairs
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The types whose elements have an order.
_ORDERED = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind != "string")


def _bits(array: Array) -> Array:
    """Numbers of f64 as integers in the order of IEEE 754, in which zeros have an order and NaN is the largest."""
    signed = np.ascontiguousarray(array).view(np.int64).reshape(array.shape)
    return np.asarray(np.where(signed < 0, signed ^ np.int64(2**63 - 1), signed))


def _comparison(
    name: str,
    floats: Callable[[Array, Array], Array],
    integers: Callable[[Any, Any], Any],
    rounded: Pairwise,
    *,
    has_order: bool = True,
) -> Computation:
    """A comparison of IEEE 754, which compares bits by another reading; booleans may have no order."""
    by_bits = Kernel(floats=lambda a, b: floats(_bits(a), _bits(b)), integers=integers, output="boolean")
    order = Reading(rejects=lambda a: has_kind(a.operand("a"), "boolean"))
    page = BinaryPage(
        types=_ORDERED if has_order else None,
        denormals="values.denormals",
        rounded=of_pairs(rounded),
        others={"values.special": (by_bits,)},
        readings={"booleans.order": order} if has_order else {},
    )
    return binary(name, Kernel(floats=floats, integers=integers, output="boolean"), page)


def _logical(name: str, of: Callable[[Array, Array], Array]) -> Computation:
    """An operation on two booleans."""
    page = BinaryPage(types=("boolean",), denormals=None)
    return binary(name, Kernel(floats=None, integers=of, output="boolean"), page)


EQUAL = _comparison("Equal-1", np.equal, operator.eq, propagation.is_equal, has_order=False)
NOT_EQUAL = _comparison("NotEqual-1", np.not_equal, operator.ne, propagation.is_not_equal, has_order=False)
LESS = _comparison("Less-1", np.less, operator.lt, propagation.is_less)
LESS_EQUAL = _comparison("LessEqual-1", np.less_equal, operator.le, propagation.is_less_or_equal)
GREATER = _comparison("Greater-1", np.greater, operator.gt, propagation.is_greater)
GREATER_EQUAL = _comparison("GreaterEqual-1", np.greater_equal, operator.ge, propagation.is_greater_or_equal)
LOGICAL_AND = _logical("LogicalAnd-1", np.logical_and)
LOGICAL_OR = _logical("LogicalOr-1", np.logical_or)
LOGICAL_XOR = _logical("LogicalXor-1", np.not_equal)
