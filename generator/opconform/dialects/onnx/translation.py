"""The rendering of an operation as one of ONNX, and what ONNX cannot express of it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

#: The element types of data that the operations take.
TYPES = frozenset(
    {"boolean", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string"}
)
#: Why an attribute cannot hold the values of a tensor, by the tensor's source.
VARIABLE = {"parameter": "cannot be supplied at run time", "computed": "cannot be computed"}
#: The requirements that the declaration of a port stands for, with the reason why an attribute cannot violate them.
_OF_PORTS = {
    "required": "may be omitted",
    "rank": "has no shape",
    "shape": "has no shape",
    "element-type": "has no element type",
}
_DECLARED = frozenset({*_OF_PORTS, "type", "values", "spelling"})
#: One more than the largest integer attribute.
_LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class Call:
    """A node of an ONNX model; its operation and its outputs follow from the case's node unless they are given.

    Attributes:
        inputs: The names of its tensors; None for an omitted one.
        attributes: Each one in ONNX's text format.
        initializers: The constants that it takes and the case's graph does not have.
        before: The nodes that compute its inputs and the case's graph does not have.
    """

    inputs: Sequence[str | None]
    attributes: Mapping[str, str] = field(default_factory=dict)
    initializers: Mapping[str, Tensor] = field(default_factory=dict)
    before: "Sequence[Call]" = ()
    op: str = ""
    outputs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Rendering:
    """How ONNX expresses an operation.

    Attributes:
        op: ONNX's operation.
        call: The node of ONNX for a node; it may raise `Inexpressible`.
        attributes: ONNX's attributes by the ports whose values they hold.
        types: The element types that ONNX takes at a port, if not `TYPES`.
        reasons: Why ONNX allows a violation or cannot express it. The name of a port or of an attribute stands for the
            requirements that its declaration carries.
    """

    op: str
    call: Callable[[KnownNode], Call]
    attributes: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, Collection[str]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def calls(self, node: KnownNode) -> Iterator[Call]:
        """The nodes of ONNX for a node, or `Inexpressible`."""
        if node.violated is not None and (reason := self._reason(node, node.violated)) is not None:
            raise Inexpressible(reason)
        for port, name in self.attributes.items():
            if (reason := _no_attribute(node, port)) is not None:
                raise Inexpressible(f"ONNX's {name} is an attribute, and {reason}")
        self._check_types(node)
        call = self.call(node)
        yield from call.before
        yield replace(call, op=self.op, outputs=node.node.outputs)

    def _reason(self, node: KnownNode, violated: str) -> str | None:
        """Why ONNX allows a violation or cannot express it; None if it can."""
        word, _, aspect = violated.partition(".")
        names = {port.prefix or port.name: port.name for port in node.operation.inputs}
        names |= {attribute.prefix or attribute.name: attribute.name for attribute in node.operation.attributes}
        name = names.get(word, "")
        if name in self.attributes and aspect in _OF_PORTS:
            return f"ONNX's {self.attributes[name]} is an attribute, and {_OF_PORTS[aspect]}"
        return self.reasons.get(name if name in self.reasons and aspect in _DECLARED else violated)

    def _check_types(self, node: KnownNode) -> None:
        """Refuse element types that ONNX does not take, unless the case violates just that."""
        for name, declared in node.types.items():
            port, kind = node.operation.port_of(name), declared.element_type
            types = self.types.get(port.name)
            if port.name in self.attributes:
                continue
            if types is None and kind not in TYPES:
                raise Inexpressible(f"ONNX's {self.op} does not take {kind}")
            if types is not None and kind not in types and node.violated != f"{port.prefix or name}.element-type":
                raise Inexpressible(f"ONNX's {self.op} takes {name} of {' or '.join(types)} only")
            if ELEMENT_TYPES[kind].onnx is None:
                raise Inexpressible(f"ONNX has no {kind}")


def _no_attribute(node: KnownNode, port: str) -> str | None:
    """Why an attribute cannot hold the values at a port, or None."""
    if port not in node.inputs:
        return None if node.operation.port_of(port).optional else _OF_PORTS["required"]
    if not ELEMENT_TYPES[node.types[port].element_type].is_integer:
        return _OF_PORTS["element-type"]
    return VARIABLE.get(node.graph.source(node.origin(port)))


def attribute_text(value: Attribute) -> str:
    """An attribute in ONNX's text format; `Inexpressible` for a boolean, which a rendering can map to an integer."""
    if isinstance(value, bool):
        raise Inexpressible("ONNX has no boolean attributes")
    if isinstance(value, tuple):
        return f"[{', '.join(map(attribute_text, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, int) and not -_LIMIT <= value < _LIMIT:
        raise Inexpressible("ONNX's integer attributes are i64")
    return str(value)
