"""The reductions: elements along axes become one."""

from opconform.operations.arithmetic.reductions.booleans import REDUCE_LOGICAL_AND, REDUCE_LOGICAL_OR
from opconform.operations.arithmetic.reductions.extremes import REDUCE_MAX, REDUCE_MIN
from opconform.operations.arithmetic.reductions.norms import REDUCE_L1, REDUCE_L2
from opconform.operations.arithmetic.reductions.reduction import reduced_axes
from opconform.operations.arithmetic.reductions.totals import REDUCE_MEAN, REDUCE_PROD, REDUCE_SUM

__all__ = [
    "REDUCE_L1",
    "REDUCE_L2",
    "REDUCE_LOGICAL_AND",
    "REDUCE_LOGICAL_OR",
    "REDUCE_MAX",
    "REDUCE_MEAN",
    "REDUCE_MIN",
    "REDUCE_PROD",
    "REDUCE_SUM",
    "reduced_axes",
]
