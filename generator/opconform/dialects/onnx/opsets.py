"""Nodes of opset 18 as nodes of older opsets: attributes in place of inputs, and what the older opsets lack."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx.translation import Call, attribute_text
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

if TYPE_CHECKING:
    from onnx.defs import OpSchema

#: The default opset, whose nodes the operations are rendered as.
NEWEST = 18
#: The opsets of the operations that came later. Nodes of the default opset mean the same in them.
LATER: Mapping[str, int] = {"Attention": 23}
#: The version of the format that came with each opset.
IR_VERSIONS: Mapping[int, int] = {13: 7, 17: 8, 18: 8, 23: 11}
#: The reductions whose axes became an input in opset 18.
_REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd")


def older(call: Call, opset: int, constants: Mapping[str, Tensor], types: Mapping[str, str]) -> Call:
    """A node of opset 18 as a node of an older one, or `Inexpressible`.

    Args:
        call: The node.
        opset: The older opset.
        constants: The constants of the model by name.
        types: The element types of the tensors of the model by name, as far as they are known.
    """
    from onnx import defs

    try:
        schema = defs.get_schema(call.op, opset)
    except defs.SchemaError as error:
        raise Inexpressible(f"ONNX has no {call.op} in opset {opset}") from error
    known = {**constants, **call.initializers}
    attributes = dict(call.attributes)
    if call.op in _REDUCTIONS:
        call, attributes = _with_axes(call, attributes, known, opset)
    elif call.op == "Split":
        _check_parts(call, attributes.pop("num_outputs", None), opset)
    elif call.op == "Reshape" and "allowzero" not in schema.attributes:
        _check_zeros(call, attributes.pop("allowzero"), known, opset)
    elif attributes.get("reduction") == '"none"' and "reduction" not in schema.attributes:
        del attributes["reduction"]
    elif attributes.get("reduction") in ('"min"', '"max"'):
        raise Inexpressible(f"ONNX's {call.op} has no reduction {attributes['reduction'][1:-1]} in opset {opset}")
    for name in attributes:
        if name not in schema.attributes:
            raise Inexpressible(f"ONNX's {call.op} has no {name} in opset {opset}")
    _check_types(call, schema, {**types, **{name: x.element_type for name, x in known.items()}}, opset)
    return replace(call, attributes=attributes)


def _with_axes(
    call: Call, attributes: dict[str, str], known: Mapping[str, Tensor], opset: int
) -> tuple[Call, dict[str, str]]:
    """A reduction whose axes are an attribute, by which an empty list is all dimensions."""
    data, *axes = call.inputs
    tensor = known.get(axes[0] or "") if axes else None
    if tensor is None:
        raise Inexpressible(f"ONNX's axes are an attribute in opset {opset}, and cannot be supplied at run time")
    if tensor.element_type != "i64" or len(tensor.shape) != 1:
        raise Inexpressible(f"ONNX's axes are an attribute in opset {opset}, and have neither element type nor shape")
    if not tensor.array.size:
        raise Inexpressible(f"in opset {opset}, an empty list of axes is all dimensions")
    text = attribute_text(tuple(int(axis) for axis in tensor.array))
    others = {name: value for name, value in attributes.items() if name != "noop_with_empty_axes"}
    return replace(call, inputs=(data,)), {"axes": text, **others}


def _check_parts(call: Call, count: str | None, opset: int) -> None:
    """Refuse a number of parts that is not the number of outputs, by which an older opset splits without lengths."""
    if len(call.inputs) == 1 and count != str(len(call.outputs)):
        raise Inexpressible(f"ONNX's Split has no num_outputs in opset {opset}")


def _check_zeros(call: Call, allowed: str, known: Mapping[str, Tensor], opset: int) -> None:
    """Refuse a size of 0 that is no copy of a dimension, and sizes that may be such."""
    sizes = known.get(call.inputs[-1] or "")
    if allowed == "1" and (sizes is None or 0 in sizes.array):
        raise Inexpressible(f"in opset {opset}, a size of 0 copies a dimension")


def _check_types(call: Call, schema: "OpSchema", types: Mapping[str, str], opset: int) -> None:
    """Refuse element types that the operation takes in later opsets alone; an invalid case may have any other."""
    from onnx import defs

    later = defs.get_schema(call.op, NEWEST)
    for place, name in enumerate(call.inputs):
        if name is not None and name in types:
            text = f"tensor({(ELEMENT_TYPES[types[name]].onnx or '').lower()})"
            if text in _allowed(later, place) - _allowed(schema, place):
                raise Inexpressible(f"ONNX's {call.op} does not take {types[name]} in opset {opset}")


def _allowed(schema: "OpSchema", place: int) -> set[str]:
    """The types that an operation takes at a place; its last input may be variadic."""
    kind = schema.inputs[min(place, len(schema.inputs) - 1)].type_str
    allowed = {x.type_param_str: {*x.allowed_type_strs} for x in schema.type_constraints}
    return allowed.get(kind, {kind})
