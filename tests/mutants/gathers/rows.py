"""Mutants of Gather-8: indices, axes and batch dimensions that are misread, unchecked or kept."""

from typing import Any

import numpy as np

from opconform.suite.manifest import Level
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, refuse, stricter, unchecked
from tests.mutants.settings import misread

_NEGATIVE = "microsoft/onnxruntime#1533"
_SIGN = "tracel-ai/burn#3739"
_OUTSIDE = "openvinotoolkit/openvino#14131"
_SCALAR = "kraiskil/onnx2c#68"
_BATCHES = "microsoft/onnxruntime#23828"
_SHAPES = "openvinotoolkit/openvino#33202"
_TYPES = "pytorch/pytorch#37996"
_FIRST = "microsoft/onnxruntime#19564"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Level = "normative") -> Row:
    return Row(f"gathers/{name}", what, seen, changes, level, "Gather-8")


def _negative_as(change: Any) -> Hooks:
    """The change that reads a negative index as a function of the call, the index and the size."""
    return {"index_from_front": lambda call, index, size: change(call, index, size) if index < 0 else index}


def _numbers(change: Any) -> Hooks:
    """The change of all indices."""
    return {"index_numbers": lambda call, indices: change(indices, call.right("index_numbers", indices))}


def _outside(change: Any) -> Hooks:
    return {"place_outside": lambda _, index, size: change(index, size)}


def _as_integers(call: Call, name: str) -> Tensor:
    """An input of another type, converted to integers."""
    given = call.inputs[name]
    if given.type.is_integer:
        return given
    numbers = given.array.view(given.type.arithmetic) if given.type.kind == "float" else given.array
    return Tensor(element_type="i64", array=numbers.astype(np.int64))


def _indices_of_any_type(call: Call) -> Tensor:
    return _as_integers(call, "indices") if "indices" in call.inputs else call.right("gathered_indices")


def _axis_of_any_type(call: Call) -> int:
    if "axis" not in call.inputs or call.inputs["axis"].array.size != 1:
        return call.right("axis_number")  # type: ignore[no-any-return]
    return int(_as_integers(call, "axis").integers()[0])


def _scalar_as_list(call: Call) -> Tensor:
    """Data, of which a scalar has one dimension of 1."""
    given = call.inputs.get("data")
    if given is None or given.shape:
        return call.right("gathered_data")  # type: ignore[no-any-return]
    return Tensor(element_type=given.element_type, array=given.array.reshape(1))


def _axis_or_first(call: Call) -> int:
    return call.right("axis_number") if "axis" in call.inputs else 0


def _axis_of_two(call: Call, shape: tuple[int, ...]) -> None:
    if shape != (2,):
        call.right("check_gathered_axis_shape", shape)


def _axis_of_none(call: Call) -> int:
    axis = call.inputs.get("axis")
    return 0 if axis is not None and not axis.array.size else call.right("axis_number")


def _axis_as_matrix(call: Call, shape: tuple[int, ...]) -> None:
    if shape != (1, 1):
        call.right("check_gathered_axis_shape", shape)


def _batches_of_data(call: Call, data: tuple[int, ...], indices: tuple[int, ...]) -> int:
    """A negative `batch_dims` counted from the rank of data, where that is valid."""
    right: int = call.right("gathered_batches", data, indices)
    given = call.attributes.get("batch_dims", 0)
    other = int(str(given)) + len(data) if isinstance(given, int) and given < 0 else right
    return other if data[:other] == indices[:other] and other <= len(indices) else 0


def _batches_truncated(call: Call) -> int:
    given = call.attributes.get("batch_dims", 0)
    return int(given) if isinstance(given, float) else call.right("batches_attribute")


def _batches_from_boolean(call: Call) -> int:
    given = call.attributes.get("batch_dims", 0)
    return int(given) if isinstance(given, bool) else call.right("batches_attribute")


