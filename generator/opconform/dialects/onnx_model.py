"""Shared by the renderings of ONNX's operations: opsets, the model of a case, and lines of the text format."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from opconform.dialects.dialect import Inexpressible
from opconform.model.draft import Draft
from opconform.model.golden import Golden
from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

#: The element types that `Cast`, `Concat`, `Slice`, `Split` and `Transpose` of either opset take.
_TAKEN_TYPES = frozenset(
    {"boolean", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string"}
)
#: The operation whose values an attribute can hold as well, because it does not change them.
_CONVERT = "Convert-1"
_CONSTANT = "Constant-1"
_NO_COUNT = "there is no count other than the number of outputs"
_SMALLER = "the last of `num_outputs` outputs may be smaller"


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An opset, the IR version of its release, and whether its `Split` has the attribute `num_outputs`.

    `no_fault` has the violations that are valid in this opset alone, with the reason.
    """

    opset: int
    ir: int
    has_num_outputs: bool
    no_fault: Mapping[str, str]


#: The dialects of this module by name.
VERSIONS: Mapping[str, Version] = {
    "onnx": Version(
        opset=18,
        ir=8,
        has_num_outputs=True,
        no_fault={"num_splits.divides": _SMALLER, "num_splits.at-most-dimension": _SMALLER},
    ),
    "onnx13": Version(
        opset=13,
        ir=7,
        has_num_outputs=False,
        no_fault={
            "lengths.required": "without lengths, the outputs have equal sizes",
            "num_splits.required": _NO_COUNT,
            "num_splits.type": _NO_COUNT,
            "num_splits.positive": _NO_COUNT,
        },
    ),
}


class Line(NamedTuple):
    """One node in ONNX's text format, with its attributes as text, and the initializers that it needs.

    `before` has the nodes that compute an input of it, which the graph of the case does not have.
    """

    op: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, Tensor] = {}
    before: "tuple[Line, ...]" = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The case to render, and the opset."""

    golden: Golden
    version: Version

    @property
    def draft(self) -> Draft:
        """The draft of the case."""
        return self.golden.draft

    def constant(self, name: str | None) -> Tensor | None:
        """The elements of a constant input of the model, or None for any other name."""
        if name is None or self.draft.binding.get(name) != "constant":
            return None
        return self.golden.inputs[0].get(name)

    def is_constant_node(self, names: Collection[str | None]) -> bool:
        """Whether one of some names is the output of a node that holds a constant."""
        return any(set(node.outputs).intersection(names) for node in self.golden.graph.nodes if node.op == _CONSTANT)

    def unconverted(self, name: str | None) -> str | None:
        """The tensor that a name is converted from, or the name itself."""
        sources = {node.outputs[0]: node.inputs[0] for node in self.golden.graph.nodes if node.op == _CONVERT}
        return sources.get(name or "", name)


def attribute_text(value: Attribute) -> str:
    """An attribute in ONNX's text format; `Inexpressible` for a boolean, which a rendering can map to an integer."""
    if isinstance(value, bool):
        raise Inexpressible("ONNX has no boolean attributes")
    if isinstance(value, tuple):
        return f"[{', '.join(attribute_text(each) for each in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


def check_tested(draft: Draft, op: str, names: Sequence[str | None], no_fault: Mapping[str, str]) -> None:
    """Refuse tensors of a type that ONNX's operation does not move, and violations that are valid in ONNX."""
    for each in (each for name, each in draft.tensors.items() if name in names):
        check_taken(op, each.element_type)
    if draft.rejected_for is not None and draft.rejected_for in no_fault:
        raise Inexpressible(no_fault[draft.rejected_for])


def check_taken(op: str, element_type: str) -> None:
    """Refuse an element type that ONNX's operation does not take."""
    if element_type not in _TAKEN_TYPES:
        raise Inexpressible(f"ONNX's {op} does not take {element_type}")


def check_known(element_type: str) -> None:
    """Refuse an element type that ONNX does not have."""
    if ELEMENT_TYPES[element_type].onnx is None:
        raise Inexpressible(f"ONNX has no {element_type}")
