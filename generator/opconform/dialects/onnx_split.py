"""ONNX's `Split`.

The axis is an attribute and so a constant, lengths are `i64`, -1 is not allowed, and in opset 18 the last of
`num_outputs` outputs may be smaller. In valid cases, a -1 is replaced by its length
if the model declares the size of the split dimension.
"""

from collections.abc import Mapping

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, attribute_text, check_known, check_tested
from opconform.model.graph import MOST_DECLARED, declared
from opconform.suite.case import Node
from opconform.tensors.tensor import Tensor

#: The violations that are valid in ONNX, with the reason.
_NO_FAULT: Mapping[str, str] = {
    "axis.shape": "the axis is an attribute, and has no shape",
    "axis.element-type": "the axis is an attribute, and has no element type",
    "num_splits.zero-dimension": "a dimension of 0 may be split",
}


def split(model: Model, node: Node) -> Line:
    """The line of Split-1 or VariadicSplit-1, or `Inexpressible`."""
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


def _check_split(model: Model, node: Node) -> None:
    draft = model.draft
    axis, refused = draft.tensors.get("axis"), draft.rejected_for
    said = f"opset {model.version.opset} does not treat this as a violation"
    no_fault = {name: f"{said}: {why}" for name, why in {**_NO_FAULT, **model.version.no_fault}.items()}
    check_tested(draft, "Split", ("data",), no_fault)
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
    requested = draft.operation.requested_outputs(draft.arguments[0]) or 0
    if refused is not None and requested > MOST_DECLARED:
        raise Inexpressible(
            f"an ONNX node declares every requested output, and opconform declares at most {MOST_DECLARED}"
        )


def _check_lengths(model: Model, node: Node, refused: str | None) -> None:
    draft, source = model.draft, node.inputs[2] or ""
    types = declared(draft, model.golden.graph)
    element_type = types[source].element_type
    if element_type != "i64" and refused != "lengths.element-type":
        raise Inexpressible(f"ONNX's lengths are i64, and cannot be {element_type}")
    check_known(element_type)
    for lengths in (each["split_lengths"] for each in draft.feeds):
        if -1 not in lengths.elements:
            continue
        if refused is not None:
            raise Inexpressible("ONNX has no -1, so the case would violate a different rule")
        if source not in draft.tensors:
            raise Inexpressible("ONNX has no -1, so it cannot be computed")
        if draft.binding["split_lengths"] == "parameter":
            raise Inexpressible("ONNX has no -1, so it cannot be supplied at run time")
        [axis] = draft.arguments[0].inputs["axis"].integers or (0,)
        if types[node.inputs[0] or ""].dimensions[axis] is None:
            raise Inexpressible("ONNX has no -1, and its value is not known when the model is built")
