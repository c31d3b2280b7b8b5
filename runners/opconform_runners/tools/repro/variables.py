"""The variables of a script: the arrays of a case, and how the backend's interface and numpy take them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opconform.suite.case import Accept, Case, Input, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array
from opconform_runners.tools.repro.array_source import array_source, output_source

#: The bit order of packed types.
BIT_ORDERS: Mapping[str, str] = {
    "i4": "little",
    "u4": "little",
    "nf4": "little",
    "f4e2m1": "little",
    "u2": "little",
    "u1": "big",
}
#: The NaNs of the types that numpy does not have: a mask, and the largest masked bits that are not a NaN.
_NANS: Mapping[str, tuple[int, int]] = {
    "bf16": (0x7FFF, 0x7F80),
    "f8e4m3": (0x7F, 0x7E),
    "f8e5m2": (0x7F, 0x7C),
    "f8e8m0": (0xFF, 0xFE),
}


class Variable(NamedTuple):
    """A variable of a script and the input that it holds."""

    name: str
    source: str
    input: Input

    @property
    def kind(self) -> ElementType:
        """Its element type."""
        return ELEMENT_TYPES[self.input.element_type]

    @property
    def is_odd(self) -> bool:
        """Whether it holds the bits of a type that numpy does not have."""
        return is_odd(self.kind)


class Feed(NamedTuple):
    """One inference: the variables of the model's parameters, and expressions for the expected outputs."""

    arguments: tuple[Variable, ...]
    expected: tuple[str, ...]


def variables_of(suite: Suite, entry: Entry, case: Case) -> tuple[tuple[Variable, ...], tuple[Feed, ...]]:
    """The variables for the arrays of a case, and the inputs and expected outputs of each inference."""
    variables: dict[str, Variable] = {}
    feeds = []
    for feed in range(case.feeds):
        arrays, names = suite.arrays(entry, inputs_name(feed)), {}
        for each in case.inputs:
            source = array_source(arrays[each.name])
            known = [name for name, one in variables.items() if one.source == source and one.input == each]
            names[each.name] = known[0] if known else each.name if feed == 0 else f"{each.name}_{feed}"
            variables.setdefault(names[each.name], Variable(names[each.name], source, each))
        fed = tuple(variables[names[each.name]] for each in case.inputs if each.binding == "parameter")
        held = {names[each.name]: arrays[each.name] for each in case.inputs if each.role == "tensor"}
        feeds.append(Feed(fed, _expected(suite, entry, case, feed, held)))
    return tuple(variables.values()), tuple(feeds)


def _expected(suite: Suite, entry: Entry, case: Case, feed: int, held: Mapping[str, Array]) -> tuple[str, ...]:
    if not isinstance(case.expect, Accept):
        return ()
    golden = suite.arrays(entry, expected_name(feed))
    return tuple(output_source(golden[each.name], held) for each in case.expect.accept)


def is_used(case: Case, each: Input, held: Sequence[str]) -> bool:
    """Whether a script needs a variable for an input, to feed it or to express the expected outputs.

    `held` are the dialects of the model; empty if there is no model.
    """
    if not held:
        return each.role == "tensor"
    return each.binding == "parameter" or (each.role == "tensor" and not isinstance(case.expect, Reject))


def is_odd(kind: ElementType) -> bool:
    """Whether numpy has no dtype of its own for an element type."""
    return kind.kind != "string" and kind.native != kind.storage


def nan_source(element_type: str, name: str) -> str:
    """An expression for the NaNs in an array of a name; empty for an element type without NaNs.

    The array holds bits if numpy does not have the type.
    """
    if element_type in _NANS:
        mask, last = _NANS[element_type]
        return f"({name} & {mask:#x} > {last:#x})"
    kind = ELEMENT_TYPES[element_type]
    has_nans = kind.kind == "float" and not is_odd(kind)
    return f"np.isnan({name})" if has_nans else ""
