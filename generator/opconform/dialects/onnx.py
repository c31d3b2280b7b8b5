"""The dialects `onnx` and `onnx13`: models of opset 18 and 13, made from the ONNX text format."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_gather import gathered, gathered_nd
from opconform.dialects.onnx_model import VERSIONS, Line, Model, attribute_text, check_taken, check_tested
from opconform.dialects.onnx_pad import padded
from opconform.dialects.onnx_reshape import reshaped
from opconform.dialects.onnx_slice import sliced
from opconform.dialects.onnx_split import split
from opconform.model.golden import Golden
from opconform.model.graph import Declared, declared
from opconform.resources import render
from opconform.suite.case import Node
from opconform.tensors.bit_layouts import LOW_FIRST, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

if TYPE_CHECKING:
    from onnx import TensorProto

#: The file that a backend loads, in the dialect's folder.
MODEL = "model.onnx"
#: One more than the largest integer attribute.
_LIMIT = 1 << 63
#: The violations of Transpose-1 that an attribute cannot have, with the reason.
_NO_FAULT_OF_PERM = {
    "order.required": "in ONNX, an omitted perm inverts the dimensions",
    "order.rank": "ONNX's perm is an attribute, and has no shape",
    "order.element-type": "ONNX's perm is an attribute, and has no element type",
}


def printed(model: bytes) -> str:
    """A model in ONNX's text format; `ValueError` for other bytes, and `ImportError` without the onnx package."""
    from google.protobuf.message import DecodeError
    from onnx import load_model_from_string, printer

    try:
        return str(printer.to_text(load_model_from_string(model)))
    except DecodeError as fault:
        raise ValueError(str(fault)) from fault


def files_of(dialect: str, golden: Golden, name: str) -> dict[str, bytes]:
    """The model of a case in `onnx` or `onnx13`, by file name, or `Inexpressible`; `name` is the name of the model."""
    from onnx import parser

    draft, model = golden.draft, Model(golden=golden, version=VERSIONS[dialect])
    _check_expressible(model)
    results = {each: f"output_{number}" for number, each in enumerate(golden.graph.outputs)}
    rendered = [RENDERINGS[node.op](model, node) for node in golden.graph.nodes]
    lines = _used([each for line in rendered for each in (*line.before, line)], golden.graph.outputs)
    lines = [_named(line, results) for line in lines]
    types = declared(draft, golden.graph)
    text = render(
        "onnx/model.txt.j2",
        name=name,
        ir_version=model.version.ir,
        opset=model.version.opset,
        inputs=[_value(each, types[each]) for each in golden.inputs[0] if draft.binding[each] == "parameter"],
        outputs=[_value(each, types[source]) for source, each in results.items()],
        nodes=lines,
    )
    parsed = parser.parse_model(str(text))
    used = {each for line in lines for each in line.inputs}
    constants = [(each, model.constant(each)) for each in golden.inputs[0] if each in used]
    for each, tensor in (*constants, *(one for line in lines for one in line.initializers.items())):
        if tensor is not None:
            parsed.graph.initializer.append(_initializer(each, tensor))
    return {f"{dialect}/{MODEL}": parsed.SerializeToString(deterministic=True)}


def _check_expressible(model: Model) -> None:
    """Refuse a case that ONNX cannot express, whatever its operations."""
    for node in model.golden.graph.nodes:
        if node.op not in RENDERINGS:
            raise Inexpressible(f"{node.op} has no rendering in this dialect")
    for name, dynamic in model.draft.dynamic.items():
        if isinstance(dynamic, str):
            raise Inexpressible(f"an ONNX model must declare the rank of {name}")
        if any(isinstance(size, str) and size != "?" for size in dynamic):
            raise Inexpressible("ONNX has no bounded dimensions")
    for value in (each for node in model.golden.graph.nodes for each in node.attributes.values()):
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, int) and not -_LIMIT <= each < _LIMIT:
                raise Inexpressible("ONNX's integer attributes are i64")


def _used(lines: Sequence[Line], outputs: Collection[str]) -> list[Line]:
    used, kept = set(outputs), []
    for line in reversed(lines):
        if used.intersection(line.outputs):
            kept.append(line)
            used |= {each for each in line.inputs if each is not None}
    if len(lines) > 1 and len(kept) == 1:
        raise Inexpressible("an attribute would hold the values that the other nodes of the graph compute")
    return kept[::-1]


