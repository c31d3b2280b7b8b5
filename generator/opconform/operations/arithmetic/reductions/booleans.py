"""ReduceLogicalAnd-1 and ReduceLogicalOr-1, from their pages."""

from collections.abc import Callable

from opconform.operations.arithmetic.reductions.reduction import EMPTY, Reduction, reduction
from opconform.operations.operation import Computation
from opconform.tensors.tensor import Array


def _logical(name: str, of: Callable[[Array], Array]) -> Computation:
    """A reduction of booleans."""
    return reduction(name, Reduction(integers=of, types=("boolean",), readings=EMPTY))


REDUCE_LOGICAL_AND = _logical("ReduceLogicalAnd-1", lambda rows: (rows != 0).all(-1))
REDUCE_LOGICAL_OR = _logical("ReduceLogicalOr-1", lambda rows: (rows != 0).any(-1))
