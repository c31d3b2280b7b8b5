"""Nodes of ONNX that are read as graphs: their cases give what ONNX's reference evaluator gives for the node."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.model.golden import golden_of
from opconform.suite.case import GRAPH
from opconform.tensors.tensor import Array
from opconform_runners.tools.from_model.instance import instance_of
from opconform_runners.tools.from_model.models.node import Call, ModelNode
from opconform_runners.tools.from_model.models.onnx_model import read_onnx
from opconform_runners.tools.from_model.specs import lines_of, specs_of_model
from opconform_runners.tools.fuzz.cases.spec_text import spec_text
from tests.dialects.models import compare, goldens, native
from tests.tools.from_model.small_models import onnx, saved

#: The inputs and constants of the models of this test.
INPUTS = """
    float[N, 64, 32] x, float[N, 64, 32] y, float[N, 64, 32] z, float[32] last, float[64, 32] matrix, float[16, 32] other,
    float[16] bias, float[N, 3, H, W] image, uint8[N, 64] bytes, int8[64, 16] weights, uint8[N, 4, 9, 9] pixels,
    int8[6, 4, 3, 3] filters, int8[6, 2, 3, 3] grouped, int32[6] sums, float s, float[16] each, float[6] six, float[64] middle,
    uint8 point, int8 signed, uint8[64] points, int8[16] zeros, int64[2] sizes, float[N, 4, 8, 16] q, float[N, 4, 24, 16] k,
    float[N, 4, 24, 5] v, float[8, 24] mask, float[N, 8, 8] cos, float[N, 8, 8] sin, float[50, 8] cosines, float[50, 8] sines,
    int64[N, 8] ids, float[4] at_run_time, float16[N, 8] half, float16 h, int32[N, 8] whole, int8[6] shifts, uint16[N, 8] wide, uint16 middlepoint,
    float[16, 16] square, int32[16, 16] whole_matrix, uint8[64] of_rows
