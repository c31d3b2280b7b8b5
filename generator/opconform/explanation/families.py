"""The families of operations, for tables that would have too many rows."""

from collections.abc import Iterable, Mapping

#: The operations of each family, by their names without versions.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "one tensor": (
        *("Abs", "BitwiseNot", "Ceiling", "Clamp", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSigmoid", "HSwish"),
        *("HardSigmoid", "IsFinite", "IsInf", "IsNaN", "Log", "LogicalNot", "Mish", "Negative", "PReLU", "ReLU"),
        *("Round", "Sigmoid", "Sign", "Sin", "SoftPlus", "SoftSign", "Sqrt", "Swish", "Tan", "Tanh"),
    ),
    "two tensors": (
        *("Add", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power", "SquaredDifference"),
        *("Subtract", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual", "LogicalAnd"),
        *("LogicalOr", "LogicalXor", "BitwiseAnd", "BitwiseLeftShift", "BitwiseOr", "BitwiseRightShift"),
        *("BitwiseXor", "Select"),
    ),
    "reductions": (
        *("CumSum", "ReduceL1", "ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMax", "ReduceMean"),
        *("ReduceMin", "ReduceProd", "ReduceSum"),
    ),
    "pools": ("AvgPool", "MaxPool"),
    "products": ("Convolution", "GroupConvolution", "MatMul", "ScaledDotProductAttention"),
    "normalizations": ("BatchNormInference", "GroupNormalization", "LogSoftmax", "MVN", "SoftMax"),
    "quantization": ("FakeQuantize",),
    "order": ("NonZero", "TopK", "Unique"),
    "conversions": ("Convert", "ConvertLike", "StringTensorPack", "StringTensorUnpack"),
    "gathers": ("Gather", "GatherElements", "GatherND", "GatherTree"),
    "scatters": ("ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate", "SliceScatter"),
    "slices": ("Concat", "Slice", "Split", "StridedSlice", "VariadicSplit"),
    "copies": ("Broadcast", "OneHot", "Pad", "Tile"),
    "permutations": ("Reverse", "ReverseSequence", "Roll", "ShuffleChannels", "Transpose"),
    "blocks": ("BatchToSpace", "Col2Im", "DepthToSpace", "ExtractImagePatches", "SpaceToBatch", "SpaceToDepth"),
    "graphs": ("Graph",),
    "shapes": ("Constant", "Eye", "Range", "Reshape", "ShapeOf", "Squeeze", "Unsqueeze"),
}
_FAMILIES = {name: family for family, names in _NAMES.items() for name in names}


def families_of(operations: Iterable[str]) -> dict[str, list[str]]:
    """Operations such as `Split-1` by their families, in the order of these; one that is not shipped is its own."""
    by_family: dict[str, list[str]] = {family: [] for family in _NAMES}
    for op in operations:
        by_family.setdefault(_FAMILIES.get(op.rpartition("-")[0], op), []).append(op)
    return {family: members for family, members in by_family.items() if members}
