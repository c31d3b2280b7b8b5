"""The dialects `onnx` and `onnx13`: models of opset 18 and 13, made from the ONNX text format.

In ONNX's `Split` the axis is an attribute and so a constant, lengths are `i64`, -1 is not allowed, and in opset 18 the
last of `num_outputs` outputs may be smaller. A -1 is replaced by its length in accepted cases with static data.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.model.draft import Draft, arguments_of
from opconform.model.golden import Golden
from opconform.model.graph import MOST_DECLARED, Declared, declared
from opconform.resources import render
from opconform.suite.case import Attribute, Node
from opconform.tensors.bit_layouts import LOW_FIRST, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

if TYPE_CHECKING:
    from onnx import TensorProto

#: The file that a backend loads, in the dialect's folder.
MODEL = "model.onnx"
#: One more than the largest integer attribute.
_LIMIT = 1 << 63
#: The element types that `Concat` and `Split` of either opset move.
_MOVED_TYPES = frozenset(
    {"boolean", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string"}
)
#: The operation whose values an attribute can hold as well, because it does not change them.
_CONVERT = "Convert-1"
_NO_COUNT = "there is no count other than the number of outputs"
_SMALLER = "the last of `num_outputs` outputs may be smaller"
#: The violations that are valid in ONNX, with the reason.
_NO_FAULT: Mapping[str, str] = {
    "axis.shape": "the axis is an attribute, and has no shape",
    "axis.element-type": "the axis is an attribute, and has no element type",
    "num_splits.zero-dimension": "a dimension of 0 may be split",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An opset, the IR version of its release, and whether its `Split` has the attribute `num_outputs`.

    `no_fault` has the violations that are valid in this opset alone, with the reason.
    """

    opset: int
    ir: int
    has_num_outputs: bool
    no_fault: Mapping[str, str]


#: The dialects of this module by name.
VERSIONS: Mapping[str, Version] = {
    "onnx": Version(
        opset=18,
        ir=8,
        has_num_outputs=True,
        no_fault={"num_splits.divides": _SMALLER, "num_splits.at-most-dimension": _SMALLER},
    ),
    "onnx13": Version(
        opset=13,
        ir=7,
        has_num_outputs=False,
        no_fault={
            "lengths.required": "without lengths, the outputs have equal sizes",
            "num_splits.required": _NO_COUNT,
            "num_splits.type": _NO_COUNT,
            "num_splits.positive": _NO_COUNT,
        },
    ),
}


class Line(NamedTuple):
    """One node in ONNX's text format, with its attributes as text, and the initializers that it needs."""

    op: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, Tensor] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The case to render, and the opset."""

    golden: Golden
    version: Version

    @property
    def draft(self) -> Draft:
        """The draft of the case."""
        return self.golden.draft

    def constant(self, name: str | None) -> Tensor | None:
        """The elements of a constant input of the model, or None for any other name."""
        if name is None or self.draft.binding.get(name) != "constant":
            return None
        return self.golden.inputs[0].get(name)

    def unconverted(self, name: str | None) -> str | None:
        """The tensor that a name is converted from, or the name itself."""
        sources = {node.outputs[0]: node.inputs[0] for node in self.golden.graph.nodes if node.op == _CONVERT}
        return sources.get(name or "", name)


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
    lines = _used([RENDERINGS[node.op](model, node) for node in golden.graph.nodes], golden.graph.outputs)
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


def attribute_text(value: Attribute) -> str:
    """An attribute in ONNX's text format."""
    if isinstance(value, tuple):
        return f"[{', '.join(attribute_text(each) for each in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


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
            if isinstance(each, bool):
                raise Inexpressible("ONNX has no boolean attributes")
            if isinstance(each, int) and not -_LIMIT <= each < _LIMIT:
                raise Inexpressible("ONNX's integer attributes are i64")


def _used(lines: Sequence[Line], outputs: Collection[str]) -> list[Line]:
    """The lines that the outputs of the model depend on."""
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


def _cast(_model: Model, node: Node) -> Line:
    from onnx import TensorProto

    target = ELEMENT_TYPES[str(node.attributes["destination_type"])].onnx or "UNDEFINED"
    return Line("Cast", (("to", str(TensorProto.DataType.Value(target))),), node.inputs, node.outputs)


def _shape(_model: Model, node: Node) -> Line:
    if node.attributes["output_type"] != "i64":
        raise Inexpressible("ONNX's Shape returns i64")
    return Line("Shape", (), node.inputs, node.outputs)


def _gather(_model: Model, node: Node) -> Line:
    return Line("Gather", (("axis", "0"),), node.inputs[:2], node.outputs)


def _concat(model: Model, node: Node) -> Line:
    if node.under_test:
        _check_types(model.draft, "Concat", node.inputs)
    attributes = tuple((name, attribute_text(value)) for name, value in node.attributes.items())
    return Line("Concat", attributes, node.inputs, node.outputs)