def _batches_clamped(sign: int) -> Hooks:
    """The change that accepts a `batch_dims` beyond one end of its range, and uses none."""

    def change(call: Call, data: tuple[int, ...], indices: tuple[int, ...]) -> int:
        given, limit = call.attributes.get("batch_dims", 0), min(len(data), len(indices))
        if type(given) is int and given * sign > limit:
            return 0
        return call.right("gathered_batches", data, indices)  # type: ignore[no-any-return]

    return {"gathered_batches": change}


def _unequal(call: Call, data: Array, rows: Array, axis: int, batches: int) -> Array:
    """Batches paired as far as there are both, as if the smaller were repeated."""
    count = data.shape[:batches]
    if rows.shape[:batches] == count:
        return call.right("picked", data, rows, axis, batches)  # type: ignore[no-any-return]
    repeated = np.resize(rows, (*count, *rows.shape[batches:]))
    return call.right("picked", data, repeated, axis, batches)  # type: ignore[no-any-return]


def _rows_of_the_slices(call: Call, data: Array, rows: Array, axis: int, batches: int) -> Array:
    """The dimensions between the batches and the axis count as batches, so that their indices are reused in turn."""
    right: Array = call.right("picked", data, rows, axis, batches)
    return right[:, ::-1] if axis > batches > 0 else right


