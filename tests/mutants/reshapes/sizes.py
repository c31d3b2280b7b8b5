"""Mutants that give other dimensions or elements, or too many or too few of them."""

from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.reshapes.kernel import INFERRED
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, skipped, stricter, unchecked

_DYNAMIC, _IN_PLACE, _EMPTY = (
    "openvinotoolkit/openvino#21051",
    "openvinotoolkit/openvino#10828",
    "openvinotoolkit/openvino#17490",
)
_ZERO, _COPY, _ALLOWZERO = "microsoft/onnxruntime#28348", "apache/mxnet#2188", "openvinotoolkit/openvino#36046"
_TWICE, _NEGATIVE, _OVERFLOW = "tensorflow/tensorflow#125093", "sonots/cumo#183", "numpy/numpy#7455"
_INFERRED, _UNDETERMINED = "chainer/chainer#467", "tensorflow/tensorflow#10609"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"reshapes/{name}", what, seen, changes, level, op="Reshape-1")


def _resized(_call: Call, array: Array, shape: list[int]) -> Array:
    """An output of any dimensions, with the elements repeated or cut, as if memory were read past data."""
    return np.resize(array, shape) if abs(prod(shape)) < 1 << 20 and min(shape, default=0) >= 0 else array.reshape(-1)


def _unchecked(*checks: str, when: Any = lambda _: True) -> Hooks:
    """The change that leaves out checks, and then gives what was asked for."""
    return {**unchecked(*checks, when=when), "arranged": _resized}


def _wrapped(bits: int) -> Hooks:
    """The change that multiplies sizes in so many bits."""
    return {"volume": lambda _, sizes: low_bits(prod(sizes), bits), "arranged": _resized}


def _from_right(call: Call, index: int, dimensions: tuple[int, ...]) -> int:
    call.do("check_zero_index", index, len(dimensions))
    return dimensions[index - len(call.right("pattern")) + len(dimensions)]


def _next_unused(_call: Call, pattern: list[int], dimensions: tuple[int, ...]) -> list[int]:
    unused = iter(dimensions)
    return [next(unused, 1) if each == 0 else each for each in pattern]


def _beyond_as_one(_call: Call, index: int, dimensions: tuple[int, ...]) -> int:
    return dimensions[index] if index < len(dimensions) else 1


def _last_as_one(call: Call, index: int, dimensions: tuple[int, ...]) -> int:
    return 1 if index == len(dimensions) else call.right("copied_size", index, dimensions)


