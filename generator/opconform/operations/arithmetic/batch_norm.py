"""BatchNormInference-5, from its specification page: elements normalized by given means and variances of channels."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.composites import batch_normalized
from opconform.operations.arithmetic.composition import Composition, Interval, composed, square_root
from opconform.operations.arithmetic.elementwise import without_special
from opconform.operations.arithmetic.functions import COMPOSITE_WORK
from opconform.operations.arithmetic.propagation.composites import of_rows
from opconform.operations.arithmetic.propagation.spans import point
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, exact_of, has_few_bits, numbers, wide_type
from opconform.tensors.tensor import Tensor

#: The inputs with a number for each channel.
_CHANNELS = ("gamma", "beta", "mean", "variance")
#: The divisor for a variance and epsilon.
_Divisor = Callable[[Exact, Exact], Exact]


def _epsilon(arguments: Arguments) -> Exact:
    return Exact(float(str(arguments.attribute("epsilon"))))


def _root(epsilon: Exact, variance: Exact) -> Exact:
    return square_root(variance + epsilon)


def _root_outside(epsilon: Exact, variance: Exact) -> Exact:
    return square_root(variance) + epsilon


def _sum(epsilon: Exact, variance: Exact) -> Exact:
    return variance + epsilon


def _rows(arguments: Arguments, elements: Mapping[str, Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Each element with the numbers of its channel."""
    places = np.indices(arguments.shape("data"))[1]
    for x, place in zip(elements["data"], places.ravel().tolist(), strict=True):
        yield (x, *(elements[name][place] for name in _CHANNELS))


def _propagated(arguments: Arguments, way: Composition, row: Sequence[Interval]) -> Interval:
    return batch_normalized(way, row, partial(_root, _epsilon(arguments)))


def _result(kind: ElementType, divisor: Callable[[Exact], Exact], x: Exact | float, *channel: Exact) -> Result:
    if isinstance(x, float):  # the other numbers are finite
        return math.copysign(x, x * float(channel[0])) if channel[0] else math.nan
    parts = [*map(point, (x, *channel))]
    exact = batch_normalized(Composition(kind=wide_type(kind), is_exact=True), parts, divisor)
    [result] = composed(
        kind,
        [exact.low],
        lambda way: [batch_normalized(way, parts, divisor)],
        keeps_exact=True,
        is_short=all(map(has_few_bits, (x, *channel))),
    )
    return result


def _computed(arguments: Arguments, divisor: _Divisor = _root) -> tuple[Tensor, ...]:
    data, of = arguments.operand("data"), partial(divisor, _epsilon(arguments))
    kind = ELEMENT_TYPES[data.element_type]
    rows = _rows(arguments, {name: exact_of(arguments.tensor(name)) for name in ("data", *_CHANNELS)})
    return (bounded_tensor(kind.name, data.shape, [_result(kind, of, *row) for row in rows]),)


def _has_no_root(arguments: Arguments) -> bool:
    """Whether a channel has a number that is not finite, or nothing positive to take a root of."""
    channels = [numbers(arguments.tensor(name)) for name in _CHANNELS]
    is_finite = all(np.isfinite(channel).all() for channel in channels)
    return not is_finite or bool((channels[-1] + float(_epsilon(arguments)) <= 0).any())


def _differs(name: str) -> Callable[[Arguments], bool]:
    """Whether the numbers of channels have another floating-point type than data."""

    def check(arguments: Arguments) -> bool:
        types = {arguments.operand(x).element_type for x in ("data", name)}
        return len(types) > 1 and types.issubset(REALS)

    return check


def _is_other_length(name: str) -> Callable[[Arguments], bool]:
    """Whether there are not as many numbers as channels."""
    return lambda a: a.shape(name) != a.shape("data")[1:2]


#: From its specification page.
BATCH_NORM_INFERENCE = Computation(
    name="BatchNormInference-5",
    inputs=(
        Port("data", types=REALS, ranks=RanksFrom(2)),
        *(Port(name, types=REALS, ranks=(1,)) for name in _CHANNELS),
    ),
    attributes=(AttributeSpec("epsilon", type="float"),),
    checks={
        **{f"{name}.same-type": _differs(name) for name in _CHANNELS},
        **{f"{name}.length": _is_other_length(name) for name in _CHANNELS},
        "data.channels": lambda a: a.shape("data")[1] == 0,
        "epsilon.range": lambda a: _epsilon(a) < 0,
    },
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    calculate=_computed,
    rounded=of_rows(_rows, _propagated),
    undefined=_has_no_root,
    is_numeric=True,
    products=lambda a: COMPOSITE_WORK * math.prod(a.shape("data")),
    mistakes={
        "As if epsilon were outside of the square root": partial(_computed, divisor=_root_outside),
        "As if the variance were a standard deviation": partial(_computed, divisor=_sum),
    },
    same_types=_CHANNELS,
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "epsilon is 0": lambda a: _epsilon(a) == 0,
        "the channels are the last dimension": lambda a: len(a.shape("data")) == 2,  # noqa: PLR2004 - the second one
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "values.special": without_special(_computed),
    },
)
