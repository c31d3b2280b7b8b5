"""Facts about cases: in words, from the case, its values and the declaration of its operation."""

from collections.abc import Set as AbstractSet

import pytest

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.operations import OPERATIONS
from opconform.specs.loader import load_specs
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform_runners.findings.causes.facts import facts_of

SPLIT = """\
op: VariadicSplit-1
groups:
  - id: one
    title: one
    requirements: [lengths.sum]
    data: {data}
    axis: {axis}
    split_lengths: {lengths}
{more}"""


SLICE = """\
op: StridedSlice-1
groups:
  - id: one
    title: one
    requirements: [masks.padded]
    data: {shape: [4, 6]}
    begin: [0, 1]
    end: [2, 4]
    begin_mask: [0]
    end_mask: [0, 0]
"""


RESHAPE = "op: Reshape-1\ngroups:\n  - {{id: one, title: one, data: {{shape: {data}}}, shape: {shape}, special_zero: {special_zero}, expect: {{reject: {violated}}}}}\n"


GATHER = "op: {op}\ngroups:\n  - {{id: one, title: one, data: {{shape: {data}}}, indices: {indices}, batch_dims: {batch_dims}, expect: {{reject: {violated}}}}}\n"


def one(op: str, data: str, more: str) -> str:
    """A spec of one case with data of a shape."""
    return f"op: {op}\ngroups:\n  - {{id: one, title: one, data: {{shape: {data}}}, {more}}}\n"


def one_hot(indices: str, axis: int) -> str:
    """A spec of OneHot-1 with three classes."""
    more = f"depth: 3, on_value: {{values: 1}}, off_value: {{values: 0}}, axis: {axis}"
    return f"op: OneHot-1\ngroups:\n  - {{id: one, title: one, indices: {indices}, {more}}}\n"


def eye(rows: str, columns: str, diagonal: str, batch: str) -> str:
    """A spec of Eye-9."""
    sizes = f"num_rows: {rows}, num_columns: {columns}, diagonal_index: {diagonal}, batch_shape: {batch}"
    return f"op: Eye-9\ngroups:\n  - {{id: one, title: one, {sizes}, output_type: f32}}\n"


def ranged(start: str, stop: str, step: str) -> str:
    """A spec of Range-4 with an output of i64."""
    settings = f"start: {start}, stop: {stop}, step: {step}"
    return f"op: Range-4\ngroups:\n  - {{id: one, title: one, {settings}, output_type: i64}}\n"


def tree(lengths: str, parents: str, element_type: str = "f32") -> str:
    """A spec of GatherTree-1 with two time steps of two beams."""
    batches = lengths.count(",") + 1
    shape = f"shape: [2, {batches}, 2], element_type: {element_type}"
    return (
        f"op: GatherTree-1\ngroups:\n  - {{id: one, title: one, step_ids: {{{shape}}}, "
        f"parent_ids: {{values: {parents}, element_type: {element_type}}}, "
        f"max_seq_len: {{values: {lengths}, element_type: {element_type}}}, "
        f"end_token: {{values: 9, element_type: {element_type}}}}}\n"
    )


def packed(begins: str, ends: str, symbols: str) -> str:
    """A spec of StringTensorPack-15."""
    return (
        f"op: StringTensorPack-15\ngroups:\n  - {{id: one, title: one, requirements: [outputs.values], "
        f"begins: {begins}, ends: {ends}, symbols: {symbols}}}\n"
    )


def unpacked(strings: str) -> str:
    """A spec of StringTensorUnpack-15."""
    return (
        f"op: StringTensorUnpack-15\ngroups:\n  - {{id: one, title: one, requirements: [outputs.shape], "
        f"data: {{values: {strings}}}}}\n"
    )


def computing(op: str, keys: str) -> str:
    """A spec of an operation that computes."""
    return f"op: {op}\ngroups:\n  - {{id: one, title: one, requirements: [outputs.shape], {keys}}}\n"


def convolution(data: str, filters: str, *, strides: str, dilations: str, ends: str, op: str = "Convolution-1") -> str:
    """A spec of a convolution, without zeros at the beginnings."""
    return computing(
        op,
        f"data: {{shape: {data}, fill: exact}}, filters: {{shape: {filters}, fill: exact}}, strides: {strides}, "
        f"dilations: {dilations}, pads_begin: {ends.replace('1', '0')}, pads_end: {ends}",
    )


def one_of(op: str, keys: str) -> str:
    """A spec of an operation whose elements decide the shapes of its outputs."""
    return f"op: {op}\ngroups:\n  - {{id: one, title: one, requirements: [outputs.shape], {keys}}}\n"


