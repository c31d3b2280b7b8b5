"""ONNX's `Slice`, whose indices share one type, and which clamps a backward start to the first element."""

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, check_tested
from opconform.operations.slice import slices_of
from opconform.suite.case import Node

_TYPES = frozenset({"i32", "i64"})
#: The violations that are valid in ONNX, with the reason.
_NO_FAULT = {
    "step.required": "in ONNX, an omitted step defaults to 1",
    "axes.unique": "ONNX does not define what repeated axes do",
}


def sliced(model: Model, node: Node) -> Line:
    """The line of Slice-8, or `Inexpressible`."""
    draft, refused = model.draft, model.draft.rejected_for
    check_tested(draft, "Slice", ("data",), _NO_FAULT)
    types = {each.element_type for name, each in draft.tensors.items() if name != "data"}
    if refused is None and not types <= _TYPES:
        raise Inexpressible("ONNX's indices are i32 or i64")
    if len(types) > 1 or (refused is not None and not types <= _TYPES):
        other = "" if refused is None else ", so the case would violate a different rule"
        raise Inexpressible(f"ONNX's indices have the same type{other}")
    if "axes" not in draft.tensors and any(
        len(feed["start"].elements) != len(feed["data"].shape) for feed in draft.feeds if {"start", "data"} <= {*feed}
    ):
        raise Inexpressible("ONNX's default axes are all dimensions")
    for number, feed in enumerate(draft.feeds if refused is None else ()):
        slices = slices_of(draft.arguments[number])
        for each, size in zip(slices, feed["data"].shape, strict=True):
            is_before = each.step is not None and each.step < 0 and each.start < -size
            if is_before and each.stop < -size:  # with a later stop, both select nothing
                raise Inexpressible("ONNX clamps a start before the first element to it, and Python selects nothing")
    data, start, stop, step, *axes = node.inputs
    return Line("Slice", (), (data, start, stop, *(axes or [None]), step), node.outputs)
