"""The nodes of a model in OpenVINO's IR, with the nodes in bodies of `If`, `Loop` and `TensorIterator`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from opconform.dialects.openvino import ATTRIBUTES, OPSETS
from opconform.errors import UsageError
from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Shape
from opconform.suite.declarations import AttributeSpec
from opconform.system.files import open_regular, read_regular
from opconform.tensors.bit_layouts import OPENVINO_IR, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.node import (
    CONSTANT_LIMIT,
    STRUCTURE_LIMIT,
    Call,
    Known,
    ModelNode,
    NoCounterpart,
    check_count,
    constant,
)

_PRECISIONS = {kind.precision: name for name, kind in ELEMENT_TYPES.items()}
#: The operations whose opset is not the opset of their version.
_VERSIONS = {(op.rpartition("-")[0], opset): op for op, opset in OPSETS.items()}
#: The layers that are not operations.
_ENDS = ("Parameter", "Result", "Const")


class _Declarations(ET.TreeBuilder):
    """Refuses a document type, in which a file defines entities."""

    def doctype(self, *_: object) -> None:
        """Refuse it."""
        raise ValueError


def read_ir(path: Path) -> list[ModelNode]:
    """The nodes of a model besides its constants. Of the weights beside it, small constants alone are read.

    Raises:
        UsageError: The file cannot be read, or its weights are missing.
    """
    try:
        content = read_regular(path, STRUCTURE_LIMIT, follow_links=True)
        root = ET.fromstring(content, ET.XMLParser(target=_Declarations()))  # noqa: S314 - entities are refused
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (ET.ParseError, ValueError, LookupError) as error:
        raise UsageError(f"{path} is not OpenVINO's IR: it is truncated, or not plain XML. Export it again.") from error
    bodies = [element for element in root.iter() if element.find("layers") is not None]
    check_count(sum(len(layers) for body in bodies for layers in body.iterfind("layers")), str(path))
    if root.tag != "net" or not bodies:
        raise UsageError(f"{path} is not OpenVINO's IR: it has no layers.")
    weights = path.with_suffix(".bin")
    if not weights.is_file() and any(
        data.get("size", "0") != "0" for data in root.iterfind(".//layer[@type='Const']/data")
    ):
        raise UsageError(f"{weights} is missing. Put the weights of {path.name} beside it.")
    try:
        return [node for number, body in enumerate(bodies) for node in _Body(number, body, weights).nodes()]
    except (ET.ParseError, LookupError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is not OpenVINO's IR: a layer or an edge is malformed.") from error


class _Body:
    """The layers of the model, or of a body in it, by id, and the output port that each input port is connected to."""

    def __init__(self, number: int, body: ET.Element, weights: Path) -> None:
        self._number, self._weights = number, weights
        self._layers = {layer.attrib["id"]: layer for layer in body.iterfind("layers/layer")}
        edges = [edge.attrib for edge in body.iterfind("edges/edge")]
        ends = ("to-layer", "to-port"), ("from-layer", "from-port")
        self._sources = {(e[ends[0][0]], e[ends[0][1]]): (e[ends[1][0]], e[ends[1][1]]) for e in edges}

    def nodes(self) -> Iterator[ModelNode]:
        """The nodes in the order of the file."""
        for name, layer in self._layers.items():
            kind, version = layer.get("type", ""), layer.get("version", "")
            if kind in _ENDS:
                continue
            op = _VERSIONS.get((kind, version), f"{kind}-{version.removeprefix('opset')}")
            ports = [port.attrib["id"] for port in layer.iterfind("input/port")]
            sources = {int(port): self._sources[name, port] for port in ports}
            try:
                call, reason = self._called(op, layer, sources), ""
            except NoCounterpart as answer:
                call, reason = None, answer.reason
            yield ModelNode(
                name=layer.get("name", ""),
                type=op if version.startswith("opset") else f"{version}.{kind}",
                inputs=tuple(self._tensor(*source) for source in sources.values()),
                outputs=tuple(self._tensor(name, port.attrib["id"]) for port in layer.iterfind("output/port")),
                call=call,
                reason=reason,
            )

    def _tensor(self, layer: str, port: str) -> str:
        return f"{self._number}:{layer}:{port}"

    def _called(self, op: str, layer: ET.Element, sources: Mapping[int, tuple[str, str]]) -> Call:
        if op not in OPERATIONS:
            raise NoCounterpart
        operation = OPERATIONS[op]
        inputs = [self._known(*sources[n]) if n in sources else None for n in range(max(sources, default=-1) + 1)]
        data = layer.find("data")
        written = {} if data is None else data.attrib
        names = {spec: ATTRIBUTES.get(spec.name, spec.name) for spec in operation.attributes}
        attributes = {spec.name: _attribute(spec, written[name]) for spec, name in names.items() if name in written}
        return Call(op=op, inputs=operation.declaration.named(inputs), attributes=attributes)

    def _known(self, name: str, number: str) -> Known:
        """What is known of the output of a layer."""
        layer = self._layers[name]
        port = {port.get("id"): port for port in layer.iterfind("output/port")}[number]
        data = layer.find("data")
        written = {} if data is None else data.attrib
        element_type = _PRECISIONS.get(port.get("precision", "")) or written.get("element_type", "")
        if element_type not in ELEMENT_TYPES:
            raise NoCounterpart("the element type of an input is not known")
        words = [dim.text or "" for dim in port.iterfind("dim")]
        if layer.get("type") == "Parameter" and "shape" in written:
            words = [word.strip() for word in written["shape"].split(",") if word]
        if "..." in words:
            return Known(element_type=element_type, dimensions=None)
        sizes = tuple(int(word) if word.isdecimal() else f"{name}:{number}:{n}" for n, word in enumerate(words))
        if layer.get("type") != "Const":
            return Known(element_type=element_type, dimensions=sizes)
        shape = tuple(size for size in sizes if isinstance(size, int))
        return constant(element_type, shape, self._numbers(element_type, shape, written))

    def _numbers(self, element_type: str, shape: Shape, written: Mapping[str, str]) -> Sequence[float] | None:
        """The elements of a small constant; None for a larger one, and for texts."""
        offset, size = int(written.get("offset", "0")), int(written.get("size", "0"))
        if min(offset, size) < 0:
            raise ValueError
        if element_type == "string" or math.prod(shape) > CONSTANT_LIMIT:
            return None
        try:
            with open_regular(self._weights, follow_links=True) as file:
                file.seek(offset)
                tensor = unpack(file.read(min(size, CONSTANT_LIMIT * 8)), element_type, shape, OPENVINO_IR)
        except (OSError, OverflowError, ValueError) as error:
            raise UsageError(f"{self._weights} is truncated: it lacks the constant at {offset}.") from error
        if tensor.type.is_integer:
            return tensor.integers()
        number = float if tensor.type.kind == "float" else int
        return [number(x) for x in tensor.array.reshape(-1).view(tensor.type.arithmetic)]


def _attribute(spec: AttributeSpec, text: str) -> Attribute:
    """An attribute from its text; one that is not of its type stays text."""
    if spec.type == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        if spec.type == "int":
            return int(text)
        if spec.type == "ints":
            return tuple(int(word) for word in text.split(",") if word.strip())
        return float(text) if spec.type == "float" else text
    except ValueError:
        return text
