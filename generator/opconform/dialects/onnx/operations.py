"""The operations that ONNX expresses: one row each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx import calls, reductions
from opconform.dialects.onnx.pools import POOLS
from opconform.dialects.onnx.products import PRODUCTS
from opconform.dialects.onnx.translation import TYPES, Call, Rendering
from opconform.tensors.element_types import ELEMENT_TYPES

_I64 = ("i64",)
_FLOATS = ("f16", "f32", "f64")
_INDICES = ("i32", "i64")
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
#: The numeric types of ONNX's arithmetic.
_NUMBERS = tuple(sorted(TYPES - {"boolean", "string"}))
_INTEGERS = tuple(x for x in _NUMBERS if ELEMENT_TYPES[x].is_integer)
_UNSIGNED = tuple(x for x in _NUMBERS if ELEMENT_TYPES[x].kind == "unsigned")
_ONE_RULE = "ONNX broadcasts by one rule"
_RULES = dict.fromkeys(("auto_broadcast", "none.shapes", "pdpd.rank", "pdpd.dimensions"), _ONE_RULE)


def _binary(op: str, types: Sequence[str] = _NUMBERS, call: Callable[[KnownNode], Call] = calls.broadcast) -> Rendering:
    """An operation on two tensors, which may have attributes that ONNX lacks."""
    reasons = {**_RULES, "m_pythondiv": "ONNX's Div has no such attribute"}
    return Rendering(op, call, types={"a": types, "b": types}, reasons=reasons)


_MAX, _MIN = (
    replace(x, reasons={**x.reasons, "b.required": f"ONNX's {x.op} takes any number of inputs"})
    for x in (_binary("Max"), _binary("Min"))
)
_POW = _binary("Pow", (*_FLOATS, "bf16", "i32", "i64"))
_SUMMED = ("bf16", "f16", "f32", "f64", "i32", "i64", "u32", "u64")


def _reduction(op: str, *types: str) -> Rendering:
    """A reduction of data of some types."""
    reasons = {
        "keep_dims": "ONNX's keepdims is an integer",
        "axes.required": "in ONNX, omitted axes are all dimensions",
        "axes.unique": "ONNX does not define what repeated axes do",
    }
    return Rendering(op, reductions.reduced, types={"axes": _I64, "data": (*_SUMMED, *types)}, reasons=reasons)


_REALS = sorted({"bf16", *_FLOATS})
_INTEGERS = tuple(name for name in _NUMBERS if name not in _REALS)
_SIGNED = sorted({*_REALS, "i8", "i16", "i32", "i64"})
#: The operations on one tensor that have no attributes, by ONNX's names, and the types of theirs.
_UNARY = {
    "Abs-1": ("Abs", _NUMBERS),
    "BitwiseNot-13": ("BitwiseNot", _INTEGERS),
    "Ceiling-1": ("Ceil", _REALS),
    "Cos-1": ("Cos", _FLOATS),
    "Erf-1": ("Erf", _REALS),
    "Exp-1": ("Exp", _REALS),
    "Floor-1": ("Floor", _REALS),
    "IsNaN-10": ("IsNaN", _REALS),
    "Log-1": ("Log", _REALS),
    "LogicalNot-1": ("Not", ("boolean",)),
    "Mish-4": ("Mish", _FLOATS),
    "Negative-1": ("Neg", _SIGNED),
    "ReLU-1": ("Relu", _SIGNED),
    "Sigmoid-1": ("Sigmoid", _REALS),
    "Sign-1": ("Sign", _NUMBERS),
    "Sin-1": ("Sin", _FLOATS),
    "SoftPlus-4": ("Softplus", _FLOATS),
    "SoftSign-9": ("Softsign", _FLOATS),
    "Sqrt-1": ("Sqrt", _REALS),
    "Tan-1": ("Tan", _FLOATS),
    "Tanh-1": ("Tanh", _REALS),
}
#: The rendering of each operation.
RENDERINGS: Mapping[str, Rendering] = {
    "Add-1": _binary("Add"),
    **{f"Bitwise{name}-13": _binary(f"Bitwise{name}", _INTEGERS) for name in ("And", "Or", "Xor")},
    "BitwiseLeftShift-15": _binary("BitShift", _UNSIGNED, partial(calls.shifted, "LEFT")),
    "BitwiseRightShift-15": _binary("BitShift", _UNSIGNED, partial(calls.shifted, "RIGHT")),
    **{op: Rendering(name, calls.unchanged, types={"data": types}) for op, (name, types) in _UNARY.items()},
    **POOLS,
    **PRODUCTS,
    "Broadcast-1": _EXPAND,
    "Broadcast-3": _EXPAND,
    "Clamp-1": Rendering(
        "Clip",
        calls.clip,
        types={"data": _NUMBERS},
        reasons={
            **dict.fromkeys(("min", "max"), "ONNX's limits are tensors, and may be omitted"),
            "min.order": "in ONNX, every element becomes the upper limit",
        },
    ),
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
    "ConvertLike-1": Rendering(
        "CastLike",
        calls.unchanged,
        types=dict.fromkeys(("data", "like"), sorted(TYPES)),
        reasons=dict.fromkeys(("data.element-type", "like.element-type"), "ONNX casts strings"),
    ),
    "CumSum-3": Rendering(
        "CumSum",
        reductions.cum_sum,
        types={"data": _SUMMED, "axis": _INDICES},
        reasons=dict.fromkeys(("exclusive", "reverse"), "ONNX's attributes are integers by their syntax"),
    ),
    "DepthToSpace-1": Rendering("DepthToSpace", calls.blocks, reasons=_OF_BLOCKS),
    "Divide-1": _binary("Div", call=calls.divided),
    "Elu-1": Rendering(
        "Elu",
        calls.attributes,
        types={"data": _FLOATS},
        reasons={
            "alpha": "ONNX's alpha is a number by its syntax, and may be omitted",
            "alpha.range": "ONNX does not limit alpha",
        },
    ),
    "Equal-1": _binary("Equal", sorted(TYPES - {"string"})),
    "FloorMod-1": _binary("Mod", call=calls.remainder),
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
    "Greater-1": _binary("Greater"),
    "GreaterEqual-1": _binary("GreaterOrEqual"),
    "HSwish-4": Rendering("HardSwish", calls.unchanged, types={"data": _FLOATS}),
    "HardSigmoid-1": Rendering(
        "HardSigmoid",
        calls.hard_sigmoid,
        types={"data": _FLOATS},
        reasons=dict.fromkeys(
            (f"{name}{aspect}" for name in ("alpha", "beta") for aspect in ("", ".same-type")),
            "ONNX's alpha and beta are attributes",
        ),
    ),
    "IsInf-10": Rendering(
        "IsInf",
        calls.with_flags,
        types={"data": ("f32", "f64")},
        reasons=dict.fromkeys(("detect_negative", "detect_positive"), "ONNX's attributes are integers by their syntax"),
    ),
    "Less-1": _binary("Less"),
    "LessEqual-1": _binary("LessOrEqual"),
    "LogicalAnd-1": _binary("And", ("boolean",)),
    "LogicalOr-1": _binary("Or", ("boolean",)),
    "LogicalXor-1": _binary("Xor", ("boolean",)),
    "Maximum-1": _MAX,
    "Minimum-1": _MIN,
    "Mod-1": _binary("Mod", call=calls.truncated_remainder),
    "Multiply-1": _binary("Mul"),
    "PReLU-1": Rendering(
        "PRelu",
        calls.prelu,
        types=dict.fromkeys(("data", "slope"), _REALS),
        reasons={"slope.rank": "ONNX's slope can be a scalar", "data.element-type": "ONNX's PRelu takes integers"},
    ),
    "Pad-1": _PAD,
    "Pad-12": _PAD,
    "Power-1": replace(_POW, reasons={**_POW.reasons, "b.same-type": "ONNX's Pow has exponents of any type"}),
    "Range-4": Rendering(
        "Range",
        calls.ranged,
        types=dict.fromkeys(("start", "stop", "step"), ("f32", "f64", "i16", "i32", "i64")),
        reasons={"output_type": "in ONNX, the output has the type of the inputs"},
    ),
    "ReduceL1-4": _reduction("ReduceL1"),
    "ReduceL2-4": _reduction("ReduceL2"),
    "ReduceMax-1": _reduction("ReduceMax", "i8", "u8"),
    "ReduceMean-1": _reduction("ReduceMean"),
    "ReduceMin-1": _reduction("ReduceMin", "i8", "u8"),
    "ReduceProd-1": _reduction("ReduceProd"),
    "ReduceSum-1": _reduction("ReduceSum"),
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
    "Round-5": Rendering(
        "Round", calls.rounded, types={"data": _FLOATS}, reasons={"mode": "ONNX's Round has no attributes"}
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
    "Select-1": Rendering(
        "Where",
        calls.broadcast,
        types={"cond": ("boolean",)},
        reasons={**_RULES, "cond.shape": "ONNX's Where broadcasts the condition, too"},
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
    "Subtract-1": _binary("Sub"),
    "Tile-1": Rendering("Tile", calls.tile, types={"repeats": _I64}),
    "TopK-11": Rendering(
        "TopK",
        reductions.top_k,
        types={"data": sorted(TYPES - {"bf16", "boolean", "string"})},
        reasons={
            **dict.fromkeys(("k.element-type", "k.rank"), "ONNX's K is a list of i64"),
            "k.range": "ONNX does not define what another K does",
            "axis.required": "in ONNX, an omitted axis defaults to -1",
            **dict.fromkeys(("mode", "sort", "stable"), "ONNX has integers in place of it"),
            "index_element_type": "ONNX's TopK returns indices of i64",
        },
    ),
    "NonZero-3": Rendering("NonZero", calls.non_zero, reasons={"output_type": "ONNX's NonZero returns i64"}),
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