CASES = {
    "graph under test": ("op: Graph-1\ngroups:\n  - {id: one, title: one, requirements: [values.chain], inputs: {x: {shape: [2]}}, nodes: {sum: {op: Add-1, a: x, b: [0, 1]}, top: {op: Clamp-1, data: sum, min: 1, max: 2}, twice: {op: Concat-1, inputs: [sum, top], axis: 0}}, outputs: [twice, top]}\n", {
        "the graph has Add-1", "Clamp-1 is behind Add-1", "Concat-1 is behind Clamp-1", "a result has several users",
        "an intermediate result is an output", "max of Clamp-1 is 2", "b of Add-1 is constant",
        "a of Add-1 has rank 1", "axis of Concat-1 is 0",
    }, {"Add-1 is behind Clamp-1", "data has rank 1", "data is constant"}),
    "types": (SPLIT.format(data="{shape: [5, 3], element_type: u2}", axis=0, lengths="[2, 3]", more=""), {
        "data is u2", "data is unsigned integers", "data has elements narrower than a byte", "data ends within a byte",
        "data has rank 2", "axis is constant", "axis has one element",
    }, {"data is constant", "data has 64-bit elements", "axis is given at run time"}),
    "values": (SPLIT.format(data="{shape: [2], element_type: i64, values: [-4294967297, 0]}", axis=-1, lengths="[-1, 2]", more=""), {
        "data has 64-bit elements", "data has a value beyond 31 bits", "data has a negative value", "data has 0",
        "split_lengths has -1", "axis is negative",
    }, {"data has a value beyond 53 bits", "split_lengths has a value below -1"}),
    "graph": (SPLIT.format(data="{shape: [0, 4]}", axis=1, lengths="[2, 2]", more="    context: partial\n    dynamic: all\n    binding: parameter\n"), {
        "the context is partial", "data has dynamic dimensions", "an output is empty", "data is empty",
        "split_lengths is given at run time",
    }, {"there are two inferences", "data has a dynamic rank"}),
    "floats": (SPLIT.format(data='{shape: [4], values: [-0.0, "nan", "inf", 1.0e-40]}', axis=0, lengths="[4]", more=""), {
        "data has negative zeros", "data has NaNs", "data has infinities", "data has denormal numbers", "data has values that bf16 rounds", "data has static dimensions",
    }, set()),
    "omitted": (SLICE.replace("end: [2, 4]", "stride: [1, 1]\n    expect: {reject: end.required}").replace("masks.padded", "end.required"), {
        "a required input or attribute is omitted", "end is omitted",
    }, {"stride is omitted"}),
    "texts": (SPLIT.format(data="{shape: [4]}", axis=0, lengths="[4]", more="").replace("Variadic", "").replace("split_lengths: [4]", "num_splits: 2.0\n    expect: {reject: num_splits.type}").replace("lengths.sum", "num_splits.type"), {
        "the case is valid if only the digits at the beginning of a text are read",
    }, {"the case is valid if truth values are read as 0 and 1"}),
    "truth values": (SPLIT.format(data="{shape: [4]}", axis=0, lengths="[4]", more="").replace("Variadic", "").replace("split_lengths: [4]", "num_splits: true\n    expect: {reject: num_splits.type}").replace("lengths.sum", "num_splits.type"), {
        "the case is valid if truth values are read as 0 and 1",
    }, {"the case is valid if only the digits at the beginning of a text are read"}),
    "rows": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[[1, 2]]", more="    expect: {reject: lengths.rank}\n").replace("lengths.sum", "lengths.rank"), {
        "split_lengths has a first dimension of 1 before others", "split_lengths has rank 2",
    }, {"a single output is requested", "data has a first dimension of 1 before others"}),
    "single output": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[4]", more="    expect: {reject: lengths.sum}\n"), {
        "a single output is requested", "split_lengths has a dimension of 1",
    }, {"split_lengths has a first dimension of 1 before others"}),
    "two ranks": ("op: Reshape-1\ngroups:\n  - {id: one, title: one, data: {shape: [1, 1]}, dynamic: '...', shape: [1], special_zero: false, feed: {data: {shape: []}}}\n", {
        "data has a first dimension of 1 before others", "data has another shape in the second inference",
        "data has rank 2", "data has rank 0",
    }, {"shape has a first dimension of 1 before others"}),
    "emptied": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [4]}, dynamic: {data: ['?']}, start: [2], stop: [9], step: [1], feed: {data: {shape: [2]}}}\n", {
        "an output is empty", "stop has a value that is not an index of any dimension of data",
    }, {"data is empty", "data is empty in one inference"}),
    "overflow": (SPLIT.format(data="{shape: [3, 2]}", axis=1, lengths="{values: [127, 127], element_type: i8}", more="    expect: {reject: lengths.sum}\n"), {
        "the sum of the lengths exceeds their element type", "an inner dimension is divided",
    }, {"the lengths exceed the dimension by 1"}),
    "other violation": (SPLIT.format(data="{shape: [6]}", axis=0, lengths="[4294967295, 7]", more="    binding: parameter\n    expect: {reject: lengths.sum}\n"), {
        "the case violates lengths.remainder-sum if run-time setting inputs are cut to 32 bits",
        "the case violates lengths.remainder-sum if setting inputs are cut to 32 bits",
    }, {"the case violates lengths.sum if run-time setting inputs are cut to 32 bits", "the result differs if run-time setting inputs are cut to 32 bits", "the case violates lengths.remainder-sum if constant setting inputs are cut to 32 bits"}),
    "attributes": (SPLIT.format(data="{shape: [4]}", axis=0, lengths="[4]", more="").replace("Variadic", "").replace("split_lengths: [4]", "num_splits: -2\n    expect: {reject: num_splits.positive}").replace("lengths.sum", "num_splits.positive"), {
        "num_splits is -2", "num_splits is negative", "num_splits is below -1",
    }, {"a single output is requested", "num_splits is 0"}),
    "steps": (SLICE.replace("end: [2, 4]", "end: [2, 4]\n    stride: [1, -2147483648]"), {
        "a negative step is beyond 31 bits", "all shapes are static",
    }, {"a shape is known only at run time", "a backward slice ends where it begins"}),
    "places": (SPLIT.format(data="{shape: [4, 3], element_type: u4}", axis=0, lengths="[1, 3]", more=""), {
        "sub-byte elements move across byte boundaries",
    }, set()),
    "other neighbours": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [8], element_type: u4}, start: [0], stop: [8], step: [3]}\n", {
        "sub-byte elements move across byte boundaries",
    }, {"a backward slice starts and stops before the first element"}),
    "beginning of a byte": (SPLIT.format(data="{shape: [7], element_type: u2}", axis=0, lengths="[4, 3]", more=""), {
        "data ends within a byte",
    }, {"sub-byte elements move across byte boundaries"}),
    "strings": (SPLIT.format(data="{shape: [2], element_type: string}", axis=0, lengths="[1, 1]", more=""), {
        "a string moves to another place",
    }, {"sub-byte elements move across byte boundaries"}),
    "same places": (SPLIT.format(data="{shape: [4, 3], element_type: u4}", axis=0, lengths="[2, 2]", more=""), {
        "data has rows that end within a byte",
    }, {"sub-byte elements move across byte boundaries"}),
    "first": (SLICE.replace("begin: [0, 1]", "begin: [-9, 1]").replace("end: [2, 4]", "end: [-9, 4]\n    stride: [-1, 1]\n    dynamic: [2..8, '?']"), {
        "a backward slice selects only the first element", "data has bounded dimensions", "data has dimensions of any size",
        "begin has a value that is not an index of any dimension of data", "a backward slice ends where it begins",
    }, {"data has a dynamic rank", "stride has a value that is not an index of any dimension of data"}),
    "long": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [0, 4294967298]}, start: [1], stop: [4294967297], step: [1], axes: [1]}\n", {
        "a slice starts or stops beyond 31 bits inside data",
    }, {"a backward slice selects only the first element"}),
    "zero step": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [4, 0]}, start: [0], stop: [2], step: [0], axes: [-1], expect: {reject: step.zero}}\n", {
        "a dimension of 0 is sliced",
    }, set()),
    "clamped": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [0, 4294967298]}, start: [1], stop: [9223372036854775807], step: [1], axes: [1]}\n", {
        "stop has a value beyond 31 bits",
    }, {"a slice starts or stops beyond 31 bits inside data", "a dimension of 0 is sliced"}),
    "copied": (RESHAPE.format(data="[6, 2]", shape="[0, 3]", special_zero="true", violated="shape.volume"), {
        "the sizes have another product than those of data, and a 0 copies one",
    }, {"a dimension of 0 moves", "the case is valid if what is not a truth value is read as false"}),
    "no truth value": (RESHAPE.format(data="[6]", shape="[2, 3]", special_zero="2", violated="special_zero.type"), {
        "the case is valid if what is not a truth value is read as false",
    }, {"the sizes have another product than those of data, and a 0 copies one"}),
    "moved": (RESHAPE.format(data="[0, 3]", shape="[3, 0]", special_zero="false", violated="").replace(", expect: {reject: }", ""), {
        "a dimension of 0 moves",
    }, set()),
    "kept": (RESHAPE.format(data="[0, 3]", shape="[0, 5]", special_zero="false", violated="").replace(", expect: {reject: }", ""), {
        "an output is empty",
    }, {"a dimension of 0 moves"}),
    "single batch": (GATHER.format(op="Gather-8", data="[1, 1, 3]", indices="[[[1]]]", batch_dims="2, axis: 2", violated="").replace(", expect: {reject: }", ""), {
        "only batch dimensions of 1 are given",
    }, {"the batch dimensions of data and indices differ"}),
    "removed": ("op: Pad-12\ngroups:\n  - {id: one, title: one, data: {shape: [4, 2]}, pads_begin: [-1, 0], pads_end: [-3, 0], pad_mode: edge}\n", {
        "the pads together remove a whole dimension",
    }, {"the pads together remove more elements than data has"}),
    "nothing of a batch": (GATHER.format(op="Gather-8", data="[2, 0]", indices="[[1], [0]]", batch_dims="1, axis: 1", violated="").replace(", expect: {reject: }", "").replace("[2, 0]", "[2, 3, 0]"), {
        "the output of a batch is empty",
    }, {"only batch dimensions of 1 are given"}),
    "no batch": (GATHER.format(op="Gather-8", data="[0, 3]", indices="{shape: [0, 2], element_type: i64}", batch_dims="1, axis: 1", violated="").replace(", expect: {reject: }", ""), {
        "an output is empty",
    }, {"the output of a batch is empty"}),
    "moved ones": ("op: Transpose-1\ngroups:\n  - {id: one, title: one, arg: {shape: [0, 1, 2]}, input_order: [1, 0, 2]}\n", {
        "only dimensions of 1 move",
    }, {"all inputs are constant"}),
    "moved others": ("op: Transpose-1\ngroups:\n  - {id: one, title: one, arg: {shape: [0, 1, 2]}, input_order: [2, 1, 0]}\n", {
        "an output is empty",
    }, {"only dimensions of 1 move"}),
    "not moved": ("op: Transpose-1\ngroups:\n  - {id: one, title: one, arg: {shape: [3, 1]}, input_order: [0, 1]}\n", {
        "data has a dimension of 1",
    }, {"only dimensions of 1 move"}),
    "nothing sliced": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [3]}, start: [], stop: [], step: []}\n", {
        "no dimension is sliced",
    }, {"a dimension of 0 is sliced"}),
    "nothing strided": (SLICE.replace("begin: [0, 1]", "begin: [1]\n    shrink_axis_mask: [1]").replace("end: [2, 4]", "end: [2]").replace("begin_mask: [0]", "begin_mask: [0]"), {
        "no dimension is sliced",
    }, set()),
    "inner rows": (SPLIT.format(data="{shape: [7, 6], element_type: u4}", axis=1, lengths="[2, 4]", more=""), {
        "sub-byte elements move across byte boundaries",
    }, {"data has rows that end within a byte"}),
    "larger rank": (GATHER.format(op="Gather-8", data="[4, 4]", indices="[3]", batch_dims="-2, axis: 0", violated="batch_dims.range"), {
        "batch_dims is out of range, and at most one dimension before those of the indices",
    }, {"the batches of data divide the tuples of the indices"}),
    "divided batches": (GATHER.format(op="GatherND-8", data="[2, 4]", indices="[[1], [0], [0], [1]]", batch_dims=1, violated="batch_dims.broadcastable"), {
        "the batches of data divide the tuples of the indices", "the batch dimensions of data and indices differ",
    }, {"the dimensions after those of a tuple of indices have a 0", "batch_dims is out of range, and at most one dimension before those of the indices"}),
    "undivided batches": (GATHER.format(op="GatherND-8", data="[3, 4]", indices="[[1], [0]]", batch_dims=1, violated="batch_dims.broadcastable"), {
        "the batch dimensions of data and indices differ",
    }, {"the batches of data divide the tuples of the indices"}),
    "empty slices": (GATHER.format(op="GatherND-8", data="[2, 0]", indices="[[2]]", batch_dims=0, violated="indices.range"), {
        "the dimensions after those of a tuple of indices have a 0",
    }, {"the batches of data divide the tuples of the indices"}),
    "lists": (SLICE, {
        "stride is omitted", "new_axis_mask is omitted", "begin_mask has 0", "the list attributes differ in length",
        "begin_mask has fewer elements than begin", "begin_mask has fewer elements than data has dimensions",
    }, {"end_mask has fewer elements than begin"}),
    "beyond data": (one("Pad-12", "[3]", "pads_begin: [-4], pads_end: [2], pad_mode: constant, pad_value: {values: 1, element_type: f32}"), {
        "a pad removes more elements than data has", "a number other than 0 is added",
    }, {"the pads together remove more elements than data has", "the pads together remove a whole dimension"}),
    "beyond data together": (one("Pad-12", "[4]", "pads_begin: [-3], pads_end: [-2], pad_mode: edge"), {
        "the pads together remove more elements than data has",
    }, {"a pad removes more elements than data has", "a number other than 0 is added"}),
    "one hot at the end": (one_hot("[0, 3]", -1), {"the new dimension is the last one", "the axis is negative", "an index is not below depth"}, {
        "indices is a scalar"}),
    "one hot of a scalar": (one_hot("2", 0), {"indices is a scalar"}, {"the axis is negative", "an index is not below depth"}),
    "one hot in front": (one_hot("[0, 1]", 0), set(), {"the new dimension is the last one"}),
    "eye above": (eye("3", "4", "1", "[2]"), {"the diagonal is above the main one", "the output has batch dimensions"}, {
        "the diagonal is below the main one", "the matrix is square"}),
    "eye below": (eye("3", "3", "-1", "[]"), {"the diagonal is below the main one", "the matrix is square"}, {
        "the diagonal is above the main one", "the output has batch dimensions"}),
    "range downwards": (ranged("5", "-1", "-2"), {"the step is negative", "the step divides the distance"}, {
        "the output has no elements", "an input has another type than the output", "an input is a floating-point number"}),
    "range without elements": (ranged("{values: 5, element_type: f32}", "4", "2"), {
        "the output has no elements", "an input has another type than the output", "an input is a floating-point number",
    }, {"the step is negative", "the step divides the distance"}),
    "repeated once": (one("Tile-1", "[2, 3]", "repeats: [1, 1, 1]"), {
        "no dimension is repeated", "there are more repeats than dimensions",
    }, {"a dimension is repeated no times", "there are fewer repeats than dimensions"}),
    "repeated no times": (one("Tile-1", "[2, 3]", "repeats: [0]"), {
        "a dimension is repeated no times", "there are fewer repeats than dimensions",
    }, {"no dimension is repeated", "there are more repeats than dimensions"}),
    "reversed twice": (one("Reverse-1", "[2, 3]", "axis: [1, 1], mode: index"), {
        "an index occurs twice", "the last axis is reversed",
    }, {"no axis is reversed", "several axes are reversed"}),
    "reversed by a mask": (one("Reverse-1", "[2, 3]", "axis: {values: [true, true], element_type: boolean}, mode: mask"), {
        "several axes are reversed", "the last axis is reversed",
    }, {"an index occurs twice", "no axis is reversed"}),
    "not reversed": (one("Reverse-1", "[2, 3]", "axis: [], mode: index"), {
        "no axis is reversed",
    }, {"the last axis is reversed", "an index occurs twice"}),
    "rolled twice": (one("Roll-7", "[3, 2]", "shift: -3, axes: [0, 0]"), {
        "a shift is as long as its dimension", "a shift is negative", "an axis occurs twice", "one shift is for several axes",
    }, {"data is empty"}),
    "rolled": (one("Roll-7", "[3, 2]", "shift: [2, 1], axes: [0, 1]"), {
        "data has rank 2",
    }, {"a shift is as long as its dimension", "a shift is negative", "an axis occurs twice", "one shift is for several axes"}),
    "before the first": ("op: Slice-8\ngroups:\n  - {id: one, title: one, data: {shape: [4]}, start: [-9], stop: [-8], step: [-1]}\n", {
        "a backward slice starts and stops before the first element",
    }, {"a backward slice selects only the first element", "a negative step is beyond 31 bits", "no dimension is sliced"}),
    "too long": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[2, 4]", more="    expect: {reject: lengths.sum}\n"), {
        "the lengths exceed the dimension",
    }, {"the lengths exceed the dimension by 1", "the other lengths exceed the dimension", "an inner dimension is divided", "the sum of the lengths exceeds their element type"}),
    "too long by 1": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[2, 2]", more="    expect: {reject: lengths.sum}\n"), {
        "the lengths exceed the dimension", "the lengths exceed the dimension by 1",
    }, {"the other lengths exceed the dimension by 1"}),
    "others too long": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[-1, 5]", more="    expect: {reject: lengths.remainder-sum}\n").replace("[lengths.sum]", "[lengths.remainder-sum]"), {
        "the other lengths exceed the dimension",
    }, {"the other lengths exceed the dimension by 1", "the lengths exceed the dimension"}),
    "others too long by 1": (SPLIT.format(data="{shape: [3, 2]}", axis=0, lengths="[-1, 4]", more="    expect: {reject: lengths.remainder-sum}\n").replace("[lengths.sum]", "[lengths.remainder-sum]"), {
        "the other lengths exceed the dimension", "the other lengths exceed the dimension by 1",
    }, {"the lengths exceed the dimension by 1"}),
    "broadcast": (one("Broadcast-3", "[3, 1]", "target_shape: [2, 1, 4], mode: bidirectional"), {
        "the output has more dimensions than data", "a dimension of the target shape is smaller than that of data",
    }, {"no dimension is repeated"}),
    "not broadcast": (one("Broadcast-3", "[3, 4]", "target_shape: [3, 4]"), {
        "no dimension is repeated",
    }, {"the output has more dimensions than data", "a dimension of the target shape is smaller than that of data"}),
    "converted": (one("Convert-1", "[3]", "destination_type: i8"), {"the destination type is narrower"}, {"the types are equal"}),
    "not converted": (one("Convert-1", "[3]", "destination_type: f32"), {"the types are equal"}, {"the destination type is narrower"}),
    "blocks of batches": (one("SpaceToBatch-2", "[1, 3]", "block_shape: [1, 2], pads_begin: [0, 1], pads_end: [0, 0]"), {
        "elements are added",
    }, {"every block has one element"}),
    "batches as they are": (one("SpaceToBatch-2", "[1, 3]", "block_shape: [1, 1], pads_begin: [0, 0], pads_end: [0, 0]"), {
        "every block has one element",
    }, {"elements are added"}),
    "cropped": (one("BatchToSpace-2", "[2, 3]", "block_shape: [1, 2], crops_begin: [0, 1], crops_end: [0, 0]"), {
        "elements are removed",
    }, {"every block has one element"}),
    "not cropped": (one("BatchToSpace-2", "[2, 3]", "block_shape: [1, 1], crops_begin: [0, 0], crops_end: [0, 0]"), {
        "every block has one element",
    }, {"elements are removed"}),
    "patches": (one("ExtractImagePatches-3", "[1, 1, 2, 3]", "sizes: [2, 2], strides: [1, 1], rates: [1, 3], auto_pad: same_upper"), {
        "zeros are added", "an odd number of zeros is added", "a rate exceeds 1", "patches overlap", "rows and columns differ", "data is smaller than a patch",
    }, set()),
    "patches side by side": (one("ExtractImagePatches-3", "[1, 1, 4, 4]", "sizes: [2, 2], strides: [2, 2], rates: [1, 1], auto_pad: valid"), {
        "data is f32",
    }, {"zeros are added", "an odd number of zeros is added", "a rate exceeds 1", "patches overlap", "rows and columns differ", "data is smaller than a patch"}),
    "folded blocks": (one("Col2Im-15", "[6, 4]", "output_size: [1, 4], kernel_size: [1, 2], dilations: [1, 2], pads_begin: [0, 2]"), {
        "blocks overlap", "blocks reach into the padding", "a dilation exceeds 1", "rows and columns differ", "data has no batches",
    }, {"an element is in no block"}),
    "tiles": (one("Col2Im-15", "[1, 4, 1]", "output_size: [2, 3], kernel_size: [2, 2]").replace("[2, 3]", "[3, 3], strides: [2, 2]"), {
        "an element is in no block",
    }, {"blocks overlap", "blocks reach into the padding", "a dilation exceeds 1", "rows and columns differ", "data has no batches"}),
    "images": (one("SpaceToDepth-1", "[1, 2, 2, 4]", "block_size: 2, mode: blocks_first"), {
        "a block is a whole dimension",
    }, {"the block size is 1", "data has other than two spatial dimensions"}),
    "lines": (one("SpaceToDepth-1", "[1, 2, 3]", "block_size: 1, mode: depth_first"), {
        "the block size is 1", "data has other than two spatial dimensions",
    }, {"a block is a whole dimension"}),
    "last channels": (one("ShuffleChannels-1", "[3, 2]", "axis: -1, group: 2"), {
        "nothing moves", "the channels are the last dimension",
    }, {"the channels are the first dimension"}),
    "first channels": (one("ShuffleChannels-1", "[4, 2]", "axis: 0, group: 2"), {
        "the channels are the first dimension",
    }, {"nothing moves", "the channels are the last dimension"}),
    "scattered elements": (one("ScatterElementsUpdate-12", "[2]", "indices: [-1, 1, 0], updates: {shape: [3]}, axis: 0"), {
        "an index is negative", "several updates go to one element", "the indices are longer than data along the axis",
    }, {"every slice is replaced"}),
    "one scattered element": (one("ScatterElementsUpdate-12", "[2]", "indices: [1], updates: {shape: [1]}, axis: 0"), {
        "updates has one element",
    }, {"an index is negative", "several updates go to one element", "the indices are longer than data along the axis"}),
    "scattered tuples": (one("ScatterNDUpdate-15", "[2, 3]", "indices: [[1], [-1]], updates: {shape: [2, 3]}"), {
        "an index is negative", "several tuples select one slice", "a tuple selects a slice",
    }, {"no slice is replaced"}),
    "one scattered tuple": (one("ScatterNDUpdate-15", "[2, 3]", "indices: [[1, 2]], updates: {shape: [1]}"), {
        "updates has one element",
    }, {"an index is negative", "several tuples select one slice", "a tuple selects a slice"}),
    "scattered slices": (one("ScatterUpdate-3", "[2]", "indices: [1, 0], updates: {shape: [2]}, axis: 0"), {
        "every slice is replaced",
    }, {"no slice is replaced", "an index occurs twice"}),
    "no scattered slices": (one("ScatterUpdate-3", "[2]", "indices: {shape: [0], values: []}, updates: {shape: [0]}, axis: 0"), {
        "no slice is replaced",
    }, {"every slice is replaced"}),
    "shape of a scalar": ("op: ShapeOf-3\ngroups:\n  - {id: one, title: one, data: {shape: []}}\n", {
        "data is a scalar",
    }, {"a dimension is 0", "a dimension exceeds 31 bits"}),
    "shape of nothing": (one("ShapeOf-3", "[0, 2147483648]", "output_type: i64"), {
        "a dimension is 0", "a dimension exceeds 31 bits",
    }, {"data is a scalar"}),
    "squeezed": (one("Squeeze-15", "[1, 1]", "allow_axis_skip: true"), {
        "no indices are given", "all dimensions are removed", "allow_axis_skip is true",
    }, {"an index names a dimension other than 1", "a dimension is named twice"}),
    "squeezed in vain": (one("Squeeze-15", "[2, 1]", "axes: [0, -2]"), {
        "an index names a dimension other than 1", "a dimension is named twice",
    }, {"no indices are given", "all dimensions are removed", "allow_axis_skip is true"}),
    "reduced ends": (one("ReduceSum-1", "[2, 3, 4]", "axes: [0, 2], keep_dims: true"), {
        "the first dimension is reduced", "the last dimension is reduced", "the reduced dimensions are not adjacent", "keep_dims is true",
    }, {"no axes are given", "axes is a scalar", "all dimensions are reduced", "there are no elements to reduce"}),
    "reduced nothing": (one("ReduceSum-1", "[0]", "axes: 0"), {
        "axes is a scalar", "all dimensions are reduced", "there are no elements to reduce",
    }, {"the reduced dimensions are not adjacent", "keep_dims is true"}),
    "not reduced": (one("ReduceSum-1", "[2, 3]", "axes: []"), {
        "no axes are given",
    }, {"the first dimension is reduced", "the last dimension is reduced"}),
    "cumulative sums": (one("CumSum-3", "[1, 3]", "axis: 0, exclusive: true, reverse: true"), {
        "the axis is the first one", "exclusive is true", "reverse is true", "there is one element along the axis",
    }, {"the axis is the last one", "no axis is given"}),
    "cumulative sums of rows": (one("CumSum-3", "[2, 3]", "axis: 1"), {
        "the axis is the last one",
    }, {"the axis is the first one", "exclusive is true", "reverse is true", "there is one element along the axis"}),
    "padded windows": (one("MaxPool-14", "[1, 1, 3, 4]", "strides: [2, 1], pads_begin: [1, 0], pads_end: [0, 0], kernel: [2, 2], dilations: [1, 2]"), {
        "data has 2 spatial dimensions", "a stride is larger than 1", "a dilation is larger than 1", "pads are added",
        "the two ends get different numbers of pads",
    }, {"data has 1 spatial dimension", "data has 3 spatial dimensions"}),
    "means beside zeros": (one("AvgPool-14", "[1, 1, 6]", "strides: [3], pads_begin: [1], pads_end: [0], kernel: [2], exclude_pad: false, rounding_type: ceil"), {
        "zeros are added", "the two ends get different numbers of zeros", "a window reaches beyond the zeros",
    }, {"data has 2 spatial dimensions"}),
    "means of whole windows": (one("AvgPool-14", "[1, 1, 6]", "strides: [2], pads_begin: [0], pads_end: [0], kernel: [2], exclude_pad: false"), {
        "a stride is larger than 1",
    }, {"zeros are added", "the two ends get different numbers of zeros", "a window reaches beyond the zeros"}),
    "whole windows": (one("MaxPool-14", "[1, 1, 3]", "strides: [1], pads_begin: [0], pads_end: [0], kernel: [2]"), {
        "data has 1 spatial dimension",
    }, {
        "a stride is larger than 1", "a dilation is larger than 1", "pads are added", "the two ends get different numbers of pads",
    }),
    "smallest element": (one("TopK-11", "[3]", "k: 1, axis: 0, mode: min, sort: index, stable: true"), {
        "mode is min", "the elements are sorted by index", "stable is true", "one element is selected",
    }, {"all elements are selected"}),
    "largest elements": (one("TopK-11", "[2]", "k: 2, axis: 0, mode: max, sort: value"), {
        "all elements are selected",
    }, {"mode is min", "the elements are sorted by index", "stable is true", "one element is selected"}),
    "unsqueezed": (one("Unsqueeze-1", "[3]", "axes: [2, 0]"), {
        "the last dimension of the output is new", "the indices are not in ascending order", "data has several new dimensions",
    }, {"data is empty"}),
    "unsqueezed once": (one("Unsqueeze-1", "[3]", "axes: [0]"), {
        "data has rank 1",
    }, {"the last dimension of the output is new", "the indices are not in ascending order", "data has several new dimensions"}),
    "gathered twice": (one("GatherElements-6", "[2, 3]", "indices: [[0, 0, 1, 2], [2, 1, 0, 0]], axis: 1"), {
        "an index occurs twice in a line along the axis", "the indices are longer than data along the axis",
        "the axis is the last one",
    }, set()),
    "gathered once": (one("GatherElements-6", "[3, 2]", "indices: [[0, 1], [2, 0]], axis: 0"), set(), {
        "an index occurs twice in a line along the axis", "the indices are longer than data along the axis",
        "the axis is the last one",
    }),
    "beams": (tree("[3]", "[[[0, 0]], [[0, 1]]]"), {
        "a length is beyond the time steps", "every beam is its own parent", "the ids are floating-point numbers",
    }, {"a length is less than the time steps", "there are several batches"}),
    "batches of beams": (tree("[1, 2]", "[[[0, 0], [0, 0]], [[1, 0], [1, 0]]]", "i32"), {
        "a length is less than the time steps", "there are several batches",
    }, {"a length is beyond the time steps", "every beam is its own parent", "the ids are floating-point numbers"}),
    "rows reversed": (one("ReverseSequence-1", "[2, 3]", "seq_lengths: [3, 3], batch_axis: 0, seq_axis: 1"), {
        "whole sequences are reversed", "the sequences are the last dimension",
    }, {"nothing is reversed", "the sequences are before the slices", "the lengths are floating-point numbers"}),
    "columns kept": (
        one("ReverseSequence-1", "[3, 2]", "seq_lengths: {values: [1, 1], element_type: f32}, batch_axis: 1, seq_axis: 0"),
        {"nothing is reversed", "the sequences are before the slices", "the lengths are floating-point numbers"},
        {"whole sequences are reversed", "the sequences are the last dimension"},
    ),
    "packed": (packed("[0, 1, 4]", "[2, 3, 4]", "[65, 195, 66, 67, 68, 69]"), {
        "a string is empty", "a string begins before the end of the one before it", "a symbol is in no string",
        "a string is not valid UTF-8",
    }, {"the strings are scalars", "there are no strings", "there are no symbols"}),
    "packed whole": (packed("0", "1", "[65]"), {"the strings are scalars"}, {
        "a string is empty", "a string begins before the end of the one before it", "a symbol is in no string",
        "a string is not valid UTF-8",
    }),
    "packed nothing": (packed("{shape: [0]}", "{shape: [0]}", "{shape: [0]}"), {
        "there are no strings", "there are no symbols",
    }, {"the strings are scalars"}),
    "unique elements": (one_of("Unique-10", "data: {values: [2, 1]}, sorted: false"), {
        "no axis is given", "sorted is false", "all are unique",
    }, {"the axis is the first dimension", "there are no slices or elements", "all are equal"}),
    "equal rows": (one_of("Unique-10", "data: {values: [[1, 2], [1, 2]]}, axis: 0"), {
        "the axis is the first dimension", "all are equal",
    }, {"no axis is given", "sorted is false", "all are unique"}),
    "no elements": (one_of("Unique-10", "data: {values: []}"), {"there are no slices or elements"}, {"all are equal"}),
    "indices of all": (one_of("NonZero-3", "data: {values: [2, 1]}"), {"no element is zero"}, {"every element is zero"}),
    "indices of none": (one_of("NonZero-3", "data: {values: [0, 0]}"), {"every element is zero"}, {"no element is zero"}),
    "unpacked": (unpacked('["", "a\\0b", "ß"]'), {
        "a string is empty", "a string has a NUL", "a string is not ASCII",
    }, {"data is a scalar", "data has no elements"}),
    "unpacked text": (unpacked("word"), {"data is a scalar"}, {
        "data has no elements", "a string is empty", "a string has a NUL", "a string is not ASCII",
    }),
    "same shapes": (computing("Add-1", "a: {shape: [2, 3], fill: exact}, b: {shape: [2, 3], fill: exact}"), {
        "both inputs have the same shape",
    }, {"the first input is broadcast", "the second input is broadcast", "an input is a scalar", "the ranks differ"}),
    "both broadcast": (computing("Add-1", "a: {shape: [2, 1], fill: exact}, b: {shape: [4, 1, 3], fill: exact}"), {
        "the first input is broadcast", "the second input is broadcast", "the ranks differ",
    }, {"both inputs have the same shape", "an input is a scalar"}),
    "scalar": (computing("Add-1", "a: {shape: [2, 1], fill: exact}, b: {shape: [], fill: exact}"), {
        "an input is a scalar",
    }, {"the first input is broadcast"}),
    "rounded halves": (computing("Round-5", "data: [0.5, 2.0]"), {"a number is halfway between two integers"}, set()),
    "rounded quarters": (computing("Round-5", "data: [0.25, 2.0]"), set(), {
        "a number is halfway between two integers",
    }),
    "slopes of channels": (computing("PReLU-1", "data: {shape: [2, 3, 2], fill: exact}, slope: {shape: [3], fill: exact}"), {
        "each channel has a slope",
    }, {"the slope has one element"}),
    "one slope": (computing("PReLU-1", "data: {shape: [2, 3], fill: exact}, slope: {shape: [1, 1], fill: exact}"), {
        "the slope has one element",
    }, {"each channel has a slope"}),
    "clamped to a fraction": (computing("Clamp-1", "data: {shape: [2]}, min: -0.5, max: 2"), {"a limit has a fraction"}, set()),
    "unit factor": (computing("Elu-1", "data: {shape: [2]}, alpha: 1"), set(), {"alpha is not 1"}),
    "other factor": (computing("Elu-1", "data: {shape: [2]}, alpha: 0.5"), {"alpha is not 1"}, set()),
    "with a beta": (computing("Swish-4", "data: {shape: [2]}, beta: {values: 2}"), set(), {"beta is omitted"}),
    "without a beta": (computing("Swish-4", "data: {shape: [2]}"), {"beta is omitted"}, set()),
    "clamped to integers": (computing("Clamp-1", "data: {shape: [2]}, min: -1.0, max: 2"), set(), {
        "a limit has a fraction",
    }),
    "line": (convolution("[1, 2, 5]", "[2, 2, 1]", strides="[2]", dilations="[1]", ends="[1]"), {
        "data has 1 spatial dimension", "a stride is larger than 1", "the two ends get different numbers of zeros",
        "all filters have one element per channel",
    }, {"data has 2 spatial dimensions", "data has 3 spatial dimensions", "a dilation is larger than 1"}),
    "image": (convolution("[1, 2, 5, 5]", "[2, 2, 2, 1]", strides="[1, 1]", dilations="[1, 2]", ends="[0, 0]"), {
        "data has 2 spatial dimensions", "a dilation is larger than 1",
    }, {
        "data has 1 spatial dimension", "a stride is larger than 1", "the two ends get different numbers of zeros",
        "all filters have one element per channel",
    }),
    "volume": (convolution("[1, 2, 2, 3, 4]", "[2, 2, 2, 1, 2]", strides="[1, 1, 1]", dilations="[1, 1, 1]", ends="[0, 0, 0]"), {
        "data has 3 spatial dimensions",
    }, set()),
    "each channel": (convolution("[1, 2, 5]", "[2, 1, 1, 1]", op="GroupConvolution-1", strides="[1]", dilations="[1]", ends="[0]"), {
        "each channel of data is a group",
    }, {"there is one group"}),
    "one group": (convolution("[1, 2, 5]", "[1, 2, 2, 1]", op="GroupConvolution-1", strides="[1]", dilations="[1]", ends="[0]"), {
        "there is one group",
    }, {"each channel of data is a group"}),
    "vectors": (computing("MatMul-1", "a: {shape: [3], fill: exact}, b: {shape: [3], fill: exact}"), {
        "the first input is a vector", "the second input is a vector",
    }, {"the first input is transposed", "the second input is transposed", "there are several matrices"}),
    "matrices": (computing("MatMul-1", "a: {shape: [2, 0, 3]}, b: {shape: [4, 0]}, transpose_a: true, transpose_b: true"), {
        "the first input is transposed", "the second input is transposed", "there are several matrices",
        "the matrices are broadcast", "the products have no elements",
    }, {"the first input is a vector", "the second input is a vector"}),
    "one matrix": (computing("MatMul-1", "a: {shape: [2, 3], fill: exact}, b: {shape: [3, 2], fill: exact}"), set(), {
        "the matrices are broadcast", "the products have no elements",
    }),
    "normalized": (computing("MVN-6", "data: {shape: [2, 3], fill: exact}, axes: [-1, 0], normalize_variance: true, eps: 0.5, eps_mode: inside_sqrt"), {
        "the variance is normalized", "eps is inside the square root", "the axes are the last ones", "the axes are all of data",
        "an axis is negative",
    }, set()),
    "differences": (computing("MVN-6", "data: {shape: [2, 3], fill: exact}, axes: [0], normalize_variance: false, eps: 0.5, eps_mode: outside_sqrt"), set(), {
        "the variance is normalized", "eps is inside the square root", "the axes are the last ones", "the axes are all of data",
        "an axis is negative",
    }),
    "normalized by channels": (computing("BatchNormInference-5", "data: {shape: [2, 3], fill: exact}, gamma: [1, 1, 1], beta: [1, 1, 1], mean: [1, 1, 1], variance: [1, 1, 1], epsilon: 0"), {
        "epsilon is 0", "the channels are the last dimension",
    }, set()),
    "normalized images": (computing("BatchNormInference-5", "data: {shape: [2, 1, 3], fill: exact}, gamma: [1], beta: [1], mean: [1], variance: [1], epsilon: 1"), set(), {
        "epsilon is 0", "the channels are the last dimension",
    }),
    "normalized by single groups": (computing("GroupNormalization-12", "data: {shape: [2, 1], fill: exact}, scale: [1], bias: [1], num_groups: 1, epsilon: 1"), {
        "there is one group", "every channel is a group", "the channels are the last dimension",
    }, set()),
    "normalized by groups": (computing("GroupNormalization-12", "data: {shape: [2, 4, 3], fill: exact}, scale: [1, 1, 1, 1], bias: [1, 1, 1, 1], num_groups: 2, epsilon: 1"), set(), {
        "there is one group", "every channel is a group", "the channels are the last dimension",
    }),
    "causal attention": (computing("ScaledDotProductAttention-13", "query: {shape: [2, 2, 3], fill: exact}, key: {shape: [2, 4, 3], fill: exact}, value: {shape: [2, 4, 3], fill: exact}, attention_mask: {values: 0}, causal: true"), {
        "the mask is causal", "there are more keys than queries", "the mask is ignored",
    }, {
        "there are fewer keys than queries", "there is a mask", "the mask is of booleans", "no key is left for a query",
        "the scale is given", "the batches are broadcast", "values have another length than keys",
    }),
    "masked attention": (computing("ScaledDotProductAttention-13", "query: {shape: [1, 2, 3], fill: exact}, key: {shape: [2, 1, 3], fill: exact}, value: {shape: [2, 1, 1], fill: exact}, attention_mask: {element_type: boolean, values: [[false], [true]]}, scale: {values: 2}, causal: false"), {
        "there are fewer keys than queries", "there is a mask", "the mask is of booleans", "no key is left for a query",
        "the scale is given", "the batches are broadcast", "values have another length than keys",
    }, {"the mask is causal", "there are more keys than queries", "the mask is ignored"}),
    "quantized to two numbers": (computing("FakeQuantize-1", "x: {shape: [2, 3], fill: exact}, input_low: 1, input_high: 1, output_low: 4, output_high: -4, levels: 2"), {
        "there are two levels", "the limits are scalars", "limits of inputs are equal", "limits of outputs are reversed",
    }, {"a limit is repeated along some dimensions, and not along others", "limits of inputs are reversed"}),
    "quantized by channels": (computing("FakeQuantize-1", "x: {shape: [2, 3], fill: exact}, input_low: [2, 2, 2], input_high: -2, output_low: 0, output_high: 4, levels: 5"), {
        "a limit is repeated along some dimensions, and not along others", "limits of inputs are reversed",
    }, {"there are two levels", "the limits are scalars", "limits of inputs are equal", "limits of outputs are reversed"}),
    "selected": (computing("Select-1", "cond: {shape: [2, 3]}, on_true: {shape: [2, 3]}, on_false: {shape: [2, 3]}"), {
        "all inputs have the same shape",
    }, {"the mask is broadcast", "the mask is a scalar", "both tensors are broadcast"}),
    "selected by a scalar": (computing("Select-1", "cond: {shape: []}, on_true: {shape: [2, 1]}, on_false: {shape: [1, 3]}"), {
        "the mask is broadcast", "the mask is a scalar", "both tensors are broadcast",
    }, {"all inputs have the same shape"}),
    "unpacked nothing": (unpacked("[]"), {
        "data has no elements",
    }, {"data is a scalar"}),
}  # fmt: skip


