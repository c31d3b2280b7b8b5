"""The derived mutants that no shipped case tells from a right implementation, by patterns of their names.

They are not in the catalogue. A test fails if a case tells one apart, so that its pattern is removed.
"""

from fnmatch import fnmatchcase

#: Those that no case can tell apart.
_EQUIVALENT = (
    # Only values that are not negative are valid.
    "settings/Transpose-1/input_order/sign-lost*",
    "settings/Transpose-1/input_order/negative-*",
    "settings/Transpose-1/input_order/as-unsigned",
    "settings/GatherND-8/batch_dims/sign-lost",
    "settings/Split-1/num_splits/sign-lost",
    *(
        f"{name}/{n}"
        for name in ("settings/Reverse-1/axis", "settings/Tile-1/repeats")
        for n in ("sign-lost*", "as-unsigned", "negative-*")
    ),
    *(f"settings/Scatter*Update-3/indices/{n}" for n in ("sign-lost*", "as-unsigned", "negative-*")),
    *(f"refusals/{n}/negative" for n in ("Transpose-1/input_order", "Reverse-1/axis", "Tile-1/repeats")),
    "refusals/Scatter*Update-3/indices/negative",
    *(
        f"{kind}/{n}"
        for name in (
            "Broadcast-*/target_shape",
            "Broadcast-*/axes_mapping",
            "Gather-[17]/indices",
            "GatherND-5/indices",
            "Pad-1/pads_*",
        )
        for kind, n in (
            *((f"settings/{name}", n) for n in ("sign-lost*", "as-unsigned", "negative-*")),
            (f"refusals/{name}", "negative"),
        )
    ),
    "settings/Broadcast-*/axes_mapping/sorted",
    # Axes are reversed in any order.
    "settings/Reverse-1/axis/reversed",
    "settings/Reverse-1/axis/sorted",
    # Dimensions are added and removed in any order.
    *(f"settings/{op}/axes/{n}" for op in ("Squeeze-*", "Unsqueeze-1") for n in ("reversed", "sorted")),
    # It decides what is inferred before dimensions are known, and no output.
    "settings/Squeeze-15/allow_axis_skip/ignored",
    # The output is a list, and the elements of data are not read.
    *(f"outputs/ShapeOf-*/{n}" for n in ("at-most-six", "flat", "leading-ones-lost", "scalar-as-list", "transposed")),
    "state/ShapeOf-*/*-kept",
    # Only signed types are allowed.
    *(f"settings/Roll-7/*/{n}" for n in ("as-signed", "constant-top-bit", "u4-as-i4")),
    # As many repeats are valid of data without elements alone, whose outputs have none.
    "settings/Tile-1/repeats/in-32-bits*",
    # The operation rejects such inputs by a requirement that its ports do not declare.
    "refusals/Concat-1/inputs_0/rank-0",
    "refusals/VariadicSplit-1/split_lengths/empty",
    "outputs/Concat-1/scalar-as-list",
    "refusals/Scatter*/data/rank-0",
    "refusals/ScatterElementsUpdate-*/indices/rank-0",
    "refusals/ScatterElementsUpdate-*/updates/rank-0",
    "outputs/Scatter*/scalar-as-list",
    # Every such case rests on an interpretation whose other reading rejects it.
    "refusals/Gather-*/indices/empty",
    "refusals/GatherND-*/data/empty",
    "refusals/Squeeze-*/data/rank-0",
    "refusals/Pad-12/pad_value/boolean",
    "refusals/Slice-8/st*p/empty",
    "refusals/Scatter*/indices/empty",
    "refusals/Scatter*/updates/boolean",
    "refusals/Scatter*/updates/string",
    "refusals/Scatter*/updates/empty",
    "refusals/StridedSlice-1/end/empty",
    "refusals/StridedSlice-1/begin_mask/omitted",
    "refusals/StridedSlice-1/end_mask/omitted",
    # Element types, attributes and the lengths of lists are the same in every inference.
    "checks/Concat-1/inputs.element-type/second",
    "checks/Gather*-8/batch_dims.range/second",
    "checks/Pad-12/pads_*.count/second",
    "checks/Pad-12/data.string-mode/second",
    "checks/Pad-12/pad_value.*/second",
    "checks/Scatter*/updates.element-type/second",
    "checks/*Slice-*/indices.*/second",
    "checks/Split-1/num_splits.positive/second",
    "checks/StridedSlice-1/ellipsis.single/second",
    "checks/Reverse-1/axis.*-type/second",
)
#: Those that a case could tell apart.
# fmt: off
_MISSING = (
    *(f"acceptances/{op}/{name}/string" for op, name in (
        ("Gather*", "indices"), ("Gather-*", "axis"), ("Pad-*", "pads_*"), ("Slice-8", "*"), ("Transpose-1", "*"),
        ("Reverse-1", "axis"), ("Roll-7", "*"), ("Tile-1", "repeats"), ("Scatter*", "*"), ("SliceScatter-15", "*"), ("Broadcast-*", "*"),
    )),
    "acceptances/Pad-12/pads_*/boolean",
    "acceptances/Reverse-1/axis/boolean",
    *(f"acceptances/StridedSlice-1/{n}" for n in (
        "end/boolean", "stride/boolean", "begin/matrix", "stride/matrix", "end/scalar",
    )),
    "acceptances/Gather*-8/batch_dims/whole-float",
    "acceptances/Gather-8/batch_dims/text",
    "checks/Concat-1/inputs.element-type/dynamic",
    "checks/Gather-8/axis.range/dynamic",
    "checks/Gather-8/batch_dims.range/run-time",
    "checks/Gather-8/batch_dims.range/dynamic",
    "checks/Gather-8/batch_dims.equal/run-time",
    *(f"checks/Pad-12/{name}/{when}" for name in ("data.string-mode", "pad_value.*") for when in ("run-time", "dynamic")),
    *(f"checks/Reshape-1/shape.zero-*/{when}" for when in ("second", "dynamic")),
    *(f"checks/Slice-8/{n}/dynamic" for n in ("axes.*", "indices.count")),
    *(f"checks/StridedSlice-1/{n}/dynamic" for n in ("ellipsis.single", "indices.*", "stride.zero")),
    "checks/Transpose-1/order.negative/second",
    "checks/Transpose-1/order.negative/dynamic",
    "refusals/Gather-8/axis/u[12346]",
    "refusals/Reshape-1/shape/u1",
    "refusals/Tile-1/repeats/u1",
    *(f"refusals/Pad-12/{n}" for n in ("pads_*/u1", "pad_value/[iu]16", "pad_value/u[36]")),
    *(f"settings/{name}/{n}" for name in ("Gather-8/axis", "Scatter*/axis", "Slice-8/axes")
        for n in ("as-signed", "constant-top-bit", "u4-as-i4")),
)
# fmt: on


#: All of them.
PATTERNS = (*_EQUIVALENT, *_MISSING)


def untold(name: str) -> bool:
    """Whether no case tells a mutant apart."""
    return any(fnmatchcase(name, pattern) for pattern in PATTERNS)
