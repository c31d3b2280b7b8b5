"""How Unsqueeze-1 and the versions of Squeeze become calls of a framework."""

from collections.abc import Callable, Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


def _listed(axes: Any) -> list[int]:
    """The axes; a scalar is one axis."""
    return axes if isinstance(axes, list) else [axes]


def _new(data: Any, axes: Any) -> Sequence[Any]:
    return data, tuple(_listed(axes))


def _ascending(data: Any, axes: Any) -> Sequence[Any]:
    rank = rank_of(data) + len(_listed(axes))
    refuse_if(any(not -rank <= axis < rank for axis in _listed(axes)), "axes.range")
    places = sorted(axis % rank for axis in _listed(axes))
    refuse_if(len({*places}) < len(places), "axes.unique")
    return data, places


def _named(data: Any, axes: Any) -> list[int]:
    """The dimensions that axes name, each once; an axis out of range as it is, for the framework to refuse."""
    rank = rank_of(data)
    return [*dict.fromkeys(axis % rank if -rank <= axis < rank else axis for axis in _listed(axes))]


def _squeezed(data: Any, axes: Any = None, **_: Any) -> Sequence[Any]:
    return (data,) if axes in (None, []) else (data, tuple(_named(data, axes)))


def _ones(data: Any, axes: Any = None, *, allow_axis_skip: bool = False) -> Sequence[Any]:
    if axes in (None, []):
        return (data,)
    named, rank = _named(data, axes), rank_of(data)
    if allow_axis_skip and any(data.shape[axis] is None for axis in named if 0 <= axis < rank):
        raise Unsupported("whether the framework removes a dimension is only known at run time")
    return data, tuple(axis for axis in named if not 0 <= axis < rank or data.shape[axis] in (1, None))


def _descending(data: Any, axes: Any = None, **_: Any) -> Sequence[Any]:
    return (data,) if axes in (None, []) else (data, sorted(_named(data, axes), reverse=True))


def one_by_one(change: Callable[..., Any]) -> Callable[..., Any]:
    """A function of data and one place, for several places one after the other; without any, of data alone."""

    def changed(data: Any, places: Sequence[int] | None = None) -> Any:
        if places is None:
            return change(data)
        for place in places:
            data = change(data, place)
        return data

    return changed


#: Data and the axes, for functions that insert several dimensions.
NEW = Adapter(_new)
#: Data and the places in ascending order, for functions that insert one dimension.
NEW_ONE_BY_ONE = Adapter(_ascending, ("axes.range", "axes.unique"))
#: Data and the dimensions that axes name, each once, for functions that ignore dimensions other than 1.
REMOVED = Adapter(_squeezed, ("axes.empty", "axes.repeated"))
#: The same in descending order, for functions that remove one dimension.
REMOVED_ONE_BY_ONE = Adapter(_descending, ("axes.empty", "axes.repeated"))
#: Data and the dimensions of 1 that axes name, for functions that refuse others.
REMOVED_ONES = Adapter(_ones, ("axes.empty", "axes.other-size", "axes.repeated"))
