"""The ONNX model of a case, made from the ONNX text format."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownGraph
from opconform.dialects.onnx.operations import RENDERINGS
from opconform.dialects.onnx.opsets import IR_VERSIONS, LATER, NEWEST, older
from opconform.dialects.onnx.translation import Call
from opconform.model.golden import Golden
from opconform.model.graph import Declared
from opconform.system.resources import render
from opconform.tensors.bit_layouts import LOW_FIRST, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform.tensors.texts import bytes_of

if TYPE_CHECKING:
    from onnx import TensorProto

#: The file that a backend loads.
MODEL = "onnx/model.onnx"


def printed(model: bytes) -> str:
    """A model in ONNX's text format; `ValueError` for other bytes, and `ImportError` without the onnx package."""
    from google.protobuf.message import DecodeError
    from onnx import load_model_from_string, printer

    try:
        return str(printer.to_text(load_model_from_string(model)))
    except DecodeError as error:
        raise ValueError(str(error)) from error


def files_of(golden: Golden, name: str, *, opset: int = NEWEST, file: str = MODEL) -> dict[str, bytes]:
    """The model of a case by file name, or `Inexpressible`; `name` is the name of the model."""
    from onnx import parser

    graph = KnownGraph(golden=golden)
    calls, types = _calls(graph), graph.types
    if opset < NEWEST:
        kinds = {source: declared.element_type for source, declared in types.items()}
        calls = [older(call, opset, graph.constants, kinds) for call in calls]
    opset = max(opset, *(LATER.get(call.op, opset) for call in calls))
    results = {source: f"output_{number}" for number, source in enumerate(golden.graph.outputs)}
    text = render(
        "onnx/model.txt.j2",
        name=name,
        opset=opset,
        ir_version=IR_VERSIONS[opset],
        inputs=[_value(source, types[source]) for source in golden.inputs[0] if source not in graph.constants],
        outputs=[_value(result, types[source]) for source, result in results.items()],
        nodes=[_named(call, results) for call in calls],
    )
    parsed = parser.parse_model(str(text))
    used = {source for call in calls for source in call.inputs} - graph.makers.keys()
    constants = {source: tensor for source, tensor in graph.constants.items() if source in used}
    for initializers in (constants, *(call.initializers for call in calls)):
        parsed.graph.initializer.extend(tensor_proto(*item) for item in initializers.items())
    return {file: parsed.SerializeToString(deterministic=True)}


def _calls(graph: KnownGraph) -> list[Call]:
    """The nodes of the model that its outputs need, or `Inexpressible`."""
    for node in graph.nodes:
        if node.node.op not in RENDERINGS:
            raise Inexpressible(f"{node.node.op} has no rendering in this dialect")
    for name, dynamic in graph.golden.draft.dynamic.items():
        if isinstance(dynamic, str):
            raise Inexpressible(f"an ONNX model must declare the rank of {name}")
        if any(isinstance(size, str) and size != "?" for size in dynamic):
            raise Inexpressible("ONNX has no bounded dimensions")
    used, calls = set(graph.golden.graph.outputs), list[Call]()
    for node in reversed([*graph.nodes]):
        if not used.isdisjoint(node.node.outputs):
            calls[:0] = RENDERINGS[node.node.op].calls(node)
            used |= {name for call in calls for name in call.inputs if name is not None}
    computed = {name for node in graph.nodes if node.inputs and not node.node.under_test for name in node.node.outputs}
    if computed and computed.isdisjoint(used):
        raise Inexpressible("an attribute would hold the values that the other nodes of the graph compute")
    return calls


def _named(call: Call, results: Mapping[str, str]) -> Call:
    """A node with the names of the model's outputs; omitted inputs are empty strings."""
    inputs = ['""' if name is None else results.get(name, name) for name in call.inputs]
    return replace(call, inputs=inputs, outputs=[results.get(name, name) for name in call.outputs])


def _value(name: str, tensor: Declared) -> tuple[str, str]:
    """The type and the name of an input or output."""
    element_type = (ELEMENT_TYPES[tensor.element_type].onnx or "").lower()
    dimensions = ",".join("?" if size is None else str(size) for size in tensor.dimensions)
    return (f"{element_type}[{dimensions}]" if tensor.dimensions else element_type), name


def tensor_proto(name: str, tensor: Tensor) -> "TensorProto":
    """A tensor of an element type that ONNX has, as ONNX stores it; `ValueError` if the onnx package lacks the type."""
    from onnx import TensorProto

    proto = TensorProto(name=name, dims=tensor.shape)
    proto.data_type = TensorProto.DataType.Value(tensor.type.onnx or "UNDEFINED")
    if tensor.type.kind == "string":
        proto.string_data.extend(bytes_of(str(element)) for element in tensor.array.reshape(-1))
    else:
        proto.raw_data = pack(tensor, LOW_FIRST)
    return proto