"""
CONSTANTS = "float[0] none = {}, float[4] twice = {1, 1, 2, 2}, uint8 half_way = {128}, int64[2] two_by_three = {2, 3}, int8 nothing = {0}, int8 minus = {-3}"
#: Nodes, and the names of the inputs of their cases in the order of the node's own; None for a constant.
NODES: Sequence[tuple[str, Sequence[str | None]]] = (
    ("Gemm<transB = 1>(matrix, other)", ["a", "b"]),
    ("Gemm<transB = 1>(matrix, other, bias)", ["a", "b", "c"]),
    ("Gemm<transA = 1, alpha = 0.5, beta = -2.0>(square, square, bias)", ["a", "b", "c"]),
    ("Gemm<alpha = 3.0>(whole_matrix, whole_matrix, whole_matrix)", ["a", "b", "c"]),
    ("Sum(x, y)", ["a", "b"]),
    ("Sum(x, y, last)", ["data_0", "data_1", "data_2"]),
    ("Max(x, y, z, last)", ["data_0", "data_1", "data_2", "data_3"]),
    ("Min(x, last, y)", ["data_0", "data_1", "data_2"]),
    ("Mean(x, y, last)", ["data_0", "data_1", "data_2"]),
    ("LeakyRelu(x)", ["x"]),
    ("LeakyRelu<alpha = 0.25>(x)", ["x"]),
    ("Reciprocal(x)", ["b"]),
    ("ArgMax<axis = 1>(x)", ["data"]),
    ("ArgMin<axis = -1, keepdims = 0>(x)", ["data"]),
    ("GlobalMaxPool(image)", ["data"]),
    ("GlobalAveragePool(image)", ["data"]),
    ("ConstantOfShape(sizes)", ["input"]),
    ("ConstantOfShape<value = int64[1] {7}>(two_by_three)", ["target_shape"]),
    ("LayerNormalization(x, last, last)", ["x", "scale", "b"]),
    ("LayerNormalization<axis = 1, epsilon = 0.5>(x, matrix)", ["x", "scale"]),
    ("RMSNormalization(x, last)", ["x", "scale"]),
    (
        'Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(image, , twice)',
        ["x", None, None],
    ),
    ('Resize<mode = "nearest">(image, , twice)', ["x", None, None]),
    ("QuantizeLinear(x, s, half_way)", ["x", "y_scale", "y_zero_point"]),
    ("QuantizeLinear(x, s, minus)", ["x", "y_scale", "y_zero_point"]),
    ("QuantizeLinear(x, s)", ["x", "y_scale"]),
    ("QuantizeLinear<axis = 1>(x, middle, points)", ["x", "y_scale", "y_zero_point"]),
    ("QuantizeLinear<axis = -1>(x, last)", ["x", "y_scale"]),
    ("QuantizeLinear(x, s, middlepoint)", ["x", "y_scale", "y_zero_point"]),
    ("QuantizeLinear(half, h, half_way)", ["x", "y_scale", "y_zero_point"]),
    ("QuantizeLinear(whole, s, half_way)", ["x", "y_scale", "y_zero_point"]),
    ("DequantizeLinear(bytes, s, half_way)", ["x", "x_scale", "x_zero_point"]),
    ("DequantizeLinear<axis = 0>(weights, middle)", ["x", "x_scale"]),
    ("DequantizeLinear<axis = 1>(weights, each, zeros)", ["x", "x_scale", "x_zero_point"]),
    ("DequantizeLinear(whole, s)", ["x", "x_scale"]),
    ("DequantizeLinear(wide, s, middlepoint)", ["x", "x_scale", "x_zero_point"]),
    ("DynamicQuantizeLinear(x)", ["x"]),
    ("MatMulInteger(bytes, weights)", ["a", "b"]),
    ("MatMulInteger(bytes, weights, half_way, minus)", ["a", "b", "a_zero_point", "b_zero_point"]),
    ("MatMulInteger(bytes, weights, point, zeros)", ["a", "b", "a_zero_point", "b_zero_point"]),
    ("ConvInteger<pads = [1, 1, 1, 1], strides = [2, 2]>(pixels, filters, half_way)", ["x", "w", "x_zero_point"]),
    ("ConvInteger<group = 2>(pixels, grouped, point)", ["x", "w", "x_zero_point"]),
    (
        "QLinearMatMul(bytes, s, half_way, weights, s, nothing, s, point)",
        ["a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"],
    ),
    (
        "QLinearMatMul(bytes, s, half_way, weights, each, zeros, s, minus)",
        ["a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"],
    ),
    (
        "QLinearConv<pads = [1, 1, 1, 1]>(pixels, s, half_way, filters, six, shifts, s, point, sums)",
        ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "b"],
    ),
    (
        "QLinearConv<group = 2, dilations = [2, 2]>(pixels, s, half_way, grouped, six, nothing, s, minus)",
        ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point"],
    ),
    ("RotaryEmbedding(q, cos, sin)", ["x", "cos_cache", "sin_cache"]),
    ("RotaryEmbedding(q, cosines, sines, ids)", ["x", "cos_cache", "sin_cache", "position_ids"]),
)


#: The outputs of nodes that have several.
OUTPUTS = {"DynamicQuantizeLinear": "o, o_scale, o_zero_point"}
#: The constants among the inputs that are not those of a case.
OWN = {"twice": np.array([1, 1, 2, 2], np.float32)}


def model_of(node: str) -> str:
    """A model of a node."""
    outputs = OUTPUTS.get(node.partition("(")[0], "o")
    return f'<ir_version: 11, opset_import: ["" : 23]> g ({INPUTS}) => (o) <{CONSTANTS}> {{ {outputs} = {node} }}'


def read(node: str, folder: Path) -> ModelNode:
    """A node as it is read."""
    [only] = read_onnx(saved(model_of(node), folder / "model.onnx"))
    return only


def call_of(node: str, folder: Path) -> Call:
    """What a node calls."""
    only = read(node, folder)
    assert only.call is not None, only.reason
    return only.call


def evaluated(node: Any, inputs: Sequence[Array | None]) -> list[Array]:
    """The outputs of a node in ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    names = ["" if x is None else f"input_{n}" for n, x in enumerate(inputs)]
    own = onnx.helper.make_node(node.op_type, names, [*node.output])
    own.attribute.extend(node.attribute)
    with warnings.catch_warnings(action="ignore"):
        return [*ReferenceEvaluator(own).run(None, {name: x for name, x in zip(names, inputs, strict=True) if name})]


