"""How ONNX calls the reductions, CumSum-3 and TopK-11."""

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx.calls import flag, listed
from opconform.dialects.onnx.translation import Call, attribute_text
from opconform.operations.arithmetic.reductions import reduced_axes
from opconform.tensors.tensor import Tensor


def reduced(node: KnownNode) -> Call:
    """A reduction, whose empty list of axes reduces nothing."""
    call = listed(node)
    if any(len(reduced_axes(arguments)) < len(arguments.integers("axes")) for arguments in node.accepted):
        raise Inexpressible("ONNX does not define what repeated axes do")
    return Call(call.inputs, {"keepdims": flag(node, "keep_dims"), "noop_with_empty_axes": "1"})


def cum_sum(node: KnownNode) -> Call:
    """A CumSum, whose axis is no option."""
    if "axis" not in node.inputs and "data" in node.inputs:
        raise Inexpressible("ONNX's CumSum has no default axis")
    return Call(node.node.inputs, {name: flag(node, name) for name in ("exclusive", "reverse")})


def top_k(node: KnownNode) -> Call:
    """A TopK, which is stable and returns indices of i64, with K as a list."""
    if node.attributes["sort"] == "index" or node.attributes["index_element_type"] != "i64":
        raise Inexpressible("ONNX's TopK returns indices of i64, and has no order of indices")
    k, name = node.constant("k"), node.added("k")
    if k is None or k.shape:
        raise Inexpressible("ONNX's K is a list, so that a scalar cannot be supplied at run time")
    names = {"largest": node.attributes["mode"] == "max", "sorted": node.attributes["sort"] == "value"}
    flags = {name: str(int(flag)) for name, flag in names.items()}
    return Call(
        (node.inputs.get("data"), name),
        {"axis": attribute_text(node.attributes["axis"]), **flags},
        {name: Tensor(element_type="i64", array=np.array(k.integers(), np.int64))},
    )
