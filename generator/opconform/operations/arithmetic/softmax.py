"""SoftMax-8, from its specification page: the exponentials of elements along an axis, divided by their sum."""

import math
from collections.abc import Sequence

import gmpy2
import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import PRECISION, composed
from opconform.operations.arithmetic.elementwise import exact_array
from opconform.operations.arithmetic.functions import EXPONENT, FUNCTION_WORK
from opconform.operations.arithmetic.propagation import composites as propagation
from opconform.operations.arithmetic.propagation.sums import of_slices
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, numbers
from opconform.tensors.tensor import Tensor, places_in

_HALF = Exact(1, 2)


def softmax(kind: ElementType, elements: Sequence["Exact | float"], *, is_literal: bool = False) -> list[Result]:
    """The exponentials divided by their sum, with the errors that their parts add up to.

    An infinity makes every result a NaN, as the difference to the largest element is one; `is_literal` says that
    finite exponentials are divided by an infinity instead.
    """
    if is_literal and math.inf in elements and not any(map(math.isnan, elements)):
        return [math.nan if x == math.inf else 0.0 for x in elements]
    if any(isinstance(x, float) and not x < 0 for x in elements) or all(isinstance(x, float) for x in elements):
        return [math.nan] * len(elements)
    largest = max(x for x in elements if not isinstance(x, float))
    with gmpy2.context(precision=PRECISION, emin=-EXPONENT, emax=EXPONENT):  # far smaller ones are 0
        powers = [Exact(0) if isinstance(x, float) else Exact(gmpy2.exp(gmpy2.mpfr(x - largest))) for x in elements]
    total = sum(powers, Exact(0))
    quotients = [power / total for power in powers]
    results = composed(kind, quotients, lambda way: composites.softmax(way, elements, largest), limits=(0, 1))
    return [result if power else 0.0 for power, result in zip(powers, results, strict=True)]


def _axis(arguments: Arguments) -> int:
    return arguments.number("axis")


def _computed(arguments: Arguments, *, is_literal: bool = False) -> tuple[Tensor, ...]:
    data, axis = arguments.tensor("data"), _axis(arguments)
    rows = np.moveaxis(exact_array(data), axis, -1)
    results = np.empty(rows.shape, object)
    for index in places_in(rows, rows.shape[:-1]):
        row = list(rows[index])
        for place, result in enumerate(softmax(data.type, row, is_literal=is_literal) if row else ()):
            results[(*index, place)] = result
    flat = np.moveaxis(results, -1, axis).reshape(-1)
    return (bounded_tensor(data.element_type, data.shape, list(flat)),)


def _literal(arguments: Arguments) -> tuple[Tensor, ...]:
    if not np.isposinf(numbers(arguments.tensor("data"))).any():
        raise Unknown
    return _computed(arguments, is_literal=True)


def _size(arguments: Arguments) -> int:
    """The number of elements along the axis."""
    if _is_outside(arguments):
        raise Unknown
    return arguments.shape("data")[_axis(arguments)]


def _is_outside(arguments: Arguments) -> bool:
    rank = len(arguments.shape("data"))
    return not -rank <= _axis(arguments) < rank


SOFTMAX = Computation(
    name="SoftMax-8",
    inputs=(Port("data", types=REALS),),
    attributes=(AttributeSpec("axis", type="int", default=1),),
    checks={"axis.range": _is_outside},
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    calculate=_computed,
    rounded=of_slices(
        lambda a, numbers: np.moveaxis(numbers, _axis(a), -1), lambda _, way, parts: propagation.softmax(way, parts)
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
        "values.special": Reading(computes=(_literal,)),
    },
)
