"""The attributes of an operation in the keys of a case."""

import math
import re
from collections.abc import Mapping
from typing import Any

from opconform.errors import quoted, quoted_text
from opconform.operations.operation import Operation
from opconform.specs.yaml_document import KeyMistake
from opconform.suite.case import Attribute

_NO_IR = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def attributes_of(operation: Operation, keys: Any) -> Mapping[str, Attribute]:
    """The attributes that are given; `KeyMistake` for a value that a model cannot have."""
    attributes: dict[str, Attribute] = {}
    for attribute in operation.attributes:
        name, value = attribute.name, getattr(keys, attribute.name)
        is_integer = isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]+\s*", value) is not None
        if is_integer and attribute.type in ("int", "ints"):
            number = quoted_text(value.strip().removeprefix("+"))
            raise KeyMistake(name, f"in an IR the text {quoted(value)} is the number {number}; write {number}")
        if attribute.type == "boolean" and value in ("false", "true"):
            raise KeyMistake(name, f"in an IR the text {quoted(value)} is the boolean; write {value} without quotes")
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, str) and (character := _NO_IR.search(item)):
                code = f"U+{ord(character[0]):04X}"
                raise KeyMistake(name, f"{quoted(item)} contains the character {code}, which an IR cannot contain")
            if isinstance(item, float) and not math.isfinite(item):
                raise KeyMistake(name, f"{item!r} cannot be written in JSON; write a string")
        if value is not None:
            attributes[name] = value
    return attributes
