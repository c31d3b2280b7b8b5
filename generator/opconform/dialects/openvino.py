"""The dialect `openvino`: IR version 11, and the bare layer as printed in the specification.

It renders any operation: the name becomes the layer's type and version, and the attributes its data.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from opconform.dialects.known_node import CONSTANT, KnownGraph
from opconform.model.golden import Golden
from opconform.model.graph import Declared
from opconform.suite.case import Attribute, Dynamic, Node
from opconform.system.resources import render
from opconform.tensors.bit_layouts import OPENVINO_IR, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

#: The file that a backend loads.
MODEL = "openvino/model.xml"
_WEIGHTS = "openvino/model.bin"
_LAYER = "openvino/layer.xml"

#: The first opset with an operation, where it is not the one of the operation's version.
OPSETS = {"ScatterNDUpdate-3": "opset4"}
#: The names of attributes in the IR, where they are no identifiers.
ATTRIBUTES = {"exclude_pad": "exclude-pad"}
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
    graph, known = golden.graph, KnownGraph(golden=golden)
    types, weights = known.types, {name: _packed(constant) for name, constant in known.constants.items()}
    layers = list(_input_layers(golden, weights, types))
    sources = {input_: (number, 0) for number, input_ in enumerate(golden.inputs[0])}
    edges: list[tuple[int, int, int, int]] = []
    for number, node in enumerate(graph.nodes, len(layers)):
        if node.op == CONSTANT:
            layers.append(_const_layer(number, node.outputs[0], weights, types))
        else:
            op, _, version = node.op.rpartition("-")
            opset = OPSETS.get(node.op, f"opset{version}")
            layers.append(_node_layer(node, _head(number, node.name, op, opset), types, precise=True))
        edges += ((*sources[input_], number, port) for port, input_ in enumerate(node.inputs) if input_ is not None)
        sources |= {output: (number, port) for port, output in enumerate(node.outputs, len(node.inputs))}
    for number, item in enumerate(graph.outputs):
        edges.append((*sources[item], len(layers), 0))
        head = _head(len(layers), f"output_{number}", "Result", "opset1")
        layers.append(_Layer(head, (), (_port(0, types[item], precise=False),), ()))
    node = next(node for node in graph.nodes if node.under_test)
    bare = _node_layer(node, (("id", "1"), ("type", node.op.rpartition("-")[0])), types, precise=False)
    document = render("openvino/model.xml.j2", name=name, layers=map(_rendered, layers), edges=edges)
    return {MODEL: document.encode(), _WEIGHTS: b"".join(weights.values()), _LAYER: _rendered(bare).encode()}


@lru_cache(maxsize=1000)
def _rendered(layer: _Layer) -> str:
    """The XML of a layer; the cases of a group have most layers in common."""
    return render("openvino/layer.xml.j2", **layer._asdict())


def _packed(constant: Tensor) -> bytes:
    """Its bytes; one byte without elements, as OpenVINO writes it: its reader does not take weights of no bytes."""
    return pack(constant, OPENVINO_IR) or b"\0"


def _input_layers(golden: Golden, weights: Mapping[str, bytes], types: Mapping[str, Declared]) -> Iterator[_Layer]:
    for number, (name, tensor) in enumerate(golden.inputs[0].items()):
        if name in weights:
            yield _const_layer(number, name, weights, types)
        else:
            shape = golden.draft.dynamic.get(name, tensor.shape)
            data: Pairs = (("shape", _shape_text(shape)), ("element_type", tensor.element_type))
            port = _port(0, types[name], precise=True)
            named = port._replace(attributes=(*port.attributes, ("names", name)))
            yield _Layer(_head(number, name, "Parameter", "opset1"), data, (), (named,))


def _const_layer(number: int, name: str, weights: Mapping[str, bytes], types: Mapping[str, Declared]) -> _Layer:
    kind, before = types[name], list(weights)[: list(weights).index(name)]
    shape = tuple(dimension for dimension in kind.dimensions if dimension is not None)
    data = (
        ("element_type", kind.element_type),
        ("shape", _shape_text(shape)),
        ("offset", str(sum(len(weights[x]) for x in before))),
        ("size", str(len(weights[name]))),
    )
    return _Layer(_head(number, name, "Const", "opset1"), data, (), (_port(0, kind, precise=True),))


def _node_layer(node: Node, head: Pairs, types: Mapping[str, Declared], *, precise: bool) -> _Layer:
    """The layer of a node, with the precisions of its outputs or, as printed in the specification, without."""
    data = tuple((ATTRIBUTES.get(name, name), _attribute_text(value)) for name, value in node.attributes.items())
    inputs = (_port(n, types[name], precise=False) for n, name in enumerate(node.inputs) if name is not None)
    outputs = (_port(n, types[name], precise=precise) for n, name in enumerate(node.outputs, len(node.inputs)))
    return _Layer(head, data, tuple(inputs), tuple(outputs))


def _port(number: int, tensor: Declared, *, precise: bool) -> _Port:
    precision = (("precision", ELEMENT_TYPES[tensor.element_type].precision),) if precise else ()
    dimensions = tuple(_UNKNOWN if dimension is None else dimension for dimension in tensor.dimensions)
    return _Port(attributes=(("id", str(number)), *precision), dimensions=dimensions)


def _head(number: int, name: str, kind: str, version: str) -> Pairs:
    return (("id", str(number)), ("name", name), ("type", kind), ("version", version))


def _shape_text(shape: Dynamic) -> str:
    return shape if isinstance(shape, str) else ",".join(str(size) for size in shape)


def _attribute_text(value: Attribute) -> str:
    if isinstance(value, tuple):
        return ",".join(_attribute_text(x) for x in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
