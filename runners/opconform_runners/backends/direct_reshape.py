"""Reshape-1 by a framework's own function, and what the harness does on its behalf."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Support, padded
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


def reshape_operation(function: Callable[..., Any], *, stage: Stage = "build") -> Support:
    """How a framework executes Reshape-1, by a function of a tensor and a list; `stage` is where it refuses a case."""
    return Support(execute=partial(_reshape, function, stage), mapped=(*MAPPED["Reshape-1"], *_LIST_MAPPED))


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


def _reshape(
    function: Callable[..., Any], stage: Stage, call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]
) -> list[Any]:
    data, shape = padded(inputs, 2)
    if data is None:
        raise Rejected(stage, "data is missing", "data.required")
    sizes = _sizes(shape, stage)
    if zeros_copy(attributes, stage):
        sizes = _copied(data.shape, sizes, stage)
    return [call(function, data, sizes)]


def _sizes(shape: Any, stage: Stage) -> list[int]:
    if shape is None:
        raise Rejected(stage, "shape is missing", "shape.required")
    if not hasattr(shape, "__len__") or isinstance(shape, str) or any(isinstance(each, list) for each in shape):
        raise Rejected(stage, "shape is not a list", "shape.rank")
    if any(type(each) is not int for each in shape):
        raise Rejected(stage, "shape has elements that are not integers", "shape.element-type")
    return list(shape)


def _copied(dimensions: Sequence[int], sizes: Sequence[int], stage: Stage) -> list[int]:
    """The sizes, with dimensions of data in place of zeros."""
    rank = len(dimensions)
    if 0 in sizes[rank:]:
        name = "shape.zero-index" if 0 in sizes[rank + 1 :] else "shape.zero-after-last"
        raise Rejected(stage, f"a 0 in shape has an index beyond the {rank} dimensions of data", name)
    return [dimensions[index] if each == 0 else each for index, each in enumerate(sizes)]
