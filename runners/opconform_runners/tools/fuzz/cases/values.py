"""Random values of cases: sizes, integers at the ends of their ranges, attributes, and small tensors."""

import math
from collections.abc import Mapping, Sequence
from random import Random

from opconform.model.draft import Draft, TensorDraft
from opconform.suite.case import Attribute
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element
from opconform_runners.tools.fuzz.trial import ELEMENTS

#: The sizes of dimensions: small ones, and those around the lengths of vector registers.
SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
SMALL_SIZES = SIZES[:7]
#: The widths at which sums and products wrap, the most usual one more often.
WIDTHS = (7, 8, 15, 16, 31, 32, 32, 32, 63)
#: The element types whose values are cut most often, which are drawn more often.
WIDE = ("i64", "u64", "f64")

#: The elements of string tensors: nothing, a NUL, and characters of one, two and four bytes.
_TEXTS = ("", "a", "\0", "\u00e4b", "\U0001f600")


def likely(random: Random, probability: float) -> bool:
    """True with a probability."""
    return random.random() < probability


def boundary(value: int, sizes: Sequence[int], random: Random) -> int:
    """Another integer: near the value or a size of the case, or where it wraps."""
    near = (value + 1, value - 1, -value, 0, 1, -1, -value - 1)
    width = random.choice(WIDTHS)
    far = ((1 << width) - 1, 1 << width, -(1 << width), value + (1 << width), value - (1 << width), -(1 << width) + 1)
    size = random.choice(sizes or (1,))
    by_size = (size, -size, size - 1, -size - 1)
    return random.choice(random.choice((near, by_size, far, far)))


def sizes_of(draft: Draft) -> list[int]:
    """The sizes of all dimensions of a case."""
    return [size for tensor in draft.tensors.values() for size in tensor.shape]


def numbered(element: Element) -> int:
    """An element as a number that `typed` takes; a string is its place among the texts."""
    if isinstance(element, str):
        return _TEXTS.index(element) if element in _TEXTS else 0
    return int(element)


def typed(element_type: str, value: float) -> Element:
    """A number as an element of a type; it is the place of a text among strings."""
    kind = ELEMENT_TYPES[element_type].kind
    if kind == "string":
        return _TEXTS[int(value) % len(_TEXTS)]
    if kind == "boolean":
        return int(bool(value))
    return float(value) if kind == "float" else value


def drawn_attribute(
    attribute: AttributeSpec, value: Attribute | None, draft: Draft | None, random: Random
) -> Attribute:
    """Another value of an attribute, rarely one of another type."""
    sizes = sizes_of(draft) if draft is not None else []
    if value is not None and likely(random, 0.04):
        others: list[Attribute] = [1.5, "one", "True", *(str(value).upper() for value in attribute.values)]
        return random.choice(others)
    match attribute.type:
        case "int":
            return boundary(value if isinstance(value, int) else 0, sizes, random)
        case "ints" | "elements":
            elements = list(value) if isinstance(value, tuple) else [0]
            place = random.randrange(len(elements) + 1)
            elements[place : place + 1] = [random.choice((0, 1, 1, 2, -1) if likely(random, 0.1) else (0, 1))]
            return tuple(elements)
        case "boolean":
            return random.choice((True, False))
        case "enum":
            return random.choice(attribute.values)
        case "float":
            return random.choice((0.0, 1.0, -1.0, 0.5))
        case "string":
            return random.choice(("", "a"))


def drawn_tensor(port: Port, others: Mapping[str, TensorDraft], random: Random) -> TensorDraft:
    """A small tensor for a port; its shape, length or element type is often taken from another tensor."""
    near = random.choice([*others.values()]) if others else None
    if port.role == "data":
        shape = tuple(random.choice(SIZES[1:9]) for _ in range(random.randrange(1, 4)))
        if near is not None and likely(random, 0.6):
            shape = near.shape if near.fill != "values" else ()
        shape = () if likely(random, 0.15) else shape
        return TensorDraft(element_type=port.default_type, shape=shape, fill="ramp")
    lengths = [size for size in (len(near.shape), *near.shape) if size <= ELEMENTS] if near is not None else []
    length = random.choice([*lengths, 1, 2, 3]) if lengths else random.randrange(1, 4)
    shape = random.choice(((), (length,), (length,), (random.randrange(1, 3), length)))
    values = [-1, 0, 0, 1, 1, 2, 3, *(size for size in (near.shape if near is not None else ()))]
    elements = tuple(random.choice(values) for _ in range(math.prod(shape)))
    return TensorDraft(element_type=port.default_type, shape=shape, fill="values", elements=elements)