def _split(model: Model, node: Node) -> Line:
    if not node.under_test:
        raise Inexpressible("only a split that is tested is rendered in this dialect")
    _check_split(model, node)
    data, axis, *lengths = (*node.inputs, None, None)[: max(2, len(node.inputs))]
    along = model.constant(model.unconverted(axis))
    attributes = [] if along is None else [("axis", str(along.integers()[0]))]
    if model.version.has_num_outputs:
        attributes += [("num_outputs", attribute_text(each)) for each in node.attributes.values()]
    given = model.constant(lengths[0]) if lengths else None
    if given is None:
        inputs = (data, *(each for each in lengths if each is not None))
        return Line("Split", tuple(attributes), inputs, node.outputs)
    if model.golden.tensors and along is not None:  # a -1 is replaced by its length
        sizes = [model.golden.tensors[0][each].shape[along.integers()[0]] for each in node.outputs]
        given = Tensor(element_type="i64", array=np.array(sizes, np.int64))
    name = f"{node.name}_lengths"
    return Line("Split", tuple(attributes), (data, name), node.outputs, {name: given})


def _check_types(draft: Draft, op: str, names: Sequence[str | None]) -> None:
    """Refuse a tensor of a type that ONNX's operation does not move."""
    for each in (each for name, each in draft.tensors.items() if name in names):
        if each.element_type not in _MOVED_TYPES:
            raise Inexpressible(f"ONNX's {op} does not take {each.element_type}")


def _check_split(model: Model, node: Node) -> None:
    draft = model.draft
    axis, refused = draft.tensors.get("axis"), draft.rejected_for
    _check_types(draft, "Split", ("data",))
    no_fault = {**_NO_FAULT, **model.version.no_fault}
    if refused in no_fault:
        raise Inexpressible(f"opset {model.version.opset} does not treat this as a violation: {no_fault[refused]}")
    if axis is None:
        raise Inexpressible("in ONNX, an omitted axis defaults to 0")
    if draft.binding["axis"] == "parameter":
        raise Inexpressible("ONNX's axis is an attribute, and cannot be supplied at run time")
    if model.unconverted(node.inputs[1]) != "axis":
        raise Inexpressible("ONNX's axis is an attribute, and cannot be computed")
    if declared(draft, model.golden.graph)[node.inputs[1] or ""].element_type != "i64" or axis.shape != ():
        raise Inexpressible("ONNX's axis is an attribute, and has neither element type nor shape")
    if "split_lengths" in draft.tensors:
        _check_lengths(model, node, refused)
    requested = draft.operation.requested_outputs(arguments_of(draft, 0)) or 0
    if refused is not None and requested > MOST_DECLARED:
        raise Inexpressible(
            f"an ONNX node declares every requested output, and opconform declares at most {MOST_DECLARED}"
        )


def _check_lengths(model: Model, node: Node, refused: str | None) -> None:
    draft, source = model.draft, node.inputs[2] or ""
    element_type = declared(draft, model.golden.graph)[source].element_type
    if element_type != "i64" and refused != "lengths.element-type":
        raise Inexpressible(f"ONNX's lengths are i64, and cannot be {element_type}")
    if ELEMENT_TYPES[element_type].onnx is None:
        raise Inexpressible(f"ONNX has no {element_type}")
    for lengths in (each["split_lengths"] for each in draft.feeds):
        if -1 not in lengths.elements:
            continue
        if refused is not None:
            raise Inexpressible("ONNX has no -1, so the case would violate a different rule")
        if source not in draft.tensors:
            raise Inexpressible("ONNX has no -1, so it cannot be computed")
        if draft.binding["split_lengths"] == "parameter":
            raise Inexpressible("ONNX has no -1, so it cannot be supplied at run time")
        if draft.dynamic:
            raise Inexpressible("ONNX has no -1, and its value is not known when the model is built")


#: The rendering of each operation as a line; it raises `Inexpressible` for a case that ONNX cannot express.
RENDERINGS: Mapping[str, Callable[[Model, Node], Line]] = {
    "Concat-1": _concat,
    "Constant-1": _constant,
    "Convert-1": _cast,
    "Gather-8": _gather,
    "ShapeOf-3": _shape,
    "Split-1": _split,
    "VariadicSplit-1": _split,
}


def _named(line: Line, results: Mapping[str, str]) -> Line:
    """A line with the names of the model's outputs; omitted inputs are empty strings."""
    inputs = tuple('""' if each is None else results.get(each, each) for each in line.inputs)
    return line._replace(inputs=inputs, outputs=tuple(results.get(each, each) for each in line.outputs))


def _value(name: str, tensor: Declared) -> tuple[str, str]:
    """The type and the name of an input or output in ONNX's text format."""
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