def _constant(_model: Model, node: Node) -> Line:
    element_type, shape, value = (node.attributes[name] for name in ("element_type", "shape", "value"))
    if element_type != "i64" or not isinstance(value, tuple):
        raise Inexpressible("only constants of i64 are rendered in this dialect")
    text = f"int64{attribute_text(shape) if shape else ''} {{{', '.join(str(each) for each in value)}}}"
    return Line("Constant", (("value", text),), (), node.outputs)


def _cast(model: Model, node: Node) -> Line:
    from onnx import TensorProto

    check_taken("Cast", declared(model.draft, model.golden.graph)[node.inputs[0] or ""].element_type)
    target = ELEMENT_TYPES[str(node.attributes["destination_type"])].onnx or "UNDEFINED"
    return Line("Cast", (("to", str(TensorProto.DataType.Value(target))),), node.inputs, node.outputs)


def _shape(_model: Model, node: Node) -> Line:
    if node.attributes["output_type"] != "i64":
        raise Inexpressible("ONNX's Shape returns i64")
    return Line("Shape", (), node.inputs, node.outputs)


def _concat(model: Model, node: Node) -> Line:
    if node.under_test:
        check_tested(model.draft, "Concat", node.inputs, {})
    attributes = tuple((name, attribute_text(value)) for name, value in node.attributes.items())
    return Line("Concat", attributes, node.inputs, node.outputs)


def _transpose(model: Model, node: Node) -> Line:
    """ONNX's `perm` is an attribute, and inverts the dimensions if it is missing."""
    check_tested(model.draft, "Transpose", ("arg",), _NO_FAULT_OF_PERM)
    source = model.unconverted(node.inputs[1]) if len(node.inputs) > 1 else None
    if source in model.draft.tensors and model.constant(source) is None:
        raise Inexpressible("ONNX's perm is an attribute, and cannot be supplied at run time")
    values = {**model.golden.inputs[0], **(model.golden.tensors or ({},))[0]}
    order = tuple(values[str(source)].integers())
    if any(each >= _LIMIT for each in order):
        raise Inexpressible("ONNX's integer attributes are i64")
    return Line("Transpose", (("perm", attribute_text(order)),) if order else (), node.inputs[:1], node.outputs)


#: The rendering of each operation as a line; it raises `Inexpressible` for a case that ONNX cannot express.
RENDERINGS: Mapping[str, Callable[[Model, Node], Line]] = {
    "Concat-1": _concat,
    "Constant-1": _constant,
    "Convert-1": _cast,
    "Gather-8": gathered,
    "GatherND-8": gathered_nd,
    "Pad-12": padded,
    "Reshape-1": reshaped,
    "ShapeOf-3": _shape,
    "Slice-8": sliced,
    "Split-1": split,
    "Transpose-1": _transpose,
    "VariadicSplit-1": split,
}


def _named(line: Line, results: Mapping[str, str]) -> Line:
    """A line with the names of the model's outputs; omitted inputs are empty strings."""
    inputs = tuple('""' if each is None else results.get(each, each) for each in line.inputs)
    return line._replace(inputs=inputs, outputs=tuple(results.get(each, each) for each in line.outputs))


def _value(name: str, tensor: Declared) -> tuple[str, str]:
    element_type = (ELEMENT_TYPES[tensor.element_type].onnx or "").lower()
    dimensions = ",".join("?" if each is None else str(each) for each in tensor.dimensions)
    return (f"{element_type}[{dimensions}]" if tensor.dimensions else element_type), name


def _initializer(name: str, tensor: Tensor) -> "TensorProto":
    from onnx import TensorProto

    proto = TensorProto(name=name, dims=tensor.shape)
    proto.data_type = TensorProto.DataType.Value(tensor.type.onnx or "UNDEFINED")
    if tensor.type.kind == "string":
        proto.string_data.extend(str(each).encode() for each in tensor.array.reshape(-1))
    else:
        proto.raw_data = pack(tensor, LOW_FIRST)
    return proto
