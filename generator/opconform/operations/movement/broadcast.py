"""Broadcast-3 and Broadcast-1, from their specification pages: data repeated to fit a shape."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading, has_kind, types_differ
from opconform.operations.operation import Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port


def _is(arguments: Arguments, mode: str) -> bool:
    return arguments.attribute("mode") == mode


def _mapping(arguments: Arguments) -> tuple[int, ...]:
    """The axes of the mode explicit; none in other modes, which do not read them."""
    return arguments.integers("axes_mapping") if _is(arguments, "explicit") else ()


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def axes_of(arguments: Arguments) -> tuple[int, ...]:
    """The dimension of the output for each dimension of data; `Unknown` if there is none (Detailed description)."""
    data, target = _rank(arguments), len(arguments.integers("target_shape"))
    if not _is(arguments, "explicit"):  # the last dimensions, and all where data has more
        return tuple(range(max(target - data, 0), max(target, data)))
    axes = _mapping(arguments)
    if len(axes) != data or any(not 0 <= axis < target for axis in axes):
        raise Unknown
    return axes


def _target(arguments: Arguments) -> Shape:
    """The target shape, with ones in front if data has more dimensions; `Unknown` if a size is negative."""
    target = arguments.integers("target_shape")
    if any(size < 0 for size in target):
        raise Unknown
    return (*(1,) * (_rank(arguments) - len(target)), *target)


def _pairs(arguments: Arguments) -> Iterator[tuple[int, int]]:
    """Each dimension of data, and the one of the target shape."""
    target = _target(arguments)
    return ((size, target[axis]) for size, axis in zip(arguments.shape("data"), axes_of(arguments), strict=True))


def _is_short(arguments: Arguments) -> bool:
    return _is(arguments, "numpy") and _rank(arguments) > len(arguments.integers("target_shape"))


def _is_unequal(arguments: Arguments, mode: str) -> bool:
    """Whether a dimension of data is neither 1 nor the dimension of the target shape, in a mode."""
    return _is(arguments, mode) and any(size not in (1, other) for size, other in _pairs(arguments))


def shape_of(arguments: Arguments) -> Shape:
    """The target shape, in which dimensions of 1 have the size of data in the mode bidirectional."""
    target = [*_target(arguments)]
    for axis, (size, other) in zip(axes_of(arguments), _pairs(arguments), strict=True):
        target[axis] = size if size != 1 else other
    return tuple(target)


def _aligned(arguments: Arguments) -> Shape:
    """The shape of data with ones for the dimensions that it lacks."""
    sizes = dict(zip(axes_of(arguments), arguments.shape("data"), strict=True))
    return tuple(sizes.get(axis, 1) for axis in range(len(_target(arguments))))


#: From its specification page, and the page on broadcast rules.
BROADCAST = Movement(
    name="Broadcast-3",
    inputs=(
        Port("data"),
        Port("target_shape", setting=True, types=INTEGERS, ranks=(1,)),
        Port("axes_mapping", setting=True, types=INTEGERS, ranks=(1,), optional=True),
    ),
    attributes=(AttributeSpec("mode", type="enum", values=("numpy", "explicit", "bidirectional"), default="numpy"),),
    checks={
        "target_shape.negative": lambda a: any(size < 0 for size in a.integers("target_shape")),
        "axes_mapping.explicit": lambda a: _is(a, "explicit") and "axes_mapping" not in a.inputs,
        "axes_mapping.other-modes": lambda a: not _is(a, "explicit") and "axes_mapping" in a.inputs,
        "axes_mapping.count": lambda a: _is(a, "explicit") and len(_mapping(a)) != _rank(a),
        "axes_mapping.range": lambda a: any(axis >= len(a.integers("target_shape")) for axis in _mapping(a)),
        "axes_mapping.negative": lambda a: any(axis < 0 for axis in _mapping(a)),
        "axes_mapping.sorted": lambda a: [*_mapping(a)] != sorted(_mapping(a)),
        "axes_mapping.repeated": lambda a: len({*_mapping(a)}) < len(_mapping(a)),
        "explicit.dimensions": lambda a: _is_unequal(a, "explicit"),
        "numpy.rank": _is_short,
        "numpy.dimensions": lambda a: not _is_short(a) and _is_unequal(a, "numpy"),
        "bidirectional.dimensions": lambda a: (
            _is(a, "bidirectional") and any(size != other and 1 not in (size, other) for size, other in _pairs(a))
        ),
    },
    moved=lambda a, places: [np.broadcast_to(places["data"].reshape(_aligned(a)), shape_of(a))],
    shapes=lambda a: [shape_of(a)],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "target_shape"),
    },
    facts={
        "no dimension is repeated": lambda a: shape_of(a) == _aligned(a),
        "the output has more dimensions than data": lambda a: len(_target(a)) > _rank(a),
        "a dimension of the target shape is smaller than that of data": lambda a: any(
            size > other for size, other in _pairs(a)
        ),
    },
    readings={
        "data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string")),
        "types.independent": Reading(rejects=lambda a: types_differ(a, "target_shape", "axes_mapping")),
        "explicit.ones": Reading(
            rejects=lambda a: _is(a, "explicit") and any(size == 1 != other for size, other in _pairs(a))
        ),
    },
)
#: The older version: any type of data, and no mode bidirectional.
BROADCAST_1 = replace(
    BROADCAST,
    name="Broadcast-1",
    attributes=(AttributeSpec("mode", type="enum", values=("numpy", "explicit"), default="numpy"),),
    checks={name: check for name, check in BROADCAST.checks.items() if name != "bidirectional.dimensions"},
    readings={name: BROADCAST.readings[name] for name in ("types.independent", "explicit.ones")},
)
