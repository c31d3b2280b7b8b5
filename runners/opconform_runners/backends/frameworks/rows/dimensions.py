"""How Unsqueeze-1 becomes a call of a framework."""

from collections.abc import Callable, Sequence
from typing import Any

from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.framework import Adapter, rank_of


def _listed(axes: Any) -> list[int]:
    """The axes, of which a scalar is one."""
    return axes if isinstance(axes, list) else [axes]


def _new(data: Any, axes: Any) -> Sequence[Any]:
    return data, tuple(_listed(axes))


def _ascending(data: Any, axes: Any) -> Sequence[Any]:
    rank = rank_of(data) + len(_listed(axes))
    refuse_if(any(not -rank <= axis < rank for axis in _listed(axes)), "axes.range")
    places = sorted(axis % rank for axis in _listed(axes))
    refuse_if(len({*places}) < len(places), "axes.unique")
    return data, places


def one_by_one(insert: Callable[[Any, int], Any]) -> Callable[[Any, Sequence[int]], Any]:
    """A function that inserts one dimension, for several places in ascending order."""

    def inserted(data: Any, places: Sequence[int]) -> Any:
        for place in places:
            data = insert(data, place)
        return data

    return inserted


#: Data and the axes, for functions that insert several dimensions.
NEW = Adapter(_new)
#: Data and the places in ascending order, for functions that insert one dimension.
NEW_ONE_BY_ONE = Adapter(_ascending, ("axes.range", "axes.unique"))