def taken(names: Sequence[str | None], feed: Mapping[str, Array], node: Any) -> list[Array | None]:
    """The inputs of a node from a case; the filters of groups are one tensor, and others are the node's constants."""
    inputs = [OWN.get(node.input[n]) if name is None else feed[name] for n, name in enumerate(names)]
    is_grouped = any(item.name == "group" for item in node.attribute)
    return [
        x.reshape(-1, *x.shape[2:]) if x is not None and is_grouped and name == "w" else x
        for name, x in zip(names, inputs, strict=True)
    ]


@pytest.mark.parametrize(("text", "names"), NODES, ids=lambda x: x if isinstance(x, str) else "")
def test_the_case_of_a_node_gives_what_onnx_gives(tmp_path: Path, text: str, names: Sequence[str | None]) -> None:
    """With its own attributes, on the data of the case."""
    draft = instance_of(call_of(text, tmp_path))
    [node] = onnx.load(str(tmp_path / "model.onnx")).graph.node

    assert draft is not None
    golden = golden_of(draft, seed=0)
    [feed], [expected] = golden.inputs, golden.outputs
    inputs = taken(names, {name: native(tensor) for name, tensor in feed.items()}, node)
    compare(expected, evaluated(node, inputs))


def test_specs_of_graphs_expand_to_the_cases_and_name_their_nodes(tmp_path: Path) -> None:
    """The use, other dimensions, and a second inference."""
    path = saved(model_of("QuantizeLinear<axis = 1>(x, middle, points)"), tmp_path / "model.onnx")
    specs = specs_of_model(path)

    groups = [*specs.groups[GRAPH].values()]
    written = [*goldens(tmp_path, spec_text(GRAPH, groups))]
    [node] = onnx.load(str(path)).graph.node
    feeds = [{name: native(tensor) for name, tensor in feed.items()} for golden in written for feed in golden.inputs]
    expected = [feed for golden in written for feed in golden.outputs]
    names = ("x", "y_scale", "y_zero_point")
    for feed, outputs in zip(feeds, expected, strict=True):
        compare(outputs, evaluated(node, taken(names, feed, node)))
    assert groups[0]["title"] == "as the model uses it: 1 node QuantizeLinear of model.onnx, such as o"
    assert {group["profile"] for group in groups} == {"core", "dynamic", "robustness"}
    assert len(feeds) > len(written) == len(groups)
    assert [*lines_of(specs)][1] == f"  Graph-1  1 node, 1 use, {len(groups)} cases: QuantizeLinear 1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Sum(x)", "with 1 inputs"),
        ("ArgMax<select_last_index = 1>(x)", "with the last of equal elements"),
        ("Gemm<alpha = 0.5>(whole_matrix, whole_matrix)", "of integers times a fraction"),
        ('Resize<mode = "linear">(image, , twice)', "the mode linear"),
        ('Resize<mode = "nearest">(x, , twice)', "of other dimensions than the last two of four"),
        ('Resize<mode = "nearest">(image, , at_run_time)', "with scales that are known at run time only"),
        (
            'Resize<mode = "nearest", coordinate_transformation_mode = "align_corners">(image, , twice)',
            "the coordinates align_corners with round_prefer_floor",
        ),
        ("RotaryEmbedding<interleaved = 1>(q, cos, sin)", "of neighbouring elements, or of a part of each head"),
        ("RMSNormalization(half, h)", "of f16, computed in f32"),
        ("QuantizeLinear<precision = 1>(x, s)", "divided in another type"),
        ("QuantizeLinear<block_size = 16>(x, y)", "with blocks, or scales of unknown rank"),
    ],
)
def test_nodes_that_no_graph_expresses_have_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    """An attribute or a shape that the graph lacks."""
    node = read(text, tmp_path)

    assert (node.call, node.reason) == (None, reason)
