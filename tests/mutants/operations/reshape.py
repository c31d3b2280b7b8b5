"""Mutants of Reshape-1: zeros and -1 that are misread, volumes that are not checked, and elements in another order."""

from math import prod
from typing import Any

from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, MutantRow, accepts, moves, reads, refuses, rows

_DYNAMIC, _IN_PLACE, _EMPTY = (
    "openvinotoolkit/openvino#21051",
    "openvinotoolkit/openvino#10828",
    "openvinotoolkit/openvino#17490",
)
_ZERO, _COPY, _ALLOWZERO = "microsoft/onnxruntime#28348", "apache/mxnet#2188", "openvinotoolkit/openvino#36046"
INFERRED = -1


def _shape(call: Call) -> list[int]:
    return call.integers("shape")


def _copies(call: Call) -> bool:
    """Whether a 0 copies a dimension."""
    return call.attributes.get("special_zero") is True and 0 in _shape(call)


def _copied(call: Call) -> list[int]:
    """The dimensions that zeros copy."""
    return [size for size, given in zip(call.data.shape, _shape(call), strict=False) if not given and _copies(call)]


def _inferred(call: Call) -> int:
    """The size in place of -1."""
    shape: tuple[int, ...] = call.right()[0].shape
    return shape[_shape(call).index(INFERRED)]


def _from_right(call: Call, shape: list[int]) -> list[int]:
    data, shift = call.data.shape, call.data.ndim - len(shape)
    return [data[n + shift] if not size and _copies(call) and n + shift >= 0 else size for n, size in enumerate(shape)]


def _in_order(call: Call, shape: list[int]) -> list[int]:
    unused = iter(call.data.shape)
    return [next(unused, 1) if not size and _copies(call) else size for size in shape]


def _of_given_sizes(call: Call, shape: list[int]) -> list[int]:
    """A -1 calculated from the values of shape, before zeros are copied."""
    others = prod(size for size in shape if size > 0)
    return [call.data.size // others if size == INFERRED else size for size in shape]


def _below_as_inferred(_call: Call, shape: list[int]) -> list[int]:
    """The first value below -1 is inferred, and others are made positive."""
    first = next((n for n, size in enumerate(shape) if size < INFERRED), None)
    return [INFERRED if n == first else abs(size) if size < INFERRED else size for n, size in enumerate(shape)]


def _inverted(call: Call, given: Any) -> bool:
    del call
    return not given


def _sizes_kept(call: Call, array: Array) -> Array:
    first = call.first("sizes", array.shape)
    return array.reshape(first) if prod(first) == array.size else array


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("reshapes", ("Reshape-1",),
    ("zeros-literal", "special_zero is ignored, and a 0 is a dimension.", _ZERO,
        reads("special_zero", lambda *_: False)),
    ("zeros-copied", "special_zero is ignored, and a 0 copies.", _ALLOWZERO, reads("special_zero", lambda *_: True)),
    ("zeros-inverted", "special_zero is read as allowzero.", _ALLOWZERO, reads("special_zero", _inverted)),
    ("zeros-literal-at-run-time", "A 0 that comes at run time is a dimension.", _ZERO,
        reads("special_zero", lambda call, given: given and not call.is_parameter("shape"))),
    ("zeros-literal-later", "A 0 that comes at run time in the second inference is a dimension.", _DYNAMIC,
        reads("special_zero", lambda call, given: given and not (call.feed and call.is_parameter("shape")))),
    ("zeros-from-right", "A 0 copies a dimension counted from the right.", _COPY, reads("shape", _from_right)),
    ("zeros-in-order", "Zeros copy the dimensions one after the other.", _COPY, reads("shape", _in_order)),
    ("inferred-of-given-sizes", "A -1 is calculated before zeros are copied.", _COPY, reads("shape", _of_given_sizes)),
    ("inferred-zero-refused", "A -1 that is 0 is refused.", _EMPTY,
        refuses(lambda call: INFERRED in _shape(call) and not call.data.size)),
    ("negative-as-inferred", "A value below -1 is like -1.", "sonots/cumo#183",
        reads("shape", _below_as_inferred, checked=False)),
    ("negative-product", "Two negative values are accepted if their product is right.", "sonots/cumo#183",
        accepts("shape.negative", when=lambda call: prod(_shape(call)) == call.data.size)),
    ("volume-unchecked-with-zero", "The number of elements is not checked if a 0 copies a dimension.", FOUND,
        accepts("shape.volume", when=_copies)),
    ("volume-wraps-at-32", "The number of elements is computed in 32 bits.", "numpy/numpy#7455",
        accepts("shape.volume", when=lambda call: (prod(_shape(call)) - call.data.size) % (1 << 32) == 0)),
    ("empty-shape-of-many", "An empty shape gives a scalar of any data: its first element.", _EMPTY,
        accepts("shape.volume", when=lambda call: call.inputs["shape"].shape == (0,) and call.data.size > 1)),
    ("empty-not-copied", "A 0 that copies a dimension of 0 is refused.", _EMPTY, refuses(lambda call: 0 in _copied(call))),
    ("by-columns", "The index of the first dimension changes fastest.", "llvm/torch-mlir#3843",
        moves(lambda call, array: call.data.reshape(array.shape, order="F"))),
    ("identity", "Data keeps its dimensions if the output has as many.", _IN_PLACE,
        moves(lambda call, array: call.data if call.data.ndim == array.ndim else array)),
    ("sizes-kept", "The output has the dimensions of the first inference where they fit.", _DYNAMIC, moves(_sizes_kept)),
    ("dimensions-kept", "Zeros copy the dimensions of the first inference.", _DYNAMIC,
        refuses(lambda call: call.first("copied", _copied(call)) != _copied(call))),
    ("inferred-kept", "A -1 is what it was in the first inference.", _DYNAMIC,
        refuses(lambda call: INFERRED in _shape(call) and call.first("inferred", _inferred(call)) != _inferred(call))),
    ("high-ranks-not-given", "An output of more than five dimensions is refused.", "tenstorrent/tt-metal#21581",
        refuses(lambda call: len(_shape(call)) > 5)),
)
# fmt: on
