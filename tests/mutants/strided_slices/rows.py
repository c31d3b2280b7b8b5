"""Mutants that select other elements, or slice what they must refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, refuse, skipped, stricter, unchecked
from tests.mutants.settings import misread
from tests.mutants.strided_slices.kernel import INDICES

_REVERSE, _OVERFLOW, _EMPTY = (
    "microsoft/tensorflow-directml#59",
    "tensorflow/tensorflow#124643",
    "tensorflow/tensorflow#125224",
)
_NEGATIVE, _IDENTITY, _OPEN = (
    "openvinotoolkit/openvino#21727",
    "openvinotoolkit/openvino#38240",
    "openvinotoolkit/openvino#13909",
)
_END, _WIDE = "onnx/onnx#1987", "tensorflow/tensorflow#58035"
#: The change of the page that states the rules, and contradicts some of them.
_PAGE = "openvinotoolkit/openvino#23039"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"strided_slices/{name}", what, seen, changes, level, op="StridedSlice-1")


def _both(one: Hooks, other: Hooks) -> Hooks:
    """Two changes at once."""
    return {**one, **other}


def _values(change: Callable[[Call, str, list[int]], list[int]]) -> Hooks:
    """The change that reads other elements of the index inputs."""
    return {"index_values": lambda call, name: change(call, name, call.right("index_values", name))}


def _low(*names: str) -> Hooks:
    """The change that cuts the elements of index inputs to 32 bits."""
    return _values(lambda _, name, given: [low_bits(each, 32) for each in given] if name in names else given)


def _kept(name: str) -> Hooks:
    return _values(lambda call, given, values: call.first(name, values) if given == name else values)


def _signed(call: Call, name: str, given: list[int]) -> list[int]:
    if name not in call.inputs:
        return given
    return [low_bits(each, call.inputs[name].type.bits) for each in given]


def _rounded(call: Call, name: str) -> list[int]:
    given = call.inputs.get(name)
    if given is None or given.type.is_integer:
        return call.right("index_values", name)  # type: ignore[no-any-return]
    return [int(each) for each in given.array.view(given.type.arithmetic).reshape(-1)]


def _padded(call: Call, name: str) -> list[int]:
    """The elements of an index input, repeated or cut to the number of begins."""
    given: list[int] = call.right("index_values", name)
    count = len(call.right("index_values", "begin"))
    return [*given, *given[-1:] * count][:count]


def _missing(name: str, value: int) -> Hooks:
    """The change that has a value for a missing input."""

    def change(call: Call, given: str) -> list[int]:
        if given != name or name in call.inputs:
            return call.right("index_values", given)  # type: ignore[no-any-return]
        return [value] * len(call.inputs["end" if name == "begin" else "begin"].integers())

    return _both(skipped("check_missing", _alone(name)), {"index_values": change})


def _alone(name: str) -> Callable[..., bool]:
    return lambda _, given, *__: given == name


def _flat(call: Call, array: Array, axis: int, selected: Any) -> Array:
    """The right shape, with the elements that come first in memory."""
    right: Array = call.right("taken", array, axis, selected)
    return np.ascontiguousarray(array).reshape(-1)[: right.size].reshape(right.shape)


def _identity(call: Call, array: Array, axis: int, selected: Any) -> Array:
    """Data itself where the output has its shape and a stride comes at run time."""
    if call.is_parameter("stride") and len(selected) == array.shape[axis]:
        return array
    return call.right("taken", array, axis, selected)  # type: ignore[no-any-return]


def _in_order(call: Call, array: Array, axis: int, selected: Any) -> Array:
    return call.right("taken", array, axis, sorted(selected))  # type: ignore[no-any-return]


ROWS = (
    _row(
        "end-included",
        "The element at end is selected.",
        "tensorflow/tensorflow#6834",
        {"stepped": lambda _, first, last, stride: range(first, last + (1 if stride > 0 else -1), stride)},
    ),
    _row(
        "begin-excluded",
        "A slice begins after begin.",
        FOUND,
        {"stepped": lambda _, first, last, stride: range(first + (1 if stride > 0 else -1), last, stride)},
    ),
    _row("reversed-in-order", "A negative stride does not reverse the order.", _REVERSE, {"taken": _in_order}),
    _row(
        "stride-ignored",
        "Every stride is 1 or -1.",
        _IDENTITY,
        {"stepped": lambda _, first, last, stride: range(first, last, 1 if stride > 0 else -1)},
    ),
    _row(
        "length-rounded-down",
        "An element is lost where the stride does not divide the length.",
        _REVERSE,
        {
            "stepped": lambda _, first, last, stride: range(first, last, stride)[
                : max(0, abs(last - first) // abs(stride))
            ]
        },
    ),
    _row(
        "empty-keeps-one",
        "A slice that selects nothing gives one element.",
        _EMPTY,
        {"stepped": lambda call, *given: call.right("stepped", *given) or range(1)},
    ),
    _row(
        "empty-refused",
        "A slice that selects nothing is refused.",
        _EMPTY,
        {"stepped": lambda call, *given: call.right("stepped", *given) or refuse("nothing is selected")},
    ),
    _row(
        "equal-keeps-one",
        "A slice that ends where it begins has one element.",
        _PAGE,
        {
            "stepped": lambda _, first, last, stride: (
                range(first, first + 1) if first == last else range(first, last, stride)
            )
        },
        "interpretation",
    ),
    _row(
        "begin-clamped-as-python",
        "A backward begin before the first element selects nothing.",
        _PAGE,
        {
            "first": lambda call, begin, stride, size: (
                -1 if stride < 0 and begin < -size else call.right("first", begin, stride, size)
            )
        },
        "interpretation",
    ),
    _row(
        "end-not-clamped-below",
        "A backward end before the first element is the first element.",
        _END,
        {"last": lambda call, end, stride, size: max(call.right("last", end, stride, size), 0)},
    ),
    _row(
        "end-not-clamped-above",
        "An end beyond the dimension is refused.",
        _WIDE,
        stricter("last", lambda _, end, __, size: end > size),
    ),
    _row(
        "negative-bounds-lost",
        "A negative begin or end is taken as 0.",
        _NEGATIVE,
        {"index_from_front": lambda _, bound, __: max(bound, 0)},
    ),
    _row(
        "negative-bounds-off-by-one",
        "A negative begin or end counts from the last element.",
        _NEGATIVE,
        {"index_from_front": lambda _, bound, size: bound + size - 1 if bound < 0 else bound},
    ),
    _row("begin-wraps", "A begin is read as 32 bits.", FOUND, _low("begin")),
    _row("end-wraps", "An end is read as 32 bits.", _WIDE, _low("end")),
    _row("stride-wraps", "A stride is read as 32 bits.", _OVERFLOW, _low("stride")),
    _row(
        "large-stride-refused",
        "A stride beyond 31 bits is refused.",
        _OVERFLOW,
        stricter("check_stride", lambda _, stride, __: abs(stride) >= 1 << 31),
    ),
    _row("unsigned-as-signed", "Unsigned integers are read as signed ones.", FOUND, _values(_signed)),
    _row(
        "stride-zero",
        "A stride of 0 selects nothing.",
        FOUND,
        {
            **unchecked("check_stride"),
            "stepped": lambda _, first, last, stride: range(first, last, stride) if stride else range(0),
        },
    ),
    _row(
        "stride-zero-at-run-time",
        "A stride of 0 at run time selects nothing.",
        FOUND,
        {
            **unchecked("check_stride", when=lambda call: call.is_parameter("stride")),
            "stepped": lambda _, first, last, stride: range(first, last, stride) if stride else range(0),
        },
    ),
    _row("stride-required", "A missing stride is refused.", FOUND, stricter("check_missing", _alone("stride"))),
    _row(
        "stride-missing-reverses",
        "Missing strides are -1.",
        FOUND,
        {"strides": lambda call: [-each for each in call.right("strides")]},
    ),
    _row(
        "ignored-stride-checked",
        "No stride is 0, also where it is ignored.",
        "tensorflow/tensorflow#54228",
        stricter("kinds", lambda call, *_: 0 in call.right("index_values", "stride")),
        "interpretation",
    ),
    _row("begin-has-default", "A missing begin is 0.", FOUND, _missing("begin", 0)),
    _row("end-has-default", "A missing end is the end of the dimension.", FOUND, _missing("end", 1 << 62)),
    *(
        _row(
            f"{name}-type-unchecked",
            f"A floating-point {name} is rounded.",
            FOUND,
            _both(skipped("check_index_type", _alone(name)), {"index_values": _rounded}),
        )
        for name in INDICES
    ),
    *(
        _row(
            f"{name}-rank-unchecked",
            f"The input {name} can be a scalar or a matrix.",
            "openvinotoolkit/openvino#13581",
            _both(skipped("check_index_rank", _alone(name)), skipped("check_counts", lambda *_: True)),
        )
        for name in INDICES
    ),
    _row(
        "counts-padded",
        "Numbers of elements that differ are made equal.",
        FOUND,
        _both(unchecked("check_counts"), {"index_values": _padded}),
    ),
    _row(
        "no-steps-refused",
        "Empty lists of begins are refused.",
        FOUND,
        stricter("check_counts", lambda _, shapes: (0,) in shapes),
        "interpretation",
    ),
    _row(
        "mixed-types-refused",
        "The inputs begin, end and stride must have the same type.",
        "tensorflow/tensorflow#126126",
        stricter(
            "check_counts",
            lambda call, _: len({call.inputs[each].element_type for each in INDICES if each in call.inputs}) > 1,
        ),
        "interpretation",
    ),
    _row("identity-at-run-time", "A run-time stride is ignored if the shape stays.", _IDENTITY, {"taken": _identity}),
    _row("elements-from-the-front", "The output has the first elements of data.", _NEGATIVE, {"taken": _flat}),
    _row("elements-kept", "The second inference selects the elements of the first.", _OPEN, kept("stepped")),
    *(
        _row(f"{name}-kept", f"The {name} of the first inference is used later.", _OPEN, _kept(name))
        for name in INDICES
    ),
    *misread(
        "strided_slices/bounds", "StridedSlice-1", "index_values", lambda call, name: (name, call.inputs.get(name))
    ),
)
