"""Cases in which an operation is not the one under test: behind another one, or in front of it."""

from collections.abc import Collection
from pathlib import Path

import pytest

from opconform.dialects import DIALECTS, Inexpressible
from tests.dialects.models import Loader, check, goldens
from tests.sampling import in_line, subject

#: Cases whose output is i32[3, 4, 2].
TESTED = {
    "Transpose-1": "arg: {shape: [2, 3, 4], element_type: i32, fill: bits}, input_order: [1, 2, 0]",
    "Pad-12": (
        "data: {shape: [2, 3, 1], element_type: i32, fill: bits}, pads_begin: [1, 0, 0], pads_end: [0, 1, 1], "
        "pad_mode: constant"
    ),
}
#: The operations on one tensor that have integers, and those on two, which take the one tensor and another.
ONE_TENSOR = (
    *("Abs-1", "Ceiling-1", "Erf-1", "Floor-1", "Log-1", "Negative-1", "ReLU-1", "Round-5", "Sign-1", "Sqrt-1"),
    "Tanh-1",
)
#: Those that have floating-point numbers alone.
OF_FLOATS = (
    *("Exp-1", "Gelu-7", "HSigmoid-5", "HSwish-4", "IsFinite-10", "IsInf-10", "IsNaN-10", "Mish-4", "Sigmoid-1"),
    *("SoftPlus-4", "SoftSign-9", "Swish-4"),
)
ANGLES = ("Cos-1", "Sin-1", "Tan-1")
TWO_TENSORS = (
    *("Add-1", "Divide-1", "Equal-1", "FloorMod-1", "Greater-1", "GreaterEqual-1", "Less-1", "LessEqual-1"),
    *("Maximum-1", "Minimum-1", "Mod-1", "Multiply-1", "NotEqual-1", "Power-1", "SquaredDifference-1", "Subtract-1"),
)
#: The operations on two tensors of integers.
TWO_INTEGERS = ("BitwiseAnd-13", "BitwiseLeftShift-15", "BitwiseOr-13", "BitwiseRightShift-15", "BitwiseXor-13")
AVG_POOLS, MAX_POOLS = ("AvgPool-1", "AvgPool-14"), ("MaxPool-8", "MaxPool-14")
#: Operations for which OpenVINO's CPU plugin rounds i32 to f32, or that have no result for some, so that they get small
#: integers.
ROUNDED = {
    *AVG_POOLS,
    *("BitwiseLeftShift-15", "Divide-1", "FloorMod-1", "MatMul-1", "Mod-1", "OneHot-1", "Power-1"),
    *("ReverseSequence-1", "SquaredDifference-1", *ONE_TENSOR, *ANGLES),
    *("ReduceL1-4", "ReduceL2-4", "ReduceMax-1", "ReduceMean-1", "ReduceMin-1", "ReduceProd-1", "ReduceSum-1"),
}
#: Operations that take that output.
NEIGHBOURS = {
    **dict.fromkeys(
        ("AvgPool-1", "AvgPool-14"), "strides: [2], pads_begin: [0], pads_end: [0], kernel: [1], exclude_pad: true"
    ),
    "BatchToSpace-2": "block_shape: [1, 3, 1], crops_begin: [0, 2, 0], crops_end: [0, 1, 1]",
    "Broadcast-1": "target_shape: [2, 3, 4, 2], mode: numpy",
    "Broadcast-3": "target_shape: [5, 1, 4, 1], mode: bidirectional",
    "Col2Im-15": (
        "output_size: [1, 2], kernel_size: [2, 1], strides: [1, 1], dilations: [1, 1], pads_begin: [1, 0], pads_end: [0, 0]"
    ),
    **dict.fromkeys((*ONE_TENSOR, *ANGLES), ""),
    **dict.fromkeys((*TWO_TENSORS, *TWO_INTEGERS), "b: {element_type: i32, shape: [4, 1], values: [5, 1, 7, 2]}"),
    "Power-1": "b: {element_type: i32, shape: [4, 1], values: [3, 0, 1, 2]}",
    "BitwiseNot-13": "",
    "Clamp-1": "min: -3, max: 5",
    "MatMul-1": "b: {element_type: i32, shape: [2, 2], values: [5, 1, 7, 2]}",
    "Concat-1": "axis: 1",
    "Convert-1": "destination_type: i64",
    "ConvertLike-1": "like: {element_type: f32, shape: [1]}",
    "CumSum-3": "axis: 1, exclusive: true",
    "DepthToSpace-1": "block_size: 2, mode: blocks_first",
    "Gather-1": "indices: [2, 0], axis: 1",
    "Gather-7": "indices: [[2], [0]], axis: 0",
    "Gather-8": "indices: [2, 0], axis: 1",
    "GatherElements-6": "indices: {shape: [3, 1, 2], values: [0, 3, 1, 1, 2, 0]}, axis: -2",
    "GatherND-5": "indices: {shape: [2, 2], values: [2, 3, 0, 1]}",
    "GatherND-8": "indices: {shape: [2, 2], values: [2, -1, 0, 1]}",
    "GatherTree-1": (
        "parent_ids: {element_type: i32, shape: [3, 4, 2], values: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0]}, "
        "max_seq_len: {element_type: i32, values: [3, 1, 2, 9]}, end_token: {element_type: i32, values: 7}"
    ),
    **dict.fromkeys(
        ("MaxPool-8", "MaxPool-14"),
        "strides: [1], dilations: [1], pads_begin: [1], pads_end: [0], kernel: [2], axis: -1",
    ),
    "OneHot-1": "depth: 3, on_value: {element_type: i32, values: 5}, off_value: {element_type: i32, values: 2}, axis: 1",
    "Pad-1": "pads_begin: [1, 0, 0], pads_end: [0, 2, 1], pad_mode: edge",
    "Pad-12": "pads_begin: [1, 0, 0], pads_end: [0, 2, 1], pad_mode: constant, pad_value: {element_type: i32, values: 7}",
    "ReduceL1-4": "axes: [1]",
    "ReduceL2-4": "axes: [0, 2], keep_dims: true",
    "ReduceMax-1": "axes: [1], keep_dims: true",
    "ReduceMin-1": "axes: [2]",
    "ReduceMean-1": "axes: [-1]",
    "ReduceProd-1": "axes: [2], keep_dims: true",
    "ReduceSum-1": "axes: [0, 2]",
    "Reshape-1": "shape: [0, -1], special_zero: true",
    "Reverse-1": "axis: [1, 0], mode: index",
    "ReverseSequence-1": "seq_lengths: [2, 4, 3], batch_axis: 0, seq_axis: 1",
    "Roll-7": "shift: [1, -2], axes: [0, -1]",
    **dict.fromkeys(
        ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
        "indices: {shape: [1, 2, 1], values: [2, 1]}, updates: {element_type: i32, shape: [1, 2, 1], values: [7, 8]}, axis: 1",
    ),
    **dict.fromkeys(
        ("ScatterNDUpdate-3", "ScatterNDUpdate-15"),
        "indices: [[2, 3], [0, 1]], updates: {element_type: i32, shape: [2, 2], values: [7, 8, 9, 10]}",
    ),
    "SliceScatter-15": (
        "updates: {element_type: i32, shape: [3, 2, 1], values: [1, 2, 3, 4, 5, 6]}, start: [3, 0], stop: [0, 1], "
        "step: [-2, 1], axes: [1, 2]"
    ),
    "ScatterUpdate-3": "indices: [1, 0], updates: {element_type: i32, shape: [3, 2, 2], values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}, axis: 1",
    "ShapeOf-1": "",
    "ShapeOf-3": "output_type: i64",
    "ShuffleChannels-1": "axis: 1, group: 2",
    "SpaceToBatch-2": "block_shape: [1, 2, 3], pads_begin: [0, 0, 1], pads_end: [0, 0, 0]",
    "SpaceToDepth-1": "block_size: 2, mode: depth_first",
    "Slice-8": "start: [-1, 0], stop: [-9, 2], step: [-2, 1], axes: [1, 0]",
    "Split-1": "axis: {element_type: i32, values: -2}, num_splits: 2",
    "Squeeze-1": "axes: null",
    "Squeeze-15": "allow_axis_skip: true",
    "StridedSlice-1": "begin: [1, 0], end: [3, 4], stride: [1, -3], begin_mask: [0, 1], end_mask: [0, 1]",
    "Tile-1": "repeats: [2, 1, 3]",
    "TopK-11": "k: 2, axis: 1, mode: max, sort: value, stable: true, index_element_type: i64",
    "Transpose-1": "input_order: {element_type: u8, values: [2, 0, 1]}",
    "NonZero-3": "output_type: i64",
    "Unique-10": "axis: 0",
    "Unsqueeze-1": "axes: [-1, 1]",
    "VariadicSplit-1": "axis: 1, split_lengths: [1, -1]",
}
#: The operations that write updates into data.
SCATTERS = {
    *("ScatterUpdate-3", "ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
    *("ScatterNDUpdate-3", "ScatterNDUpdate-15", "SliceScatter-15"),
}
#: The operations that a dialect has no rendering of.
WITHOUT = {
    "openvino": set[str](),
    "onnx": {
        "BatchToSpace-2",
        "ExtractImagePatches-3",
        "FakeQuantize-1",
        "GatherTree-1",
        "Gelu-7",
        "GroupNormalization-12",
        "NotEqual-1",
        "OneHot-1",
        "HSigmoid-5",
        "IsFinite-10",
        "Reverse-1",
        "Roll-7",
        "ScatterUpdate-3",
        "ShuffleChannels-1",
        "SliceScatter-15",
        "SpaceToBatch-2",
        "SquaredDifference-1",
        "StridedSlice-1",
        "Swish-4",
    },
    "stablehlo": {
        "BatchToSpace-2",
        "Col2Im-15",
        "CumSum-3",
        "ExtractImagePatches-3",
        "FakeQuantize-1",
        "SpaceToBatch-2",
        "Gather-1",
        "Gather-7",
        "Gather-8",
        "GatherTree-1",
        "GroupNormalization-12",
        *AVG_POOLS,
        *MAX_POOLS,
        "NonZero-3",
        "OneHot-1",
        "ReduceL1-4",
        "ReduceL2-4",
        "HSigmoid-5",
        "HSwish-4",
        "HardSigmoid-1",
        "IsInf-10",
        "IsNaN-10",
        "PReLU-1",
        "ReduceMean-1",
        "ReverseSequence-1",
        "Roll-7",
        "ScaledDotProductAttention-13",
        *SCATTERS,
        "ShapeOf-3",
        "SquaredDifference-1",
        "Tile-1",
        "TopK-11",
        "Unique-10",
    },
}
#: What ONNX cannot express of neighbours for i32, or behind a convolution.
LIMITS = {
    **dict.fromkeys(("DepthToSpace-1", "SpaceToDepth-1"), "ONNX moves blocks of images only"),
    **{
        f"{name}-1": f"ONNX's {name} takes data of bf16 or f16 or f32 or f64 only"
        for name in ("Erf", "Floor", "Log", "Sqrt", "Tanh")
    },
    **dict.fromkeys(
        ("BitwiseLeftShift-15", "BitwiseRightShift-15"), "ONNX's BitShift takes a of u16 or u32 or u64 or u8 only"
    ),
    **{op: f"ONNX's {op[:-2]} takes data of f16 or f32 or f64 only" for op in ANGLES},
    "Ceiling-1": "ONNX's Ceil takes data of bf16 or f16 or f32 or f64 only",
    "Round-5": "ONNX's Round takes data of f16 or f32 or f64 only",
    "Divide-1": "ONNX's Div rounds quotients towards zero",
    **dict.fromkeys(AVG_POOLS, "ONNX's AveragePool takes data of f16 or f32 or f64 only"),
    **dict.fromkeys(MAX_POOLS, "ONNX's MaxPool takes data of f16 or f32 or f64 or i8 or u8 only"),
}
LIMITS_OF_F32 = {"FloorMod-1": "ONNX's Mod of floating-point numbers has the sign of the dividend"}
#: The operations that take no data of rank 4.
OF_OTHER_RANKS = {"Col2Im-15", "GatherTree-1"}
#: Cases whose first input is f32 and has rank 4, and comes from a convolution.
CONVOLVED = {
    "BatchToSpace-2": (
        "data: {shape: [4, 4, 2, 3], fill: small}, block_shape: [1, 2, 1, 2], crops_begin: [0, 0, 0, 1], "
        "crops_end: [0, 0, 0, 0]"
    ),
    **dict.fromkeys((*ONE_TENSOR, *OF_FLOATS, *ANGLES), "data: {shape: [1, 4, 2, 3], fill: small}"),
    "Elu-1": "data: {shape: [1, 4, 2, 3], fill: small}, alpha: 0.5",
    "LogSoftmax-5": "data: {shape: [1, 4, 2, 3], fill: small}, axis: 1",
    **dict.fromkeys(TWO_TENSORS, "a: {shape: [1, 4, 2, 3], fill: small}, b: {shape: [4, 1, 1], values: [1, 2, 1, 4]}"),
    "Clamp-1": "data: {shape: [1, 4, 2, 3], fill: small}, min: -3, max: 5.5",
    "HardSigmoid-1": "data: {shape: [1, 4, 2, 3], fill: small}, alpha: {values: 0.125}, beta: {values: 0.5}, binding: {alpha: constant, beta: constant}",
    "PReLU-1": "data: {shape: [1, 4, 2, 3], fill: small}, slope: {values: [2, -1, 0.5, 4]}",
    "MatMul-1": "a: {shape: [1, 4, 2, 3], fill: small}, b: {shape: [3, 2], values: [4, -2, 8, 2, 1, 3]}",
    "GroupConvolution-1": (
        "data: {shape: [1, 4, 2, 3], fill: small}, filters: {shape: [2, 1, 2, 1, 2], values: [1, -2, 3, 1, 2, 4, -1, 3]}, "
        "strides: [1, 1], pads_begin: [0, 1], pads_end: [1, 0], dilations: [1, 1]"
    ),
    **dict.fromkeys(
        ("AvgPool-1", "AvgPool-14"),
        "data: {shape: [1, 4, 2, 3], fill: small}, strides: [1, 2], pads_begin: [0, 1], pads_end: [1, 0], kernel: [2, 2],"
        " exclude_pad: true",
    ),
    **dict.fromkeys(
        ("MaxPool-8", "MaxPool-14"),
        "data: {shape: [1, 4, 2, 3], fill: small}, strides: [1, 2], dilations: [1, 1], pads_begin: [0, 1], pads_end: [1, 0],"
        " kernel: [2, 2]",
    ),
    "MVN-6": (
        "data: {shape: [1, 4, 2, 3], fill: small}, axes: [-1], normalize_variance: true, eps: 0.5, eps_mode: inside_sqrt"
    ),
    "BatchNormInference-5": (
        "data: {shape: [1, 4, 2, 3], fill: small}, gamma: [1, 2, -1, 4], beta: [0, 3, 1, 2], mean: [1, 0, 2, 5], "
        "variance: [0.5, 3.5, 0.5, 15.5], epsilon: 0.5"
    ),
    "GroupNormalization-12": (
        "data: {shape: [1, 4, 2, 3], fill: small}, scale: [1, 2, -1, 4], bias: [0, 3, 1, 2], num_groups: 2, epsilon: 0.5"
    ),
    "ScaledDotProductAttention-13": (
        "query: {shape: [1, 4, 2, 3], fill: small}, key: {shape: [1, 4, 3, 3], fill: constant, value: 1}, "
        "value: {shape: [1, 4, 3, 2], fill: small}, causal: true"
    ),
    "SoftMax-8": "data: {shape: [1, 4, 2, 3], fill: small}, axis: 1",
    "Convert-1": "data: {shape: [1, 4, 2, 3], fill: small}, destination_type: i64",
    "ConvertLike-1": "data: {shape: [1, 4, 2, 3], fill: small}, like: {element_type: i32, shape: [2]}",
    "ExtractImagePatches-3": (
        "data: {shape: [1, 4, 2, 3], fill: small}, sizes: [2, 2], strides: [1, 2], rates: [1, 1], auto_pad: same_upper"
    ),
    "FakeQuantize-1": (
        "x: {shape: [1, 4, 2, 3], fill: small}, input_low: -7, input_high: 8, output_low: {shape: [4, 1, 1], values: [0, 1, 2, 3]}, "
        "output_high: 4, levels: 2"
    ),
    "Broadcast-1": "data: {shape: [1, 4, 2, 3], fill: small}, target_shape: [2, 4, 2, 3]",
    "Broadcast-3": "data: {shape: [1, 4, 1, 3], fill: small}, target_shape: [1, 2, 1], mode: bidirectional",
    "Concat-1": "inputs: [{shape: [1, 4, 2, 3], fill: small}, {shape: [1, 1, 2, 3]}], axis: 1",
    "CumSum-3": "data: {shape: [1, 4, 2, 3], fill: small}, axis: 1, reverse: true",
    "DepthToSpace-1": "data: {shape: [1, 4, 2, 3], fill: small}, block_size: 2, mode: depth_first",
    "Gather-1": "data: {shape: [1, 4, 2, 3], fill: small}, indices: [3, 0], axis: 1",
    "Gather-7": "data: {shape: [1, 4, 2, 3], fill: small}, indices: [3, 0], axis: 1",
    "Gather-8": "data: {shape: [1, 4, 2, 3], fill: small}, indices: [3, 0], axis: 1",
    "GatherElements-6": (
        "data: {shape: [1, 4, 2, 3], fill: small}, indices: {shape: [1, 4, 2, 1], values: [2, 0, 1, 1, 0, 2, 2, 1]}, axis: 3"
    ),
    "GatherND-5": "data: {shape: [1, 4, 2, 3], fill: small}, indices: {shape: [2, 2], values: [0, 3, 0, 1]}",
    "GatherND-8": "data: {shape: [1, 4, 2, 3], fill: small}, indices: {shape: [2, 2], values: [0, 3, 0, -3]}",
    "Pad-1": (
        "data: {shape: [1, 4, 2, 3], fill: small}, pads_begin: [0, 1, 0, 0], pads_end: [1, 0, 0, 2], pad_mode: edge"
    ),
    "Pad-12": (
        "data: {shape: [1, 4, 2, 3], fill: small}, pads_begin: [0, 1, 0, 0], pads_end: [1, 0, 0, 2], pad_mode: constant"
    ),
    "ReduceL1-4": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [3]",
    "ReduceL2-4": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [1, 2]",
    "ReduceMax-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [1]",
    "ReduceMean-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [1], keep_dims: true",
    "ReduceMin-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [2], keep_dims: true",
    "ReduceProd-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [2]",
    "ReduceSum-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [2, 3]",
    "Reshape-1": "data: {shape: [1, 4, 2, 3], fill: small}, shape: [4, -1], special_zero: false",
    "Reverse-1": "data: {shape: [1, 4, 2, 3], fill: small}, axis: [1, 3], mode: index",
    "ReverseSequence-1": "data: {shape: [1, 4, 2, 3], fill: small}, seq_lengths: [3], batch_axis: 0, seq_axis: 1",
    "Roll-7": "data: {shape: [1, 4, 2, 3], fill: small}, shift: [1, 1], axes: [1, 2]",
    "ShuffleChannels-1": "data: {shape: [1, 6, 2, 3], fill: small}, axis: 1, group: 3",
    "SpaceToBatch-2": (
        "data: {shape: [1, 4, 2, 3], fill: small}, block_shape: [1, 2, 1, 3], pads_begin: [0, 0, 0, 3], "
        "pads_end: [0, 0, 0, 0]"
    ),
    "SpaceToDepth-1": "data: {shape: [1, 4, 2, 4], fill: small}, block_size: 2, mode: blocks_first",
    **dict.fromkeys(
        ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
        "data: {shape: [1, 4, 2, 3], fill: small}, indices: {shape: [1, 1, 2, 1], values: [2, 3]}, "
        "updates: {shape: [1, 1, 2, 1], fill: small}, axis: 1",
    ),
    **dict.fromkeys(
        ("ScatterNDUpdate-3", "ScatterNDUpdate-15"),
        "data: {shape: [1, 4, 2, 3], fill: small}, indices: [[0, 2], [0, 1]], updates: {shape: [2, 2, 3], fill: small}",
    ),
    "SliceScatter-15": (
        "data: {shape: [1, 4, 2, 3], fill: small}, updates: {shape: [1, 2, 2, 3], fill: small}, start: [0], stop: [3], "
        "step: [2], axes: [1]"
    ),
    "ScatterUpdate-3": (
        "data: {shape: [1, 4, 2, 3], fill: small}, indices: [2], updates: {shape: [1, 1, 2, 3], fill: small}, axis: 1"
    ),
    "ShapeOf-1": "data: {shape: [1, 4, 2, 3], fill: small}",
    "ShapeOf-3": "data: {shape: [1, 4, 2, 3], fill: small}, output_type: i64",
    "Slice-8": "data: {shape: [1, 4, 2, 3], fill: small}, start: [3, 0], stop: [0, 2], step: [-1, 1], axes: [1, -1]",
    "Split-1": "data: {shape: [1, 4, 2, 3], fill: small}, axis: 1, num_splits: 2",
    "Squeeze-1": "data: {shape: [1, 4, 2, 1], fill: small}, axes: [-1]",
    "Squeeze-15": "data: {shape: [1, 4, 1, 3], fill: small}, axes: [2]",
    "StridedSlice-1": "data: {shape: [1, 4, 2, 3], fill: small}, begin: [0, 3], end: [1, 0], stride: [1, -2]",
    "Tile-1": "data: {shape: [1, 4, 2, 3], fill: small}, repeats: [1, 2, 1, 3]",
    "TopK-11": (
        "data: {shape: [1, 4, 2, 3], fill: small}, k: 2, axis: 1, mode: max, sort: value, stable: true, "
        "index_element_type: i64"
    ),
    "Transpose-1": "arg: {shape: [1, 2, 1, 3], fill: small}, input_order: [0, 2, 3, 1]",
    "NonZero-3": "data: {shape: [1, 4, 2, 3], fill: small}, output_type: i64",
    "Unique-10": "data: {shape: [1, 4, 2, 3], fill: small}, axis: 1",
    "Unsqueeze-1": "data: {shape: [1, 4, 2, 3], fill: small}, axes: [2, 0]",
    "VariadicSplit-1": "data: {shape: [1, 4, 2, 3], fill: small}, axis: -3, split_lengths: [1, 2, -1]",
}


def behind(op: str, neighbour: str) -> str:
    """A group with one case: a neighbour behind an operation."""
    tested = TESTED[op].replace("bits", "small") if neighbour in ROUNDED else TESTED[op]
    if neighbour == "Log-1":  # the logarithm of 0 is no i32
        tested = tested.replace("constant", "edge")
    then = ", ".join(filter(None, (f"op: {neighbour}", NEIGHBOURS[neighbour])))
    return f"  - {{id: {neighbour.lower()}, title: t, {tested}, then: {{{then}}}}}\n"


def convolved(op: str) -> str:
    """A group with one case: an operation behind a convolution."""
    return f"  - {{id: convolved, title: t, {CONVOLVED[op]}, context: convolved}}\n"


def check_group(folder: Path, group: str, op: str, dialect: str, load: Loader | None, *, needed: str) -> None:
    """Check that a loader of a dialect returns the goldens of a group's case, unless the dialect lacks an operation.

    Without a loader, the case must have a model.
    """
    [golden] = goldens(folder, f"op: {op}\ngroups:\n{group}")
    is_convolved = "context: convolved" in group
    reason = (LIMITS_OF_F32 if is_convolved else LIMITS).get(needed) if dialect == "onnx" else None
    if needed in WITHOUT[dialect]:
        reason = f"{needed} has no rendering in this dialect"
    if reason is not None:
        with pytest.raises(Inexpressible, match=reason):
            DIALECTS[dialect].files_of(golden, "it")
    elif load is None:
        assert DIALECTS[dialect].files_of(golden, "it")
    else:
        check(golden, load)


def check_neighbours(folder: Path, dialect: str, load: Loader, step: int, without: Collection[str] = ()) -> None:
    """Check one in so many neighbours behind each of the operations; the loader does not take those of `without`."""
    for op in TESTED:
        for neighbour in [*NEIGHBOURS][::step]:
            with subject(f"{neighbour} behind {op}"):
                loader = None if neighbour in without else load
                check_group(folder, behind(op, neighbour), op, dialect, loader, needed=neighbour)


def check_convolved(folder: Path, dialect: str, load: Loader, step: int) -> None:
    """Check one in so many operations behind a convolution."""
    for op in [*CONVOLVED][::step]:
        with subject(op):
            check_group(folder, convolved(op), op, dialect, load, needed=op)


#: One neighbour in so many is rendered in the test line, and in CI all of them.
SOME = pytest.mark.parametrize("step", in_line([7, 1], 7))
