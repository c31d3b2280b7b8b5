"""Mutants of Gather-8: indices that select other slices, and batches that are mixed."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected
from tests.mutants.row import FOUND, Call, Hook, MutantRow, accepts, converted, gives, moves, reads, refuses, rows

_NEGATIVE, _OUTSIDE, _SCALAR = "microsoft/onnxruntime#1533", "openvinotoolkit/openvino#14131", "kraiskil/onnx2c#68"
_BATCHES, _SHAPES, _FIRST = (
    "microsoft/onnxruntime#23828",
    "openvinotoolkit/openvino#33202",
    "microsoft/onnxruntime#19564",
)


def axis_of(call: Call) -> int:
    """The axis, counted from the front."""
    return call.integers("axis")[0] % call.data.ndim


def _size(call: Call) -> int:
    return int(call.data.shape[axis_of(call)])


def _given_batches(call: Call) -> int:
    """The attribute `batch_dims`, which is an integer."""
    return int(str(call.attributes.get("batch_dims", 0)))


def _batches(call: Call) -> int:
    """The number of batch dimensions."""
    given = _given_batches(call)
    return given + len(call.inputs["indices"].shape) if given < 0 else given


def _leading(call: Call, count: int) -> tuple[tuple[int, ...], ...]:
    """The first dimensions of data and of the indices."""
    return call.data.shape[:count], call.inputs["indices"].shape[:count]


def _each(change: Callable[[Call, int, int], int]) -> Hook:
    """The step that reads each index as a function of it and of the size of the dimension."""
    return reads("indices", lambda call, given: [change(call, x, _size(call)) for x in given])


def _negative(change: Callable[[Call, int, int], int]) -> Hook:
    """The same for indices that are negative and in range."""
    return _each(lambda call, x, size: change(call, x, size) if -size <= x < 0 else x)


def _is_outside(call: Call) -> bool:
    return any(not -_size(call) <= integer < _size(call) for integer in call.integers("indices"))


def _garbage(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    """Memory that is not data, where an index is out of range."""
    ones = Tensor(element_type="u8", array=np.ones(call.data.shape, np.uint8))
    [inside] = call.right(data=ones)
    [right] = outputs
    if right.array.dtype.kind == "U":
        return outputs
    return [converted(right, np.where(inside.array == 1, right.array, np.array(0x5A).astype(right.array.dtype)))]


def of_first_batch(name: str, batches_of: Callable[[Call], int]) -> Hook:
    """The step that uses the first batch of an input for every batch."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        given, batches = call.inputs[name], batches_of(call)
        if not batches or not given.array.size:
            return outputs
        first = given.array[(slice(0, 1),) * batches]
        return call.right(**{name: converted(given, np.broadcast_to(first, given.shape).copy())})

    return hook


