"""Mutants of GatherND-8: tuples that are misread, unchecked, out of range or kept."""

from typing import Any

import numpy as np

from opconform.suite.case import Shape
from opconform.suite.manifest import Level
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, stricter
from tests.mutants.settings import misread

_NEGATIVE = "openvinotoolkit/openvino#30764"
_OTHER_SIZE = "apple/coremltools#2794"
_OUTSIDE = "openvinotoolkit/openvino#38297"
_REFERENCE = "openvinotoolkit/openvino#38296"
_ZEROS = "tensorflow/tensorflow#12608"
_LENGTH = "sonos/tract#2635"
_ORDER = "openvinotoolkit/openvino#27041"
_TYPES = "microsoft/onnxruntime#3645"
_FIRST = "openvinotoolkit/openvino#8495"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Level = "normative") -> Row:
    return Row(f"gather_nds/{name}", what, seen, changes, level, "GatherND-8")


def _negative_as(change: Any) -> Hooks:
    """The change that reads a negative index as a function of the index and the size."""
    return {"nd_from_front": lambda _, number, size: change(number, size) if number < 0 else number}


def _numbers(change: Any) -> Hooks:
    """The change of all indices."""
    return {"nd_numbers": lambda call, indices: change(indices, call.right("nd_numbers", indices))}


def _outside(change: Any) -> Hooks:
    """The change that takes another position for an index that is out of range."""
    return {"nd_outside": lambda _, number, size: change(number, size)}


def _outside_where(when: Any, change: Any) -> Hooks:
    """The same under a condition on the call, the index and the size."""

    def outside(call: Call, number: int, size: int) -> Any:
        return change(number, size) if when(call, number, size) else call.right("nd_outside", number, size)

    return {"nd_outside": outside}


def _memory(_call: Call, block: Array, place: tuple[int | None, ...]) -> Array:
    """Memory that is not data for a tuple with an index that is out of range."""
    if None not in place:
        return block[place]
    return np.full(block.shape[len(place) :], 0x5A).astype(block.dtype)


def _within_elements(call: Call, numbers: list[int], sizes: Shape, length: int) -> list[int | None]:
    """Positions whose check compares the offset in data, and not each index, with its limit."""
    rows = [numbers[first : first + length] for first in range(0, len(numbers), length or 1)]
    places: list[int | None] = []
    for row in rows:
        offset = 0
        for number, size in zip(row, sizes, strict=False):
            offset = offset * size + (number + size if number < 0 else number)
        if 0 <= offset < int(np.prod(sizes)):
            places += [int(each) for each in np.unravel_index(offset, sizes)] if sizes else []
        else:
            places += call.right("nd_places", row, sizes, length)
    return places


def _first_checked(call: Call, number: int, size: int, place: int) -> Any:
    """The position of an index that is checked at the first place of its tuple alone."""
    inside = -size <= number < size
    return call.right("nd_place", number, size, place) if inside or not place else min(max(number, 0), size - 1)


def _as_integers(call: Call) -> Tensor:
    """Indices of another type, converted to integers."""
    given = call.inputs.get("indices")
    if given is None or given.type.is_integer or not given.shape:
        return call.right("nd_indices")  # type: ignore[no-any-return]
    numbers = given.array.view(given.type.arithmetic) if given.type.kind == "float" else given.array
    return Tensor(element_type="i64", array=numbers.astype(np.int64))


def _with_rank(call: Call, name: str, port: str) -> Tensor:
    """An input, which is taken for a list of one if it is a scalar."""
    given = call.inputs.get(port)
    if given is None or given.shape:
        return call.right(name)  # type: ignore[no-any-return]
    return Tensor(element_type=given.element_type, array=given.array.reshape(1))


def _converted(kind: type) -> Hooks:
    """The change that converts a `batch_dims` of a type."""

    def attribute(call: Call) -> int:
        given: Any = call.attributes.get("batch_dims", 0)
        is_meant = type(given) is kind
        return int(given) if is_meant else call.right("nd_attribute")

    return {"nd_attribute": attribute}


def _clamped(when: Any) -> Hooks:
    """The change that takes a `batch_dims` out of range for 0 under a condition."""

    def batches(call: Call, data: Shape, indices: Shape) -> int:
        given = call.attributes.get("batch_dims", 0)
        is_number = type(given) is int
        return 0 if is_number and when(given, data, indices) else call.right("nd_batches", data, indices)

    return {"nd_batches": batches}


