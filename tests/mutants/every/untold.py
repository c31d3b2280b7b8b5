"""The derived mutants that no shipped case tells from a right implementation, by patterns of their names.

They are not in the catalogue. A test fails if a case tells one apart, so that its pattern is removed.
"""

import re
from fnmatch import translate

#: Those that no case can tell apart.
_EQUIVALENT = (
    # Only values that are not negative are valid.
    "settings/Transpose-1/input_order/sign-lost*",
    "settings/Transpose-1/input_order/negative-*",
    "settings/Transpose-1/input_order/as-unsigned",
    "settings/GatherND-*/batch_dims/sign-lost",
    "settings/*/block_size/sign-lost",
    "settings/ShuffleChannels-1/group/sign-lost",
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
            "*Space*-2/*",
            "Col2Im-15/*_size",
            "GatherElements-6/indices",
            "GatherTree-1/max_seq_len",
            "GatherTree-1/parent_ids",
            "ReverseSequence-1/seq_lengths",
            "StringTensorPack-15/*",
        )
        for kind, n in (
            *((f"settings/{name}", n) for n in ("sign-lost*", "as-unsigned", "negative-*")),
            (f"refusals/{name}", "negative"),
        )
    ),
    "settings/Broadcast-*/axes_mapping/sorted",
    # Outputs have a fixed number, or other ranks.
    *(
        f"outputs/{op}/transposed"
        for op in (
            "Col2Im-15",
            "DepthToSpace-1",
            "SpaceToDepth-1",
            "ExtractImagePatches-3",
            "GatherTree-1",
            "AvgPool-*",
            "MaxPool-*",
        )
    ),
    *(
        f"outputs/{op}/at-most-six"
        for op in ("Col2Im-15", "ExtractImagePatches-3", "GatherTree-1", "AvgPool-*", "MaxPool-*")
    ),
    "outputs/ExtractImagePatches-3/always-four",
    "refusals/AvgPool-*/data/over-rank-[568]",
    "refusals/MaxPool-*/data/over-rank-[568]",
    *(
        f"refusals/{name}/over-rank-*"
        for name in ("Col2Im-15/data", "ExtractImagePatches-3/data", "GatherTree-1/step_ids")
    ),
    *(
        f"outputs/{op}/{n}"
        for op in ("MaxPool-*", "StringTensorUnpack-15", "Unique-10")
        for n in ("at-most-64", "number-in-8-bits", "over-eight-refused", "in-order-of-names")
    ),
    *(f"outputs/{op}/three-backwards" for op in ("MaxPool-*", "Unique-10")),
    "outputs/Unique-10/scalar-as-list",
    # Such inputs are not allowed: strings, lists without elements, tensors behind a convolution, axes at run time.
    *(f"data/{op}/{n}" for op in ("Pad-1", "ShuffleChannels-1") for n in ("texts-*", "empty-texts-lost")),
    "refusals/*Space*-2/*/empty",
    "refusals/GatherTree-1/*/empty",
    *(f"refusals/{op}/context/convolved" for op in ("Bitwise*-*", "Col2Im-15", "GatherTree-1", "StringTensor*-15")),
    *(f"refusals/{op}/context/chain" for op in ("*Space*-2", "GatherND-5")),
    "refusals/StringTensorPack-15/begins/dynamic-rank",
    "settings/Unique-10/axis/*-run-time",
    "settings/Unique-10/axis/kept",
    "checks/Unique-10/axis.range/run-time",
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
    *(f"refusals/BatchNormInference-5/{n}/empty" for n in ("gamma", "beta", "mean", "variance")),
    "refusals/Concat-1/inputs_0/rank-0",
    "refusals/VariadicSplit-1/split_lengths/empty",
    "outputs/Concat-1/scalar-as-list",
    "refusals/Scatter*/data/rank-0",
    "refusals/ScatterElementsUpdate-*/indices/rank-0",
    "refusals/ScatterElementsUpdate-*/updates/rank-0",
    "refusals/SliceScatter-15/updates/rank-0",
    "refusals/GatherElements-6/indices/rank-0",
    "outputs/Scatter*/scalar-as-list",
    # Every such case rests on an interpretation whose other reading rejects it.
    "refusals/FakeQuantize-1/*put_*/empty",
    "refusals/Gather-*/indices/empty",
    "refusals/GatherND-*/data/empty",
    "refusals/Squeeze-*/data/rank-0",
    "refusals/Pad-12/pad_value/boolean",
    "refusals/Slice-8/st*p/empty",
    "refusals/*Scatter*/indices/empty",
    *(f"refusals/*Scatter*/updates/{n}" for n in ("boolean", "string", "empty")),
    "refusals/SliceScatter-15/st*p/empty",
    "refusals/GatherElements-6/indices/empty",
    "refusals/ReverseSequence-1/seq_lengths/empty",
    "refusals/StridedSlice-1/end/empty",
    "refusals/StridedSlice-1/begin_mask/omitted",
    "refusals/StridedSlice-1/end_mask/omitted",
    # Element types, attributes and the lengths of lists are the same in every inference.
    "checks/Concat-1/inputs.element-type/second",
    *(
        f"checks/{name}/second"
        for name in (
            "*/*.same-type",
            "*Space*-2/*.count",
            "Pad-*/pads_*.count",
            "*Slice*/indices.*",
            "*/axes_mapping.explicit",
            "*/block_size.positive",
            "BatchToSpace-2/block_shape.count",
            "Col2Im-15/*s*.count",
            "Col2Im-15/dilations.*",
            "Col2Im-15/pads_*",
            "Col2Im-15/strides.*",
            "ExtractImagePatches-3/*",
            "*/batch_dims.range",
            "AvgPool-*/*.count",
            "AvgPool-*/*.negative",
            "AvgPool-*/kernel.positive",
            "BatchNormInference-5/epsilon.range",
            "FakeQuantize-1/levels.range",
            "GatherElements-6/axis.range",
            "MaxPool-*/*.count",
            "MaxPool-*/*.negative",
            "MaxPool-*/kernel.positive",
            "Pad-1/pad_value.*",
            "ReverseSequence-1/batch_axis.range",
            "ScatterElementsUpdate-12/reduction.*",
            "ShuffleChannels-1/group.range",
            "SliceScatter-15/updates.rank",
            "SliceScatter-15/updates.element-type",
        )
    ),
    "checks/Pad-12/data.string-mode/second",
    "checks/Pad-12/pad_value.*/second",
    "checks/Scatter*/updates.element-type/second",
    "checks/Split-1/num_splits.positive/second",
    "checks/StridedSlice-1/ellipsis.single/second",
    "checks/Reverse-1/axis.*-type/second",
    # The outputs are booleans, of which none is denormal.
    *(f"readings/{op}-1/values.denormals/computes-2" for op in ("*Equal", "Greater", "Less")),
)
#: Those that a case could tell apart: the kind, the subjects and the faults.
_MISSING = (
    ("acceptances", "Reverse-1/axis", "boolean"),
    ("acceptances", "Pad-1/data ShuffleChannels-1/data", "boolean float"),
    ("acceptances", "StringTensorPack-15/begins StringTensorPack-15/ends", "boolean string"),
    ("acceptances", "*ToSpace-*/data SpaceTo*/data ReverseSequence-1/data Col2Im-15/*_size", "empty"),
    ("acceptances", "GatherTree-1/step_ids GatherTree-1/parent_ids", "empty float list"),
    ("acceptances", "GatherTree-1/parent_ids", "scalar string"),
    ("acceptances", "GatherTree-1/end_token", "empty float matrix string"),
    ("acceptances", "GatherTree-1/max_seq_len", "float string"),
    ("acceptances", "ReverseSequence-1/seq_lengths", "float"),
    ("acceptances", "StringTensorUnpack-15/data", "string"),
    ("checks", "GatherTree-1/max_seq_len.count Pad-1/symmetric.limit", "constant"),
    (
        "checks",
        "*Space*-2/*.count Broadcast-*/axes_mapping.explicit Col2Im-15/*s*.count Pad-1/pad*",
        "dynamic run-time",
    ),
    ("checks", "Pad-12/data.string-mode Pad-12/pad_value.* SliceScatter-15/updates.rank", "dynamic run-time"),
    ("checks", "ScatterElementsUpdate-12/reduction.boolean-mean SliceScatter-15/indices.count", "dynamic run-time"),
    ("checks", "*Space*-2/*s.batch BatchToSpace-2/block_shape.batch SpaceToBatch-2/pads.negative", "dynamic second"),
    (
        "checks",
        "GatherND-5/indices.tuple-length Reshape-1/shape.zero-index SliceScatter-15/axes.unique",
        "dynamic second",
    ),
    ("checks", "StringTensorPack-15/ends.shape", "dynamic second"),
    ("checks", "Concat-1/inputs.element-type ExtractImagePatches-3/*.count Gather-7/batch_dims.axis", "dynamic"),
    ("checks", "GatherTree-1/*.same-type Pad-1/*.limit Slice-8/axes.unique Slice-8/indices.count", "dynamic"),
    ("checks", "StridedSlice-1/ellipsis.single StridedSlice-1/indices.* StridedSlice-1/stride.zero", "dynamic"),
    ("checks", "Gather-8/batch_dims.equal", "run-time"),
    ("checks", "GatherND-5/batch_dims.broadcastable", "second"),
    ("data", "*Space*-2 Broadcast-* Col2Im-15 DepthToSpace-1 SpaceToDepth-1 ExtractImagePatches-3", "last-narrow-lost"),
    ("data", "Gather-1", "texts-cut-at-nul"),
    ("outputs", "SpaceToBatch-2", "leading-ones-lost"),
    ("refusals", "Pad-1/pad_value", "b* f16 f4e2m1 f64 f8e[45]* i8 i[1-4]* nf4 string u*"),
    ("refusals", "Pad-12/pad_value", "i16 u16 u3 u6"),
    ("refusals", "GatherTree-1/*", "f8e8m0 nf4 u1"),
    ("refusals", "SliceScatter-15/axes SliceScatter-15/st*", "i4 u[123]"),
    (
        "refusals",
        "*Space*-2/block_shape *Space*-2/[cp]* Broadcast-*/axes_mapping Broadcast-*/target_shape Gather-7/axis",
        "u1",
    ),
    ("refusals", "Pad-*/pads_* Reshape-1/shape Tile-1/repeats Unique-10/data", "u1"),
    ("refusals", "Gather-8/axis", "u[12346]"),
    ("settings", "SliceScatter-15/axes Gather-[17]/axis Unique-10/axis", "as-i64 as-signed constant-top-bit u4-as-i4"),
    ("settings", "Col2Im-15/*_size Gather-8/axis GatherElements-6/indices", "as-signed constant-top-bit u4-as-i4"),
    ("settings", "ScatterNDUpdate-*/indices Slice-8/axes SliceScatter-15/step", "as-signed constant-top-bit u4-as-i4"),
    ("settings", "StringTensorPack-15/begins StringTensorPack-15/ends", "as-signed constant-top-bit u4-as-i4"),
    ("settings", "*Space*-2/* Broadcast-*/axes_mapping GatherTree-1/* SliceScatter-15/start", "u4-as-i4"),
    ("settings", "ScatterElementsUpdate-12/indices", "u4-as-i4"),
    ("settings", "Col2Im-15/kernel_size", "in-*"),
    ("settings", "StringTensorPack-15/begins", "in-16-* in-32-*"),
    ("settings", "GatherTree-1/parent_ids", "in-16-unsigned-bits in-32-*"),
    ("settings", "GatherTree-1/end_token", "first-only in-32-bits-at-run-time reversed sign-lost-at-run-time sorted"),
    ("settings", "Pad-1/pads_*", "in-32-*"),
    ("settings", "SliceScatter-15/axes SliceScatter-15/stop", "kept"),
    ("state", "StringTensorPack-15", "symbols-kept"),
    # Of the operations that compute, those in the sample.
    ("acceptances", "BatchNormInference-5/* FakeQuantize-1/*", "float"),
    ("acceptances", "BatchNormInference-5/data", "empty"),
    ("acceptances", "LogicalAnd-1/a", "boolean"),
    ("acceptances", "Abs-1/data Convolution-1/data Maximum-1/a Minimum-1/b", "float"),
    ("acceptances", "AvgPool-*/data MaxPool-*/data", "float"),
    ("checks", "AvgPool-*/*.count MaxPool-*/*.count", "dynamic"),
    ("checks", "MaxPool-*/axis.range", "second"),
    ("state", "AvgPool-* MaxPool-*", "data-kept outputs-kept"),
    ("checks", "Convolution-1/dilations.count Convolution-1/pads_begin.count", "dynamic"),
    ("checks", "Equal-1/pdpd.dimensions Less-1/b.same-type Power-1/none.shapes", "dynamic"),
    ("checks", "BatchNormInference-5/*.same-type FakeQuantize-1/*.same-type", "dynamic"),
    ("checks", "BatchNormInference-5/*.length", "second"),
    ("checks", "BatchNormInference-5/data.channels", "dynamic second"),
    ("checks", "BatchNormInference-5/epsilon.range", "dynamic"),
    ("checks", "FakeQuantize-1/none.shapes FakeQuantize-1/limits.shape", "dynamic second"),
    ("checks", "Select-1/on_false.same-type Subtract-1/b.same-type", "dynamic"),
    ("checks", "MVN-6/eps.positive Select-1/numpy.dimensions", "run-time"),
    ("checks", "Add-1/numpy.dimensions Convolution-1/dilations.negative", "second"),
    ("checks", "Convolution-1/filters.same-rank Convolution-1/pads_end.count", "second"),
    ("checks", "Divide-1/none.shapes Less-1/pdpd.rank Maximum-1/numpy.dimensions", "second"),
    ("checks", "Multiply-1/none.shapes Multiply-1/pdpd.dimensions ReduceSum-1/axes.unique", "second"),
    ("outputs", "TopK-11", "in-order-of-names"),
    ("outputs", "TopK-11", "number-in-8-bits"),
    ("outputs", "Divide-1", "scalar-as-list"),
    ("refusals", "Select-1/cond", "empty"),
    ("refusals", "Power-1/b", "f8e8m0"),
    ("refusals", "Log-1/data ReduceMean-1/data", "i4"),
    ("refusals", "Select-1/cond", "over-rank-4"),
    ("refusals", "ReduceMean-1/data TopK-11/k", "u1"),
    ("refusals", "Convolution-1/data Sqrt-1/data", "u3"),
    ("refusals", "Convolution-1/data Log-1/data", "u6"),
    ("settings", "FakeQuantize-1/auto_broadcast Less-1/auto_broadcast Maximum-1/auto_broadcast", "ignored"),
    ("settings", "FakeQuantize-1/levels", "in-32-bits sign-lost"),
    ("settings", "Select-1/cond", "in-16-bits"),
    ("settings", "Select-1/cond TopK-11/k", "sign-lost-at-run-time"),
    ("settings", "ReduceProd-1/axes", "sorted"),
    ("settings", "ReduceMax-1/axes", "u4-as-i4"),
    ("state", "BatchNormInference-5", "data-kept"),
    ("state", "FakeQuantize-1", "input_high-kept output_low-kept x-kept"),
    ("state", "FloorMod-1 Less-1 Minimum-1 Subtract-1", "a-kept"),
    ("state", "ReduceProd-1", "data-kept"),
    ("state", "Convolution-1 Divide-1 Erf-1 FloorMod-1 Multiply-1 Sqrt-1", "outputs-kept"),
)


#: All of them.
PATTERNS = (
    *_EQUIVALENT,
    *(f"{kind}/{x}/{y}" for kind, subjects, faults in _MISSING for x in subjects.split() for y in faults.split()),
)
_ANY = re.compile("|".join(map(translate, PATTERNS)))  # one by one, they would take seconds for all names


def untold(name: str) -> bool:
    """Whether no case tells a mutant apart."""
    return _ANY.match(name) is not None
