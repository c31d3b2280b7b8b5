"""Slice-8 by a framework's own indexing, and what the harness does on its behalf."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Support, padded
from opconform_runners.backends.exceptions import Call

_INDICES = ("start", "stop", "step", "axes")
#: The requirements that the harness fulfils, since indexing takes a slice per dimension.
_MAPPED = (
    "data.required",
    "axes.default",
    "axes.negative",
    "axes.range",
    "axes.unique",
    "indices.count",
    "indices.empty",
    "types.independent",
    *(f"{name}.{each}" for name in _INDICES for each in ("element-type", "rank")),
    *(f"{name}.required" for name in _INDICES[:3]),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slicing:
    stage: Stage
    has_negative_steps: bool


def slice_operation(*, stage: Stage = "build", has_negative_steps: bool = True) -> Support:
    """How a framework executes Slice-8; `stage` is where it refuses a case."""
    slicing = _Slicing(stage=stage, has_negative_steps=has_negative_steps)
    return Support(execute=partial(_slice, slicing), mapped=_MAPPED)


def _slice(slicing: _Slicing, call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
    data, *indices = padded(inputs, 5)
    if data is None:
        raise Rejected(slicing.stage, "data is missing", "data.required")
    start, stop, step, axes = (
        index_elements(name, each, slicing.stage, optional="axes") for name, each in zip(_INDICES, indices, strict=True)
    )
    along = _dimensions(range(len(start)) if axes is None else axes, len(data.shape), slicing.stage)
    if len({len(each) for each in (start, stop, step, along)}) > 1:
        raise Rejected(slicing.stage, "the inputs differ in their number of elements", "indices.count")
    if not slicing.has_negative_steps and any(each < 0 for each in step):
        raise Unsupported("the framework has no slices with a negative step")
    slices = [slice(None)] * len(data.shape)
    for axis, *bounds in zip(along, start, stop, step, strict=True):
        slices[axis] = slice(*bounds)
    return [call(operator.getitem, data, tuple(slices))]


def index_elements(name: str, given: Any, stage: Stage, *, optional: str) -> Any:
    """The elements of an index input, or None for the `optional` one if it is omitted."""
    if given is None:
        if name == optional:
            return None
        raise Rejected(stage, f"{name} is missing", f"{name}.required")
    if not isinstance(given, int | float | bool | str | list):
        raise Unsupported(f"{name} is given at run time, and indexing takes Python's numbers")
    if not isinstance(given, list) or any(isinstance(each, list) for each in given):
        raise Rejected(stage, f"{name} is not a list", f"{name}.rank")
    if any(type(each) is not int for each in given):
        raise Rejected(stage, f"{name} has elements that are not integers", f"{name}.element-type")
    return given


def _dimensions(axes: Sequence[int], rank: int, stage: Stage) -> list[int]:
    if any(not -rank <= each < rank for each in axes):
        raise Rejected(stage, f"the axes {list(axes)} are out of range for rank {rank}", "axes.range")
    along = [each % rank for each in axes]
    if len(set(along)) < len(along):
        raise Rejected(stage, f"the axes {list(axes)} name a dimension twice", "axes.unique")
    return along
