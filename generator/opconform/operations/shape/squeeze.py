"""Squeeze-1 and Squeeze-15, from their specification pages: data without dimensions of 1."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.operations.shape.unsqueeze import AXES
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def indices_of(arguments: Arguments) -> tuple[int, ...]:
    """The indices; without any, whether axes is omitted or empty, every dimension of 1 is removed (Note, 2nd item)."""
    return arguments.integers("axes") if "axes" in arguments.inputs else ()


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def _named(arguments: Arguments) -> Sequence[int]:
    """The dimensions that the indices name, in their order."""
    return [from_front(axis, _rank(arguments)) for axis in indices_of(arguments)]


def _removed(arguments: Arguments) -> tuple[int, ...]:
    """The dimensions of 1 among those that are named; others are copied (Detailed description)."""
    indices, shape = indices_of(arguments), arguments.shape("data")
    return tuple(
        axis
        for axis, size in enumerate(shape)
        if size == 1 and (not indices or axis in indices or axis - len(shape) in indices)
    )


def _is_repeated(arguments: Arguments) -> bool:
    return len({*_named(arguments)}) < len(_named(arguments))


def is_any_kept(arguments: Arguments) -> bool:
    """Whether an index names a dimension other than 1."""
    return any(arguments.shape("data")[axis] != 1 for axis in _named(arguments))


def _none_removed(arguments: Arguments) -> Arguments:
    """The arguments with an index of a dimension other than 1, if there is one, in place of an empty list."""
    others = [axis for axis, size in enumerate(arguments.shape("data")) if size != 1]
    if "axes" not in arguments.inputs or indices_of(arguments) or not others:
        return arguments
    axes = Operand(element_type="i64", shape=(1,), integers=(others[0],))
    return replace(arguments, inputs={**arguments.inputs, "axes": axes})


#: What the versions have in common.
_INPUTS = (Port("data"), replace(AXES, optional=True))
_CHECKS: Mapping[str, Predicate] = {
    "axes.range": lambda a: any(is_outside(axis, _rank(a)) for axis in indices_of(a)),
}
_CONTEXTS = {"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert}
_FACTS: Mapping[str, Predicate] = {
    "no indices are given": lambda a: not indices_of(a),
    "an index names a dimension other than 1": is_any_kept,
    "a dimension is named twice": _is_repeated,
    "all dimensions are removed": lambda a: len(_removed(a)) == _rank(a),
}
_READINGS = {
    "data.scalar": Reading(rejects=lambda a: a.shape("data") == ()),
    "data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string")),
    "axes.repeated": Reading(rejects=_is_repeated),
    "axes.empty": Reading(rewrites=(_none_removed,)),
}


def _squeezed(arguments: Arguments, places: Places) -> list[Array]:
    return [np.squeeze(places["data"], _removed(arguments))]


SQUEEZE = Movement(
    name="Squeeze-1",
    inputs=_INPUTS,
    checks=_CHECKS,
    moved=_squeezed,
    contexts=_CONTEXTS,
    facts=_FACTS,
    readings=_READINGS,
)
#: With an attribute that only decides the rank of outputs that is inferred before all dimensions are known.
SQUEEZE_15 = Movement(
    name="Squeeze-15",
    inputs=_INPUTS,
    attributes=(AttributeSpec("allow_axis_skip", type="boolean", default=False),),
    checks=_CHECKS,
    moved=_squeezed,
    contexts=_CONTEXTS,
    facts={**_FACTS, "allow_axis_skip is true": lambda a: a.attribute("allow_axis_skip") is True},
    readings=_READINGS,
)