def by_default(fits: Callable[[Call], bool]) -> Hook:
    """The step that has one batch dimension without `batch_dims`, if it can."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        if "batch_dims" in call.attributes or not fits(call):
            return outputs
        try:
            return call.right(batch_dims=1)
        except Rejected:
            return outputs

    return hook


def _slices(call: Call, array: Array) -> Array:
    """An output as slices of data, one row per slice."""
    return array.reshape(-1, prod(call.data.shape[axis_of(call) + 1 :])) if array.size else array


def _merged_indices(call: Call, array: Array) -> Array:
    axis, data, indices = axis_of(call), call.data.shape, call.inputs["indices"].shape
    return array.reshape(*data[:axis], prod(indices[_batches(call) :]), *data[axis + 1 :])


def _between_reversed(call: Call, array: Array) -> Array:
    axis, batches, shape = axis_of(call), _batches(call), call.data.shape
    if not axis > batches > 0 or not array.size:
        return array
    blocks = array.reshape(prod(shape[:batches]), prod(shape[batches:axis]), -1)
    return blocks[:, ::-1].reshape(array.shape)


def _scalar_as_list(call: Call) -> Any:
    indices = call.inputs.get("indices")
    is_scalar = indices is not None and not indices.shape
    return call.right(indices=converted(indices, indices.array.reshape(1))) if indices and is_scalar else call.right()


def _whole_bytes(call: Call, given: list[int]) -> list[int]:
    bits, size = call.inputs["data"].type.bits, _size(call)
    per_byte = 8 // bits if 0 < bits < 8 else 1
    return [x - x % size % per_byte if -size <= x < size else x for x in given]


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("gathers", ("Gather-8",),
    ("negative-is-outside", "A negative index selects zeros.", "tensorflow/tfjs#1147",
        _negative(lambda _, __, size: size)),
    ("negative-from-rank", "A negative index is added to the rank of data.", "openvinotoolkit/openvino#22039",
        _negative(lambda call, x, _: x + call.data.ndim)),
    ("size-kept", "The second inference counts negative indices from the size in the first one.", _FIRST,
        _negative(lambda call, x, size: x + call.first("size", size))),
    ("constants-resolved-once", "Constant negative indices count from the size in the first inference.", _FIRST,
        _negative(lambda call, x, size: x if call.is_parameter("indices") else x + call.first("size", size))),
    ("memory-outside", "An index that is out of range selects memory outside data.", _OUTSIDE, gives(_garbage)),
    ("outside-clamped", "An index that is out of range is clamped.", "tensorflow/tensorflow#57999",
        _each(lambda _, x, size: min(max(x, -size), size - 1) if size else x)),
    ("outside-refused", "An index that is out of range is refused.", "onnx/onnx#2179", refuses(_is_outside)),
    ("outside-wraps", "An index that is out of range is taken modulo the dimension.", _OUTSIDE,
        _each(lambda _, x, size: x % size if size else x)),
    ("scalar-as-list", "A scalar as indices gives a dimension of 1.", _SCALAR, _scalar_as_list),
    ("indices-flat", "The dimensions of the indices are merged in the output.", _SCALAR, moves(_merged_indices)),
    ("axis-ignored", "Slices are selected along the first dimension after the batches.", _SHAPES,
        reads("axis", lambda call, _: [max(_given_batches(call), 0)])),
    ("batches-ignored", "Indices with batch dimensions select as if there were none.", _BATCHES,
        of_first_batch("indices", _batches)),
    ("data-of-first-batch", "Every batch selects from the data of the first one.", "tensorflow/tfjs#777",
        of_first_batch("data", _batches)),
    ("batches-by-default", "Without batch_dims, one dimension is a batch dimension where it can be.", _SHAPES,
        by_default(lambda call: len(call.inputs["indices"].shape) > 1 and len({*_leading(call, 1)}) == 1)),
    ("batches-from-data", "A negative batch_dims is added to the rank of data.", _BATCHES,
        reads("batch_dims", lambda call, given: given + call.data.ndim if given < 0 else given)),
    ("batches-negative-refused", "A negative batch_dims is refused.", _BATCHES,
        refuses(lambda call: _given_batches(call) < 0)),
    ("batches-above-range", "A batch_dims above its range is accepted.", _BATCHES,
        accepts("batch_dims.range", when=lambda call: _given_batches(call) > 0)),
    ("batches-below-range", "A batch_dims below its range is accepted.", FOUND,
        accepts("batch_dims.range", when=lambda call: _given_batches(call) < 0)),
    ("batches-of-one", "A batch dimension of 1 is repeated.", _BATCHES,
        accepts("batch_dims.equal", when=lambda call: call.data.shape[0] == 1)),
    ("batches-last-only", "Only the last batch dimension is compared.", _BATCHES,
        accepts("batch_dims.equal", when=lambda call: len({x[-1] for x in _leading(call, _batches(call))}) == 1)),
    ("between-reversed", "Slices between the batches and the axis are selected in another order.", _SHAPES,
        moves(_between_reversed)),
    ("slices-short", "Only the first element of a slice is copied.", "ml-explore/mlx#1338",
        moves(lambda call, array: np.repeat(slices[:, :1], slices.shape[1], 1).reshape(array.shape)
            if (slices := _slices(call, array)).size else array)),
    ("whole-bytes", "In types narrower than a byte, a slice begins at a byte.", FOUND, reads("indices", _whole_bytes)),
)
# fmt: on
