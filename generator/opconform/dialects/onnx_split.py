"""Split-1 and VariadicSplit-1 as ONNX's `Split`, and why it cannot express some cases.

In ONNX the axis is an attribute and so a constant, lengths are `i64`, there is no -1, and in opset 18 the last of
`num_outputs` outputs may be smaller. A -1 is replaced by its length in accepted cases with static data.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from opconform.dialects.onnx_model import Line, Model, Rendered, attribute_text
from opconform.model.draft import arguments_of
from opconform.model.graph import MOST_DECLARED
from opconform.suite.case import Node
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

#: The element types of data in `Split` of either opset.
_TYPES = frozenset(
    {"boolean", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string"}
)
#: The violations that are valid in ONNX, with the reason; and those that are so in one opset alone.
_NO_FAULT: Mapping[str, str] = MappingProxyType(
    {
        "axis.shape": "the axis is an attribute, and has no shape",
        "axis.element-type": "the axis is an attribute, and has no element type",
        "num_splits.zero-dimension": "a dimension of 0 may be split",
    }
)
_NO_FAULT_18: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("num_splits.divides", "num_splits.at-most-dimension"), "the last of `num_outputs` outputs may be smaller"
    )
)
_NO_FAULT_13: Mapping[str, str] = MappingProxyType(
    {
        "lengths.required": "outputs are equal where no lengths are given",
        **dict.fromkeys(
            ("num_splits.required", "num_splits.type", "num_splits.positive"),
            "there is no count beside that of the outputs",
        ),
    }
)


def reasons(model: Model) -> Iterator[str]:
    """The reasons why ONNX's `Split` cannot express a case."""
    data, refused = model.draft.tensors.get("data"), model.rejected_for
    if data is not None and data.element_type not in _TYPES:
        yield f"ONNX's Split does not take {data.element_type}"
    no_fault = {**_NO_FAULT, **(_NO_FAULT_18 if model.version.has_num_outputs else _NO_FAULT_13)}
    if refused is not None and refused in no_fault:
        yield f"in opset {model.version.opset} that is not a fault: {no_fault[refused]}"
    yield from _axis_reasons(model)
    if "split_lengths" in model.draft.tensors:
        yield from _lengths_reasons(model)
    requested = model.draft.operation.requested_outputs(arguments_of(model.draft, 0)) or 0
    if refused is not None and requested > MOST_DECLARED:
        yield f"an ONNX node has as many outputs as are asked for, and at most {MOST_DECLARED} are declared here"


def render(model: Model, node: Node) -> Rendered:
    """One `Split` node."""
    data, axis, *lengths = (*node.inputs, None, None)[: max(2, len(node.inputs))]
    along = model.constant(axis)
    attributes = [] if along is None else [("axis", str(along.integers()[0]))]
    if model.version.has_num_outputs:
        attributes += [("num_outputs", attribute_text(each)) for each in node.attributes.values()]
    given = model.constant(lengths[0]) if lengths else None
    if given is None:
        inputs = (data, *(each for each in lengths if each is not None))
        return Rendered(lines=(Line("Split", tuple(attributes), inputs, node.outputs),))
    name = f"{node.name}_lengths"
    line = Line("Split", tuple(attributes), (data, name), node.outputs)
    return Rendered(lines=(line,), initializers={name: _worked_out(model, node, along, given)})


def _worked_out(model: Model, node: Node, axis: Tensor | None, given: Tensor) -> Tensor:
    """The lengths; in an accepted case a -1 is replaced by its length."""
    shapes = model.shapes(node)
    if shapes is None or axis is None:
        return given
    lengths = [each[axis.integers()[0]] for each in shapes]
    return Tensor(element_type="i64", array=np.array(lengths, np.int64))


def _axis_reasons(model: Model) -> Iterator[str]:
    draft = model.draft
    axis = draft.tensors.get("axis")
    if axis is None:
        yield "in ONNX an axis that is left out is 0"
    elif draft.binding["axis"] == "parameter":
        yield "ONNX's axis is an attribute, and cannot come at run time"
    elif axis.element_type != "i64" or axis.shape != ():
        yield "ONNX's axis is an attribute, and has neither element type nor shape"


def _lengths_reasons(model: Model) -> Iterator[str]:
    draft, refused = model.draft, model.rejected_for
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
        if draft.dynamic:
            yield "ONNX has no -1, and what it stands for is not known before the data"
