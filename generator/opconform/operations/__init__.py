"""The known operations, with their reference semantics."""

from collections.abc import Mapping

from opconform.operations.concat import CONCAT
from opconform.operations.gather import GATHER
from opconform.operations.gather_nd import GATHER_ND
from opconform.operations.integers import CONSTANT, CONVERT, SHAPE_OF
from opconform.operations.operation import Operation
from opconform.operations.pad import PAD
from opconform.operations.reshape import RESHAPE
from opconform.operations.slice import SLICE
from opconform.operations.split import SPLIT, VARIADIC_SPLIT
from opconform.operations.strided_slice import STRIDED_SLICE
from opconform.operations.transpose import TRANSPOSE

#: Every operation by its versioned name.
OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        CONCAT,
        CONSTANT,
        CONVERT,
        GATHER,
        GATHER_ND,
        PAD,
        RESHAPE,
        SHAPE_OF,
        SLICE,
        SPLIT,
        STRIDED_SLICE,
        TRANSPOSE,
        VARIADIC_SPLIT,
    )
}

__all__ = ["OPERATIONS"]
