"""The requirements that the declaration of an operation stands for, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from opconform.operations.checks import INTEGERS, NUMBERS
from opconform.operations.operation import Operation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import REALS


class Statement(NamedTuple):
    """A requirement without its place in a page: its id, its text, and for an interpretation its reading."""

    id: str
    text: str
    reading: str | None = None


_ONE_SPELLING = (
    "The attributes of an IR are text. The page has the two words as the range of values, and does not say that a "
    "reader may accept others with the same meaning."
)
_LOWER_CASE = (
    "The page writes the values in lower case, and does not say that their case matters. A backend that accepts "
    "another spelling differs."
)
_MOVED = (
    "The page takes elements from the inputs, which therefore do not change. IEEE 754 lets a copy change the payload "
    "of a NaN. A backend that changes nothing else is therefore not failed."
)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
#: The most element types that a sentence names.
_MOST_TYPES = 4
#: The most values of an attribute that a sentence names.
_MOST_VALUES = 8
#: The element types that pages name by a word.
_TYPES: Mapping[frozenset[str], str] = {
    frozenset(INTEGERS): "has an integer type",
    frozenset(REALS): "has a floating-point type",
    frozenset((*REALS, *INTEGERS)): "has a floating-point or integer type",
    frozenset(NUMBERS): "has a numeric type",
    frozenset({"boolean"}): "is boolean",
    frozenset({"string"}): "has strings",
}
#: What a value of each type of attribute is.
_VALUES: Mapping[str, str] = {
    "boolean": "a boolean",
    "elements": "a list of elements",
    "float": "a number",
    "int": "an integer",
    "ints": "a list of integers",
    "string": "a string",
}


def statements(operation: Operation) -> Mapping[str, Statement]:
    """The statements of an operation's declaration by their ids.

    Those of a port or an attribute say its constraints; those of the outputs, what every movement, and every operation
    with one output, has in common. What has a check, or stands for several ports or attributes, needs words of its own.
    """
    every = [x for port in operation.inputs for x in _of_port(port)]
    every += [x for attribute in operation.attributes for x in _of_attribute(attribute)]
    every += _of_outputs(operation)
    ids = [statement.id for statement in every]
    return {x.id: x for x in every if x.id not in operation.checks and ids.count(x.id) == 1}


def violable(operation: Operation) -> frozenset[str]:
    """The ids of the requirements that arguments of an operation can violate."""
    ports = (f"{port.prefix or port.name}.{x}" for port in operation.inputs for x in _limits_of_port(port))
    attributes = (f"{x.prefix or x.name}.{y}" for x in operation.attributes for y in _limits_of_attribute(x))
    return frozenset((*ports, *attributes, *operation.checks))


def _limits_of_port(port: Port) -> Iterator[str]:
    if not port.optional:
        yield "required"
    if port.constant:
        yield "constant"
    limits = {"rank": port.ranks, "shape": port.shapes, "element-type": port.types}
    yield from () if port.variadic else (aspect for aspect, limit in limits.items() if limit is not None)


def _limits_of_attribute(attribute: AttributeSpec) -> Iterator[str]:
    if attribute.default is None:
        yield "required"
    if attribute.type in _VALUES:
        yield "type"
    if attribute.values:
        yield "values"
    if attribute.type in ("boolean", "enum"):
        yield "spelling"


def _of_port(port: Port) -> Iterator[Statement]:
    word, what = port.prefix or port.name, f"The input {port.name}"
    if not port.optional:
        yield Statement(f"{word}.required", "There is at least one input." if port.variadic else f"{what} is required.")
    if port.constant:
        yield Statement(f"{word}.constant", f"{what} is a constant of the model.")
    if port.ranks is not None:
        yield Statement(f"{word}.rank", f"{what} {_ranks(port.ranks)}.")
    if port.shapes is not None:
        yield Statement(f"{word}.shape", f"{what} is {_joined([_shape(x) for x in port.shapes])}.")
    if (types := _types(port.types)) is not None:
        yield Statement(f"{word}.element-type", f"{what} {types}.")
    if not port.setting:
        yield Statement(f"{word}.zero-size", f"Dimensions of the input {port.name} can be 0.")
        if port.shapes is None and not isinstance(port.ranks, tuple):
            ranks = ", also 0" if port.ranks is None else f" from {port.ranks.least} on"
            yield Statement(f"{word}.shape", f"{what} can have any rank{ranks}, and dimensions of any size.")


def _of_attribute(attribute: AttributeSpec) -> Iterator[Statement]:
    word, what = attribute.prefix or attribute.name, f"The attribute {attribute.name}"
    if attribute.default is None:
        yield Statement(f"{word}.required", f"{what} is required.")
    else:
        yield Statement(
            f"{word}.default", f"Without the attribute {attribute.name}, it is {_value(attribute.default)}."
        )
    if attribute.type in _VALUES:
        yield Statement(f"{word}.type", f"{what} is {_VALUES[attribute.type]}.")
    if 0 < len(attribute.values) <= _MOST_VALUES:
        yield Statement(f"{word}.values", f"{what} is {_joined([_value(x) for x in attribute.values])}.")
    if attribute.type == "boolean":
        yield Statement(
            f"{word}.spelling", f"{what} is written false or true, not 0 or 1, and in lower case.", _ONE_SPELLING
        )
    if attribute.type == "enum":
        yield Statement(f"{word}.spelling", f"{what} is written in lower case.", _LOWER_CASE)


def _of_outputs(operation: Operation) -> Iterator[Statement]:
    has_one = operation.requested is None
    if has_one:
        yield Statement("outputs.count", "The operation has one output.")
    if not operation.moves_data:
        return
    first = operation.data[0]
    word, outputs = first.prefix or first.name, "The output has" if has_one else "Each output has"
    yield Statement(
        "outputs.element-type", f"{outputs} the element type of {'the inputs' if first.variadic else first.name}."
    )
    yield Statement(f"{word}.bits", f"Every element keeps all its bits in the output{'' if has_one else 's'}.")
    yield Statement(f"{word}.nan-payload", "A NaN keeps its sign and payload.", _MOVED)


def _ranks(ranks: Sequence[int] | RanksFrom) -> str:
    if isinstance(ranks, RanksFrom):
        return f"has at least {_counted(str(ranks.least))}"
    if {*ranks} <= {0, 1}:
        return f"is {_joined([('a scalar', 'a list')[rank] for rank in ranks])}"
    return f"has {_counted(_joined([*map(str, ranks)]))}"


def _counted(number: str) -> str:
    """A number of dimensions, or several."""
    words = " ".join(_NUMBERS[int(x)] if x.isdecimal() and int(x) < len(_NUMBERS) else x for x in number.split())
    return f"{words} dimension{'' if number == '1' else 's'}"


def _shape(shape: Shape) -> str:
    if not shape:
        return "a scalar"
    if len(shape) == 1:
        return f"a list of {_NUMBERS[shape[0]]} element{'' if shape[0] == 1 else 's'}"
    return f"a tensor of shape {[*shape]}"


def _types(types: Sequence[str] | None) -> str | None:
    """What the element types of a tensor are in words."""
    if types is None:
        return "can have any element type that the backend supports"
    if (known := _TYPES.get(frozenset(types))) is not None:
        return known
    others = [name for name in ELEMENT_TYPES if name not in types]
    if len(others) <= _MOST_TYPES:
        return f"can have any element type but {_joined(others)}"
    return f"has the type {_joined(types)}" if len(types) <= _MOST_TYPES else None


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str([*value]) if isinstance(value, tuple) else str(value)


def _joined(words: Sequence[str]) -> str:
    """Words in a list whose last two are joined by or."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
