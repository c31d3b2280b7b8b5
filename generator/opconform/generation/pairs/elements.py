"""The elements of the data of pairs: those for which as many operations as possible have exact results."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from math import inf, prod
from typing import Any

from opconform.suite.case import Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element

#: Powers of two, by which numbers are divided exactly, and most of which have an exact square root.
POWERS = (1, 4, 2, 16, 4, 1, 2)
#: Small integers as weights, which are others than those of the fill `exact`.
WEIGHTS = (2, -1, 1, 3, -2, 1, -3)
#: Numbers of which functions have exact results, the least telling ones last.
_FEW: Sequence[Sequence[Element]] = ((4, 1, 0, 16, 0, 1, 4), (0, 1, 1, 0, 1), (0, -inf, 0, 0, -inf))
_ONE: Sequence[Sequence[Element]] = ((0,), (1,))


def repeated(shape: Sequence[int], elements: Sequence[Element]) -> Mapping[str, Any]:
    """The keys of a tensor of a shape whose elements are repeated."""
    return {"shape": [*shape], "values": [*islice(cycle(elements), prod(shape))]}


def data_of(element_type: str, shape: Shape, *, alike: bool = False) -> Iterator[Mapping[str, Any]]:
    """The keys of tensors of an element type and a shape, the most telling elements first, or those all `alike`."""
    kind = ELEMENT_TYPES[element_type].kind
    if not alike:
        yield {"element_type": element_type, "shape": [*shape], "fill": "exact"}
    if kind not in ("float", "signed", "unsigned"):
        return
    for elements in _ONE if alike else (POWERS, *_FEW):
        if kind == "float" or -inf not in elements:
            yield {"element_type": element_type, **repeated(shape, elements)}
