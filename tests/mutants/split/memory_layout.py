"""Mutants that compute addresses wrongly: strides, blocks, tails, narrow offsets."""

from collections.abc import Callable

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, Hooks, Row

_TAILS, _BLOCKS = "webonnx/wonnx#115", "alibaba/MNN#2967"
_STRIDES, _OFFSETS = "pytorch/tensordict#1345", "microsoft/onnxruntime#32551"


def _overwritten(change: Callable[[Array], None]) -> Hooks:
    """The change that overwrites some elements of the rows that were copied."""

    def copied(call: Call, rows: Array, start: int, size: int) -> Array:
        output: Array = call.right("copied", rows, start, size).copy()
        change(output)
        return output

    return {"copied": copied}


def _zero(output: Array, part: Callable[[Array], Array]) -> None:
    part(output)[...] = output.dtype.type()


def _tail_lost(name: str, what: str, width: int) -> Row:
    """A mutant that copies an output in whole vectors, and does not copy the rest."""

    def change(output: Array) -> None:
        flat = output.reshape(output.shape[0], -1)
        if whole := flat.shape[1] // width * width:
            flat[:, whole:] = flat.dtype.type()

    return Row(
        f"memory_layout/tail-of-{name}-lost",
        f"The rest after whole {what} is not copied.",
        _TAILS,
        _overwritten(change),
    )


def _blocks_of(name: str, block: int) -> Row:
    """A mutant that reads along the axis in blocks, and from the beginning of a block only."""

    def change(call: Call, sizes: list[int]) -> list[int]:
        starts: list[int] = call.right("offsets", sizes)
        return starts if sum(sizes) <= block else [each - each % block for each in starts]

    what = f"An output that begins inside a block of {name} channels begins at the block instead."
    return Row(f"memory_layout/blocks-of-{name}", what, _BLOCKS, {"offsets": change})


def _run_of(rows: Array, first: int, size: int) -> Array:
    """As many elements as an output has, from another place in each row before the axis."""
    outer, whole, inner = rows.shape
    return rows.reshape(outer, whole * inner)[:, first : first + size * inner].reshape(outer, size, inner)


def _one_run(_call: Call, rows: Array, start: int, size: int) -> Array:
    outer, whole, inner = rows.shape
    first = start * outer * inner if whole else 0
    return rows.reshape(-1)[first : first + outer * size * inner].reshape(outer, size, inner)


def _inner_and_outer(call: Call, rows: Array, start: int, size: int) -> Array:
    outer, whole, inner = rows.shape
    exchanged: Array = call.right("copied", rows.reshape(inner, whole, outer), start, size)
    return exchanged.reshape(outer, size, inner)


def _first_batch(output: Array) -> None:
    output[1:] = output[:1]


def _last_row_repeated(output: Array) -> None:
    if output.shape[1] > 8:
        output[:, -1] = output[:, -2]


def _last_element_lost(call: Call, axis: int) -> Array:
    rows: Array = call.right("rows", axis).copy()
    rows.reshape(-1)[-1:] = rows.dtype.type()
    return rows


def _column_major(call: Call, axis: int) -> Array:
    rows: Array = call.right("rows", axis)
    return rows.reshape(-1, order="F").reshape(rows.shape)


def _first_two_dimensions(call: Call, axis: int, start: int, size: int) -> Array:
    output: Array = call.right("output", axis, start, size)
    return np.ascontiguousarray(output.swapaxes(0, 1)).reshape(output.shape) if output.ndim > 4 else output


def _from_a_byte(call: Call, rows: Array, start: int, size: int) -> Array:
    width, inner = ELEMENT_TYPES[call.inputs["data"].element_type].bits, rows.shape[2]
    if not 0 < width < 8 or not inner or not size:
        untouched: Array = call.right("copied", rows, start, size)
        return untouched
    first = start * inner
    return _run_of(rows, first - first % max(8 // width, 1), size)


# fmt: off
ROWS = (
    _tail_lost("four", "vectors of four", 4),
    _tail_lost("sixteen", "vectors of sixteen", 16),
    _tail_lost("work-group", "work groups of 256", 256),
    _blocks_of("four", 4),
    _blocks_of("sixteen", 16),
    _blocks_of("64", 64),
    Row("memory_layout/only-the-first-batch", "Every row before the axis reads the first one.",
        "openvinotoolkit/openvino#18469", _overwritten(_first_batch)),
    Row("memory_layout/second-batch-lost", "Only the first 16 rows before the axis are copied.", _STRIDES,
        _overwritten(lambda output: _zero(output, lambda it: it[16:]))),
    Row("memory_layout/one-run", "An output is one run of memory, which is right for the first dimension alone.",
        _STRIDES, {"copied": _one_run}),
    Row("memory_layout/inner-size-ignored", "An offset is not multiplied by the sizes after the axis.", _STRIDES,
        {"copied": lambda _, rows, start, size: _run_of(rows, start, size)}),
    Row("memory_layout/inner-and-outer-exchanged", "The sizes before and after the axis are exchanged.",
        "openvinotoolkit/openvino#15914", {"copied": _inner_and_outer}),
    Row("memory_layout/column-major", "Data is read as if the first dimension were the innermost.",
        "openvinotoolkit/openvino#15914", {"rows": _column_major}),
    Row("memory_layout/offset-in-16-bits", "An offset in elements is truncated to 16 bits.", _OFFSETS,
        {"copied": lambda _, rows, start, size: _run_of(rows, (start * rows.shape[2]) & 0xFFFF, size)}),
    Row("memory_layout/offset-in-8-bits", "An offset along the axis is truncated to 8 bits.", _OFFSETS,
        {"offsets": lambda call, sizes: [each & 0xFF for each in call.right("offsets", sizes)]}),
    Row("memory_layout/offset-signed-in-8-bits",
        "An offset along the axis that does not fit into 8 bits with a sign becomes 0.", _OFFSETS,
        {"offsets": lambda call, sizes: [each if each < 128 else 0 for each in call.right("offsets", sizes)]}),
    Row("memory_layout/piece-size-in-16-bits", "Of an output of over 65,535 elements the rest is not copied.", _OFFSETS,
        _overwritten(lambda output: _zero(output, lambda it: it.reshape(-1)[1 << 16 :]))),
    Row("memory_layout/long-rows-cut", "Of a run of over 1,024 elements the rest is not copied.", _TAILS,
        _overwritten(lambda output: _zero(output, lambda it: it.reshape(it.shape[0], -1)[:, 1 << 10 :]))),
    Row("memory_layout/wide-rows-cut", "Of over 64 elements after the axis the rest is not copied.", _TAILS,
        _overwritten(lambda output: _zero(output, lambda it: it[:, :, 64:]))),
    Row("memory_layout/last-element-lost", "The last element of data is not copied.", _BLOCKS,
        {"rows": _last_element_lost}),
    Row("memory_layout/last-row-repeated",
        "The last row of an output is the one before it, where there are over eight.", _BLOCKS,
        _overwritten(_last_row_repeated)),
    Row("memory_layout/rank-five-exchanged", "Of data of over four dimensions the first two are exchanged.",
        "apache/tvm#3520", {"output": _first_two_dimensions}),
    Row("bit_patterns/narrow-cut-at-byte",
        "An output of elements narrower than a byte begins at the beginning of a byte.", FOUND,
        {"copied": _from_a_byte}),
)
# fmt: on
