"""The declaration of an operation: its inputs and attributes, with the constraints that stand for requirements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.suite.case import Attribute, Case, Role, Shape
from opconform.suite.names import ElementTypeName, Identifier, OperationName

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
#: The texts that resemble a boolean.
_BOOLEANS = ("false", "true", "0", "1")
#: The types of a value, or of an element of a list.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "ints": (int,),
    "elements": (int, str),
    "float": (int, float),
    "string": (str,),
}
#: The types of lists.
_LISTS = ("ints", "elements")
_Value = TypeVar("_Value")


class Typed(Protocol):
    """A tensor, as far as the constraints of a port read it."""

    @property
    def element_type(self) -> str:
        """The name of its element type."""

    @property
    def shape(self) -> Shape:
        """The sizes of its dimensions."""


@dataclass(frozen=True, slots=True)
class RanksFrom:
    """All ranks from the least one."""

    __pydantic_config__ = _STRICT

    least: int

    def __contains__(self, rank: object) -> bool:
        return isinstance(rank, int) and rank >= self.least


@dataclass(frozen=True, slots=True)
class Port:
    """One input of an operation, by the specification's name, with the constraints on its tensors.

    Each constraint stands for a requirement, whose id is the prefix and a word: `axis.required`, `axis.rank`.

    Attributes:
        setting: Whether its values decide what the operation does; they are written out in specs, unless `filled`.
        filled: Whether a spec may fill a setting input like data.
        constant: Whether its tensor must be a constant of the model (`constant`).
        variadic: Whether it takes any number of tensors; only the last port may.
        optional: Whether it may be omitted (`required`).
        types: The allowed element types (`element-type`); None for all.
        ranks: The allowed ranks (`rank`); None for all.
        shapes: The allowed shapes (`shape`); None for all.
        prefix: The word before the dot of its requirements, if it is not the name.
    """

    __pydantic_config__ = _STRICT

    name: Identifier
    _: KW_ONLY
    setting: bool = False
    filled: bool = False
    constant: bool = False
    variadic: bool = False
    optional: bool = False
    types: tuple[ElementTypeName, ...] | None = None
    ranks: tuple[int, ...] | RanksFrom | None = None
    shapes: tuple[Shape, ...] | None = None
    prefix: Identifier | Literal[""] = ""

    @property
    def default_type(self) -> str:
        """The default element type, or the only one; i32 for data that cannot be f32."""
        if self.types is not None and len(self.types) == 1:
            return self.types[0]
        if self.setting:
            return "i64"
        return "f32" if self.types is None or "f32" in self.types else "i32"

    @property
    def constant_id(self) -> str:
        """The id of the requirement that its tensor is a constant of the model."""
        return f"{self.prefix or self.name}.constant"

    @property
    def role(self) -> Role:
        """The role of its tensors in `case.json`."""
        return "setting" if self.setting and not self.filled else "data"

    def names(self, count: int) -> tuple[str, ...]:
        """The names of the tensors at this port; `count` applies to a variadic port."""
        return tuple(f"{self.name}_{number}" for number in range(count)) if self.variadic else (self.name,)

    def takes(self, name: str) -> bool:
        """Whether a tensor of this name is at this port."""
        return name.rpartition("_")[0] == self.name if self.variadic else name == self.name

    def violations(self, inputs: Mapping[str, Typed]) -> Iterator[str]:
        """The ids of the requirements that the tensors at this port violate."""
        word = self.prefix or self.name
        if self.variadic:
            if not any(map(self.takes, inputs)):
                yield f"{word}.required"
            return
        tensor = inputs.get(self.name)
        if tensor is None:
            if not self.optional:
                yield f"{word}.required"
            return
        if self.ranks is not None and len(tensor.shape) not in self.ranks:
            yield f"{word}.rank"
        if self.shapes is not None and tensor.shape not in self.shapes:
            yield f"{word}.shape"
        if self.types is not None and tensor.element_type not in self.types:
            yield f"{word}.element-type"


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One attribute of an operation, with the constraints on its value.

    Attributes:
        type: The type (`type`).
        values: The allowed values, or elements of a list (`values`); those of an `enum` are strings (`spelling`, if a
            value differs only in its case).
        default: The value if it is omitted; None if it may not be (`required`).
        prefix: The word before the dot of its requirements, if it is not the name.
    """

    __pydantic_config__ = _STRICT

    name: Identifier
    _: KW_ONLY
    type: Literal["int", "ints", "elements", "float", "string", "boolean", "enum"]
    values: tuple[Attribute, ...] = ()
    default: Attribute | None = None
    prefix: Identifier | Literal[""] = ""

    def violation(self, attributes: Mapping[str, Attribute]) -> str | None:
        """The id of the requirement that the value violates, or None."""
        word = self.prefix or self.name
        if self.name not in attributes:
            return f"{word}.required" if self.default is None else None
        value = attributes[self.name]
        if self.type in ("boolean", "enum"):
            allowed, texts = self.values or (False, True), self.values or _BOOLEANS
            if any(type(value) is type(x) and value == x for x in allowed):
                return None
            aspect = "values" if self.type == "enum" else "type"
            return f"{word}.{'spelling' if str(value).lower() in texts else aspect}"
        elements = value if isinstance(value, tuple) else (value,)
        if isinstance(value, tuple) is not (self.type in _LISTS) or any(
            type(element) not in _TYPES[self.type] for element in elements
        ):
            return f"{word}.type"
        return f"{word}.values" if self.values and not {*elements} <= {*self.values} else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """One operation as a suite declares it, such as `Split-1`.

    Attributes:
        moves_data: Whether it moves elements without computing any, so that outputs have the bits of the inputs.
    """

    __pydantic_config__ = _STRICT

    name: OperationName
    inputs: tuple[Port, ...]
    attributes: tuple[AttributeSpec, ...] = ()
    moves_data: bool

    def named(self, operands: Sequence[_Value | None]) -> dict[str, _Value]:
        """The operands of a node by the names of the ports; None stands for an omitted one."""
        names = (name for port in self.inputs for name in port.names(len(operands)))
        return {name: operand for name, operand in zip(names, operands, strict=False) if operand is not None}

    def located_violations(
        self, inputs: Mapping[str, Typed], attributes: Mapping[str, Attribute]
    ) -> Iterator[tuple[str, str]]:
        """The name of each wrong input and attribute, with the id of the requirement that it violates."""
        for port in self.inputs:
            yield from ((port.name, violated) for violated in port.violations(inputs))
        for attribute in self.attributes:
            if (violated := attribute.violation(attributes)) is not None:
                yield attribute.name, violated

    def violations(self, inputs: Mapping[str, Typed], attributes: Mapping[str, Attribute]) -> tuple[str, ...]:
        """The full names of the requirements that tensors, by the names of ports, and attributes violate.

        They are in the order of the declaration. Only element types, shapes and attributes are read: a requirement
        on the elements of an input, or on several inputs together, is not among them.
        """
        ids = dict.fromkeys(violated for _, violated in self.located_violations(inputs, attributes))
        return tuple(f"{self.name}:{id_}" for id_ in ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredCase(Case):
    """A case as a harness receives it: without its expectation, and with the declarations of its operations."""

    declarations: tuple[Declaration, ...] = ()

    def declaration(self, op: str) -> Declaration:
        """The declaration of an operation of the graph.

        Raises:
            LookupError: The suite does not declare the operation.
        """
        for declaration in self.declarations:
            if declaration.name == op:
                return declaration
        raise LookupError(f"the suite does not declare {op}")


_DECLARED_CASE = TypeAdapter(DeclaredCase)
_DECLARATION = TypeAdapter(Declaration)


def declared_case_from(document: object) -> DeclaredCase:
    """The case that a harness receives, given decoded; pydantic's `ValidationError` if it breaks the format."""
    return _DECLARED_CASE.validate_python(document)


def declaration_problem(declaration: Declaration) -> str | None:
    """Why a suite cannot have a declaration, such as a name that its format does not allow; None if it can."""
    try:
        _DECLARATION.validate_python(declaration_document(declaration))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['input']!r}: {first['msg']}"
    return None


def declaration_document(declaration: Declaration) -> dict[str, object]:
    """A declaration as a JSON object."""
    document: dict[str, object] = _DECLARATION.dump_python(declaration, mode="json", exclude_defaults=True)
    return document
