"""ONNX's `GatherND`, whose indices are `i64`, and whose batch dimensions are equal."""

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, attribute_text, check_types
from opconform.model.graph import declared
from opconform.suite.case import Node
from opconform.tensors.element_types import ELEMENT_TYPES


def gathered_nd(model: Model, node: Node) -> Line:
    """The line of GatherND-8, or `Inexpressible`."""
    draft, indices = model.draft, node.inputs[1] if len(node.inputs) > 1 else None
    check_types(draft, "GatherND", ("data",))
    if indices is not None:
        element_type = declared(draft, model.golden.graph)[indices].element_type
        if ELEMENT_TYPES[element_type].onnx is None:
            raise Inexpressible(f"ONNX has no {element_type}")
        if element_type != "i64" and draft.rejected_for != "indices.element-type":
            raise Inexpressible("ONNX's indices are i64")
    batches = node.attributes.get("batch_dims", 0)
    for feed in draft.feeds:
        if not {"data", "indices"} <= feed.keys() or not isinstance(batches, int):
            continue
        data, tuples = feed["data"].shape, feed["indices"].shape
        if draft.rejected_for is None and data[:batches] != tuples[:batches]:
            raise Inexpressible("in ONNX, batch dimensions are equal, and not broadcast")
        if 0 in tuples[-1:]:
            raise Inexpressible("in ONNX, a tuple has at least one index")
    attributes = tuple((name, attribute_text(value)) for name, value in node.attributes.items())
    return Line("GatherND", attributes, node.inputs, node.outputs)