def _cut(when: Any) -> Hooks:
    """The change that uses no more indices of a tuple than there are dimensions, under a condition."""

    def length(call: Call, data: Shape, indices: Shape, batches: int) -> int:
        most = len(data) - batches
        return min(indices[-1], most) if when(data, indices) else call.right("nd_length", data, indices, batches)

    return {"nd_length": length}


def _default(call: Call) -> int:
    """One batch dimension without the attribute, where it can be."""
    given: object = call.attributes.get("batch_dims")
    shapes = [call.inputs[each].shape for each in ("data", "indices")]
    if given is not None or "batch_dims" in call.case.attributes or min(map(len, shapes)) < 2:
        return call.right("nd_attribute")  # type: ignore[no-any-return]
    fits = shapes[0][0] == shapes[1][0] and shapes[1][-1] < len(shapes[0])
    return int(fits)


def _merged(call: Call, leading: Shape, data: Shape, indices: Shape, batches: int) -> Shape:
    shape: Shape = call.right("nd_shape", leading, data, indices, batches)
    return (int(np.prod(leading)), *shape[batches:]) if batches > 1 else shape


def _shape(change: Any) -> Hooks:
    """The change of the output's shape, given the right one, the shapes of the inputs and the number of batches."""

    def shape(call: Call, leading: Shape, data: Shape, indices: Shape, batches: int) -> Shape:
        right: Shape = call.right("nd_shape", leading, data, indices, batches)
        return tuple(change(right, data, indices, batches))

    return {"nd_shape": shape}


def _of_first_tuple(rows: Array) -> Array:
    """The tuples of a batch, each of which is the first one."""
    first = rows[(slice(0, 1),) * (rows.ndim - 1)] if rows.size else rows
    return np.broadcast_to(first, rows.shape)


def _positions_turned(call: Call, data: Array, rows: Array, leading: Shape, batches: int) -> Array:
    """The last two dimensions of the positions in the wrong order."""
    right: Array = call.right("nd_picked", data, rows, leading, batches)
    last = rows.ndim - 2
    return np.swapaxes(right, last - 1, last).copy() if last - batches >= 2 else right


def _is_constant(call: Call) -> bool:
    return not call.is_parameter("indices")


def _last_compared(call: Call, data: Shape, indices: Shape) -> Shape:
    """The batch dimensions of the output, of which only the last one is compared."""
    return (*map(max, data[:-1], indices[:-1]), *call.right("nd_leading", data[-1:], indices[-1:]))


def _whole_data(call: Call, data: Shape, indices: Shape) -> int:
    given: int = call.do("nd_attribute")
    return given if given == len(data) < len(indices) else call.right("nd_batches", data, indices)


