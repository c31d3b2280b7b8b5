"""The families of operations, for tables that would have too many rows."""

from collections.abc import Iterable, Mapping

#: The operations of each family, by their names without versions.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "one tensor": ("Abs", "Clamp", "Erf", "Exp", "Gelu", "Log", "Negative", "ReLU", "Sigmoid", "Sqrt", "Tanh"),
    "two tensors": (
        *("Add", "Divide", "Equal", "FloorMod", "Less", "LogicalAnd", "Maximum", "Minimum", "Multiply", "Power"),
        *("Select", "Subtract"),
    ),
    "reductions": ("CumSum", "ReduceMax", "ReduceMean", "ReduceProd", "ReduceSum"),
    "pools": ("MaxPool",),
    "products": ("Convolution", "MatMul"),
    "normalizations": ("MVN", "SoftMax"),
    "order": ("TopK", "Unique"),
    "conversions": ("Convert", "StringTensorPack", "StringTensorUnpack"),
    "gathers": ("Gather", "GatherElements", "GatherND", "GatherTree"),
    "scatters": ("ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate", "SliceScatter"),
    "slices": ("Concat", "Slice", "Split", "StridedSlice", "VariadicSplit"),
    "copies": ("Broadcast", "Pad", "Tile"),
    "permutations": ("Reverse", "ReverseSequence", "Roll", "ShuffleChannels", "Transpose"),
    "blocks": ("BatchToSpace", "Col2Im", "DepthToSpace", "ExtractImagePatches", "SpaceToBatch", "SpaceToDepth"),
    "graphs": ("Graph",),
    "shapes": ("Constant", "Reshape", "ShapeOf", "Squeeze", "Unsqueeze"),
}
_FAMILIES = {name: family for family, names in _NAMES.items() for name in names}


def families_of(operations: Iterable[str]) -> dict[str, list[str]]:
    """Operations such as `Split-1` by their families, in the order of these; one that is not shipped is its own."""
    by_family: dict[str, list[str]] = {family: [] for family in _NAMES}
    for op in operations:
        by_family.setdefault(_FAMILIES.get(op.rpartition("-")[0], op), []).append(op)
    return {family: members for family, members in by_family.items() if members}
