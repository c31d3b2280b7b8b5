"""SquaredDifference-1, from its specification page: a difference and its square, which are both rounded."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.broadcasting import FEWER_RULES, stretched
from opconform.operations.arithmetic.composites import square
from opconform.operations.arithmetic.composition import Composition, Interval, composed, is_number
from opconform.operations.arithmetic.elementwise import (
    BinaryPage,
    Kernel,
    binary,
    computed,
    each,
    elements_of,
    without_special,
)
from opconform.operations.arithmetic.functions import COMPOSITE_WORK
from opconform.operations.arithmetic.propagation.pairs import of_pairs, squared_difference
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, Rounded, bounded_tensor, has_few_bits
from opconform.tensors.rounding import nearest
from opconform.tensors.tensor import Tensor

_KERNEL = Kernel(floats=lambda a, b: np.asarray((a - b) ** 2), integers=each(2, lambda a, b: (a - b) ** 2))


def _parts(kind: ElementType, a: Exact, b: Exact, way: Composition) -> Sequence[Interval]:
    """The square, of which kernels round the difference to the type or to a wider one."""
    return [square(way, replace(way, kind=kind).sum(way.operand(a), -way.operand(b)))]


def _result(kind: ElementType, a: float, b: float) -> Result:
    """The square of the difference of two numbers of a type; of an exact difference, it is rounded once."""
    if not np.isfinite([a, b]).all():
        return (a - b) * (a - b)
    first, second = Exact(a), Exact(b)
    exact = (first - second) ** 2
    is_short = has_few_bits(first) and has_few_bits(second)
    [result] = composed(
        kind, [exact], partial(_parts, kind, first, second), keeps_exact=True, is_short=is_short, limits=(0, None)
    )
    if isinstance(result, Rounded) and is_number(kind, first - second):
        return result._replace(right=(exact, exact))
    return result


def _is_rounded_twice(first: Tensor, second: Tensor) -> bool:
    """Whether a floating-point type does not have a difference."""
    differences = np.ravel(elements_of(first) - elements_of(second)).tolist()
    return not first.type.is_integer and any(nearest(first.type, x) != x for x in differences)


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    first, second = stretched(arguments)
    name = first.element_type
    if name in REALS:
        pairs = [*zip(*(elements_of(x).ravel().tolist() for x in (first, second)), strict=True)]
        results = {pair: _result(first.type, *pair) for pair in {*pairs}}  # broadcasting repeats pairs
        return (bounded_tensor(name, first.shape, [results[pair] for pair in pairs]),)
    if _is_rounded_twice(first, second):
        raise NoGolden(f"a difference that {name} does not have is rounded before its square")
    return (computed(_KERNEL, first, second),)


SQUARED_DIFFERENCE = binary(
    "SquaredDifference-1",
    _KERNEL,
    BinaryPage(
        rules=FEWER_RULES,
        may_overflow=True,
        readings={"values.special": without_special(_computed)},
        calculate=_computed,
        rounded=of_pairs(squared_difference),
        work=COMPOSITE_WORK,
        denormals="values.bounded",
    ),
)
