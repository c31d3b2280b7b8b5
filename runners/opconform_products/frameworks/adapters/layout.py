"""How Reshape-1 and Transpose-1 become calls of a framework."""

from collections.abc import Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import copied

#: The requirements on zeros, which frameworks do not copy.
ZEROS = ("shape.zero-after-last", "shape.zero-copied", "shape.zero-index")


def _sizes(data: Any, shape: list[int], *, special_zero: bool) -> Sequence[Any]:
    return data, copied(data.shape, shape) if special_zero else shape


def _order(arg: Any, order: list[int]) -> Sequence[Any]:
    refuse_if(any(axis < 0 for axis in order), "order.negative")
    return arg, order or [*range(len(arg.shape))][::-1]


#: Data and the sizes.
SIZES = Adapter(_sizes, ZEROS)
#: The tensor and the order of its dimensions.
ORDER = Adapter(_order, ("order.empty", "order.negative"))
