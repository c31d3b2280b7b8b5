"""Mutants that keep from one execution of a split what belongs to another."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.row import Call, Hooks, Row, kept, stricter, unchecked
from tests.mutants.split.kernel import REMAINDER, data

_SECOND = "microsoft/onnxruntime#19564"
_FIRST = "openvinotoolkit/openvino#15914"
_MODELS = "NVIDIA/recsys-examples#379"


def _is_second(call: Call) -> bool:
    return call.feed > 0


def _mixed_up(hook: str, key: Callable[..., str]) -> Hooks:
    """The change that uses a result of one model in the next one with the same key."""

    def change(call: Call, *arguments: Any) -> Any:
        return call.process.setdefault(key(call, *arguments), call.right(hook, *arguments))

    return {hook: change}


def _at_least_as_large_as_before(call: Call, axis: int, start: int, size: int) -> Array:
    output: Array = call.right("output", axis, start, size)
    before = call.model.get(f"{start}", ()) if call.feed else ()
    call.model[f"{start}"] = output.shape
    if len(before) != output.ndim or int(np.prod(before)) <= output.size:
        return output
    return np.resize(output, before) if output.size else np.zeros(before, output.dtype)


def _remainder_written_back(call: Call, lengths: list[int], size: int) -> None:
    if REMAINDER in lengths and not call.is_parameter("split_lengths") and call.first("size", size) != size:
        call.do("wrong_sum", 0, size)
    call.right("check_sum", lengths, size)


def _rows_of_the_first(call: Call, axis: int) -> Any:
    rows = call.right("rows", axis)
    return call.first(str((axis, rows.shape)), rows)


# fmt: off
ROWS = (
    Row("state/first-sizes-kept", "The sizes of the first inference are used for the second.", _SECOND, kept("sizes")),
    Row("state/first-remainder-kept", "What -1 stands for is computed in the first inference only.", _SECOND,
        kept("remainder")),
    Row("state/first-lengths-kept", "The lengths of the first inference are used for the second.", _FIRST,
        kept("lengths_values")),
    Row("state/first-axis-kept",
        "The axis of the first inference is used for the second, once the second one's was checked.", _FIRST,
        kept("axis")),
    Row("state/first-offsets-kept", "The offsets of the first inference are used for the second.", _FIRST,
        kept("offsets")),
    Row("state/buffers-too-large",
        "An output of the second inference keeps the first one's shape where that is larger.", _SECOND,
        {"output": _at_least_as_large_as_before}),
    Row("state/second-unchecked", "Only the first inference checks its inputs.", _SECOND,
        unchecked("check_sum", "check_axis_range", "check_num_splits", when=_is_second)),
    Row("state/second-sum-unchecked", "The sum of the lengths is checked in the first inference only.", _SECOND,
        unchecked("check_sum", when=_is_second)),
    Row("state/second-division-unchecked",
        "Whether num_splits divides the dimension is checked in the first inference only.", _SECOND,
        unchecked("check_num_splits", when=_is_second)),
    Row("state/models-mixed-up",
        "A model is kept under data's shape and type alone, and used for the next case with another axis.", _MODELS,
        _mixed_up("axis", lambda call: f"{call.op}{call.inputs['data'].element_type}{data(call).shape}")),
    Row("state/lengths-mixed-up", "A model is kept without its lengths, and used for the next case with as many.",
        _MODELS, _mixed_up("resolved", lambda call, lengths, size: f"{data(call).shape}{size}{len(lengths)}")),
    Row("state/counts-mixed-up",
        "A model is kept without its num_splits, as if only one output and several were to be told apart.", _MODELS,
        _mixed_up("even_sizes", lambda call, count, size: f"{data(call).shape}{size}{count > 1}")),
    Row("state/remainder-written-back",
        "What -1 stood for in the first inference is written over it, so that the second finds no -1.", _SECOND,
        {"check_sum": _remainder_written_back}),
    Row("state/second-axis-unchecked", "The axis's range is checked in the first inference only.", _SECOND,
        unchecked("check_axis_range", when=_is_second)),
    Row("state/first-data-kept", "Data is copied again only where its shape has changed.", _SECOND,
        {"rows": _rows_of_the_first}),
    Row("state/checked-for-the-first-shape", "The lengths are checked against the dimension of the first inference.",
        _FIRST, {"check_sum": lambda call, lengths, size: call.right("check_sum", lengths, call.first("size", size))}),
    Row("state/first-sum-kept", "The sum of the lengths is formed in the first inference only.", _FIRST, kept("total")),
    Row("state/remainder-decided-once", "Whether there is a -1 is decided in the first inference.", _SECOND,
        stricter("check_lengths", lambda call, lengths, _: call.first("has one", -1 in lengths) < (-1 in lengths))),
)
# fmt: on
