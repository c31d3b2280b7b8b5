"""Reverse-1, from its specification page: data with the elements along some axes in the opposite order."""

from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Movement
from opconform.suite.declarations import AttributeSpec, Port


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def _is_mask(arguments: Arguments) -> bool:
    return arguments.attribute("mode") == "mask"


def _is_boolean(arguments: Arguments) -> bool:
    return arguments.operand("axis").element_type == "boolean"


def _indices(arguments: Arguments) -> tuple[int, ...]:
    """The axes as indices; none for a mask."""
    return () if _is_mask(arguments) else arguments.integers("axis")


def _is_repeated(arguments: Arguments) -> bool:
    return len({*_indices(arguments)}) < len(_indices(arguments))


def axes_of(arguments: Arguments) -> set[int]:
    """The axes that are reversed: the indices, or the axes where the mask is true (Detailed description)."""
    if _is_mask(arguments):
        return {axis for axis, value in enumerate(arguments.booleans("axis")) if value}
    return {*arguments.integers("axis")}


def _each_time(arguments: Arguments) -> Arguments:
    """The arguments with the indices that occur an odd number of times, as if each occurrence reversed the axis."""
    indices = _indices(arguments)
    odd = tuple(fromkey for fromkey in dict.fromkeys(indices) if indices.count(fromkey) % 2)
    if _is_mask(arguments) or len(odd) == len(indices):
        return arguments
    axis = replace(arguments.operand("axis"), shape=(len(odd),), integers=odd)
    return replace(arguments, inputs={**arguments.inputs, "axis": axis})


REVERSE = Movement(
    name="Reverse-1",
    inputs=(Port("data"), Port("axis", setting=True, types=(*INTEGERS, "boolean"), ranks=(1,))),
    attributes=(AttributeSpec("mode", type="enum", values=("index", "mask")),),
    checks={
        "axis.index-type": lambda a: not _is_mask(a) and _is_boolean(a),
        "axis.mask-type": lambda a: _is_mask(a) and not _is_boolean(a),
        "axis.mask-length": lambda a: _is_mask(a) and a.shape("axis") != (_rank(a),),
        "axis.count": lambda a: len(_indices(a)) > _rank(a),
        "axis.range": lambda a: any(not -_rank(a) <= index < _rank(a) for index in _indices(a)),
        "axis.negative": lambda a: any(index < 0 for index in _indices(a)),
    },
    moved=lambda a, places: [np.flip(places["data"], tuple(axes_of(a)))],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
    facts={
        "no axis is reversed": lambda a: not axes_of(a),
        "the last axis is reversed": lambda a: _rank(a) - 1 in axes_of(a),
        "several axes are reversed": lambda a: len(axes_of(a)) > 1,
        "an index occurs twice": _is_repeated,
    },
    readings={"axis.repeated": Reading(rejects=_is_repeated, rewrites=(_each_time,))},
)
