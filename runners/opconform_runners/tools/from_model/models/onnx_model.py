"""The nodes of an ONNX model, with the nodes in bodies of `If`, `Loop` and `Scan`."""

import contextlib
import math
from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from opconform.errors import UsageError
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.node import (
    CONSTANT_LIMIT,
    Call,
    Known,
    ModelNode,
    NoCounterpart,
    check_count,
    constant,
)
from opconform_runners.tools.from_model.models.onnx_call import OnnxCall
from opconform_runners.tools.from_model.models.onnx_file import model_without_weights
from opconform_runners.tools.from_model.models.onnx_graphs import READINGS
from opconform_runners.tools.from_model.models.onnx_operations import OF_ONNX, called, counterparts

_OWN = ("", "ai.onnx")
#: The most elements of a tensor of one dimension whose values onnx follows.
_LONGEST_LIST = 1 << 20
#: The attributes of a Constant that are numbers.
_NUMBERS = {"value_int": "i64", "value_ints": "i64", "value_float": "f32", "value_floats": "f32"}


def read_onnx(path: Path) -> list[ModelNode]:
    """The nodes of a model besides its constants. Neither its weights nor files beside it are read.

    Raises:
        UsageError: The file cannot be read, or is of an unknown opset.
    """
    try:
        from onnx import defs, shape_inference
    except ImportError as error:
        raise UsageError('Reading ONNX needs the package onnx: pip install "opconform[onnx]".') from error
    model, newest = model_without_weights(path), defs.onnx_opset_version()
    for opset in model.opset_import:
        if opset.domain in _OWN and not 1 <= opset.version <= newest:
            known = f"the installed onnx knows 1 to {newest}"
            raise UsageError(f"{path} is of opset {opset.version}, and {known}. Update onnx, or export it again.")
    with contextlib.suppress(
        shape_inference.InferenceError, RuntimeError, ValueError
    ):  # its nodes may still say their types
        model = shape_inference.infer_shapes(model)
        if not _has_long_list(model.graph):
            model = shape_inference.infer_shapes(model, data_prop=True)
    reader = _Reader(str(path))
    return list(reader.nodes(model.graph, ChainMap()))


def _has_long_list(graph: Any) -> bool:
    """Whether a tensor of one dimension has more elements than a shape could, for each of which onnx takes memory."""
    values = (*graph.input, *graph.value_info, *graph.output)
    shapes = (x.type.tensor_type.shape.dim for x in values if x.type.HasField("tensor_type"))
    return any(len(dims) == 1 and dims[0].dim_value > _LONGEST_LIST for dims in shapes) or any(
        _has_long_list(body)
        for node in graph.node
        for item in node.attribute
        for body in (*item.graphs, *([item.g] if item.HasField("g") else []))
    )


