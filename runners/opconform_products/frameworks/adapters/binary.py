"""How operations on two tensors, and Select-1, become calls of a framework that broadcasts by numpy's rule."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from opconform.suite.case import Attribute
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of

_RULES = ("none.shapes", "pdpd.dimensions")


def _shape(tensor: Any) -> list[int | None]:
    """The sizes of the dimensions, None where a size is not known."""
    rank_of(tensor)
    return [*tensor.shape]


def _differ(first: Any, second: Any) -> bool:
    """Whether two tensors have different shapes, as far as they are known."""
    ranks = rank_of(first), rank_of(second)
    sizes = zip(first.shape, second.shape, strict=False)
    return ranks[0] != ranks[1] or any(a != b for a, b in sizes if None not in (a, b))


def _is_wider(first: Sequence[int | None], second: Sequence[int | None]) -> bool:
    """Whether a tensor of the second shape does not fit one of the first."""
    missing = len(first) - len(second)
    sizes = zip(first[max(missing, 0) :], second, strict=False)
    return missing < 0 or any(b not in (1, a) and None not in (a, b) for a, b in sizes)


def _pair(a: Any, b: Any, *, auto_broadcast: Attribute, **attributes: Attribute) -> Sequence[Any]:
    """Both tensors, and the other attributes."""
    refuse_if(a.dtype != b.dtype, "b.same-type")
    refuse_if(auto_broadcast == "none" and _differ(a, b), "none.shapes")
    if auto_broadcast == "pdpd":
        refuse_if(rank_of(b) > rank_of(a), "pdpd.rank")
        refuse_if(_is_wider(_shape(a), _shape(b)), "pdpd.dimensions")
    return a, b, *attributes.values()


def _selection(cond: Any, on_true: Any, on_false: Any, *, auto_broadcast: Attribute) -> Sequence[Any]:
    """The mask and both tensors."""
    refuse_if(on_true.dtype != on_false.dtype, "on_false.same-type")
    shapes = [(on_true, on_false), (on_true, cond)]
    refuse_if(auto_broadcast == "none" and any(_differ(*pair) for pair in shapes), "none.shapes")
    first, second = _shape(on_true), _shape(on_false)
    refuse_if(auto_broadcast == "pdpd" and _is_wider(first, second), "pdpd.dimensions")
    sizes = zip_longest(reversed(first), reversed(second), fillvalue=1)
    refuse_if(_is_wider([b if a == 1 else a for a, b in sizes][::-1], _shape(cond)), "cond.shape")
    return cond, on_true, on_false


PAIR = Adapter(_pair, ("b.same-type", "pdpd.rank", *_RULES))
SELECTION = Adapter(_selection, ("on_false.same-type", "cond.shape", *_RULES))
