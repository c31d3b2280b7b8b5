"""The input and output of renderings in the ONNX dialects: the case with its opset, and lines of text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from opconform.model.draft import Draft
from opconform.model.golden import Golden
from opconform.suite.case import Attribute, Node
from opconform.tensors.tensor import Tensor

#: One more than the largest integer attribute.
_LIMIT = 1 << 63


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An opset, the IR version of its release, and whether its `Split` has the attribute `num_outputs`."""

    opset: int
    ir: int
    has_num_outputs: bool


class Line(NamedTuple):
    """One node in ONNX's text format: its operation, its attributes as text, and the names of its tensors."""

    op: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """One rendered node: its lines and initializers."""

    lines: tuple[Line, ...]
    initializers: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The case to render, and the opset."""

    golden: Golden
    version: Version

    @property
    def draft(self) -> Draft:
        """The draft of the case."""
        return self.golden.draft

    @property
    def rejected_for(self) -> str | None:
        """The requirement that the case violates, or None if it is accepted."""
        return self.draft.refusal.requirement if self.draft.refusal is not None else None

    def constant(self, name: str | None) -> Tensor | None:
        """The elements of a constant of the model, or None for any other name."""
        if name is None or self.draft.binding.get(name) != "constant":
            return None
        return self.golden.inputs[0][name]

    def shapes(self, node: Node) -> list[tuple[int, ...]] | None:
        """The shapes of a node's outputs in the first feed, or None for a rejected case."""
        if not self.golden.tensors:
            return None
        return [self.golden.tensors[0][name].shape for name in node.outputs]


def attribute_text(value: Attribute) -> str:
    """An attribute in ONNX's text format."""
    if isinstance(value, tuple):
        return f"[{', '.join(attribute_text(each) for each in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


def attribute_reasons(draft: Draft) -> Iterator[str]:
    """The reasons why ONNX's text format cannot hold the attributes of a case."""
    for value in draft.attributes.values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, bool):
                yield "ONNX has no boolean attributes"
            elif isinstance(each, int) and not -_LIMIT <= each < _LIMIT:
                yield "ONNX's attributes are of i64"
