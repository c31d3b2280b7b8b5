"""The operations that ONNX expresses: one row each."""

from collections.abc import Mapping
from dataclasses import replace

from opconform.dialects.onnx import calls
from opconform.dialects.onnx.translation import TYPES, Rendering

_I64 = ("i64",)
_INDICES = ("i32", "i64")
_FLOATS = ("f16", "f32", "f64")
_WITHOUT_BATCHES = dict.fromkeys(("batch_dims", "batch_dims.range"), calls.NO_BATCHES)
_NO_MODE = "in ONNX, the mode has other values, and may be omitted"
_OF_BLOCKS = {"mode": _NO_MODE, "block_size.type": "in ONNX, blocksize is an integer by its syntax"}
_NO_LIMIT = "ONNX does not limit the pads of its modes"
_SMALLER = "since opset 18, the last of ONNX's `num_outputs` outputs may be smaller"

_EXPAND = Rendering(
    "Expand",
    calls.expand,
    types={"target_shape": _I64, "axes_mapping": _INDICES},
    reasons={
        "axes_mapping": "ONNX's Expand has no axes",
        "axes_mapping.explicit": "ONNX's Expand has no axes",
        "axes_mapping.other-modes": "ONNX's Expand has no axes",
        "mode": "ONNX's Expand has no modes",
    },
)
_SPLIT = Rendering(
    "Split",
    calls.split,
    attributes={"axis": "axis"},
    types={"split_lengths": _I64},
    reasons={
        "num_splits.zero-dimension": "in ONNX, a dimension of 0 may be split",
        "num_splits.divides": _SMALLER,
        "num_splits.at-most-dimension": _SMALLER,
    },
)
_GATHER = Rendering("Gather", calls.gather, attributes={"axis": "axis"}, types={"indices": _INDICES})
_PAD = Rendering(
    "Pad",
    calls.pad,
    types=dict.fromkeys(calls.PADS, _I64),
    reasons={
        **dict.fromkeys(calls.PADS, "ONNX's pads of both ends are one list"),
        "pad_mode.required": "in ONNX, an omitted mode defaults to constant",
        "data.string-mode": "ONNX pads strings in every mode",
        "data.element-type": "ONNX pads strings",
        "pads.negative": "ONNX removes elements by negative pads",
        "edge.empty": _NO_LIMIT,
        "reflect.limit": _NO_LIMIT,
    },
)
_SHAPE = Rendering("Shape", calls.shape, reasons={"output_type": "ONNX's Shape returns i64"})
_SQUEEZE = Rendering(
    "Squeeze",
    calls.squeeze,
    types={"axes": _I64},
    reasons={"allow_axis_skip": "ONNX's Squeeze has no attributes"},
)
#: The rendering of each operation.
RENDERINGS: Mapping[str, Rendering] = {
    "Broadcast-1": _EXPAND,
    "Broadcast-3": _EXPAND,
    "Col2Im-15": Rendering(
        "Col2Im",
        calls.folded,
        types=dict.fromkeys(("output_size", "kernel_size"), _I64),
        reasons={
            **dict.fromkeys(("strides", "dilations", *calls.PADS), "ONNX's attributes are integers by their syntax"),
            **dict.fromkeys((f"{name}.count" for name in calls.PADS), "ONNX's pads of both ends are one list"),
            **dict.fromkeys(("kernel_size.zero", "kernel_size.room", "dilations.zero"), "ONNX does not mention it"),
            "blocks.types": "ONNX does not limit the types",
        },
    ),
    "Concat-1": Rendering("Concat", calls.unchanged),
    "Constant-1": Rendering("Constant", calls.constant),
    "Convert-1": Rendering(
        "Cast",
        calls.cast,
        reasons={"destination_type": "ONNX's to is the number of a type", "data.element-type": "ONNX casts strings"},
    ),
    "Convolution-1": Rendering("Conv", calls.convolution, types={"data": _FLOATS, "filters": _FLOATS}),
    "DepthToSpace-1": Rendering("DepthToSpace", calls.blocks, reasons=_OF_BLOCKS),
    "Gather-1": _GATHER,
    "Gather-7": replace(_GATHER, reasons=_WITHOUT_BATCHES),
    "Gather-8": replace(_GATHER, reasons=_WITHOUT_BATCHES),
    "GatherElements-6": Rendering(
        "GatherElements",
        calls.gather_elements,
        types={"indices": _INDICES},
        reasons={"axis.required": "in ONNX, an omitted axis defaults to 0"},
    ),
    "GatherND-5": Rendering("GatherND", calls.gather_nd_5, types={"indices": _I64}),
    "GatherND-8": Rendering("GatherND", calls.gather_nd, types={"indices": _I64}),
    "Pad-1": _PAD,
    "Pad-12": _PAD,
    "Reshape-1": Rendering(
        "Reshape",
        calls.reshape,
        types={"shape": _I64},
        reasons={"special_zero": "ONNX's allowzero is an integer, and may be omitted"},
    ),
    "ReverseSequence-1": Rendering(
        "ReverseSequence",
        calls.reverse_sequence,
        types={"seq_lengths": _I64, "data": sorted(TYPES - {"bf16"})},
        reasons={"seq_lengths.element-type": "ONNX's lengths are i64"},
    ),
    **dict.fromkeys(
        ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
        Rendering(
            "ScatterElements",
            calls.scatter_elements,
            attributes={"axis": "axis"},
            types={"indices": _INDICES},
            reasons={
                "indices.negative": "in ONNX, negative indices count from the end",
                "reduction.values": "ONNX has other reductions",
                "use_init_val": "ONNX has no such attribute",
            },
        ),
    ),
    **dict.fromkeys(
        ("ScatterNDUpdate-3", "ScatterNDUpdate-15"),
        Rendering(
            "ScatterND",
            calls.scatter_nd,
            types={"indices": _I64},
            reasons={
                "indices.negative": "in ONNX, negative indices count from the end",
                "indices.unique": "ONNX does not say what equal tuples do",
                "indices.element-type": "ONNX's indices are i64",
                "reduction.values": "ONNX has other reductions",
            },
        ),
    ),
    "ShapeOf-1": _SHAPE,
    "ShapeOf-3": _SHAPE,
    "Slice-8": Rendering(
        "Slice",
        calls.sliced,
        types=dict.fromkeys(("start", "stop", "step", "axes"), _INDICES),
        reasons={
            "step.required": "in ONNX, an omitted step defaults to 1",
            "axes.unique": "ONNX does not define what repeated axes do",
        },
    ),
    "SpaceToDepth-1": Rendering("SpaceToDepth", calls.blocks, reasons=_OF_BLOCKS),
    "Split-1": _SPLIT,
    "Squeeze-1": _SQUEEZE,
    "Squeeze-15": _SQUEEZE,
    "Tile-1": Rendering("Tile", calls.tile, types={"repeats": _I64}),
    "Transpose-1": Rendering("Transpose", calls.transpose, attributes={"input_order": "perm"}),
    "Unique-10": Rendering(
        "Unique",
        calls.unique,
        attributes={"axis": "axis"},
        types={"data": sorted(TYPES - {"bf16"})},
        reasons={
            "sorted": "ONNX's sorted is an integer",
            "index_element_type": "ONNX's Unique returns i64",
            "count_element_type": "ONNX's Unique returns i64",
        },
    ),
    "Unsqueeze-1": Rendering("Unsqueeze", calls.listed, types={"axes": _I64}),
    "VariadicSplit-1": _SPLIT,
}
