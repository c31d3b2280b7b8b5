"""Predicates over arguments: the checks of an operation, and the facts about it."""

from collections.abc import Callable, Iterator, Mapping

from opconform.operations.arguments import Arguments, Unknown
from opconform.suite.declarations import RanksFrom
from opconform.tensors.element_types import ELEMENT_TYPES

#: Whether arguments violate a requirement, or a fact holds; `Unknown` where they do not say.
Predicate = Callable[[Arguments], bool]

#: The integer types ("any integer type" of the specification's pages).
INTEGERS = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.is_integer)
#: The types of numbers ("any numeric type").
NUMBERS = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind not in ("boolean", "string"))
#: The ranks of a tensor that has a dimension.
RANKED = RanksFrom(1)


def never(_: Arguments) -> bool:
    """For no arguments."""
    return False


def holding(predicates: Mapping[str, Predicate], arguments: Arguments) -> Iterator[str]:
    """The names of the predicates that hold."""
    for name, predicate in predicates.items():
        try:
            if predicate(arguments):
                yield name
        except Unknown:
            continue