def _of_given_sizes(call: Call, pattern: list[int], volume: int) -> list[int]:
    """A -1 calculated from the values of shape, before zeros are copied."""
    values = call.right("shape_values", call.inputs["shape"])
    others = prod(each for each in values if each > 0)
    return [volume // others if each == INFERRED else each for each in pattern]


def _ones_after_first(pattern: list[int]) -> list[int]:
    first = pattern.index(INFERRED) if INFERRED in pattern else 0
    return [1 if each == INFERRED and index != first else each for index, each in enumerate(pattern)]


def _below_as_inferred(call: Call, given: Tensor) -> list[int]:
    """The first value below -1 is inferred, and others are made positive."""
    values = call.right("shape_values", given)
    negative = [index for index, each in enumerate(values) if each < INFERRED]
    return [
        INFERRED if index in negative[:1] else abs(each) if index in negative else each
        for index, each in enumerate(values)
    ]


def _zero_if_undetermined(call: Call, others: int, volume: int) -> int:
    return 0 if others == volume == 0 else call.right("inferred_size", others, volume)


def _by_columns(_call: Call, array: Array, shape: list[int]) -> Array:
    return np.ascontiguousarray(array.reshape(shape, order="F"))


def _rows_in_bytes(call: Call, array: Array, shape: list[int]) -> Array:
    """The elements of a type narrower than a byte, if each row of data begins at a byte and is read as if packed."""
    bits = call.inputs["data"].type.bits
    if not 0 < bits < 8 or not array.size or not shape:
        return call.right("arranged", array, shape)  # type: ignore[no-any-return]
    rows = array.reshape(-1, array.shape[-1])
    padding = -array.shape[-1] * bits % 8 // bits
    padded = np.pad(rows, ((0, 0), (0, padding)))
    return padded.reshape(-1)[: array.size].reshape(shape)


def _has_copied_zero(call: Call) -> bool:
    return call.attributes.get("special_zero") is True and 0 in call.right("shape_values", call.inputs["shape"])


ROWS = (
    _row(
        "zeros-literal", "special_zero is ignored, and a 0 is a dimension.", _ZERO, {"special_zero": lambda *_: False}
    ),
    _row("zeros-copied", "special_zero is ignored, and a 0 copies.", _ALLOWZERO, {"special_zero": lambda *_: True}),
    _row(
        "zeros-literal-at-run-time",
        "A 0 that comes at run time is a dimension.",
        _ZERO,
        {"special_zero": lambda call, given: not call.is_parameter("shape") and call.right("special_zero", given)},
    ),
    _row(
        "zeros-literal-later",
        "A 0 that comes at run time in the second inference is a dimension.",
        _DYNAMIC,
        {
            "special_zero": lambda call, given: (
                call.right("special_zero", given) and not (call.feed and call.is_parameter("shape"))
            )
        },
    ),
    _row(
        "zeros-inverted",
        "special_zero is read as allowzero.",
        _ALLOWZERO,
        {"special_zero": lambda call, given: not call.right("special_zero", given)},
    ),
    _row("zeros-from-right", "A 0 copies a dimension counted from the right.", _COPY, {"copied_size": _from_right}),
    _row("zeros-in-order", "Zeros copy the dimensions one after the other.", _COPY, {"copied": _next_unused}),
    _row("zeros-beyond-as-one", "A 0 beyond the dimensions of data is 1.", FOUND, {"copied_size": _beyond_as_one}),
    _row(
        "zero-after-last-as-one",
        "A 0 with the index of the rank is 1.",
        FOUND,
        {"copied_size": _last_as_one},
        "interpretation",
    ),
    _row(
        "inferred-of-given-sizes", "A -1 is calculated before zeros are copied.", _COPY, {"inferred": _of_given_sizes}
    ),
    _row("inferred-refused", "A -1 is refused.", _INFERRED, stricter("check_single", lambda _, each: INFERRED in each)),
    _row(
        "inferred-zero-refused",
        "A -1 that is 0 is refused.",
        _EMPTY,
        stricter("inferred_size", lambda _, __, volume: volume == 0),
    ),
    _row(
        "inferred-rounded",
        "A -1 is rounded down.",
        FOUND,
        _unchecked(
            "check_volume",
            "check_divides",
            when=lambda call: INFERRED in call.right("shape_values", call.inputs["shape"]),
        ),
    ),
    _row(
        "inferred-twice",
        "Every -1 after the first one is 1.",
        _TWICE,
        {
            **unchecked("check_single"),
            "shape_values": lambda call, given: _ones_after_first(call.right("shape_values", given)),
        },
    ),
    _row(
        "inferred-undetermined-zero",
        "A -1 beside a dimension of 0 is 0.",
        _UNDETERMINED,
        {"inferred_size": _zero_if_undetermined},
        "interpretation",
    ),
    _row("negative-as-inferred", "A value below -1 is like -1.", _NEGATIVE, {"shape_values": _below_as_inferred}),
    _row(
        "negative-product",
        "Two negative values are accepted if their product is right.",
        _NEGATIVE,
        _unchecked("check_negative"),
    ),
    _row("volume-unchecked", "The number of elements is not checked.", FOUND, _unchecked("check_volume")),
    _row(
        "volume-unchecked-with-zero",
        "The number of elements is not checked if a 0 copies a dimension.",
        FOUND,
        _unchecked("check_volume", when=_has_copied_zero),
    ),
    _row(
        "volume-unchecked-at-run-time",
        "The number of elements is not checked for a run-time shape.",
        FOUND,
        _unchecked("check_volume", when=lambda call: call.is_parameter("shape")),
    ),
    _row(
        "volume-unchecked-of-constants",
        "The number of elements is not checked for a constant shape.",
        FOUND,
        _unchecked("check_volume", when=lambda call: not call.is_parameter("shape")),
    ),
    _row(
        "volume-unchecked-later",
        "The number of elements is checked in the first inference alone.",
        _IN_PLACE,
        _unchecked("check_volume", when=lambda call: call.feed),
    ),
    _row(
        "divisor-unchecked-later",
        "A -1 is rounded down in the second inference.",
        _IN_PLACE,
        _unchecked(
            "check_volume",
            "check_divides",
            when=lambda call: call.feed and INFERRED in call.right("shape_values", call.inputs["shape"]),
        ),
    ),
    _row("volume-wraps-at-32", "The number of elements is computed in 32 bits.", _OVERFLOW, _wrapped(32)),
    _row(
        "empty-not-copied",
        "A 0 that copies a dimension of 0 is 1.",
        _EMPTY,
        {"copied_size": lambda call, index, sizes: call.right("copied_size", index, sizes) or 1},
    ),
    _row(
        "ones-squeezed",
        "Dimensions of 1 are left out.",
        "plaidml/plaidml#1090",
        {"reshaped_sizes": lambda _, sizes: [each for each in sizes if each != 1]},
    ),
    _row(
        "by-columns",
        "The index of the first dimension changes fastest.",
        "llvm/torch-mlir#3843",
        {"arranged": _by_columns},
    ),
    _row(
        "identity",
        "Data keeps its dimensions if the output has as many.",
        _IN_PLACE,
        {
            "arranged": lambda call, array, shape: (
                array if array.ndim == len(shape) else call.right("arranged", array, shape)
            )
        },
    ),
    _row(
        "rows-in-bytes",
        "Each row of a type narrower than a byte begins at a byte.",
        FOUND,
        {"arranged": _rows_in_bytes},
    ),
    _row("shape-kept", "The shape of the first inference is used in the second one.", _DYNAMIC, kept("pattern")),
    _row(
        "sizes-kept",
        "The output has the dimensions of the first inference where they fit.",
        _DYNAMIC,
        {
            "reshaped_sizes": lambda call, sizes: (
                first if prod(first := call.first("sizes", sizes)) == prod(sizes) else sizes
            )
        },
    ),
    _row(
        "dimensions-kept",
        "Zeros copy the dimensions of the first inference.",
        _DYNAMIC,
        {"dimensions": kept("dimensions")["dimensions"], "arranged": _resized},
    ),
    _row(
        "copies-kept",
        "A 0 copies what it did in the first inference.",
        _DYNAMIC,
        {**kept("copied"), "arranged": _resized},
    ),
    _row(
        "inferred-kept",
        "A -1 is what it was in the first inference.",
        _DYNAMIC,
        {**kept("inferred_size"), **unchecked("check_volume"), "arranged": _resized},
    ),
    _row(
        "empty-shape-of-many",
        "An empty shape gives a scalar of any data: its first element.",
        _EMPTY,
        {**skipped("check_volume", lambda _, sizes, volume: not sizes and volume > 1), "arranged": _resized},
    ),
)