def test_every_declared_fact_has_a_case_that_has_it_and_one_that_has_not() -> None:
    """A fact of a new operation needs both."""
    declared = {fact for operation in OPERATIONS.values() for fact in operation.facts}

    assert declared - {fact for _, held, _ in CASES.values() for fact in held} == set()
    assert declared - {fact for _, _, lacking in CASES.values() for fact in lacking} == set()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The cases above, each in a group of its number."""
    folder = tmp_path_factory.mktemp("facts")
    for number, (spec, *_) in enumerate(CASES.values()):
        (folder / f"{number}.yaml").write_text(spec.replace("id: one", f"id: of-{number}"))
    return open_suite(generate(load_specs([folder]), folder / "suite", Options(dialects=())).out)


def test_a_case_has_its_facts_and_no_others(suite: Suite) -> None:
    """As a reader of the case would say them."""
    missing: dict[str, AbstractSet[str]] = {}
    wrong: dict[str, AbstractSet[str]] = {}
    for number, (name, (_, held, lacking)) in enumerate(CASES.items()):
        entry = next(entry for entry in suite.entries if f"/of-{number}/" in entry.id)
        case = suite.case(entry)
        feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
        expected = [suite.arrays(entry, x) for x in map(expected_name, range(case.feeds)) if x in entry.files]
        facts = {fact.sentence for fact in facts_of(case, feeds, expected)}
        missing |= {name: held - facts} if held - facts else {}
        wrong |= {name: facts & lacking} if facts & lacking else {}

    assert (missing, wrong) == ({}, {})
