"""ONNX's `Gather` and `GatherND`, which have other batch dimensions and types of indices."""

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, attribute_text, check_known, check_tested
from opconform.model.draft import Draft
from opconform.model.graph import declared
from opconform.suite.case import Node

_TYPES = frozenset({"i32", "i64"})
_NO_BATCHES = "ONNX's Gather has no batch dimensions"
#: The violations that are valid in ONNX, with the reason.
_NO_FAULT = {
    "axis.required": "in ONNX, an omitted axis defaults to 0",
    "axis.shape": "ONNX's axis is an attribute, and has no shape",
    "axis.element-type": "ONNX's axis is an attribute, and has no element type",
    **dict.fromkeys((f"batch_dims.{each}" for each in ("type", "range", "axis", "equal")), _NO_BATCHES),
}


def gathered(model: Model, node: Node) -> Line:
    """The line of Gather-8, or `Inexpressible`."""
    if model.is_constant_node(node.inputs[2:]):  # of a list, for a control input
        return Line("Gather", (("axis", "0"),), node.inputs[:2], node.outputs)
    draft = model.draft
    check_tested(draft, "Gather", ("data",), _NO_FAULT)
    along = model.constant(model.unconverted(node.inputs[2]))
    if along is None:
        raise Inexpressible("ONNX's axis is an attribute, and cannot be supplied at run time")
    batches = draft.attributes.get("batch_dims", 0)
    for feed in draft.feeds:
        if batches != 0 and ("indices" not in feed or batches != -len(feed["indices"].shape)):
            raise Inexpressible(_NO_BATCHES)
    _check_indices(draft)
    return Line("Gather", (("axis", str(along.integers()[0])),), node.inputs[:2], node.outputs)


def _check_indices(draft: Draft) -> None:
    """Check the types of the indices, and that those of a valid case are in the range."""
    given = draft.tensors.get("indices")
    if given is None:
        return
    check_known(given.element_type)
    if given.element_type not in _TYPES and draft.rejected_for != "indices.element-type":
        raise Inexpressible("ONNX's indices are i32 or i64")
    if draft.rejected_for is not None:
        return
    for number, feed in enumerate(draft.feeds):
        axis = draft.arguments[number].inputs["axis"].integers or (0,)
        size = feed["data"].shape[axis[0]]
        if any(not -size <= int(each) < size for each in feed["indices"].elements):
            raise Inexpressible("in ONNX, an index that is out of range is an error")


def gathered_nd(model: Model, node: Node) -> Line:
    """The line of GatherND-8, or `Inexpressible`."""
    draft, indices = model.draft, node.inputs[1] if len(node.inputs) > 1 else None
    check_tested(draft, "GatherND", ("data",), {})
    if indices is not None:
        element_type = declared(draft, model.golden.graph)[indices].element_type
        check_known(element_type)
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
