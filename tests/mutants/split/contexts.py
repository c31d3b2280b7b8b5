"""Mutants that split rightly alone, and wrongly in a graph."""

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Row, unchecked
from tests.mutants.split.kernel import data


def _sign_lost(call: Call, tensor: Tensor) -> int:
    value: int = call.right("axis_value", tensor)
    return max(value, 0) if call.context == "folded" and value >= -data(call).ndim else value


def _rows_of_the_first(call: Call, axis: int) -> Array:
    rows: Array = call.right("rows", axis)
    whole = call.given["data"].array
    if data(call) is whole or not rows.size:
        return rows
    return np.resize(whole.reshape(-1)[-rows.size :], rows.shape)


# fmt: off
ROWS = (
    Row("contexts/folded-unchecked", "Constant folding checks neither sums nor divisions.", FOUND,
        unchecked("check_sum", "check_num_splits", when=lambda call: call.context == "folded")),
    Row("contexts/folded-sign-lost", "Constant folding reads a negative axis as 0.", "apache/tvm#1595",
        {"axis_value": _sign_lost}),
    Row("contexts/unused-unchecked", "A split of whose outputs some are not used is not checked.",
        "openvinotoolkit/openvino#1938",
        unchecked("check_sum", "check_num_splits", when=lambda call: call.context == "partial")),
    Row("contexts/chain-rows-of-data", "A split of another's last output steps from row to row as through data.",
        "openvinotoolkit/openvino_contrib#555", {"rows": _rows_of_the_first}),
)
# fmt: on
