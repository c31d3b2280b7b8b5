"""Mutants that take dimensions which are dynamic in the model for something else than the tensor's own."""

import numpy as np

from opconform.tensors.tensor import Tensor
from tests.mutants.row import Call, Row, converted, skipped, stricter, unchecked
from tests.mutants.split.kernel import REMAINDER, data, dynamic
from tests.mutants.split.lengths import equal_if_possible, only_the_sum

_OPEN = "openvinotoolkit/openvino#3571"


def _is_dynamic(call: Call) -> bool:
    return dynamic(call) is not None


def _bounds(call: Call) -> list[tuple[int, int]]:
    """The bounds of each dimension whose bounds the model gives, and the tensor's own size for the others."""
    declared = dynamic(call)
    found = []
    for each, size in zip(
        declared if isinstance(declared, tuple) else data(call).shape, data(call).shape, strict=False
    ):
        low, _, high = str(each).partition("..")
        found.append((int(low), int(high)) if high else (size, size))
    return found


def _open_axis(call: Call, axis: int) -> bool:
    declared = dynamic(call)
    return declared == "..." or (declared is not None and not isinstance(declared[axis], int))


def _open_others(call: Call, axis: int) -> bool:
    declared = dynamic(call)
    return isinstance(declared, tuple) and not all(
        isinstance(each, int) for place, each in enumerate(declared) if place != axis
    )


def _axis_of_rank_four(call: Call) -> int:
    axis, rank = call.right("axis"), data(call).ndim
    is_negative = call.inputs["axis"].integers()[0] < 0
    return int((axis + 4 - rank) % rank if is_negative and dynamic(call) == "..." else axis)


def _at_upper_bounds(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis, upper = call.do("axis"), [high for _, high in _bounds(call)]
    shapes = [tuple(each.shape[axis] if n == axis else high for n, high in enumerate(upper)) for each in outputs]
    return [
        each if each.shape == shape else converted(each, np.resize(each.array, shape))
        for each, shape in zip(outputs, shapes, strict=True)
    ]


def _equal_at_run_time(call: Call, lengths: list[int], size: int) -> list[int]:
    sizes: list[int] = call.right("resolved", lengths, size)
    return equal_if_possible(call, lengths, size) if call.is_parameter("split_lengths") else sizes


# fmt: off
ROWS = (
    Row("dynamic/refused", "A dynamic dimension is refused where it is the one that is split.", _OPEN,
        stricter("dimension", _open_axis)),
    Row("dynamic/others-refused", "A dynamic dimension is refused where it is not the one that is split.", _OPEN,
        stricter("dimension", _open_others)),
    Row("dynamic/rank-refused", "A dynamic rank is refused.", "onnx/onnx-mlir#3225",
        stricter("dimension", lambda call, _: dynamic(call) == "...")),
    Row("dynamic/rank-taken-for-four", "A dynamic rank is four, so that a negative axis is counted from there.",
        "onnx/onnx-mlir#3225", {"axis": _axis_of_rank_four}),
    Row("dynamic/upper-bound-used", "A bounded dimension has the size of its upper bound.", _OPEN,
        {"dimension": lambda call, axis: _bounds(call)[axis][1]}),
    Row("dynamic/lower-bound-used", "A bounded dimension has the size of its lower bound.", _OPEN,
        {"dimension": lambda call, axis: _bounds(call)[axis][0]}),
    Row("dynamic/outputs-of-the-upper-bound", "Outputs have the upper bounds of the dimensions that are not split.",
        _OPEN, {"delivered": _at_upper_bounds}),
    Row("dynamic/unchecked", "Nothing is checked where a dimension is dynamic, since the checks belong to the build.",
        _OPEN,
        unchecked("check_axis_range", "check_num_splits", "check_lengths", when=_is_dynamic)),
    Row("dynamic/axis-unchecked", "The axis's range is not checked where a dimension is dynamic.", _OPEN,
        unchecked("check_axis_range", when=_is_dynamic)),
    Row("dynamic/division-unchecked",
        "Whether num_splits divides the dimension is not checked where the dimension is dynamic.", _OPEN,
        skipped("check_num_splits", lambda call, count, size: _is_dynamic(call) and 1 <= count <= size)),
    Row("dynamic/sum-unchecked", "The sum of the lengths is not checked where the dimension is dynamic.", _OPEN,
        unchecked("wrong_sum", when=_is_dynamic)),
    Row("dynamic/remainder-unchecked", "With a -1 the other lengths are not checked where the dimension is dynamic.",
        "tensorflow/tensorflow#52701",
        skipped("check_sum", lambda call, lengths, _: _is_dynamic(call) and REMAINDER in lengths)),
    Row("dynamic/remainder-refused", "A -1 is refused where the dimension is dynamic.",
        "openvinotoolkit/openvino_contrib#492",
        stricter("check_lengths", lambda call, lengths, _: REMAINDER in lengths and _is_dynamic(call))),
    Row("dynamic/run-time-lengths-refused", "Lengths that come at run time are refused.", "google-ai-edge/LiteRT#7742",
        stricter("check_lengths", lambda call, _lengths, _size: call.is_parameter("split_lengths"))),
    Row("dynamic/run-time-axis-refused", "An axis that comes at run time is refused.", "apache/tvm#5330",
        stricter("check_axis_range", lambda call, _value, _rank: call.is_parameter("axis"))),
    Row("dynamic/run-time-lengths-as-if-equal",
        "Lengths that come at run time only count the outputs, which are equal.", "apache/tvm#5330",
        {"resolved": _equal_at_run_time}),
    Row("dynamic/run-time-negative-unchecked", "A length under -1 is refused only if it is a constant.",
        "microsoft/onnxruntime#31149", only_the_sum(lambda lengths: min(lengths, default=0) < REMAINDER)),
    Row("dynamic/run-time-axis-unchecked", "The axis's range is checked only if it is a constant.",
        "tensorflow/tensorflow#56254", unchecked("check_axis_range", when=lambda call: call.is_parameter("axis"))),
)
# fmt: on
