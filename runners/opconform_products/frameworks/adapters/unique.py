"""How Unique-10 becomes a call of a framework."""

from collections.abc import Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


def _unique(is_sorted: bool) -> Adapter:
    """Data, a list of the axis or of nothing, and the types of the indices and of the counts."""

    def arguments(data: Any, axis: Any = None, **attributes: Any) -> Sequence[Any]:
        if attributes["sorted"] is not is_sorted:
            order = "keep the order of first occurrences" if is_sorted else "sort unique elements"
            raise Unsupported(f"the framework does not {order}")
        axes = axis if isinstance(axis, list) else [x for x in (axis,) if x is not None]
        refuse_if(any(not -rank_of(data) <= x < rank_of(data) for x in axes), "axis.range")
        return data, axes, attributes["index_element_type"], attributes["count_element_type"]

    return Adapter(
        arguments,
        mapped=(
            "axis.range",
            "sorted.default",
            "indices.first",
            "index_element_type.default",
            "count_element_type.default",
        ),
    )


#: Frameworks count the dimensions of a scalar differently, and have no first occurrences or types of indices.
SORTED = _unique(is_sorted=True)
#: The same for a framework that keeps the order of first occurrences.
UNSORTED = _unique(is_sorted=False)
