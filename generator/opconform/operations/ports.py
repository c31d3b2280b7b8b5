"""The inputs and attributes of an operation, with the constraints that stand for requirements."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from opconform.operations.arguments import Arguments
from opconform.suite.case import Attribute, Role, Shape

#: The texts that resemble a boolean.
_BOOLEANS = ("false", "true", "0", "1")
#: The types of a value, or of an element of a list.
_TYPES: Mapping[str, tuple[type, ...]] = {"int": (int,), "ints": (int,), "float": (int, float), "string": (str,)}


@dataclass(frozen=True, slots=True)
class Port:
    """One input of an operation, by the specification's name, with the constraints on its tensors.

    Each constraint stands for a requirement, whose id is the prefix and a word: `axis.required`, `axis.rank`.

    Attributes:
        setting: Whether its values decide what the operation does; they are written out in specs, unless `filled`.
        filled: Whether a spec may fill a setting input like data.
        variadic: Whether it takes any number of tensors; only the last port may.
        optional: Whether it may be omitted (`required`).
        types: The allowed element types (`element-type`); None for all.
        ranks: The allowed ranks (`rank`); None for all.
        shapes: The allowed shapes (`shape`); None for all.
        prefix: The word before the dot of its requirements, if it is not the name.
    """

    name: str
    _: KW_ONLY
    setting: bool = False
    filled: bool = False
    variadic: bool = False
    optional: bool = False
    types: Collection[str] | None = None
    ranks: Collection[int] | None = None
    shapes: Collection[Shape] | None = None
    prefix: str = ""

    @property
    def default_type(self) -> str:
        """The default element type."""
        return "i64" if self.setting else "f32"

    @property
    def role(self) -> Role:
        """The role of its tensors in `case.json`."""
        return "control" if self.setting and not self.filled else "tensor"

    def names(self, count: int) -> tuple[str, ...]:
        """The names of the tensors at this port; `count` applies to a variadic port."""
        return tuple(f"{self.name}_{number}" for number in range(count)) if self.variadic else (self.name,)

    def violations(self, arguments: Arguments) -> Iterator[str]:
        """The requirements that the tensors at this port violate."""
        word = self.prefix or self.name
        if self.variadic:
            if not arguments.every(self.name):
                yield f"{word}.required"
            return
        given = arguments.inputs.get(self.name)
        if given is None:
            if not self.optional:
                yield f"{word}.required"
            return
        if self.ranks is not None and len(given.shape) not in self.ranks:
            yield f"{word}.rank"
        if self.shapes is not None and given.shape not in self.shapes:
            yield f"{word}.shape"
        if self.types is not None and given.element_type not in self.types:
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

    name: str
    _: KW_ONLY
    type: Literal["int", "ints", "float", "string", "boolean", "enum"]
    values: tuple[Attribute, ...] = ()
    default: Attribute | None = None
    prefix: str = ""

    def violation(self, arguments: Arguments) -> str | None:
        """The requirement that the value violates, or None."""
        word = self.prefix or self.name
        if self.name not in arguments.attributes:
            return f"{word}.required" if self.default is None else None
        value = arguments.attributes[self.name]
        if self.type in ("boolean", "enum"):
            allowed, texts = self.values or (False, True), self.values or _BOOLEANS
            if any(type(value) is type(each) and value == each for each in allowed):
                return None
            aspect = "values" if self.type == "enum" else "type"
            return f"{word}.{'spelling' if str(value).lower() in texts else aspect}"
        elements = value if isinstance(value, tuple) else (value,)
        if isinstance(value, tuple) is not (self.type == "ints") or any(
            type(each) not in _TYPES[self.type] for each in elements
        ):
            return f"{word}.type"
        return f"{word}.values" if self.values and not {*elements} <= {*self.values} else None
