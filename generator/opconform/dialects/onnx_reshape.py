"""ONNX's `Reshape`, whose shape is `i64`, and whose attribute `allowzero` is the opposite of `special_zero`."""

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, attribute_text, check_known, check_tested
from opconform.model.graph import declared
from opconform.suite.case import Node

#: The first opset with `allowzero`; in earlier ones, a 0 always copies a dimension.
_ALLOWZERO = 14
#: The violations that are valid in ONNX, with the reason.
_NO_FAULT = {
    "special_zero.required": "in ONNX, an omitted allowzero defaults to 0",
    "special_zero.spelling": "in ONNX, allowzero is an integer",
    "special_zero.type": "in ONNX, allowzero is an integer",
}


def reshaped(model: Model, node: Node) -> Line:
    """The line of Reshape-1, or `Inexpressible`."""
    draft, refused = model.draft, model.draft.rejected_for
    if node.under_test:
        check_tested(draft, "Reshape", ("data",), _NO_FAULT)
    if len(node.inputs) > 1:
        element_type = declared(draft, model.golden.graph)[node.inputs[1] or ""].element_type
        if element_type != "i64" and refused != "shape.element-type":
            raise Inexpressible(f"ONNX's shape is i64, and cannot be {element_type}")
        check_known(element_type)
    special_zero = node.attributes["special_zero"]
    if model.version.opset >= _ALLOWZERO:
        return Line("Reshape", (("allowzero", attribute_text(int(not special_zero))),), node.inputs, node.outputs)
    complete = (each for each in draft.feeds if {"data", "shape"} <= {*each})
    zeros = [0 in (each["shape"].elements if node.under_test else each["data"].shape) for each in complete]
    if any(zeros) and not special_zero and not _copies_zeros(model, node):
        raise Inexpressible(f"before opset {_ALLOWZERO}, a 0 always copies a dimension")
    return Line("Reshape", (), node.inputs, node.outputs)


def _copies_zeros(model: Model, node: Node) -> bool:
    """Whether each 0 in the constant shape of a valid case would copy a dimension that is always 0."""
    shape = model.constant(node.inputs[1])
    if shape is None or model.draft.rejected_for is not None:
        return False
    dimensions = declared(model.draft, model.golden.graph)[node.inputs[0] or ""].dimensions
    places = [place for place, size in enumerate(shape.integers()) if size == 0]
    return all(dimensions[place : place + 1] == (0,) for place in places)
