"""SoftMax-8 and LogSoftmax-5, from their pages: the exponentials of elements along an axis, divided by their sum."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import gmpy2
import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import PRECISION, Composition, composed
from opconform.operations.arithmetic.elementwise import exact_array
from opconform.operations.arithmetic.functions import EXPONENT, FUNCTION_WORK
from opconform.operations.arithmetic.propagation import composites as propagation
from opconform.operations.arithmetic.propagation.spans import Part
from opconform.operations.arithmetic.propagation.sums import of_slices
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, numbers
from opconform.tensors.tensor import Tensor, places_in

#: The results for the elements along the axis.
_Of = Callable[..., list[Result]]
#: How the errors of these elements go through the operation.
_Spans = Callable[[Composition, Sequence[Part]], list[Part]]


def softmax(kind: ElementType, elements: Sequence["Exact | float"], *, is_literal: bool = False) -> list[Result]:
    """The exponentials divided by their sum, with the errors that their parts add up to.

    An infinity makes every result a NaN, as the difference to the largest element is one; `is_literal` says that
    finite exponentials are divided by an infinity instead.
    """
    if is_literal and _has_infinity(elements):
        return [math.nan if x == math.inf else 0.0 for x in elements]
    if _has_none(elements):
        return [math.nan] * len(elements)
    largest, powers = _powers(elements)
    total = sum(powers, Exact(0))
    quotients = [power / total for power in powers]
    results = composed(kind, quotients, lambda way: composites.softmax(way, elements, largest), limits=(0, 1))
    return [result if power else 0.0 for power, result in zip(powers, results, strict=True)]


def log_softmax(kind: ElementType, elements: Sequence["Exact | float"], *, is_literal: bool = False) -> list[Result]:
    """The logarithms of the same quotients, as differences: minus infinity of 0, and 0 of a number alone."""
    if is_literal and _has_infinity(elements):
        return [math.nan if x == math.inf else -math.inf for x in elements]
    if _has_none(elements):
        return [math.nan] * len(elements)
    largest, powers = _powers(elements)
    finite = [x for x in elements if not isinstance(x, float)]
    if len(finite) == 1:
        return [x if isinstance(x, float) else 0.0 for x in elements]
    with gmpy2.context(precision=PRECISION, emin=-EXPONENT, emax=EXPONENT):
        logarithm = Exact(gmpy2.log1p(gmpy2.mpfr(sum(powers, Exact(-1)))))
    exact = [x - largest - logarithm for x in finite]
    results = iter(composed(kind, exact, lambda way: composites.log_softmax(way, finite, largest), limits=(None, 0)))
    return [x if isinstance(x, float) else next(results) for x in elements]


def _has_infinity(elements: Sequence["Exact | float"]) -> bool:
    return math.inf in elements and not any(map(math.isnan, elements))


def _has_none(elements: Sequence["Exact | float"]) -> bool:
    """Whether there is no largest number, or an infinity or a NaN is in its place."""
    return any(isinstance(x, float) and not x < 0 for x in elements) or all(isinstance(x, float) for x in elements)


def _powers(elements: Sequence["Exact | float"]) -> tuple[Exact, list[Exact]]:
    """The largest element, and the exponentials of the differences to it."""
    largest = max(x for x in elements if not isinstance(x, float))
    with gmpy2.context(precision=PRECISION, emin=-EXPONENT, emax=EXPONENT):  # far smaller ones are 0
        powers = [Exact(0) if isinstance(x, float) else Exact(gmpy2.exp(gmpy2.mpfr(x - largest))) for x in elements]
    return largest, powers


def _axis(arguments: Arguments) -> int:
    return arguments.number("axis")


def _computed(of: _Of, arguments: Arguments, *, is_literal: bool = False) -> tuple[Tensor, ...]:
    data, axis = arguments.tensor("data"), _axis(arguments)
    rows = np.moveaxis(exact_array(data), axis, -1)
    results = np.empty(rows.shape, object)
    for index in places_in(rows, rows.shape[:-1]):
        row = list(rows[index])
        for place, result in enumerate(of(data.type, row, is_literal=is_literal) if row else ()):
            results[(*index, place)] = result
    flat = np.moveaxis(results, -1, axis).reshape(-1)
    return (bounded_tensor(data.element_type, data.shape, list(flat)),)


def _literal(of: _Of, arguments: Arguments) -> tuple[Tensor, ...]:
    if not np.isposinf(numbers(arguments.tensor("data"))).any():
        raise Unknown
    return _computed(of, arguments, is_literal=True)


def _size(arguments: Arguments) -> int:
    """The number of elements along the axis."""
    if _is_outside(arguments):
        raise Unknown
    return arguments.shape("data")[_axis(arguments)]


def _is_outside(arguments: Arguments) -> bool:
    rank = len(arguments.shape("data"))
    return not -rank <= _axis(arguments) < rank


def _along_axis(name: str, of: _Of, spans: _Spans) -> Computation:
    """An operation on the elements along an axis."""
    return Computation(
        name=name,
        inputs=(Port("data", types=REALS),),
        attributes=(AttributeSpec("axis", type="int", default=1),),
        checks={"axis.range": _is_outside},
        types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
        calculate=partial(_computed, of),
        rounded=of_slices(
            lambda a, numbers: np.moveaxis(numbers, _axis(a), -1), lambda _, way, parts: spans(way, parts)
        ),
        is_numeric=True,
        products=lambda a: FUNCTION_WORK * math.prod(a.shape("data")),
        contexts={"doubled": contexts.doubled(_axis)},
        facts={
            "the axis is the last one": lambda a: _axis(a) in (-1, len(a.shape("data")) - 1),
            "there is one element along the axis": lambda a: _size(a) == 1,
        },
        readings={
            "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
            "values.special": Reading(computes=(partial(_literal, of),)),
        },
    )


SOFTMAX = _along_axis("SoftMax-8", softmax, propagation.softmax)
LOG_SOFTMAX = _along_axis("LogSoftmax-5", log_softmax, propagation.log_softmax)
