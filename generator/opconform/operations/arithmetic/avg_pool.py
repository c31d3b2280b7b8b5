"""AvgPool-14 and its earlier version, from their specification pages: the mean of each window."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import Keep, clamped, elements_of, tensor_of, without_special
from opconform.operations.arithmetic.mistakes import Accumulate, accumulators, tails
from opconform.operations.arithmetic.pools import (
    CHECKS,
    READINGS,
    ROUNDING_TYPE,
    WINDOWS,
    pooled_shape,
    windows_of,
    without_ceil_torch,
)
from opconform.operations.arithmetic.propagation.sums import of_means
from opconform.operations.arithmetic.reductions.reduction import SUM_WORK
from opconform.operations.arithmetic.reductions.totals import ROUNDINGS, integer_quotients, sum_of
from opconform.operations.arithmetic.sums import SUMMED
from opconform.operations.arithmetic.windows import (
    AUTO_PAD,
    RANKS,
    WINDOW_FACTS,
    elements_of_windows,
    padding_facts,
    with_attributes,
    with_exchanged_pads,
)
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate, Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.exact import bounded_tensor
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: Per window, what its sum is divided by.
_Counts = Callable[[Arguments], list[int]]


def _excludes(arguments: Arguments) -> bool:
    return arguments.attribute("exclude_pad") is True


def _axis_counts(arguments: Arguments) -> list[Array]:
    """Per spatial dimension and window, the number of elements that count."""
    return [x.counts if _excludes(arguments) else x.padded_counts for x in windows_of(arguments)]


def _counts(arguments: Arguments) -> list[int]:
    """The elements of data and its padding, or of data alone (Attributes, exclude-pad)."""
    counts: list[int] = reduce(np.multiply.outer, _axis_counts(arguments)).ravel().tolist()
    return counts


def _sizes(arguments: Arguments) -> list[int]:
    """The size of the kernel, of which elements can be beyond the padding."""
    sizes, windows = arguments.numbers("kernel"), windows_of(arguments)
    if _excludes(arguments) or all((x.padded_counts == x.size).all() for x in windows):
        raise Unknown
    return [prod(sizes)] * prod(x.number for x in windows)


def _has_no_elements(arguments: Arguments) -> bool:
    """Whether no element of a window counts, so that its mean is 0 divided by 0."""
    windows = windows_of(arguments)
    if _excludes(arguments):
        return any(x.is_ever_outside for x in windows)
    return any((x.number - 1) * x.stride >= x.length + sum(x.added) for x in windows)


def _rows(arguments: Arguments) -> Array:
    """The elements of each window of each channel along the last axis; zeros stand for padding."""
    elements = elements_of(arguments.tensor("data"))
    channels = prod(elements.shape[:2])
    rows = elements.reshape(channels, prod(elements.shape[2:]))
    padded = np.column_stack([rows, np.zeros(channels, elements.dtype)])
    return np.asarray(padded[:, elements_of_windows(windows_of(arguments))])


def _numbers(arguments: Arguments) -> Iterator[tuple[list[int], int]]:
    """Per element of the output, the numbers of the elements of data in its window, and what divides their sum."""
    numbers, counts = elements_of_windows(windows_of(arguments)), _counts(arguments)
    batches, channels, *sizes = arguments.shape("data")
    for channel in range(batches * channels):
        for row, count in zip(numbers, counts, strict=True):
            yield (row[row >= 0] + channel * prod(sizes)).tolist(), count


def _computed(arguments: Arguments, counts: _Counts = _counts, end: int | None = None) -> tuple[Tensor, ...]:
    """The means; the elements of each window from `end` on are left out of its sum."""
    data, shape = arguments.tensor("data"), pooled_shape(arguments)
    divisors = counts(arguments)
    if data.type.is_integer:
        return _integers(arguments, math.trunc, divisors, end=end)
    elements = elements_of(data).ravel()
    results = (
        sum_of(data.type, elements[row[:end]].tolist(), count)
        for (row, _), count in zip(_numbers(arguments), divisors * prod(shape[:2]), strict=True)
    )
    return (bounded_tensor(data.element_type, shape, results),)


def _integers(
    arguments: Arguments,
    rounded: Callable[[Fraction], int],
    counts: Sequence[int],
    keep: Keep = lambda _, x: x,
    end: int | None = None,
) -> tuple[Tensor, ...]:
    """The means of integers; `keep` gives the integers that stand for sums."""
    data, shape = arguments.tensor("data"), pooled_shape(arguments)
    sums = _rows(arguments)[..., :end].sum(-1)
    kept = np.array([keep(data.type, x) for x in sums.ravel()], object)
    means = integer_quotients(rounded, kept, [*counts] * prod(shape[:2]))
    return (tensor_of(data.type, means.reshape(shape)),)


def _other_integers(rounded: Callable[[Fraction], int], keep: Keep = lambda _, x: x) -> Calculate:
    """The means of integers that are rounded in another way, or of other sums."""

    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        if not arguments.operand("data").is_integer or 0 in pooled_shape(arguments):
            raise Unknown
        return _integers(arguments, rounded, _counts(arguments), keep)

    return calculate


def _without(count: int, arguments: Arguments) -> tuple[Tensor, ...]:
    return _computed(arguments, end=-count)


def _narrow(accumulate: Accumulate, arguments: Arguments) -> tuple[Tensor, ...]:
    if arguments.operand("data").is_integer:
        raise Unknown
    means = accumulate(_rows(arguments)) / np.array(_counts(arguments))
    return (tensor_of(arguments.tensor("data").type, means.reshape(pooled_shape(arguments))),)


def _by_other_counts(arguments: Arguments) -> tuple[Tensor, ...]:
    other = with_attributes(arguments, exclude_pad=not _excludes(arguments))
    if _has_no_elements(other):
        raise Unknown
    return _computed(other)


_MISTAKES: Mapping[str, Calculate] = {
    **tails(_without),
    **accumulators(_narrow),
    "As if exclude-pad were the other value": _by_other_counts,
    "As if the pads of both ends were exchanged": lambda a: _computed(with_exchanged_pads(a)),
}
_READINGS: Mapping[str, Reading] = {
    **READINGS,
    "windows.beyond": Reading(computes=(partial(_computed, counts=_sizes),), by_element=True),
    "values.special": without_special(_computed),
    "values.wide-sums": Reading(
        computes=tuple(_other_integers(x, keep) for keep, x in product((low_bits, clamped), ROUNDINGS))
    ),
    "values.truncated": Reading(computes=tuple(map(_other_integers, ROUNDINGS[1:])), by_element=True),
}
_FACTS: Mapping[str, Predicate] = {
    **WINDOW_FACTS,
    **padding_facts(windows_of, "zeros"),
    "a window reaches beyond the zeros": lambda a: any((x.padded_counts < x.size).any() for x in windows_of(a)),
}
#: From its specification page.
AVG_POOL_14 = Computation(
    name="AvgPool-14",
    inputs=(Port("data", types=SUMMED, ranks=RANKS),),
    attributes=(*WINDOWS, AttributeSpec("exclude_pad", type="boolean"), ROUNDING_TYPE, AUTO_PAD),
    checks={**CHECKS, "windows.elements": _has_no_elements},
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=pooled_shape(a)),),
    calculate=_computed,
    rounded=of_means(_numbers),
    is_numeric=True,
    products=lambda a: SUM_WORK * prod(pooled_shape(a)) * prod(a.numbers("kernel")),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    mistakes=_MISTAKES,
    facts=_FACTS,
    readings=_READINGS,
)
AVG_POOL_1 = without_ceil_torch(AVG_POOL_14, "AvgPool-1")
