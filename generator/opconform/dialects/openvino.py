"""The dialect `openvino`: IR version 11, and the bare layer as printed in the specification.

It renders any operation: the name becomes the layer's type and version, and the attributes its data.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from opconform.model.golden import Golden
from opconform.model.graph import Declared, declared
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


class _Edge(NamedTuple):
    source: int
    source_port: int
    target: int
    target_port: int


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
        self._draft = draft
        self._graph = golden.graph
        self._declared = declared(draft, golden.graph)
        self.weights = {
            name: pack(each, OPENVINO_IR)
            for name, each in golden.inputs[0].items()
            if draft.binding[name] == "constant"
        }

    def layers(self) -> Iterator[_Layer]:
        """All layers in order."""
        offset = 0
        for number, name in enumerate(self._draft.tensors):
            content = self.weights.get(name)
            yield self._parameter(number, name) if content is None else self._constant(number, name, offset)
            offset += len(content or b"")
        for number, node in enumerate(self._graph.nodes, len(self._draft.tensors)):
            yield self._node(number, node)
        for place, name in enumerate(self._graph.outputs):
            number = len(self._draft.tensors) + len(self._graph.nodes) + place
            inputs = (self._port(0, name, precise=False),)
            yield _Layer(_head(number, f"output_{place}", "Result", "opset1"), (), inputs, ())

    def bare(self) -> _Layer:
        """The layer under test as printed in the specification: without name, version, precisions and port names."""
        node = next(each for each in self._graph.nodes if each.under_test)
        return _Layer(
            attributes=(("id", "1"), ("type", _type(node))),
            data=_data(node.attributes),
            inputs=self._inputs(node),
            outputs=tuple(self._port(each, name, precise=False) for each, name in _outputs(node)),
        )

    def edges(self) -> Iterator[_Edge]:
        """The edges from the port that produces a tensor to each port that consumes it."""
        sources = {name: (number, 0) for number, name in enumerate(self._draft.tensors)}
        for number, node in enumerate(self._graph.nodes, len(self._draft.tensors)):
            for port, name in enumerate(node.inputs):
                if name is not None:
                    yield _Edge(*sources[name], number, port)
            sources |= {name: (number, port) for port, name in _outputs(node)}
        for place, name in enumerate(self._graph.outputs):
            yield _Edge(*sources[name], len(self._draft.tensors) + len(self._graph.nodes) + place, 0)

    def _parameter(self, number: int, name: str) -> _Layer:
        tensor = self._draft.tensors[name]
        shape = _shape_text(self._draft.dynamic.get(name, tensor.shape))
        data = (("shape", shape), ("element_type", tensor.element_type))
        port = self._port(0, name, precise=True)
        named = port._replace(attributes=(*port.attributes, ("names", name)))
        return _Layer(_head(number, name, "Parameter", "opset1"), data, (), (named,))

    def _constant(self, number: int, name: str, offset: int) -> _Layer:
        tensor = self._draft.tensors[name]
        place = (("offset", str(offset)), ("size", str(len(self.weights[name]))))
        data = (("element_type", tensor.element_type), ("shape", _shape_text(tensor.shape)), *place)
        return _Layer(_head(number, name, "Const", "opset1"), data, (), (self._port(0, name, precise=True),))

    def _node(self, number: int, node: Node) -> _Layer:
        version = f"opset{node.op.rpartition('-')[2]}"
        return _Layer(
            attributes=_head(number, node.name, _type(node), version),
            data=_data(node.attributes),
            inputs=self._inputs(node),
            outputs=tuple(self._port(each, name, precise=True) for each, name in _outputs(node)),
        )

    def _inputs(self, node: Node) -> tuple[_Port, ...]:
        ports = enumerate(node.inputs)
        return tuple(self._port(number, name, precise=False) for number, name in ports if name is not None)

    def _port(self, number: int, name: str, *, precise: bool) -> _Port:
        tensor: Declared = self._declared[name]
        precision = (("precision", ELEMENT_TYPES[tensor.element_type].precision),) if precise else ()
        dimensions = tuple(_UNKNOWN if each is None else each for each in tensor.dimensions)
        return _Port(attributes=(("id", str(number)), *precision), dimensions=dimensions)


def _head(number: int, name: str, kind: str, version: str) -> Pairs:
    return (("id", str(number)), ("name", name), ("type", kind), ("version", version))


def _type(node: Node) -> str:
    return node.op.rpartition("-")[0]


def _outputs(node: Node) -> Sequence[tuple[int, str]]:
    """The outputs of a node with their port numbers, which follow those of the inputs."""
    return list(enumerate(node.outputs, len(node.inputs)))


def _data(attributes: Mapping[str, Attribute]) -> Pairs:
    return tuple((name, _attribute_text(value)) for name, value in attributes.items())


def _shape_text(shape: Dynamic) -> str:
    return shape if isinstance(shape, str) else ",".join(str(each) for each in shape)


def _attribute_text(value: Attribute) -> str:
    if isinstance(value, tuple):
        return ",".join(_attribute_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
