"""The dialects `onnx` and `onnx13`: models of opset 18 and 13, made from the ONNX text format."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from opconform.dialects import onnx_split
from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, Rendered, Version, attribute_reasons, attribute_text
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
#: The dialects of this module by name.
VERSIONS: Mapping[str, Version] = MappingProxyType(
    {"onnx": Version(opset=18, ir=8, has_num_outputs=True), "onnx13": Version(opset=13, ir=7, has_num_outputs=False)}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rendering:
    """The rendering of an operation: why ONNX cannot express some cases, and the nodes of the others."""

    reasons: Callable[[Model], Iterator[str]]
    render: Callable[[Model, Node], Rendered]


def _concat(_model: Model, node: Node) -> Rendered:
    attributes = tuple((name, attribute_text(value)) for name, value in node.attributes.items())
    return Rendered(lines=(Line("Concat", attributes, node.inputs, node.outputs),))


_SPLIT = _Rendering(reasons=onnx_split.reasons, render=onnx_split.render)
#: The rendering of each operation.
RENDERINGS: Mapping[str, _Rendering] = MappingProxyType(
    {
        "Concat-1": _Rendering(reasons=lambda _: iter(()), render=_concat),
        "Split-1": _SPLIT,
        "VariadicSplit-1": _SPLIT,
    }
)


class _Value(NamedTuple):
    type: str
    name: str


def printed(model: bytes) -> str:
    """A model in ONNX's text format.

    Raises:
        ImportError: The onnx package is not installed.
        ValueError: The bytes are not a model.
    """
    from google.protobuf.message import DecodeError
    from onnx import load_model_from_string, printer

    try:
        return str(printer.to_text(load_model_from_string(model)))
    except DecodeError as fault:
        raise ValueError(str(fault)) from fault


def files_of(dialect: str, golden: Golden, name: str) -> dict[str, bytes]:
    """The model of a case in `onnx` or `onnx13`, by file name; `name` is the name of the model.

    Raises:
        Inexpressible: ONNX cannot express the case.
    """
    from onnx import parser

    model = Model(golden=golden, version=VERSIONS[dialect])
    reason = next(_reasons(model), None)
    if reason is not None:
        raise Inexpressible(reason)
    draft, types = golden.draft, declared(golden.draft, golden.graph)
    rendered = [RENDERINGS[node.op].render(model, node) for node in golden.graph.nodes]
    results = {each: f"output_{number}" for number, each in enumerate(golden.graph.outputs)}
    lines = [_named(line, results) for each in rendered for line in each.lines]
    text = render(
        "onnx/model.txt.j2",
        name=name,
        ir_version=model.version.ir,
        opset=model.version.opset,
        inputs=tuple(_value(each, types[each]) for each in draft.tensors if draft.binding[each] == "parameter"),
        outputs=tuple(_value(each, types[source]) for source, each in results.items()),
        nodes=tuple(lines),
    )
    parsed = parser.parse_model(str(text))
    used = {each for line in lines for each in line.inputs}
    constants = {each: golden.inputs[0][each] for each in draft.tensors if draft.binding[each] == "constant"}
    parsed.graph.initializer.extend(_initializer(each, tensor) for each, tensor in constants.items() if each in used)
    for each in rendered:
        parsed.graph.initializer.extend(_initializer(*one) for one in each.initializers.items())
    return {f"{dialect}/{MODEL}": parsed.SerializeToString(deterministic=True)}


def _reasons(model: Model) -> Iterator[str]:
    """The reasons why ONNX cannot express a case."""
    for node in model.golden.graph.nodes:
        if node.op not in RENDERINGS:
            yield f"{node.op} has no rendering in this dialect"
    for name, each in model.draft.dynamic.items():
        if isinstance(each, str):
            yield f"an ONNX model declares the rank of {name}"
        elif any(isinstance(size, str) and size != "?" for size in each):
            yield "ONNX has no bounded dimensions"
    yield from attribute_reasons(model.draft)
    for op in dict.fromkeys(node.op for node in model.golden.graph.nodes):
        yield from RENDERINGS[op].reasons(model)


def _named(line: Line, results: Mapping[str, str]) -> Line:
    """A line with the names of the model's outputs; omitted inputs are empty strings."""
    inputs = tuple('""' if each is None else results.get(each, each) for each in line.inputs)
    return line._replace(inputs=inputs, outputs=tuple(results.get(each, each) for each in line.outputs))


def _value(name: str, tensor: Declared) -> _Value:
    element_type = (ELEMENT_TYPES[tensor.element_type].onnx or "").lower()
    dimensions = ",".join("?" if each is None else str(each) for each in tensor.dimensions)
    return _Value(f"{element_type}[{dimensions}]" if tensor.dimensions else element_type, name)


def _initializer(name: str, tensor: Tensor) -> "TensorProto":
    from onnx import TensorProto

    proto = TensorProto(name=name, dims=tensor.shape)
    proto.data_type = TensorProto.DataType.Value(tensor.type.onnx or "UNDEFINED")
    if tensor.type.kind == "string":
        proto.string_data.extend(str(each).encode() for each in tensor.array.reshape(-1))
    else:
        proto.raw_data = pack(tensor, LOW_FIRST)
    return proto
