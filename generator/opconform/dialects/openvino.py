"""The dialect `openvino`: IR version 11, and the bare layer as printed in the specification.

It renders any operation: the name becomes the layer's type and version, and the attributes its data.
"""

from collections.abc import Iterator
from typing import NamedTuple

from opconform.model.golden import Golden
from opconform.model.graph import declared
from opconform.resources import render
from opconform.suite.case import Attribute, Dynamic, Node
from opconform.tensors.bit_layouts import OPENVINO_IR, pack
from opconform.tensors.element_types import ELEMENT_TYPES

#: The file that a backend loads.
MODEL = "openvino/model.xml"
_WEIGHTS = "openvino/model.bin"
_LAYER = "openvino/layer.xml"

#: An unknown dimension in the IR.
_UNKNOWN = -1

Pairs = tuple[tuple[str, str], ...]


class _Port(NamedTuple):
    attributes: Pairs
    dimensions: tuple[int, ...]


class _Layer(NamedTuple):
    attributes: Pairs
    data: Pairs
    inputs: tuple[_Port, ...]
    outputs: tuple[_Port, ...]


def files_of(golden: Golden, name: str) -> dict[str, bytes]:
    """The files of a case in this dialect, by file name; `name` is the name of the model."""
    model = _Model(golden)
    layers = render("openvino/layer.xml.j2", layers=tuple(model.layers()))
    document = render("openvino/model.xml.j2", name=name, layers=layers, edges=tuple(model.edges()))
    bare = render("openvino/layer.xml.j2", layers=(model.bare(),))
    return {MODEL: document.encode(), _WEIGHTS: b"".join(model.weights.values()), _LAYER: bare.encode()}


class _Model:
    """A case's graph as numbered layers: the model's inputs, the nodes, and one `Result` per output."""

    def __init__(self, golden: Golden) -> None:
        draft = golden.draft
        self._draft, self._graph = draft, golden.graph
        self._declared = declared(draft, golden.graph)
        self._results = len(draft.tensors) + len(golden.graph.nodes)
        constants = (name for name in draft.tensors if draft.binding[name] == "constant")
        self.weights = {name: pack(golden.inputs[0][name], OPENVINO_IR) for name in constants}

    def layers(self) -> Iterator[_Layer]:
        """All layers in order."""
        offset = 0
        for number, (name, tensor) in enumerate(self._draft.tensors.items()):
            port, element_type = self._port(0, name, precise=True), ("element_type", tensor.element_type)
            if name in self.weights:
                size = len(self.weights[name])
                place = (("offset", str(offset)), ("size", str(size)))
                data: Pairs = (element_type, ("shape", _shape_text(tensor.shape)), *place)
                yield _Layer(_head(number, name, "Const", "opset1"), data, (), (port,))
                offset += size
            else:
                data = (("shape", _shape_text(self._draft.dynamic.get(name, tensor.shape))), element_type)
                named = port._replace(attributes=(*port.attributes, ("names", name)))
                yield _Layer(_head(number, name, "Parameter", "opset1"), data, (), (named,))
        for number, node in enumerate(self._graph.nodes, len(self._draft.tensors)):
            op, _, version = node.op.rpartition("-")
            yield self._node(node, _head(number, node.name, op, f"opset{version}"), precise=True)
        for number, name in enumerate(self._graph.outputs):
            head = _head(self._results + number, f"output_{number}", "Result", "opset1")
            yield _Layer(head, (), (self._port(0, name, precise=False),), ())

    def bare(self) -> _Layer:
        """The layer under test as printed in the specification: without name, version, precisions and port names."""
        node = next(each for each in self._graph.nodes if each.under_test)
        return self._node(node, (("id", "1"), ("type", node.op.rpartition("-")[0])), precise=False)

    def edges(self) -> Iterator[tuple[int, int, int, int]]:
        """The layer and port that produce a tensor, and the layer and port that consume it, for each edge."""
        sources = {name: (number, 0) for number, name in enumerate(self._draft.tensors)}
        for number, node in enumerate(self._graph.nodes, len(self._draft.tensors)):
            for port, name in enumerate(node.inputs):
                if name is not None:
                    yield (*sources[name], number, port)
            sources |= {name: (number, port) for port, name in _outputs(node)}
        for number, name in enumerate(self._graph.outputs):
            yield (*sources[name], self._results + number, 0)

    def _node(self, node: Node, head: Pairs, *, precise: bool) -> _Layer:
        inputs = (
            self._port(number, name, precise=False) for number, name in enumerate(node.inputs) if name is not None
        )
        outputs = (self._port(number, name, precise=precise) for number, name in _outputs(node))
        data = tuple((name, _attribute_text(value)) for name, value in node.attributes.items())
        return _Layer(head, data, tuple(inputs), tuple(outputs))

    def _port(self, number: int, name: str, *, precise: bool) -> _Port:
        tensor = self._declared[name]
        precision = (("precision", ELEMENT_TYPES[tensor.element_type].precision),) if precise else ()
        dimensions = tuple(_UNKNOWN if each is None else each for each in tensor.dimensions)
        return _Port(attributes=(("id", str(number)), *precision), dimensions=dimensions)


def _head(number: int, name: str, kind: str, version: str) -> Pairs:
    return (("id", str(number)), ("name", name), ("type", kind), ("version", version))


def _outputs(node: Node) -> Iterator[tuple[int, str]]:
    """The outputs of a node with their port numbers, which follow those of the inputs."""
    return enumerate(node.outputs, len(node.inputs))


def _shape_text(shape: Dynamic) -> str:
    return shape if isinstance(shape, str) else ",".join(str(each) for each in shape)


def _attribute_text(value: Attribute) -> str:
    if isinstance(value, tuple):
        return ",".join(_attribute_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
