"""The `openvino` dialect: IR version 11, and the bare layer as the specification's pages print it."""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from opconform.case import Attribute, Dynamic
from opconform.element_types import ELEMENT_TYPES
from opconform.golden import Golden
from opconform.graphs import Graph, Kind, Node, Value, graph_of
from opconform.packing import OPENVINO_IR, pack
from opconform.templates import render

#: The file that a backend loads.
MODEL = "openvino/model.xml"
_WEIGHTS = "openvino/model.bin"
_LAYER = "openvino/layer.xml"

#: What the IR writes for a dimension that is not known.
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
    """The files of a case in this dialect, by their names in its folder.

    Args:
        golden: The case.
        name: What the model is called.
    """
    graph = graph_of(golden)
    weights = tuple(b"" if node.tensor is None else pack(node.tensor, OPENVINO_IR) for node in graph.nodes)
    layers = render("openvino/layer.xml.j2", layers=_layers(graph, weights))
    model = render("openvino/model.xml.j2", name=name, layers=layers, edges=tuple(_edges(graph)))
    bare = render("openvino/layer.xml.j2", layers=(_bare(graph),))
    return {MODEL: model.encode(), _WEIGHTS: b"".join(weights), _LAYER: bare.encode()}


def _layers(graph: Graph, weights: tuple[bytes, ...]) -> tuple[_Layer, ...]:
    offsets = accumulate((len(each) for each in weights), initial=0)
    return tuple(
        _Layer(
            attributes=(("id", str(number)), ("name", node.name), ("type", _type(node)), ("version", _version(node))),
            data=_DATA[node.kind](node, offset, len(content)),
            inputs=_inputs(graph, node),
            outputs=() if node.kind == "result" else tuple(_outputs(node)),
        )
        for number, (node, offset, content) in enumerate(zip(graph.nodes, offsets, weights, strict=False))
    )


def _bare(graph: Graph) -> _Layer:
    """The operation's layer with what the pages print of it: no name, version, precisions or names of ports."""
    node = graph.operation
    return _Layer(
        attributes=(("id", "1"), ("type", _type(node))),
        data=_DATA["operation"](node, 0, 0),
        inputs=_inputs(graph, node),
        outputs=tuple(_Port(attributes=each.attributes[:1], dimensions=each.dimensions) for each in _outputs(node)),
    )


def _type(node: Node) -> str:
    return node.op.split("-", maxsplit=1)[0] if node.op else _TYPES[node.kind]


def _version(node: Node) -> str:
    return f"opset{node.op.rsplit('-', maxsplit=1)[1]}" if node.op else "opset1"


def _inputs(graph: Graph, node: Node) -> tuple[_Port, ...]:
    return tuple(
        _Port(
            attributes=(("id", str(number)),),
            dimensions=_dimensions(graph.nodes[edge.node].outputs[edge.output]),
        )
        for number, edge in enumerate(node.inputs)
        if edge is not None
    )


def _outputs(node: Node) -> Iterator[_Port]:
    """Ports are numbered through, the outputs after the inputs; those that the model's user feeds bear names."""
    names = [("names", node.name)] if node.kind == "parameter" else []
    for number, value in enumerate(node.outputs, len(node.inputs)):
        precision = ("precision", ELEMENT_TYPES[value.element_type].precision)
        yield _Port(attributes=(("id", str(number)), precision, *names), dimensions=_dimensions(value))


def _dimensions(value: Value) -> tuple[int, ...]:
    return tuple(_UNKNOWN if each is None else each for each in value.dimensions)


def _edges(graph: Graph) -> Iterator[_Edge]:
    for number, node in enumerate(graph.nodes):
        for port, edge in enumerate(node.inputs):
            if edge is not None:
                source_port = len(graph.nodes[edge.node].inputs) + edge.output
                yield _Edge(source=edge.node, source_port=source_port, target=number, target_port=port)


_TYPES: Mapping[Kind, str] = MappingProxyType(
    {"parameter": "Parameter", "constant": "Const", "concat": "Concat", "result": "Result"}
)


def _parameter_data(node: Node, _offset: int, _size: int) -> Pairs:
    return (("shape", _shape_text(node.shape or ())), ("element_type", node.outputs[0].element_type))


def _constant_data(node: Node, offset: int, size: int) -> Pairs:
    shape = _shape_text(tuple(each or 0 for each in node.outputs[0].dimensions))
    element_type = ("element_type", node.outputs[0].element_type)
    return (element_type, ("shape", shape), ("offset", str(offset)), ("size", str(size)))


def _attribute_data(node: Node, _offset: int, _size: int) -> Pairs:
    return tuple((name, _attribute_text(value)) for name, value in node.attributes.items())


_DATA: Mapping[Kind, Callable[[Node, int, int], Pairs]] = MappingProxyType(
    {
        "parameter": _parameter_data,
        "constant": _constant_data,
        "operation": _attribute_data,
        "concat": _attribute_data,
        "result": lambda *_: (),
    }
)


def _shape_text(shape: Dynamic) -> str:
    return shape if isinstance(shape, str) else ",".join(str(each) for each in shape)


def _attribute_text(value: Attribute) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
