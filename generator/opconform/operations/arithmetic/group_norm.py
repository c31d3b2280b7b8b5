"""GroupNormalization-12, from its specification page: elements normalized in groups of channels, scaled and shifted."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.composites import group_normalized
from opconform.operations.arithmetic.composition import Composition, composed, square_root
from opconform.operations.arithmetic.elementwise import without_special
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation import composites as propagation
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, exact_of, has_few_bits, numbers, wide_type
from opconform.tensors.tensor import Tensor

#: The inputs with a number for each channel.
_CHANNELS = ("scale", "bias")
#: The divisor for a variance and epsilon.
_Divisor = Callable[[Exact, Exact], Exact]
#: The least number of elements that have a variance of a sample.
_TWO = 2


def _epsilon(arguments: Arguments) -> Exact:
    return Exact(float(str(arguments.attribute("epsilon"))))


def _channel_count(arguments: Arguments) -> int:
    return arguments.shape("data")[1]


def _root(epsilon: Exact, variance: Exact) -> Exact:
    return square_root(variance + epsilon)


def _root_outside(epsilon: Exact, variance: Exact) -> Exact:
    return square_root(variance) + epsilon


def _groups(arguments: Arguments) -> Iterator[tuple[list[int], list[int]]]:
    """The places of the elements of each group, with their channels."""
    shape = arguments.shape("data")
    if not math.prod(shape):
        return
    channels = np.indices(shape)[1].ravel()
    for places in np.split(np.arange(math.prod(shape)), shape[0] * arguments.number("num_groups")):
        yield places.tolist(), channels[places].tolist()


def _propagated(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
    """Elements that may be rounded themselves."""
    divisor, results = partial(_root, _epsilon(arguments)), [*parts["data"]]
    for places, channels in _groups(arguments):
        rows = [[parts["data"][x] for x in places], *([parts[name][x] for x in channels] for name in _CHANNELS)]
        for place, result in zip(places, propagation.group_normalized(way, rows, divisor), strict=True):
            results[place] = result
    return results


def _normalized(
    kind: ElementType, elements: Sequence[Any], channels: Sequence[Sequence[Any]], parts: int, divisor: Any
) -> Sequence[Result]:
    """The results of a group, each with a scale and a bias; a number that is not finite makes every one a NaN."""
    if any(isinstance(x, float) for x in elements):
        return [math.nan] * len(elements)
    if sum(map(abs, elements), Exact(0)) > Exact(float(wide_type(kind).layout.max)):
        raise NoGolden("the order in which the elements are added decides whether their sum is finite")
    rows = [[*map(point, row)] for row in (elements, *channels)]
    exact = group_normalized(Composition(kind=wide_type(kind), is_exact=True), rows, parts, divisor)
    return composed(
        kind,
        [x.low for x in exact],
        lambda way: group_normalized(way, rows, parts, divisor),
        keeps_exact=True,
        is_short=all(map(has_few_bits, chain(elements, *channels))),
    )


def _computed(arguments: Arguments, divisor: _Divisor = _root, parts: Callable[[int], int] = int) -> tuple[Tensor, ...]:
    data, of = arguments.operand("data"), partial(divisor, _epsilon(arguments))
    kind = ELEMENT_TYPES[data.element_type]
    elements = {name: exact_of(arguments.tensor(name)) for name in ("data", *_CHANNELS)}
    results: list[Result] = [0.0] * math.prod(data.shape)
    for places, channels in _groups(arguments):
        row, pairs = [elements["data"][x] for x in places], [[elements[x][n] for n in channels] for x in _CHANNELS]
        normalized = _normalized(kind, row, pairs, parts(len(places)), of)
        for place, result in zip(places, normalized, strict=True):
            results[place] = result
    return (bounded_tensor(kind.name, data.shape, results),)


def _of_sample(arguments: Arguments) -> tuple[Tensor, ...]:
    """The results by the variance of a sample, which divides the squares by one less than their number."""
    if any(len(places) < _TWO for places, _ in _groups(arguments)):
        raise Unknown
    return _computed(arguments, parts=lambda count: count - 1)


def _with_groups(count_of: Callable[[int], int], arguments: Arguments) -> tuple[Tensor, ...]:
    """The results with another number of groups, given the number of channels."""
    count = count_of(_channel_count(arguments))
    if count == arguments.number("num_groups"):
        raise Unknown
    return _computed(replace(arguments, attributes={**arguments.attributes, "num_groups": count}))


def _has_infinite_channel(arguments: Arguments) -> bool:
    """Whether a number of a channel is not finite."""
    return not all(np.isfinite(numbers(arguments.tensor(name))).all() for name in _CHANNELS)


def _differs(name: str) -> Callable[[Arguments], bool]:
    """Whether the numbers of channels have another floating-point type than data."""

    def check(arguments: Arguments) -> bool:
        types = {arguments.operand(x).element_type for x in ("data", name)}
        return len(types) > 1 and types.issubset(REALS)

    return check


def _is_other_length(name: str) -> Callable[[Arguments], bool]:
    """Whether there are not as many numbers as channels."""
    return lambda a: a.shape(name) != a.shape("data")[1:2]


def _has_rest(arguments: Arguments) -> bool:
    """Whether groups of as many channels leave a rest; a number of groups out of range leaves none."""
    count = _channel_count(arguments)
    return bool(count % max(1, min(arguments.number("num_groups"), count)))


#: From its specification page.
GROUP_NORMALIZATION = Computation(
    name="GroupNormalization-12",
    inputs=(
        Port("data", types=REALS, ranks=RanksFrom(2)),
        *(Port(name, types=REALS, ranks=(1,)) for name in _CHANNELS),
    ),
    attributes=(AttributeSpec("num_groups", type="int"), AttributeSpec("epsilon", type="float")),
    checks={
        **{f"{name}.same-type": _differs(name) for name in _CHANNELS},
        **{f"{name}.length": _is_other_length(name) for name in _CHANNELS},
        "num_groups.range": lambda a: not 1 <= a.number("num_groups") <= _channel_count(a),
        "num_groups.divides": _has_rest,
        "epsilon.positive": lambda a: not _epsilon(a) > 0,
    },
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    calculate=_computed,
    rounded=Formula(of=_propagated),
    undefined=_has_infinite_channel,
    is_numeric=True,
    products=lambda a: FUNCTION_WORK * math.prod(a.shape("data")),
    mistakes={
        "As if epsilon were outside of the square root": partial(_computed, divisor=_root_outside),
        "As if every channel were a group": partial(_with_groups, int),
        "As if all channels were one group": partial(_with_groups, lambda _: 1),
    },
    same_types=_CHANNELS,
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "there is one group": lambda a: a.number("num_groups") == 1,
        "every channel is a group": lambda a: a.number("num_groups") == _channel_count(a),
        "the channels are the last dimension": lambda a: len(a.shape("data")) == 2,  # noqa: PLR2004 - the second one
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "values.special": without_special(_computed),
        "variance.count": Reading(computes=(_of_sample,), by_element=True, misreads=True),
    },
)
