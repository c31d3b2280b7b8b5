"""Mutants of GatherND-8: tuples that are misread or not checked, and batches that are mixed."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.operations.gather import by_default, of_first_batch
from tests.mutants.row import Call, Hook, MutantRow, accepts, converted, moves, reads, refuses, rows

_NEGATIVE, _OTHER_SIZE, _OUTSIDE = (
    "openvinotoolkit/openvino#30764",
    "apple/coremltools#2794",
    "openvinotoolkit/openvino#38297",
)
_LENGTH, _TUPLES, _COUNT = "sonos/tract#2635", "apache/tvm#5229", "onnx/onnx#8465"
_BATCHES, _EQUAL = "apache/tvm#8084", "microsoft/onnxruntime#23828"

#: The indices of a tuple.
Tuple = list[int]


def _given_batches(call: Call) -> int:
    return int(str(call.attributes.get("batch_dims", 0)))


def _indices(call: Call) -> tuple[int, ...]:
    """The shape of the indices."""
    return call.inputs["indices"].shape


def _sizes(call: Call) -> tuple[int, ...]:
    """The sizes of the dimensions that the indices of a tuple are applied to."""
    batches = _given_batches(call)
    sizes: tuple[int, ...] = call.data.shape[batches : batches + _indices(call)[-1]]
    return sizes


def _tuples(call: Call) -> list[Tuple]:
    length, given = _indices(call)[-1], call.integers("indices")
    return [given[first : first + length] for first in range(0, len(given), length or 1)]


def _each_tuple(change: Callable[[Call, Tuple, tuple[int, ...]], Tuple]) -> Hook:
    """The step that reads each tuple as a function of it and of the sizes that it is applied to."""

    def read(call: Call, _given: list[int]) -> list[int]:
        return [index for tuple_ in _tuples(call) for index in change(call, tuple_, _sizes(call))]

    return reads("indices", read)


def _from(sizes_of: Callable[[Call, tuple[int, ...]], tuple[int, ...]]) -> Hook:
    """The step that counts negative indices from the end of dimensions of other sizes."""

    def change(call: Call, given: Tuple, sizes: tuple[int, ...]) -> Tuple:
        others = sizes_of(call, sizes)
        return [n if n >= 0 else (n + other) % size for n, other, size in zip(given, others, sizes, strict=False)]

    return _each_tuple(change)


def _inside(index: int, size: int) -> bool:
    return -size <= index < size


def _is_element(call: Call) -> bool:
    """Whether the offset of each tuple is within the elements of data, although an index is not within its limits."""
    sizes = _sizes(call)
    offsets = []
    for tuple_ in _tuples(call):
        offset = 0
        for index, size in zip(tuple_, sizes, strict=True):
            offset = offset * size + (index + size if index < 0 else index)
        offsets.append(offset)
    return all(0 <= offset < prod(sizes) for offset in offsets)


def _reshaped(change: Callable[[Call, tuple[int, ...]], tuple[int, ...]]) -> Hook:
    return moves(lambda call, array: array.reshape(change(call, array.shape)))


def _positions_turned(call: Call, array: Array) -> Array:
    last = len(_indices(call)) - 2
    return array.swapaxes(last - 1, last) if last - _given_batches(call) >= 1 else array


def _first_elements(call: Call, array: Array) -> Array:
    """An output whose slices have the first of their elements alone."""
    length = prod(call.data.shape[_given_batches(call) + _indices(call)[-1] :])
    return np.repeat(array.reshape(-1, length)[:, :1], length, 1).reshape(array.shape) if array.size else array


def _by_columns(call: Call) -> Any:
    outputs = call.right()
    indices = call.inputs["indices"]
    is_square = indices.array.ndim == 2 and len({*indices.shape}) == 1
    is_inside = max(call.integers("indices"), default=0) < min(call.data.shape)
    return call.right(indices=converted(indices, indices.array.T.copy())) if is_square and is_inside else outputs


def _pairs(call: Call) -> list[tuple[int, int]]:
    """The batch dimensions of data and of the indices."""
    return list(zip(call.data.shape, _indices(call), strict=False))[: _given_batches(call)]


def _short(call: Call, array: Array) -> Array:
    """An output in which a batch dimension of 1 of data remains 1."""
    return array[tuple(slice(0, 1) if data == 1 else slice(None) for data, _ in _pairs(call))]


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("gather_nds", ("GatherND-8",),
    ("negative-from-leading", "Negative indices count from the sizes of the leading dimensions.", _OTHER_SIZE,
        _from(lambda call, sizes: call.data.shape[: len(sizes)])),
    ("negative-from-first", "All indices of a tuple count from the first of its dimensions.", _OTHER_SIZE,
        _from(lambda _, sizes: sizes[:1] * len(sizes))),
    ("size-kept", "The second inference counts negative indices from the sizes in the first one.",
        "openvinotoolkit/openvino#8495", _from(lambda call, sizes: call.first("sizes", sizes))),
    ("upper-end-unchecked", "The upper end of the range of indices is not checked.", "tensorflow/tensorflow#12608",
        accepts("indices.range", when=lambda call: all(
            index >= -size for tuple_ in _tuples(call) for index, size in zip(tuple_, _sizes(call), strict=True)))),
    ("lower-end-unchecked", "The lower end of the range of indices is not checked.", "tensorflow/tensorflow#51014",
        accepts("indices.range", when=lambda call: all(
            index < size for tuple_ in _tuples(call) for index, size in zip(tuple_, _sizes(call), strict=True)))),
    ("within-elements", "An index is valid if its element is in data.", _OUTSIDE,
        accepts("indices.range", when=_is_element)),
    ("first-index-checked", "The first index of a tuple alone is checked.", _OUTSIDE,
        accepts("indices.range", when=lambda call: all(_inside(tuple_[0], _sizes(call)[0]) for tuple_ in _tuples(call)))),
    ("one-tuple-as-list", "Indices of rank 1 give a dimension of 1.", "tensorflow/tensorflow#3712",
        _reshaped(lambda call, shape: (1, *shape) if len(_indices(call)) == 1 else shape)),
    ("tuples-reversed", "The indices of a tuple are applied in reverse order.", _TUPLES,
        _each_tuple(lambda _, given, sizes: [
            min(index, size - 1) for index, size in zip(given[::-1], sizes, strict=True)])),
    ("by-columns", "A tuple is a column of the indices, and not a row.", _TUPLES, _by_columns),
    ("first-tuple-only", "Every position has the slice of the first tuple.", "microsoft/onnxruntime#28598",
        _each_tuple(lambda call, _, __: _tuples(call)[0])),
    ("positions-turned", "The last two dimensions of the positions are exchanged.", "openvinotoolkit/openvino#27041",
        moves(_positions_turned)),
    ("slices-short", "Only the first element of a slice is copied.", _LENGTH, moves(_first_elements)),
    ("shape-of-indices", "The remaining dimensions are those of the indices.", _LENGTH,
        _reshaped(lambda call, shape: shape if call.data.ndim <= len(_indices(call)) else (prod(shape),))),
    ("slices-flat", "The remaining dimensions are merged.", "microsoft/onnxruntime#24206",
        _reshaped(lambda call, shape: (
            *shape[: len(_indices(call)) - 1], prod(call.data.shape[_given_batches(call) + _indices(call)[-1] :])))),
    ("batches-by-default", "Without batch_dims, one dimension is a batch dimension where it can be.", "onnx/onnx#2585",
        by_default(lambda call: min(call.data.ndim, len(_indices(call))) > 1 and call.data.shape[0] == _indices(call)[0])),
    ("tuples-of-first-batch", "Every batch uses the tuples of the first one.", _BATCHES,
        of_first_batch("indices", _given_batches)),
    ("data-of-first-batch", "Every batch selects from the data of the first one.", _BATCHES,
        of_first_batch("data", _given_batches)),
    ("batches-merged", "Batch dimensions are merged in the output, as in GatherND-5.", "openvinotoolkit/openvino#7379",
        _reshaped(lambda call, shape: (
            prod(shape[: _given_batches(call)]), *shape[_given_batches(call) :]) if _given_batches(call) > 1 else shape)),
    ("batches-negative", "A negative batch_dims is accepted.", _COUNT,
        accepts("batch_dims.range", when=lambda call: _given_batches(call) < 0)),
    ("batches-of-indices", "All dimensions of the indices can be batch dimensions.", _COUNT,
        accepts("batch_dims.range", when=lambda call: _given_batches(call) == len(_indices(call)) < call.data.ndim)),
    ("batches-of-data", "All dimensions of data can be batch dimensions.", _LENGTH,
        accepts("batch_dims.range", when=lambda call: _given_batches(call) == call.data.ndim < len(_indices(call)))),
    ("batches-divided", "A batch dimension that is a multiple of the other one is accepted.", _EQUAL,
        accepts("batch_dims.broadcastable", when=lambda call: all(b and a % b == 0 for a, b in _pairs(call)))),
    ("batches-last-only", "Only the last batch dimension of GatherND-8 is compared.", _EQUAL,
        accepts("batch_dims.broadcastable", when=lambda call: (pair := _pairs(call)[-1])[0] == pair[1] or 1 in pair)),
    ("broadcast-refused", "A batch dimension of 1 of data is refused.", "openvinotoolkit/openvino#30797",
        refuses(lambda call: any(data == 1 != indices for data, indices in _pairs(call)))),
    ("broadcast-short", "A batch dimension of 1 of data stays 1 in the output.", "microsoft/onnxruntime#25053",
        moves(_short)),
)
# fmt: on
