"""Transpose-1 by a framework's own function, and what the harness does on its behalf."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Support, padded
from opconform_runners.backends.exceptions import Call

#: The requirements that the harness fulfils for every framework.
_MAPPED = ("arg.required", "order.element-type", "order.empty", "order.rank", "order.required")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Transposition:
    function: Callable[..., Any]
    stage: Stage
    counts_from_end: bool


def transpose_operation(
    function: Callable[..., Any], *, stage: Stage = "build", counts_from_end: bool = True
) -> Support:
    """How a framework executes Transpose-1 by a function of a tensor and a list.

    `stage` is where it refuses a case, and `counts_from_end` says whether it takes negative dimensions.
    """
    transposition = _Transposition(function=function, stage=stage, counts_from_end=counts_from_end)
    mapped = (*_MAPPED, "order.negative") if counts_from_end else _MAPPED
    return Support(execute=partial(_transpose, transposition), mapped=mapped)


def _transpose(
    transposition: _Transposition, call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]
) -> list[Any]:
    (arg, order), stage = padded(inputs, 2), transposition.stage
    if arg is None:
        raise Rejected(stage, "arg is missing", "arg.required")
    if order is None:
        raise Rejected(stage, "input_order is missing", "order.required")
    if not isinstance(order, list) or any(isinstance(each, list) for each in order):
        raise Rejected(stage, "input_order is not a list", "order.rank")
    if any(type(each) is not int for each in order):
        raise Rejected(stage, "input_order has elements that are not integers", "order.element-type")
    if transposition.counts_from_end and any(each < 0 for each in order):
        raise Rejected(stage, "input_order is negative; the framework would count from the end", "order.negative")
    return [call(transposition.function, arg, order or list(reversed(range(len(arg.shape)))))]