class _Reader:
    """Reads graphs; tensors have the number of their graph before their name, which other graphs can have, too."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._types: dict[str, Any] = {}
        self._constants: dict[str, Any] = {}
        self._graphs = self._count = 0

    def nodes(self, graph: Any, outer: "ChainMap[str, str]") -> Iterator[ModelNode]:
        """The nodes of a graph and of the graphs in it, given the names of the tensors outside."""
        self._graphs += 1
        number, scope = self._graphs, outer.new_child()
        values = [*graph.input, *graph.value_info, *graph.output]
        named = (
            *(x.name for x in (*values, *graph.initializer)),
            *(name for node in graph.node for name in node.output),
        )
        scope.update({name: f"{number}:{name}" for name in named if name})
        self._types |= {scope[value.name]: value.type for value in values if value.name}
        self._constants |= {scope[tensor.name]: tensor for tensor in graph.initializer if tensor.name}
        for node in graph.node:
            self._count += 1
            check_count(self._count, self._model)
            attributes = {item.name: _attribute(item) for item in node.attribute}
            if node.op_type == "Constant" and node.domain in _OWN:
                self._constants |= {scope[name]: attributes for name in node.output if name}
                continue
            inputs = [scope.get(name) if name else None for name in node.input]
            outputs = tuple(scope[name] for name in node.output if name)
            kind = _text(node.op_type)
            label = kind if node.domain in _OWN else f"{_text(node.domain)}.{kind}"
            call, reason = self._called(label, inputs, attributes, len(outputs))
            taken = tuple(name for name in inputs if name is not None)
            name = _text(node.name or (node.output[0] if node.output else ""))
            yield ModelNode(name=name, type=label, inputs=taken, outputs=outputs, call=call, reason=reason)
            for item in node.attribute:
                for body in (*item.graphs, *([item.g] if item.HasField("g") else [])):
                    yield from self.nodes(body, scope)

    def _called(
        self, label: str, inputs: list[str | None], attributes: Mapping[str, Any], outputs: int
    ) -> tuple[Call | None, str]:
        """What a node calls, or why that is nothing."""
        reading = READINGS.get(label, called if label in counterparts() else None)
        if reading is None:
            return None, ""
        try:
            known = [None if name is None else self._known(name) for name in inputs]
            values = {name: _constant(x) if hasattr(x, "dims") else x for name, x in attributes.items()}
            return reading(OnnxCall(type=label, inputs=known, attributes=values, outputs=outputs)), ""
        except NoCounterpart as answer:
            return None, answer.reason
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None, "an attribute is missing or malformed"

    def _known(self, name: str) -> Known:
        """What is known of a tensor."""
        if name in self._constants:
            return _constant(self._constants[name])
        kind = self._types[name].tensor_type if name in self._types else None
        element_type = None if kind is None else _element_type(kind.elem_type)
        if kind is None or element_type is None:
            raise NoCounterpart("the element type of an input is not known")
        if not kind.HasField("shape"):
            return Known(element_type=element_type, dimensions=None)
        sizes = [
            dim.dim_value
            if dim.HasField("dim_value") and dim.dim_value >= 0
            else _text(dim.dim_param) or f"{name}:{place}"
            for place, dim in enumerate(kind.shape.dim)
        ]
        return Known(element_type=element_type, dimensions=tuple(sizes))


def _element_type(number: int) -> str | None:
    from onnx import TensorProto

    try:
        return OF_ONNX.get(TensorProto.DataType.Name(number))
    except ValueError:
        return None


def _text(name: str | bytes) -> str:
    """A name, which protobuf gives as bytes where it is not UTF-8."""
    return name.decode(errors="backslashreplace") if isinstance(name, bytes) else name


def _attribute(item: Any) -> Any:
    """The value of an attribute; texts are decoded, and a value of a type that is not known is None."""
    from onnx.helper import get_attribute_value

    try:
        value = get_attribute_value(item)
        return value.decode() if isinstance(value, bytes) else value
    except ValueError:
        return None


def _constant(initializer: Any) -> Known:
    """A constant of the model: an initializer, or the attributes of a Constant."""
    from onnx import TensorProto, numpy_helper

    given = initializer if isinstance(initializer, dict) else {"value": initializer}
    if "value" not in given:
        name = next((name for name in _NUMBERS if name in given), None)
        if name is None:
            raise NoCounterpart("a constant is not a tensor of numbers")
        array = np.array(given[name])
        return constant(_NUMBERS[name], array.shape, array.reshape(-1).tolist())
    tensor, numbers = given["value"], None
    element_type, dimensions = _element_type(tensor.data_type), tuple(tensor.dims)
    if element_type is None or min(dimensions, default=0) < 0:
        raise NoCounterpart("a constant is malformed")
    is_inside = math.prod(dimensions) <= CONSTANT_LIMIT and tensor.data_location != TensorProto.EXTERNAL
    if is_inside and element_type != "string":
        number = float if ELEMENT_TYPES[element_type].kind == "float" else int
        with contextlib.suppress(TypeError, ValueError):  # its elements are missing
            numbers = [number(x) for x in numpy_helper.to_array(tensor).reshape(-1)]
    return constant(element_type, dimensions, numbers)
