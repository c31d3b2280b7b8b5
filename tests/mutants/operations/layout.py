"""Mutants of both splits that compute addresses wrongly: strides, blocks, tails, narrow offsets."""

from collections.abc import Callable

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.operations.splits import BOTH, copied, overwritten, started
from tests.mutants.row import FOUND, Call, Hook, MutantRow, converted, gives, rows

_TAILS, _BLOCKS = "webonnx/wonnx#115", "alibaba/MNN#2967"
_STRIDES, _OFFSETS = "pytorch/tensordict#1345", "microsoft/onnxruntime#32551"


def _zero(part: Callable[[Array], Array]) -> Hook:
    """The step that does not copy a part of an output."""

    def change(output: Array) -> None:
        part(output)[...] = output.dtype.type()

    return overwritten(change)


def _tail(width: int) -> Callable[[Array], Array]:
    """What is left after whole vectors of some elements, if there are any."""

    def tail(output: Array) -> Array:
        flat = output.reshape(output.shape[0], -1) if output.size else output.reshape(0, 0)
        return flat[:, flat.shape[1] // width * width or flat.shape[1] :]

    return tail


def _in_blocks(block: int) -> Hook:
    """The step that reads along the axis from the beginning of a block."""
    return started(lambda _, sizes, starts: [n - n % block for n in starts] if sum(sizes) > block else starts)


def _run(rows: Array, first: int, size: int) -> Array:
    """As many elements as an output has, from another place in each row before the axis."""
    outer, whole, inner = rows.shape
    return rows.reshape(outer, whole * inner)[:, first : first + size * inner].reshape(outer, size, inner)


def _one_run(_call: Call, rows: Array, start: int, size: int) -> Array:
    outer, whole, inner = rows.shape
    first = start * outer * inner if whole else 0
    return rows.reshape(-1)[first : first + outer * size * inner].reshape(outer, size, inner)


def _inner_and_outer(_call: Call, rows: Array, start: int, size: int) -> Array:
    outer, whole, inner = rows.shape
    return rows.reshape(inner, whole, outer)[:, start : start + size].reshape(outer, size, inner)


def _last_row_repeated(output: Array) -> None:
    if output.shape[1] > 8:
        output[:, -1] = output[:, -2]


def _first_batch(output: Array) -> None:
    output[1:] = output[:1]


def _of_data(change: Callable[[Array], Array]) -> Hook:
    """The step that divides changed elements of data."""
    return lambda call: (
        call.right(data=converted(call.inputs["data"], change(call.data))) if "data" in call.inputs else call.right()
    )


def _last_element_lost(data: Array) -> Array:
    changed = data.copy()
    changed.reshape(-1)[-1:] = data.dtype.type()
    return changed


def _column_major(call: Call, rows: Array, start: int, size: int) -> Array:
    del call
    return rows.reshape(-1, order="F").reshape(rows.shape)[:, start : start + size]


def _rank_five_exchanged(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    return [
        converted(output, output.array.swapaxes(0, 1).reshape(output.shape)) if call.data.ndim > 4 else output
        for output in outputs
    ]


def _from_a_byte(call: Call, rows: Array, start: int, size: int) -> Array:
    width, inner = call.inputs["data"].type.bits, rows.shape[2]
    if not 0 < width < 8 or not inner or not size:
        return rows[:, start : start + size]
    return _run(rows, start * inner - start * inner % max(8 // width, 1), size)


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("memory_layout", BOTH,
        *((f"tail-of-{name}-lost", f"The rest after whole {what} is not copied.", _TAILS, _zero(_tail(width)))
            for name, what, width in (("four", "vectors of four", 4), ("sixteen", "vectors of sixteen", 16),
                                      ("work-group", "work groups of 256", 256))),
        *((f"blocks-of-{block}", f"An output that begins inside a block of {block} channels begins at the block instead.",
            _BLOCKS, _in_blocks(block)) for block in (4, 16, 64)),
        ("only-the-first-batch", "Every row before the axis reads the first one.", "openvinotoolkit/openvino#18469",
            overwritten(_first_batch)),
        ("second-batch-lost", "Only the first 16 rows before the axis are copied.", _STRIDES, _zero(lambda it: it[16:])),
        ("one-run", "An output is one run of memory, which is right for the first dimension alone.", _STRIDES,
            copied(_one_run)),
        ("inner-size-ignored", "An offset is not multiplied by the sizes after the axis.", _STRIDES,
            copied(lambda _, rows, start, size: _run(rows, start, size))),
        ("inner-and-outer-exchanged", "The sizes before and after the axis are exchanged.",
            "openvinotoolkit/openvino#15914", copied(_inner_and_outer)),
        ("column-major", "Data is read as if the first dimension were the innermost.", "openvinotoolkit/openvino#15914",
            copied(_column_major)),
        ("offset-in-16-bits", "An offset in elements is truncated to 16 bits.", _OFFSETS,
            copied(lambda _, rows, start, size: _run(rows, (start * rows.shape[2]) & 0xFFFF, size))),
        ("offset-in-8-bits", "An offset along the axis is truncated to 8 bits.", _OFFSETS,
            started(lambda _, __, starts: [start & 0xFF for start in starts])),
        ("offset-signed-in-8-bits", "An offset along the axis that does not fit into 8 bits with a sign becomes 0.",
            _OFFSETS, started(lambda _, __, starts: [start if start < 128 else 0 for start in starts])),
        ("piece-size-in-16-bits", "Of an output of over 65,535 elements the rest is not copied.", _OFFSETS,
            _zero(lambda it: it.reshape(-1)[1 << 16 :])),
        ("long-rows-cut", "Of a run of over 1,024 elements the rest is not copied.", _TAILS,
            _zero(lambda it: it.reshape(it.shape[0], it.shape[1] * it.shape[2])[:, 1 << 10 :])),
        ("wide-rows-cut", "Of over 64 elements after the axis the rest is not copied.", _TAILS,
            _zero(lambda it: it[:, :, 64:])),
        ("last-element-lost", "The last element of data is not copied.", _BLOCKS, _of_data(_last_element_lost)),
        ("last-row-repeated", "The last row of an output is the one before it, where there are over eight.", _BLOCKS,
            overwritten(_last_row_repeated)),
        ("rank-five-exchanged", "Of data of over four dimensions the first two are exchanged.", "apache/tvm#3520",
            gives(_rank_five_exchanged)),
    ),
    *rows("bit_patterns", BOTH,
        ("narrow-cut-at-byte", "An output of elements narrower than a byte begins at the beginning of a byte.", FOUND,
            copied(_from_a_byte)),
    ),
)
# fmt: on
