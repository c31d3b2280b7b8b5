"""Reshape-1 and Transpose-1 by a framework's own functions, and what the harness does on its behalf."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Support, integer_list, padded
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


def reshape_operation(function: Callable[..., Any], *, stage: Stage = "build") -> Support:
    """How a framework executes Reshape-1, by a function of a tensor and a list; `stage` is where it refuses a case."""

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, shape = padded(inputs, 2)
        if data is None:
            raise Rejected(stage, "data is missing", "data.required")
        sizes = integer_list("shape", _listed(shape), stage)
        return [call(function, data, _copied(data.shape, sizes, stage) if zeros_copy(attributes, stage) else sizes)]

    return Support(execute=execute, mapped=(*MAPPED["Reshape-1"], *_LIST_MAPPED))


def transpose_operation(
    function: Callable[..., Any], *, stage: Stage = "build", counts_from_end: bool = True
) -> Support:
    """How a framework executes Transpose-1 by a function of a tensor and a list.

    `stage` is where it refuses a case, and `counts_from_end` says whether it takes negative dimensions.
    """

    def execute(call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
        arg, given = padded(inputs, 2)
        if arg is None:
            raise Rejected(stage, "arg is missing", "arg.required")
        order = integer_list("order", _listed(given), stage)
        if counts_from_end and any(each < 0 for each in order):
            raise Rejected(stage, "input_order is negative; the framework would count from the end", "order.negative")
        return [call(function, arg, order or list(reversed(range(len(arg.shape)))))]

    return Support(execute=execute, mapped=(*_TRANSPOSE_MAPPED, *(["order.negative"] if counts_from_end else [])))


def _listed(given: Any) -> Any:
    """A control input; as lists if it is an array of a type that Python does not have."""
    return given.tolist() if isinstance(given, np.ndarray) else given


def zeros_copy(attributes: Mapping[str, Attribute], stage: Stage) -> bool:
    """The attribute `special_zero`; `Rejected` if it is missing or not a boolean."""
    given = attributes.get("special_zero")
    if given is None:
        raise Rejected(stage, "special_zero is missing", "special_zero.required")
    if not isinstance(given, bool):
        resembles = str(given).lower() in ("0", "1", "false", "true")
        name = "special_zero.spelling" if resembles else "special_zero.type"
        raise Rejected(stage, f"special_zero is {given!r}, which is not a boolean", name)
    return given


def _copied(dimensions: Sequence[int], sizes: Sequence[int], stage: Stage) -> list[int]:
    """The sizes, with dimensions of data in place of zeros."""
    rank = len(dimensions)
    if 0 in sizes[rank:]:
        name = "shape.zero-index" if 0 in sizes[rank + 1 :] else "shape.zero-after-last"
        raise Rejected(stage, f"a 0 in shape has an index beyond the {rank} dimensions of data", name)
    return [dimensions[index] if each == 0 else each for index, each in enumerate(sizes)]
