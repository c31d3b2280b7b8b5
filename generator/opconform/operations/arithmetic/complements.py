"""LogicalNot-1 and BitwiseNot-13, from their pages."""

import operator

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.elementwise import Kernel, computed, unary
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import has_kind
from opconform.tensors.tensor import Tensor

_LOGICAL = Kernel(floats=None, integers=np.logical_not)
_BITWISE = Kernel(floats=None, integers=operator.invert)


def _not(arguments: Arguments) -> Tensor:
    """The other boolean, or the integer with all bits inverted."""
    is_boolean = has_kind(arguments.operand("data"), "boolean")
    return computed(_LOGICAL if is_boolean else _BITWISE, arguments.tensor("data"))


LOGICAL_NOT = unary("LogicalNot-1", _not, types=("boolean",))
BITWISE_NOT = unary("BitwiseNot-13", _not, types=(*INTEGERS, "boolean"))
