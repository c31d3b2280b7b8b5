"""Pad-12 and 1, from their specification pages: data with elements added or removed at both ends of each dimension."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.interpretation import Reading, has_kind, types_differ
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The pads. Each has one element per dimension (Inputs, 2 and 3).
_PADS = ("pads_begin", "pads_end")
#: The numeric types without a zero.
_WITHOUT_ZERO = frozenset({"f8e8m0"})


class _Ends(NamedTuple):
    """A dimension of data, and the numbers of elements that are added at its ends; negative ones are removed."""

    size: int
    begin: int
    end: int

    @property
    def most(self) -> int:
        """The larger of the two numbers."""
        return max(self.begin, self.end)

    @property
    def length(self) -> int:
        """The size of the output's dimension."""
        return max(self.begin + self.size + self.end, 0)


def pads_of(arguments: Arguments) -> list[_Ends]:
    """The pads of each dimension."""
    shape = arguments.shape("data")
    pads = [arguments.integers(name) for name in _PADS]
    if any(len(pad) != len(shape) for pad in pads):
        raise Unknown
    return [_Ends(*x) for x in zip(shape, *pads, strict=True)]


def _mode(arguments: Arguments) -> str:
    return str(arguments.attribute("pad_mode"))


def _pads_in(mode: str) -> Callable[[Arguments], Iterator[_Ends]]:
    """The pads of each dimension, if the mode is the one that is named."""
    return lambda arguments: iter(pads_of(arguments) if _mode(arguments) == mode else ())


_edge, _reflect, _symmetric, _constant = map(_pads_in, ("edge", "reflect", "symmetric", "constant"))


def _is_other_count(name: str) -> Predicate:
    return lambda arguments: len(arguments.integers(name)) != len(arguments.shape("data"))


def _has_no_zero(arguments: Arguments) -> bool:
    """Whether zeros of a type that has none are added (Inputs, 4)."""
    is_added = any(x.most > 0 for x in _constant(arguments))
    return is_added and "pad_value" not in arguments.inputs and arguments.operand("data").element_type in _WITHOUT_ZERO


def _shape(arguments: Arguments) -> Shape:
    return tuple(pad.length for pad in pads_of(arguments))


def _source(place: int, size: int, mode: str) -> int:
    """The index in a dimension of data that gives the element at a place, which may be outside it; -1 for none."""
    if 0 <= place < size:
        return place
    last = size - 1
    match mode:
        case "edge":
            return 0 if place < 0 else last
        case "reflect":
            return -place if place < 0 else 2 * last - place
        case "symmetric":
            return -1 - place if place < 0 else 2 * last + 1 - place
    return -1


def _extended(arguments: Arguments, places: Places) -> list[Array]:
    """The elements of data, or of its extension beyond the ends, that the output's dimensions cover."""
    data, fill = places["data"], places.get("pad_value", places.none)
    output = np.full(_shape(arguments), fill, np.result_type(data, fill))
    if output.size:
        mode = _mode(arguments)
        sources = [
            np.array([_source(place - pad.begin, pad.size, mode) for place in range(pad.length)], np.int64)
            for pad in pads_of(arguments)
        ]
        inside = [source >= 0 for source in sources]
        output[np.ix_(*inside)] = data[np.ix_(*(numbers[x] for numbers, x in zip(sources, inside, strict=True)))]
    return [output]


def _adds_a_number(arguments: Arguments) -> bool:
    """Whether a value other than 0 is added."""
    if all(x.most <= 0 for x in _constant(arguments)):
        return False
    value = arguments.operand("pad_value")
    return bool(value.tensor and value.element_type != "string" and any(value.tensor.array.tobytes()))


_OTHER_PORTS = (
    *(Port(pad, setting=True, types=INTEGERS, ranks=(1,)) for pad in _PADS),
    Port("pad_value", optional=True),
)
PAD = Movement(
    name="Pad-12",
    inputs=(Port("data"), *_OTHER_PORTS),
    attributes=(AttributeSpec("pad_mode", type="enum", values=("constant", "edge", "reflect", "symmetric")),),
    checks={
        **{f"{name}.count": _is_other_count(name) for name in _PADS},
        "data.string-mode": lambda a: a.operand("data").element_type == "string" and _mode(a) != "constant",
        "pad_value.scalar": lambda a: a.shape("pad_value") != (),
        "pad_value.element-type": lambda a: a.operand("pad_value").element_type != a.operand("data").element_type,
        "pad_value.no-zero": _has_no_zero,
        "edge.empty": lambda a: any(x.size == 0 < x.most for x in _edge(a)),
        "reflect.limit": lambda a: any(x.most > max(x.size - 1, 0) for x in _reflect(a)),
        "symmetric.limit": lambda a: any(x.most > x.size for x in _symmetric(a)),
    },
    moved=_extended,
    shapes=lambda a: [_shape(a)],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "pads_end"),
    },
    facts={
        "a pad removes more elements than data has": lambda a: any(-min(pad[1:]) > pad.size for pad in pads_of(a)),
        "the pads together remove more elements than data has": lambda a: any(sum(pad) < 0 for pad in pads_of(a)),
        "the pads together remove a whole dimension": lambda a: any(sum(pad) == 0 < pad.size for pad in pads_of(a)),
        "a number other than 0 is added": _adds_a_number,
    },
    readings={
        "data.boolean": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean")),
        "pads.beyond": Reading(
            rejects=lambda a: any(pad.size + min(pad.begin, 0) + min(pad.end, 0) < 0 for pad in pads_of(a))
        ),
        "pads.types": Reading(rejects=lambda a: types_differ(a, *_PADS)),
        "pad_value.ignored": Reading(rejects=lambda a: "pad_value" in a.inputs and _mode(a) != "constant"),
        "reflect.empty": Reading(  # the limit of the pads of a dimension of 0 is -1
            rejects=lambda a: any(x.size == 0 == x.most for x in _reflect(a))
        ),
    },
)

_NUMBERS = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind != "string")
#: Without negative pads, and without strings (Pad-1, Types).
PAD_1 = replace(
    PAD,
    name="Pad-1",
    inputs=(Port("data", types=_NUMBERS), *_OTHER_PORTS),
    checks={
        **{name: check for name, check in PAD.checks.items() if name != "data.string-mode"},
        "pads.negative": lambda a: any(pad < 0 for name in _PADS for pad in a.integers(name)),
    },
    readings={name: reading for name, reading in PAD.readings.items() if name != "pads.beyond"},
)
