"""The dialects `onnx` and `onnx13`: ONNX's `Split` of opset 18 and of opset 13, from the ONNX text format.

ONNX's operation says less than the specification's: the axis is an attribute and so a constant, lengths are of `i64`,
there is no -1, and opset 18 lets the last of `num_outputs` pieces be smaller. What cannot be said is left out; what a
-1 stands for is worked out here, in accepted cases whose data is known when the model is built.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from opconform.case import Attribute
from opconform.dialects.dialect import Inexpressible
from opconform.drafts import Draft, Refusal, arguments_of
from opconform.element_types import ELEMENT_TYPES
from opconform.golden import Golden
from opconform.graphs import MOST_DECLARED, Edge, Graph, Node, Value, graph_of
from opconform.lowering import SPLITS, Cut, cuts_of
from opconform.packing import LOW_FIRST, pack
from opconform.templates import render
from opconform.tensors import Tensor

if TYPE_CHECKING:
    from onnx import TensorProto

#: The file that a backend loads, in the dialect's folder.
MODEL = "model.onnx"

_I64 = ELEMENT_TYPES["i64"]
_ESCAPED = re.compile(r'(["\\])')
#: The element types of data that `Split` takes, of either opset.
_SPLITS = frozenset(
    {"boolean", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Version:
    """An opset, and what its `Split` can say.

    Attributes:
        opset: The opset.
        ir: The version of the IR that came with it.
        counts: Whether it has the attribute `num_outputs`; otherwise equal pieces are as many as the node's outputs.
    """

    opset: int
    ir: int
    counts: bool


#: The dialects of this module by name.
VERSIONS: Mapping[str, _Version] = MappingProxyType(
    {"onnx": _Version(opset=18, ir=8, counts=True), "onnx13": _Version(opset=13, ir=7, counts=False)}
)

#: The faults that an opset does not know to be such, with what it has instead.
_NO_FAULT: Mapping[str, str] = MappingProxyType(
    {
        "axis.shape": "the axis is an attribute, and has no shape",
        "axis.element-type": "the axis is an attribute, and has no element type",
        "num_splits.zero-dimension": "a dimension of 0 may be split",
    }
)
_NO_FAULT_18: Mapping[str, str] = MappingProxyType(
    {
        **_NO_FAULT,
        "num_splits.divides": "the last of `num_outputs` pieces may be smaller",
        "num_splits.at-most-dimension": "the last of `num_outputs` pieces may be smaller",
    }
)
_NO_FAULT_13: Mapping[str, str] = MappingProxyType(
    {
        **_NO_FAULT,
        "lengths.required": "pieces are equal where no lengths are given",
        "num_splits.required": "there is no count beside that of the outputs",
        "num_splits.type": "there is no count beside that of the outputs",
        "num_splits.positive": "there is no count beside that of the outputs",
    }
)


class _Line(NamedTuple):
    op: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class _Declared(NamedTuple):
    type: str
    name: str


def printed(model: bytes) -> str:
    """A model as ONNX's text format says it.

    Raises:
        ImportError: The onnx package is not installed.
        ValueError: It is no model.
    """
    from google.protobuf.message import DecodeError
    from onnx import load_model_from_string, printer

    try:
        return str(printer.to_text(load_model_from_string(model)))
    except DecodeError as fault:
        raise ValueError(str(fault)) from fault


def files_of(dialect: str, golden: Golden, name: str) -> dict[str, bytes]:
    """The model of a case, by its name in the case's folder.

    Args:
        dialect: `onnx` or `onnx13`.
        golden: The case.
        name: What the model is called.

    Raises:
        Inexpressible: ONNX cannot say what the case says.
    """
    from onnx import parser

    version = VERSIONS[dialect]
    reason = next(_reasons(golden.draft, version), None)
    if reason is not None:
        raise Inexpressible(reason)
    spelling = _Spelling(golden, graph_of(golden), version)
    text = render(
        "onnx/model.txt.j2",
        name=name,
        ir_version=version.ir,
        opset=version.opset,
        inputs=tuple(spelling.inputs()),
        outputs=tuple(spelling.outputs()),
        nodes=tuple(spelling.lines()),
    )
    model = parser.parse_model(str(text))
    model.graph.initializer.extend(spelling.initializers())
    return {f"{dialect}/{MODEL}": model.SerializeToString(deterministic=True)}


def _reasons(draft: Draft, version: _Version) -> Iterator[str]:
    """Why ONNX cannot say what a draft says."""
    if draft.op not in SPLITS:
        yield f"{draft.op} has no rendering in this dialect"
    yield from _data_reasons(draft)
    refused = draft.expect.requirement if isinstance(draft.expect, Refusal) else None
    no_fault = _NO_FAULT_18 if version.counts else _NO_FAULT_13
    if refused is not None and refused in no_fault:
        yield f"in opset {version.opset} that is no fault: {no_fault[refused]}"
    yield from _axis_reasons(draft)
    if "split_lengths" in draft.tensors:
        yield from _lengths_reasons(draft, refused)
    yield from _count_reasons(draft)


def _data_reasons(draft: Draft) -> Iterator[str]:
    data = draft.tensors.get("data")
    if data is not None and data.element_type not in _SPLITS:
        yield f"ONNX's Split does not take {data.element_type}"
    if isinstance(draft.dynamic, str):
        yield "an ONNX model declares the rank of what it is fed"
    elif any(isinstance(each, str) and each != "?" for each in draft.dynamic or ()):
        yield "ONNX has no bounded dimensions"


def _axis_reasons(draft: Draft) -> Iterator[str]:
    axis = draft.tensors.get("axis")
    if axis is None:
        yield "in ONNX an axis that is left out is 0"
    elif draft.binding["axis"] == "parameter":
        yield "ONNX's axis is an attribute, and cannot come at run time"
    elif axis.element_type != "i64" or axis.shape != ():
        yield "ONNX's axis is an attribute, and has neither element type nor shape"
    if draft.second and "axis" in draft.second:
        yield "ONNX's axis is an attribute, and is the same in each feed"


def _lengths_reasons(draft: Draft, refused: str | None) -> Iterator[str]:
    for lengths in (each["split_lengths"] for each in draft.feeds):
        if lengths.element_type != "i64" and refused != "lengths.element-type":
            yield f"ONNX's lengths are of i64, and cannot be of {lengths.element_type}"
        if ELEMENT_TYPES[lengths.element_type].onnx is None:
            yield f"ONNX has no {lengths.element_type}"
        if -1 not in lengths.elements:
            continue
        if refused is not None:
            yield "ONNX has no -1, so this is another fault there"
        if draft.binding["split_lengths"] == "parameter":
            yield "ONNX has no -1, and cannot be fed one"
        if draft.dynamic is not None:
            yield "ONNX has no -1, and what it stands for is not known before the data"


def _count_reasons(draft: Draft) -> Iterator[str]:
    asked = draft.operation.asked(arguments_of(draft, 0)) or 0
    if isinstance(draft.expect, Refusal) and asked > MOST_DECLARED:
        yield f"an ONNX node has as many outputs as are asked for, and no more than {MOST_DECLARED} are declared here"
    for value in draft.attributes.values():
        if isinstance(value, bool):
            yield "ONNX has no boolean attributes"
        if isinstance(value, float) and not math.isfinite(value):
            yield "ONNX's text format has finite numbers only"
        if isinstance(value, int) and not _I64.minimum <= value <= _I64.maximum:
            yield "ONNX's attributes are of i64"


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A graph in ONNX's words."""

    golden: Golden
    graph: Graph
    version: _Version

    def inputs(self) -> Iterator[_Declared]:
        """What the model is fed."""
        for node in self.graph.nodes:
            if node.kind == "parameter":
                yield _Declared(_type(node.outputs[0]), node.name)

    def outputs(self) -> Iterator[_Declared]:
        """What the model gives."""
        for node in self.graph.nodes:
            if node.kind == "result":
                yield _Declared(_type(node.outputs[0]), node.name)

    def lines(self) -> Iterator[_Line]:
        """The nodes that compute."""
        names = self._names()
        for number, node in enumerate(self.graph.nodes):
            if node.kind in ("operation", "concat"):
                outputs = tuple(names[Edge(node=number, output=output)] for output in range(len(node.outputs)))
                inputs = tuple('""' if edge is None else names[edge] for edge in node.inputs)
                yield (
                    self._split(node, inputs, outputs)
                    if node.kind == "operation"
                    else _Line("Concat", _attributes(node), inputs, outputs)
                )

    def initializers(self) -> "Iterator[TensorProto]":
        """The constants, bit for bit."""
        cuts = cuts_of(self.golden, self.graph)
        for number, node in enumerate(self.graph.nodes):
            if node.tensor is not None and node.name == "data":
                yield _initializer(node.name, node.tensor)
            if node.kind == "operation" and self._are_constant(node):
                yield _initializer(_lengths_name(node), self._lengths(node, cuts.get(number)))

    def _split(self, node: Node, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> _Line:
        _, axis, *lengths = node.inputs
        attributes = [] if axis is None else [("axis", str(self._constant(axis).integers()[0]))]
        if self.version.counts and self.golden.draft.op == "Split-1":
            attributes += [("num_outputs", value) for _, value in _attributes(node)]
        given = inputs[:1]
        if self._are_constant(node):
            given = (*given, _lengths_name(node))
        elif lengths and lengths[0] is not None:
            given = (*given, inputs[2])
        return _Line("Split", tuple(attributes), given, outputs)

    def _are_constant(self, node: Node) -> bool:
        lengths = node.inputs[2] if len(node.inputs) > 2 else None  # noqa: PLR2004 - data, axis, lengths
        return lengths is not None and self.graph.nodes[lengths.node].kind == "constant"

    def _lengths(self, node: Node, cut: Cut | None) -> Tensor:
        """The lengths as they are given, with what a -1 stands for in its place."""
        edge = node.inputs[2]
        given = self._constant(edge) if edge is not None else Tensor(element_type="i64", array=np.zeros(0, np.int64))
        return given if cut is None else Tensor(element_type="i64", array=np.array(cut.lengths, np.int64))

    def _constant(self, edge: Edge) -> Tensor:
        tensor = self.graph.nodes[edge.node].tensor
        if tensor is None:
            raise Inexpressible("ONNX's axis is an attribute, and cannot come at run time")
        return tensor

    def _names(self) -> dict[Edge, str]:
        """What each value is called: as the result that it is, as the input that it is, or by its node."""
        edges = chain.from_iterable(
            (Edge(node=number, output=output) for output in range(len(node.outputs)))
            for number, node in enumerate(self.graph.nodes)
            if node.kind != "result"
        )
        names = {edge: self._name(edge) for edge in edges}
        return names | {
            node.inputs[0]: node.name
            for node in self.graph.nodes
            if node.kind == "result" and node.inputs[0] is not None
        }

    def _name(self, edge: Edge) -> str:
        node = self.graph.nodes[edge.node]
        return node.name if node.kind in ("parameter", "constant") else f"{node.name}_{edge.output}"


def _lengths_name(node: Node) -> str:
    return f"{node.name}_lengths"


def _attributes(node: Node) -> tuple[tuple[str, str], ...]:
    return tuple((name, _attribute_text(value)) for name, value in node.attributes.items())


def _attribute_text(value: Attribute) -> str:
    return '"' + _ESCAPED.sub(r"\\\1", value) + '"' if isinstance(value, str) else str(value)


def _type(value: Value) -> str:
    name = (ELEMENT_TYPES[value.element_type].onnx or "").lower()
    dimensions = ",".join("?" if each is None else str(each) for each in value.dimensions)
    return f"{name}[{dimensions}]" if value.dimensions else name


def _initializer(name: str, tensor: Tensor) -> "TensorProto":
    from onnx import TensorProto

    proto = TensorProto(name=name, dims=tensor.shape)
    proto.data_type = TensorProto.DataType.Value(tensor.type.onnx or "UNDEFINED")
    if tensor.type.kind == "string":
        proto.string_data.extend(str(each).encode() for each in tensor.array.reshape(-1))
    else:
        proto.raw_data = pack(tensor, LOW_FIRST)
    return proto
