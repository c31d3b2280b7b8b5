"""Mutants that take what they must refuse, or refuse what they must take."""

from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from tests.mutants.reshapes.kernel import INFERRED
from tests.mutants.row import FOUND, Call, Hooks, Row, low_bits, skipped, stricter, unchecked
from tests.mutants.settings import misread

_EMPTY, _ALLOWZERO, _SCALAR = "openvinotoolkit/openvino#17490", "openvinotoolkit/openvino#36046", "onnx/onnx#2449"
_LIST, _SHAPE_TYPE = "tensorflow/tensorflow#109356", "onnx/tensorflow-onnx#39"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"reshapes/{name}", what, seen, changes, level, op="Reshape-1")


def _low(call: Call, given: Tensor) -> list[int]:
    return [low_bits(each, 32) for each in call.right("shape_values", given)]


def _signed(call: Call, given: Tensor) -> list[int]:
    return [low_bits(each, given.type.bits) for each in call.right("shape_values", given)]


def _rounded(call: Call, given: Tensor) -> list[int]:
    if given.type.is_integer:
        return call.right("shape_values", given)  # type: ignore[no-any-return]
    array = given.array if given.element_type == "boolean" else given.array.view(given.type.arithmetic)
    return [int(each) for each in array.reshape(-1)]


def _default(value: bool) -> Hooks:
    return {"special_zero": lambda call, given: value if given is None else call.right("special_zero", given)}


def _lenient(call: Call, given: Any) -> bool:
    return call.right("special_zero", given) if given is None else given in (True, "true")


def _spelled(call: Call, given: Any) -> bool:
    spelled = str(given).lower()
    return spelled in ("1", "true") if spelled in ("0", "1", "false", "true") else call.right("special_zero", given)


def _flat_if_missing(call: Call) -> list[int]:
    return call.right("pattern") if "shape" in call.inputs else [INFERRED]


def _one_of_missing(call: Call) -> Tensor:
    return call.inputs.get("data") or Tensor(element_type="f32", array=np.zeros(6, "f4"))


def _types(*names: str) -> Any:
    return lambda _, given: given.element_type in names


ROWS = (
    _row("shape-wraps", "The values of shape are read as 32 bits.", FOUND, {"shape_values": _low}),
    _row("unsigned-as-signed", "Unsigned values of shape are read as signed ones.", FOUND, {"shape_values": _signed}),
    _row(
        "types-unchecked",
        "A floating-point or boolean shape is rounded.",
        FOUND,
        {**unchecked("check_shape_type"), "shape_values": _rounded},
    ),
    _row(
        "floats-unchecked",
        "A floating-point shape is rounded.",
        FOUND,
        {**skipped("check_shape_type", _types("f32")), "shape_values": _rounded},
    ),
    _row(
        "booleans-unchecked",
        "A boolean shape is taken as ones.",
        FOUND,
        {**skipped("check_shape_type", _types("boolean")), "shape_values": _rounded},
    ),
    _row("rank-unchecked", "Shape can be a scalar or a matrix.", _LIST, unchecked("check_shape_rank")),
    _row(
        "scalar-shape", "Shape can be a scalar.", _LIST, skipped("check_shape_rank", lambda _, given: not given.shape)
    ),
    _row(
        "matrix-shape",
        "Shape can be a matrix.",
        _LIST,
        skipped("check_shape_rank", lambda _, given: len(given.shape) > 1),
    ),
    _row("i32-refused", "A shape of i32 is refused.", _SHAPE_TYPE, stricter("check_shape_type", _types("i32"))),
    _row(
        "narrow-refused", "A shape of 8 bits is refused.", _SHAPE_TYPE, stricter("check_shape_type", _types("i8", "u8"))
    ),
    _row("shape-has-default", "Without shape, data is flattened.", FOUND, {"pattern": _flat_if_missing}),
    _row("data-has-default", "Without data, zeros are reshaped.", FOUND, {"reshaped_data": _one_of_missing}),
    _row("special-zero-false-by-default", "A missing special_zero is false.", FOUND, _default(False)),
    _row("special-zero-true-by-default", "A missing special_zero is true.", _ALLOWZERO, _default(True)),
    _row("special-zero-unchecked", "Every text but true is false.", FOUND, {"special_zero": _lenient}),
    _row(
        "special-zero-spelled",
        "0, 1 and capital letters are read too.",
        FOUND,
        {"special_zero": _spelled},
        "interpretation",
    ),
    _row("empty-refused", "Data without elements is refused.", _EMPTY, stricter("volume", lambda _, sizes: 0 in sizes)),
    _row(
        "scalars-refused", "Data of rank 0 is refused.", _SCALAR, stricter("check_data", lambda _, data: not data.shape)
    ),
    _row(
        "high-ranks-refused",
        "Data of more than five dimensions is refused.",
        "tenstorrent/tt-metal#21581",
        stricter("check_data", lambda _, data: len(data.shape) > 5),
    ),
    _row(
        "high-ranks-not-given",
        "An output of more than five dimensions is refused.",
        "tenstorrent/tt-metal#21581",
        stricter("reshaped_sizes", lambda _, sizes: len(sizes) > 5),
    ),
    _row(
        "empty-shape-refused",
        "An empty shape is refused.",
        _SCALAR,
        stricter("check_shape_rank", lambda _, given: given.shape == (0,)),
        "interpretation",
    ),
    _row(
        "booleans-refused",
        "Booleans and strings are refused.",
        FOUND,
        stricter("check_data", _types("boolean", "string")),
        "interpretation",
    ),
    *misread("reshapes/sizes", "Reshape-1", "shape_values", lambda _, given: ("shape", given)),
)