# fmt: off
ROWS = (
    _row("negative-refused", "A negative index is refused.", _NEGATIVE,
        stricter("nd_place", lambda _, number, __, ___: number < 0)),
    _row("negative-as-zero", "A negative index is taken as 0.", _NEGATIVE, _negative_as(lambda *_: 0)),
    _row("negative-sign-lost", "The sign of a negative index is lost.", _NEGATIVE,
        _negative_as(lambda number, size: -number % size if size else number)),
    _row("negative-from-last", "A negative index counts from the last element.", _NEGATIVE,
        _negative_as(lambda number, size: max(number + size - 1, 0))),
    _row("negative-reads-memory", "A negative index reads memory before data.", "apache/tvm#20316",
        {"nd_place": lambda call, number, size, place: (
            None if number < 0 else call.right("nd_place", number, size, place)), "nd_slice": _memory}),
    _row("negative-from-leading", "Negative indices count from the sizes of the leading dimensions.", _OTHER_SIZE,
        {"nd_place": lambda call, number, size, place: call.right("nd_place", (
            (number + call.inputs["data"].shape[place]) % size if -size <= number < 0 else number), size, place)}),
    _row("negative-from-first", "All indices of a tuple count from the first of its dimensions.", _OTHER_SIZE,
        {"nd_places": lambda call, numbers, sizes, length: call.right(
            "nd_places", [(n + sizes[0]) % sizes[i % length] if -sizes[i % length] <= n < 0 else n
                for i, n in enumerate(numbers)] if len(sizes) == length else numbers, sizes, length)}),
    _row("unsigned-as-signed", "Unsigned indices are read as signed ones.", "apache/tvm#10080",
        _numbers(lambda indices, given: [low_bits(each, indices.type.bits) for each in given])),
    _row("memory-outside", "An index that is out of range selects memory outside data.", _OUTSIDE,
        {**_outside(lambda *_: None), "nd_slice": _memory}),
    _row("run-time-unchecked", "The range of indices at run time is not checked.", _OUTSIDE,
        {**_outside_where(lambda call, *_: not _is_constant(call), lambda *_: None), "nd_slice": _memory}),
    _row("constants-unchecked", "The range of constant indices is not checked.", _REFERENCE,
        {**_outside_where(lambda call, *_: _is_constant(call), lambda *_: None), "nd_slice": _memory}),
    _row("second-unchecked", "The range of indices is checked in the first inference alone.", _OUTSIDE,
        {**_outside_where(lambda call, *_: call.feed, lambda *_: None), "nd_slice": _memory}),
    _row("upper-end-unchecked", "Indices above the range select zeros.", _ZEROS,
        {**_outside_where(lambda _, number, __: number > 0, lambda *_: None), "nd_slice": lambda _, block, place: (
            np.zeros_like(block[(0,) * len(place)]) if None in place else block[place])}),
    _row("lower-end-unchecked", "Indices below the range select memory before data.", "tensorflow/tensorflow#51014",
        {**_outside_where(lambda _, number, __: number < 0, lambda *_: None), "nd_slice": _memory}),
    _row("outside-clamped", "An index that is out of range is clamped.", "tensorflow/tensorflow#57999",
        _outside(lambda number, size: min(max(number, 0), size - 1))),
    _row("outside-wraps", "An index that is out of range is taken modulo the dimension.", _OUTSIDE,
        _outside(lambda number, size: number % size if size else None)),
    _row("within-elements", "An index is valid if its element is in data.", _OUTSIDE, {"nd_places": _within_elements}),
    _row("first-index-checked", "The first index of a tuple alone is checked.", _OUTSIDE, {"nd_place": _first_checked}),
    _row("wraps", "The indices are read as 32 bits.", FOUND,
        _numbers(lambda _, given: [low_bits(each, 32) for each in given])),
    _row("kept", "The second inference uses the indices of the first one.", _FIRST,
        {"nd_numbers": lambda call, indices: call.first(f"tuples {indices.shape}", call.right("nd_numbers", indices))}),
    _row("size-kept", "The second inference counts negative indices from the sizes in the first one.", _FIRST,
        kept("nd_sizes")),
    _row("other-types", "Indices of a floating-point or boolean type are converted.", _TYPES,
        {"nd_indices": _as_integers}),
    _row("scalar-indices", "A scalar as indices is a list of one.", "kraiskil/onnx2c#68",
        {"nd_indices": lambda call: _with_rank(call, "nd_indices", "indices")}),
    _row("scalar-data", "Data of rank 0 is a list of one.", "kraiskil/onnx2c#68",
        {"nd_data": lambda call: _with_rank(call, "nd_data", "data")}),
    _row("one-tuple-refused", "Indices of rank 1 are refused.", "tensorflow/tensorflow#3712",
        stricter("nd_indices", lambda call: len(call.inputs["indices"].shape) == 1)),
    _row("one-tuple-as-list", "Indices of rank 1 give a dimension of 1.", "tensorflow/tensorflow#3712",
        _shape(lambda right, _, indices, __: (1, *right) if len(indices) == 1 else right)),
    _row("tuples-reversed", "The indices of a tuple are applied in reverse order.", "apache/tvm#5229",
        {"nd_slice": lambda _, block, place: block[tuple(
            min(each, size - 1) for each, size in zip(place[::-1], block.shape, strict=False))]}),
    _row("by-columns", "A tuple is a column of the indices, and not a row.", "apache/tvm#5229",
        {"nd_row": lambda call, rows, batch: (
            right.T if (right := call.right("nd_row", rows, batch)).ndim == 2 and len(set(right.shape)) == 1
            and right.max(initial=0) < min(call.inputs["data"].shape) else right)}),
    _row("first-tuple-only", "Every position has the slice of the first tuple.", "microsoft/onnxruntime#28598",
        {"nd_row": lambda call, rows, batch: _of_first_tuple(call.right("nd_row", rows, batch))}),
    _row("first-slice-only", "Run-time indices select the first slice.", "microsoft/onnxruntime#28598",
        {"nd_slice": lambda call, block, place: block[place if _is_constant(call) else (0,) * len(place)]}),
    _row("positions-turned", "The last two dimensions of the positions are exchanged.", _ORDER,
        {"nd_picked": _positions_turned}),
    _row("slices-short", "Only the first element of a slice is copied.", _LENGTH,
        {"nd_slice": lambda _, block, place: block[place].reshape(-1)[:1] if block[place].size else block[place]}),
    _row("shape-of-indices", "The remaining dimensions are those of the indices.", _LENGTH,
        _shape(lambda right, data, indices, _: right if len(data) <= len(indices) else (int(np.prod(right)),))),
    _row("slices-flat", "The remaining dimensions are merged.", "microsoft/onnxruntime#24206",
        _shape(lambda right, data, indices, batches: (
            *right[: len(indices) - 1], int(np.prod(data[batches + indices[-1] :]))))),
    _row("too-long-cut", "Of a tuple that is too long, further indices are ignored.", _LENGTH,
        _cut(lambda data, indices: indices[-1] > len(data))),
    _row("too-long-after-batches-cut", "Of a tuple that is too long after the batches, further indices are ignored.",
        _LENGTH, _cut(lambda data, indices: indices[-1] <= len(data)), "interpretation"),
    _row("empty-tuples-refused", "Tuples without indices are refused.", "microsoft/tensorflow-directml#178",
        stricter("nd_length", lambda _, __, indices, ___: indices[-1] == 0), "interpretation"),
    _row("empty-refused", "Data or indices without elements are refused.", "tensorflow/tensorflow#50246",
        stricter("nd_length", lambda _, data, indices, __: 0 in (*data, *indices[:-1])), "interpretation"),
    _row("batches-by-default", "Without batch_dims, one dimension is a batch dimension where it can be.",
        "onnx/onnx#2585", {"nd_attribute": _default}),
    _row("tuples-of-first-batch", "Every batch uses the tuples of the first one.", "apache/tvm#8084",
        {"nd_row": lambda call, rows, batch: call.right("nd_row", rows, (0,) * len(batch))}),
    _row("data-of-first-batch", "Every batch selects from the data of the first one.", "apache/tvm#8084",
        {"nd_block": lambda call, data, batch: call.right("nd_block", data, (0,) * len(batch))}),
    _row("batches-merged", "Batch dimensions are merged in the output, as in GatherND-5.",
        "openvinotoolkit/openvino#7379", {"nd_shape": _merged}),
    _row("batches-truncated", "A fraction as batch_dims is rounded down.", FOUND, _converted(float)),
    _row("batches-from-boolean", "A boolean as batch_dims is converted.", "tensorflow/tensorflow#55203",
        _converted(bool)),
    _row("batches-negative", "A negative batch_dims is taken as 0.", "onnx/onnx#8465", _clamped(
        lambda given, *_: given < 0)),
    _row("batches-of-data", "A batch_dims that is the rank of data is taken as 0.", "onnx/onnx#8465", _clamped(
        lambda given, data, indices: len(data) <= given < len(indices))),
    _row("batches-of-indices", "A batch_dims that is the rank of the indices is taken as 0.", "onnx/onnx#8465", _clamped(
        lambda given, data, indices: len(indices) <= given < len(data))),
    _row("batches-unequal", "Batch dimensions that differ are not refused.", "microsoft/onnxruntime#23828",
        {"nd_leading": lambda _, data, indices: tuple(map(max, data, indices)) if 0 not in data else data}),
    _row("batches-divided", "A batch dimension that is a multiple of the other one is accepted.",
        "microsoft/onnxruntime#23828",
        {"check_nd_pair": lambda call, data, indices: (
            None if indices and data % indices == 0 and data else call.right("check_nd_pair", data, indices))}),
    _row("broadcast-refused", "A batch dimension of 1 of data is refused.", "openvinotoolkit/openvino#30797",
        stricter("check_nd_pair", lambda _, data, indices: data == 1 != indices)),
    _row("broadcast-short", "A batch dimension of 1 of data stays 1 in the output.", "microsoft/onnxruntime#25053",
        {"nd_leading": lambda call, data, indices: data if call.right("nd_leading", data, indices) else ()}),
    _row("broadcast-indices-refused", "A batch dimension of 1 of the indices is refused.",
        "openvinotoolkit/openvino#32660", stricter("check_nd_pair", lambda _, data, indices: indices == 1 != data),
        "interpretation"),
    _row("broadcast-indices-short", "A batch dimension of 1 of the indices stays 1 in the output.",
        "openvinotoolkit/openvino#32660",
        {"nd_leading": lambda call, data, indices: indices if call.right("nd_leading", data, indices) else ()},
        "interpretation"),
    *misread("gather_nds/indices", "GatherND-8", "nd_numbers", lambda _, indices: ("indices", indices)),
    _row("batches-last-only", "Only the last batch dimension of GatherND-8 is compared.",
        "microsoft/onnxruntime#23828",
        {"nd_leading": _last_compared}),
    _row("batches-whole-data", "All dimensions of data can be batch dimensions.", _LENGTH, {"nd_batches": _whole_data}),
)
# fmt: on
