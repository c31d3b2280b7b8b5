"""How reductions, CumSum-3 and TopK-11 become calls of a framework."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


def _reduced(data: Any, axes: Any, *, keep_dims: bool) -> Sequence[Any]:
    listed, rank = axes if isinstance(axes, list) else [axes], rank_of(data)
    refuse_if(len({*listed}) < len(listed), "axes.unique")
    refuse_if(any(not -rank <= axis < rank for axis in listed), "axes.range")
    return data, tuple(sorted({axis % rank for axis in listed})), keep_dims


def along_axes(reduction: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of data, a tuple of axes and whether they are kept; without axes, data as it is."""
    return lambda data, axes, keep_dims: reduction(data, axes, keep_dims) if axes else data


def one_after_another(reduction: Callable[..., Any]) -> Callable[..., Any]:
    """The same by a function that reduces one axis."""

    def reduced(data: Any, axes: Sequence[int], keep_dims: bool) -> Any:
        for axis in reversed(axes):
            data = reduction(data, axis, keep_dims)
        return data

    return reduced


def _summed(data: Any, axis: int | None = None, *, exclusive: bool, reverse: bool) -> Sequence[Any]:
    if exclusive:
        raise Unsupported("the framework's sums include their own element")
    return data, axis or 0, reverse


def reversible(cumulative: Callable[..., Any], flip: Callable[..., Any]) -> Callable[..., Any]:
    """A cumulative sum of data along an axis, which may begin at its end."""

    def summed(data: Any, axis: int, reverse: bool) -> Any:
        return flip(cumulative(flip(data, (axis,)), axis), (axis,)) if reverse else cumulative(data, axis)

    return summed


class Order(NamedTuple):
    """Which elements TopK-11 selects, and whether they are sorted, and in a stable order."""

    largest: bool
    is_sorted: bool
    stable: bool


def _selected(data: Any, k: int, **attributes: Any) -> Any:
    if attributes["sort"] == "index":
        raise Unsupported("the framework has no order of indices")
    order = Order(attributes["mode"] == "max", attributes["sort"] == "value", attributes["stable"])
    return data, k, attributes["axis"], order, attributes["index_element_type"]


#: Data, the axes in ascending order, each once, and whether they are kept.
REDUCED = Adapter(_reduced, ("axes.unique", "axes.range", "axes.empty", "axes.aliases"))
#: Data, the axis, and whether sums begin at its end.
SUMMED = Adapter(_summed, ("axis.default",))
#: Data, K, the axis, the order, and the type of the indices.
LARGEST = Adapter(_selected, ("index_element_type.default", "stable.default"))
