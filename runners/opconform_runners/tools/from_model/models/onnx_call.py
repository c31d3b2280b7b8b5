"""A node of ONNX, and the operation that it calls here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opconform.dialects.onnx.operations import RENDERINGS
from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute
from opconform_runners.tools.from_model.models.node import Call, Known, integers


@dataclass(frozen=True, kw_only=True, slots=True)
class OnnxCall:
    """A node of ONNX: its inputs in order, None for an omitted one, its attributes, and its number of outputs."""

    type: str
    inputs: Sequence[Known | None]
    attributes: Mapping[str, Any]
    outputs: int

    def input(self, place: int) -> Known | None:
        """An input; None for an omitted one."""
        return self.inputs[place] if place < len(self.inputs) else None

    def setting(self, name: str, place: int) -> Known | None:
        """The values of a setting: an input or, in older opsets, an attribute."""
        if place < len(self.inputs):
            return self.inputs[place]
        return integers(self.attributes[name]) if name in self.attributes else None

    def dimension(self, place: int) -> int | str | None:
        """A dimension of data; None if its rank is unknown."""
        data = self.inputs[0] if self.inputs else None
        return None if data is None or data.dimensions is None else data.dimensions[place]

    def with_inputs(self, *inputs: Known | None) -> "OnnxCall":
        """The node with other inputs."""
        return replace(self, inputs=inputs)

    def call(self, op: str, **attributes: Attribute) -> Call:
        """A call with the inputs in the order of the ports, besides those that are attributes in ONNX."""
        operation, of_ports = OPERATIONS[op], RENDERINGS[op].attributes if op in RENDERINGS else {}
        places = [port.name for port in operation.inputs if port.name not in of_ports]
        if operation.inputs[0].variadic:
            places = [*operation.inputs[0].names(len(self.inputs))]
        inputs = dict.fromkeys(port.name for port in operation.inputs) | dict(zip(places, self.inputs, strict=False))
        for port, name in of_ports.items():
            if name in self.attributes or not operation.port_of(port).optional:
                inputs[port] = integers(self.attributes.get(name, [] if name == "perm" else 0))
        return Call(
            op=op, inputs={port: known for port, known in inputs.items() if known is not None}, attributes=attributes
        )
