"""Reshape-1 and Transpose-1 by a framework's own functions, and what the harness does on its behalf."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.errors import counted
from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Functions, Support, check_given, integer_list, padded
from opconform_runners.backends.exceptions import Call

#: The requirements that the harness fulfils for every framework, since their functions have no `special_zero`.
MAPPED: Mapping[str, tuple[str, ...]] = {
    "Reshape-1": (
        "shape.zero-after-last",
        "shape.zero-copied",
        "shape.zero-index",
        "special_zero.required",
        "special_zero.spelling",
        "special_zero.type",
    )
}
#: Those that it fulfils where the function takes Python's numbers.
_LIST_MAPPED = ("data.required", "shape.element-type", "shape.rank", "shape.required")
#: The requirements of Transpose-1 that it fulfils for every framework.
_TRANSPOSE_MAPPED = ("arg.required", *(f"order.{each}" for each in ("element-type", "empty", "rank", "required")))


def reshape_operation(functions: Functions) -> Support:
    """How a framework executes Reshape-1."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, shape = padded(inputs, 2)
        check_given(stage, data=data)
        sizes = integer_list("shape", _listed(shape), stage)
        sizes = copied(data.shape, sizes, stage) if zeros_copy(attributes, stage) else sizes
        return [call(functions.reshape, data, sizes)]

    return Support(execute=execute, mapped=(*MAPPED["Reshape-1"], *_LIST_MAPPED))


def transpose_operation(functions: Functions) -> Support:
    """How a framework executes Transpose-1."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
        arg, given = padded(inputs, 2)
        check_given(stage, arg=arg)
        order = integer_list("order", _listed(given), stage)
        if functions.takes_negative_order and any(each < 0 for each in order):
            raise Rejected(stage, "input_order is negative; the framework would count from the end", "order.negative")
        return [call(functions.transpose, arg, order or list(reversed(range(len(arg.shape)))))]

    negative = ("order.negative",) if functions.takes_negative_order else ()
    return Support(execute=execute, mapped=(*_TRANSPOSE_MAPPED, *negative))


def _listed(given: Any) -> Any:
    """A control input; as lists if it is an array of a type that Python does not have."""
    return given.tolist() if isinstance(given, np.ndarray) else given


def zeros_copy(attributes: Mapping[str, Attribute], stage: Stage) -> bool:
    """The attribute `special_zero`; `Rejected` if it is missing or not a boolean."""
    given = attributes.get("special_zero")
    check_given(stage, special_zero=given)
    if not isinstance(given, bool):
        resembles = str(given).lower() in ("0", "1", "false", "true")
        name = "special_zero.spelling" if resembles else "special_zero.type"
        raise Rejected(stage, f"special_zero is {given!r}, which is not a boolean", name)
    return given


def copied(dimensions: Sequence[int], sizes: Sequence[int], stage: Stage) -> list[int]:
    """The sizes, with dimensions of data in place of zeros."""
    rank = len(dimensions)
    if 0 in sizes[rank:]:
        name = "shape.zero-index" if 0 in sizes[rank + 1 :] else "shape.zero-after-last"
        raise Rejected(stage, f"a 0 in shape has an index beyond the {counted(rank, 'dimension')} of data", name)
    return [dimensions[index] if each == 0 else each for index, each in enumerate(sizes)]