def _whole_bytes(call: Call, index: int, size: int) -> int | None:
    """An index in a type narrower than a byte that is rounded down to a byte."""
    bits = call.inputs["data"].type.bits
    right: int | None = call.right("place", index, size)
    return right if right is None or not 0 < bits < 8 else right - right % (8 // bits)


def _first_element(call: Call, data: Array, rows: Array, axis: int, batches: int) -> Array:
    """The slices of the right places whose elements are all the first one."""
    right: Array = call.right("picked", data, rows, axis, batches)
    return np.broadcast_to(right[..., :1], right.shape).copy()


def _garbage(call: Call, data: Array, rows: Array, axis: int, batches: int) -> Array:
    """Memory that is not an element of data, where an index is out of range."""
    right: Array = call.right("picked", data, rows, axis, batches)
    outside = np.array([each is None for each in rows.reshape(-1)], np.bool_)
    if not outside.any() or data.dtype.kind == "U":
        return right
    rest = right.reshape(right.shape[0], right.shape[1], -1, right.shape[3])
    for batch, row in enumerate(outside.reshape(right.shape[0], -1)):
        rest[batch, :, row] = np.array(0x5A).astype(data.dtype)
    return rest


def _no_sign(indices: Tensor, given: list[int]) -> list[int]:
    return [low_bits(each, indices.type.bits) for each in given]


def _size_of_first(call: Call, shape: tuple[int, ...], axis: int) -> int:
    """The size of the dimension, in the first inference where the indices are constant."""
    size: int = call.right("gathered_size", shape, axis)
    return size if call.is_parameter("indices") else min(call.first("size", size), size)


# fmt: off
ROWS = (
    _row("negative-refused", "A negative index is refused.", _NEGATIVE,
        stricter("place", lambda _, index, __: index < 0)),
    _row("negative-as-zero", "A negative index is taken as 0.", _SIGN, _negative_as(lambda *_: 0)),
    _row("negative-sign-lost", "The sign of a negative index is lost.", _SIGN,
        _negative_as(lambda _, index, size: -index % size)),
    _row("negative-is-outside", "A negative index selects zeros.", "tensorflow/tfjs#1147", _negative_as(lambda *_: -1)),
    _row("negative-from-rank", "A negative index is added to the rank of data.", "openvinotoolkit/openvino#22039",
        _negative_as(lambda call, index, _: index + len(call.inputs["data"].shape))),
    _row("negative-from-last", "A negative index counts from the last element.", _NEGATIVE,
        _negative_as(lambda _, index, size: max(index + size - 1, 0))),
    _row("unsigned-as-signed", "Unsigned indices are read as signed ones.", "apache/tvm#10080", _numbers(_no_sign)),
    _row("sorted", "The indices are sorted.", _TYPES, _numbers(lambda _, given: sorted(given))),
    _row("first-index-only", "Every index is the first one.", _SHAPES, _numbers(lambda _, given: given[:1] * len(given))),
    _row("kept", "The second inference uses the indices of the first one.", _FIRST,
        {"index_numbers": lambda call, indices: call.first(
            f"indices {indices.shape}", call.right("index_numbers", indices))}),
    _row("size-kept", "The second inference counts negative indices from the size in the first one.", _FIRST,
        kept("gathered_size")),
    _row("memory-outside", "An index that is out of range selects memory outside data.", _OUTSIDE, {"picked": _garbage}),
    _row("outside-clamped", "An index that is out of range is clamped.", "tensorflow/tensorflow#57999",
        _outside(lambda index, size: min(max(index, 0), size - 1) if size else None)),
    _row("outside-refused", "An index that is out of range is refused.", "onnx/onnx#2179",
        _outside(lambda *_: refuse("an index is out of range"))),
    _row("outside-wraps", "An index that is out of range is taken modulo the dimension.", _OUTSIDE,
        _outside(lambda index, size: index % size if size else None)),
    _row("wraps", "The indices are read as 32 bits.", FOUND,
        _numbers(lambda _, given: [low_bits(each, 32) for each in given])),
    _row("wraps-in-16-bits", "The indices are read as 16 bits.", FOUND,
        _numbers(lambda _, given: [low_bits(each, 16) for each in given])),
    _row("wraps-in-64-bits", "The indices are read as signed 64 bits.", FOUND,
        _numbers(lambda _, given: [low_bits(each, 64) for each in given])),
    _row("float-indices", "Indices of a floating-point or boolean type are converted.", _TYPES,
        {"gathered_indices": _indices_of_any_type}),
    _row("scalar-refused", "A scalar as indices is refused.", _SCALAR,
        stricter("gathered_indices", lambda call: not call.inputs["indices"].shape)),
    _row("scalar-as-list", "A scalar as indices gives a dimension of 1.", _SCALAR,
        {"gathered_shape": lambda call, data, indices, axis, batches: call.right(
            "gathered_shape", data, indices or (1,), axis, batches)}),
    _row("indices-flat", "The dimensions of the indices are merged in the output.", _SCALAR,
        {"gathered_shape": lambda _, data, indices, axis, batches: (
            *data[:axis], int(np.prod(indices[batches:])), *data[axis + 1 :])}),
    _row("axis-ignored", "Slices are selected along the first dimension after the batches.", _SHAPES,
        {"gathered_axis_from_front": lambda call, _axis, __: max(int(str(call.attributes.get("batch_dims", 0))), 0)}),
    _row("axis-sign-lost", "The sign of a negative axis is lost.", _NEGATIVE,
        {"gathered_axis_from_front": lambda _, axis, rank: abs(axis) % rank}),
    _row("axis-wraps", "The axis is read as 32 bits.", FOUND,
        {"axis_number": lambda call: low_bits(call.right("axis_number"), 32)}),
    _row("axis-unchecked", "An axis that is out of range is taken modulo the rank.", _SHAPES,
        {**unchecked("check_gathered_axis"), "gathered_axis_from_front": lambda _, axis, rank: axis % rank}),
    _row("axis-as-float", "An axis of a floating-point or boolean type is converted.", _TYPES,
        {"axis_number": _axis_of_any_type}),
    _row("axis-default", "A missing axis is 0.", FOUND, {"axis_number": _axis_or_first}),
    _row("axis-list-refused", "An axis of shape [1] is refused.", _SCALAR,
        stricter("check_gathered_axis_shape", lambda _, shape: shape == (1,))),
    _row("axis-scalar-refused", "An axis that is a scalar is refused.", _SCALAR,
        stricter("check_gathered_axis_shape", lambda _, shape: shape == ())),
    _row("axis-of-two", "Of an axis with two elements the first one is used.", FOUND,
        {"check_gathered_axis_shape": _axis_of_two}),
    _row("axis-of-none", "An axis without elements is 0.", FOUND, {"axis_number": _axis_of_none}),
    _row("axis-as-matrix", "An axis of shape [1, 1] is accepted.", FOUND, {"check_gathered_axis_shape": _axis_as_matrix}),
    _row("axis-kept", "The second inference uses the axis of the first one.", _FIRST, kept("axis_number")),
    _row("batches-ignored", "Indices with batch dimensions select as if there were none.", _BATCHES,
        {"row_of_batch": lambda _, chosen, __: chosen[0]}),
    _row("data-of-first-batch", "Every batch selects from the data of the first one.", "tensorflow/tfjs#777",
        {"block_of_batch": lambda *_: 0}),
    _row("batches-by-default", "Without batch_dims, one dimension is a batch dimension where it can be.", _SHAPES,
        {"batches_attribute": lambda call: call.attributes.get("batch_dims", 0) or int(
            "batch_dims" not in call.case.attributes
            and len(call.inputs["indices"].shape) > 1
            and call.inputs["data"].shape[:1] == call.inputs["indices"].shape[:1]
            and call.inputs["axis"].integers() != [0])}),
    _row("batches-sign-lost", "The sign of a negative batch_dims is lost.", _BATCHES,
        {"batches_from_front": lambda _, given, __: abs(given)}),
    _row("batches-from-data", "A negative batch_dims is added to the rank of data.", _BATCHES,
        {"gathered_batches": _batches_of_data}),
    _row("batches-negative-refused", "A negative batch_dims is refused.", _BATCHES,
        stricter("check_batches_range", lambda _, given, __: given < 0)),
    _row("batches-truncated", "A fraction as batch_dims is rounded down.", FOUND,
        {"batches_attribute": _batches_truncated}),
    _row("batches-from-boolean", "A boolean as batch_dims is converted.", FOUND,
        {"batches_attribute": _batches_from_boolean}),
    _row("batches-above-range", "A batch_dims above its range is taken as 0.", _BATCHES, _batches_clamped(1)),
    _row("batches-below-range", "A batch_dims below its range is taken as 0.", FOUND, _batches_clamped(-1)),
    _row("batches-beyond-axis", "A batch_dims above the axis is not refused.", _BATCHES,
        {**unchecked("check_batches_axis"),
         "picked": lambda call, data, rows, axis, batches: call.right(
             "picked", data, rows[(0,) * max(batches - axis, 0)], axis, min(axis, batches)),
         "gathered_shape": lambda call, data, indices, axis, batches: call.right(
             "gathered_shape", data, indices[max(batches - axis, 0) :], axis, min(axis, batches))}),
    _row("batches-unequal", "Batch dimensions that differ are not refused.", _BATCHES,
        {**unchecked("check_batches_equal"), "picked": _unequal}),
    _row("batches-of-one", "A batch dimension of 1 is repeated.", _BATCHES,
        {**unchecked("check_batches_equal", when=lambda call: call.inputs["data"].shape[0] == 1), "picked": _unequal}),
    _row("between-reversed", "Slices between the batches and the axis are selected in another order.", _SHAPES,
        {"picked": _rows_of_the_slices}),
    _row("slices-short", "Only the first element of a slice is copied.", "ml-explore/mlx#1338",
        {"picked": _first_element}),
    _row("whole-bytes", "In types narrower than a byte, a slice begins at a byte.", FOUND, {"place": _whole_bytes}),
    _row("scalar-data-accepted", "Data of rank 0 has one dimension of 1.", FOUND, {"gathered_data": _scalar_as_list},
        "interpretation"),
    _row("empty-refused", "Data or indices without elements are refused.", "microsoft/onnxruntime#9492",
        stricter("gathered_indices", lambda call: 0 in (
            *call.inputs["indices"].shape, *(call.inputs["data"].shape if "data" in call.inputs else ()))),
        "interpretation"),
    *misread("gathers/indices", "Gather-8", "index_numbers", lambda _, indices: ("indices", indices)),
    _row("batches-last-only", "Only the last batch dimension is compared.", _BATCHES,
        {"check_batches_equal": lambda call, data, indices: call.right(
            "check_batches_equal", data[-1:], indices[-1:]), "picked": _unequal}),
    _row("constants-resolved-once", "Constant negative indices count from the size in the first inference.", _FIRST,
        {"gathered_size": _size_of_first}),
)
# fmt: on
