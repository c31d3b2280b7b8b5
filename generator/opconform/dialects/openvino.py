"""The dialect `openvino`: IR version 11, and the bare layer as printed in the specification.

It renders any operation: the name becomes the layer's type and version, and the attributes its data.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from opconform.model.draft import Draft
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


def files_of(golden: Golden, name: str) -> dict[str, bytes]:
    """The files of a case in this dialect, by file name; `name` is the name of the model.

    The layers are the model's inputs, the nodes, and one `Result` per output.
    """
    draft, graph, types = golden.draft, golden.graph, declared(golden.draft, golden.graph)
    constants = (each for each in draft.tensors if draft.binding[each] == "constant")
    weights = {each: pack(golden.inputs[0][each], OPENVINO_IR) for each in constants}
    layers = list(_input_layers(draft, weights, types))
    sources = {each: (number, 0) for number, each in enumerate(draft.tensors)}
    edges: list[tuple[int, int, int, int]] = []
    for number, node in enumerate(graph.nodes, len(layers)):
        op, _, version = node.op.rpartition("-")
        layers.append(_node_layer(node, _head(number, node.name, op, f"opset{version}"), types, precise=True))
        edges += ((*sources[each], number, port) for port, each in enumerate(node.inputs) if each is not None)
        sources |= {each: (number, port) for port, each in enumerate(node.outputs, len(node.inputs))}
    for number, each in enumerate(graph.outputs):
        edges.append((*sources[each], len(layers), 0))
        head = _head(len(layers), f"output_{number}", "Result", "opset1")
        layers.append(_Layer(head, (), (_port(0, types[each], precise=False),), ()))
    node = next(each for each in graph.nodes if each.under_test)
    bare = _node_layer(node, (("id", "1"), ("type", node.op.rpartition("-")[0])), types, precise=False)
    rendered = render("openvino/layer.xml.j2", layers=layers)
    document = render("openvino/model.xml.j2", name=name, layers=rendered, edges=edges)
    specified = render("openvino/layer.xml.j2", layers=[bare])
    return {MODEL: document.encode(), _WEIGHTS: b"".join(weights.values()), _LAYER: specified.encode()}


def _input_layers(draft: Draft, weights: Mapping[str, bytes], types: Mapping[str, Declared]) -> Iterator[_Layer]:
    offset = 0
    for number, (name, tensor) in enumerate(draft.tensors.items()):
        port, element_type = _port(0, types[name], precise=True), ("element_type", tensor.element_type)
        if name in weights:
            size = len(weights[name])
            place = (("offset", str(offset)), ("size", str(size)))
            data: Pairs = (element_type, ("shape", _shape_text(tensor.shape)), *place)
            yield _Layer(_head(number, name, "Const", "opset1"), data, (), (port,))
            offset += size
        else:
            data = (("shape", _shape_text(draft.dynamic.get(name, tensor.shape))), element_type)
            named = port._replace(attributes=(*port.attributes, ("names", name)))
            yield _Layer(_head(number, name, "Parameter", "opset1"), data, (), (named,))


def _node_layer(node: Node, head: Pairs, types: Mapping[str, Declared], *, precise: bool) -> _Layer:
    """The layer of a node, with the precisions of its outputs or, as printed in the specification, without."""
    data = tuple((name, _attribute_text(value)) for name, value in node.attributes.items())
    inputs = (_port(n, types[name], precise=False) for n, name in enumerate(node.inputs) if name is not None)
    outputs = (_port(n, types[name], precise=precise) for n, name in enumerate(node.outputs, len(node.inputs)))
    return _Layer(head, data, tuple(inputs), tuple(outputs))


def _port(number: int, tensor: Declared, *, precise: bool) -> _Port:
    precision = (("precision", ELEMENT_TYPES[tensor.element_type].precision),) if precise else ()
    dimensions = tuple(_UNKNOWN if each is None else each for each in tensor.dimensions)
    return _Port(attributes=(("id", str(number)), *precision), dimensions=dimensions)


def _head(number: int, name: str, kind: str, version: str) -> Pairs:
    return (("id", str(number)), ("name", name), ("type", kind), ("version", version))


def _shape_text(shape: Dynamic) -> str:
    return shape if isinstance(shape, str) else ",".join(str(each) for each in shape)


def _attribute_text(value: Attribute) -> str:
    if isinstance(value, tuple):
        return ",".join(_attribute_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
