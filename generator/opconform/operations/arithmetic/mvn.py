"""MVN-6, from its specification page: elements less their mean over some axes, divided by their standard deviation."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import gmpy2
import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.elementwise import exact_array, without_special
from opconform.operations.arithmetic.functions import FUNCTION_WORK, PRECISION, unit
from opconform.operations.arithmetic.reductions import reduced_axes
from opconform.operations.arithmetic.sums import sum_of_products
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.movement.axis import is_outside
from opconform.operations.operation import Operation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, wide_type
from opconform.tensors.tensor import Tensor

#: The units in the last place of a square root with the sum in it, and of a product with a reciprocal or a division
#: (OpenCL C 3.0, section 7.4: 3 and 2.5, and one for the sum or the product).
_ROOT, _QUOTIENT = 4, 4


class _Scale(NamedTuple):
    """What the differences are divided by; `is_mean` says that squares are divided by their number."""

    eps: Exact
    is_inside: bool
    is_mean: bool

    def of(self, variance: Exact) -> Exact:
        """The divisor for a variance."""
        root = _root(variance + self.eps) if self.is_inside else _root(variance)
        return root if self.is_inside else root + self.eps


def _root(number: Exact) -> Exact:
    with gmpy2.context(precision=PRECISION, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        return Exact(gmpy2.sqrt(gmpy2.mpfr(number)))


def normalized(kind: ElementType, elements: Sequence["Exact | float"], scale: _Scale | None) -> list[Result]:
    """The differences of elements to their mean, scaled if a scale is given, with the errors that are right.

    Kernels compute in the wide type.
    """
    count, wide = len(elements), wide_type(kind)
    if any(isinstance(x, float) for x in elements):
        of_special = sum(x for x in elements if isinstance(x, float))
        return [math.nan if scale else float(x) - of_special for x in elements]
    exact = [Exact(x) for x in elements]
    # the mean: the error of a sum, and the rounding of a quotient, which a power of two does not have
    total, of_total = cast("tuple[Exact, Exact]", sum_of_products(wide, exact, [Exact(1)] * count, is_sum=True))
    mean = total / count
    of_mean = of_total / count + (unit(wide, mean) if count & (count - 1) else 0)
    pairs = [(x - mean, _of_difference(wide, x - mean, of_mean)) for x in exact]
    if scale is not None:
        return _scaled(kind, pairs, scale)
    return [
        (x, error if not error and _is_number(kind, x) else error + unit(kind, abs(x) + error)) for x, error in pairs
    ]


def _scaled(kind: ElementType, pairs: Sequence[tuple[Exact, Exact]], scale: _Scale) -> list[Result]:
    """Differences and their errors, divided by the standard deviation."""
    count, layout = len(pairs), wide_type(kind).layout
    relative = Exact(2) ** -int(layout.nmant)  # one unit in the last place, as a part of a number
    # the squares: (d + e)^2 - d^2 = 2 d e + e^2; each is rounded, and so are their sum and its quotient
    parts = count if scale.is_mean else 1
    variance = sum((x * x for x, _ in pairs), Exact(0)) / parts
    moved = sum((2 * abs(x) * error + error * error for x, error in pairs), Exact(0)) / parts
    of_variance = moved + (count + 2) * relative * (variance + moved)
    of_variance += Exact(float(layout.smallest_normal))  # squares can underflow
    # the quotient is largest for the largest difference and the least divisor
    divisor = scale.of(variance)
    least = scale.of(max(variance - of_variance, Exact(0))) * (1 - _ROOT * relative)
    results: list[Result] = []
    for x, error in pairs:
        largest = (abs(x) + error) / least * (1 + _QUOTIENT * relative)
        allowed = largest - abs(x) / divisor + unit(kind, largest)  # which is rounded to the type in the end
        results.append((x / divisor, allowed if x or error else Exact(0)))
    return results


def _of_difference(wide: ElementType, difference: Exact, of_mean: Exact) -> Exact:
    """The error of a difference to a mean; none where both are exact."""
    if not of_mean and _is_number(wide, difference):
        return Exact(0)
    return of_mean + unit(wide, abs(difference) + of_mean)


def _is_number(kind: ElementType, exact: Exact) -> bool:
    """Whether a type has a number, which is not beyond its range."""
    if not exact:
        return True
    bits = exact.numerator.bit_length() - gmpy2.bit_scan1(exact.numerator)
    return not exact.denominator & (exact.denominator - 1) and bits <= int(kind.layout.nmant) + 1


def _computed(arguments: Arguments, *, is_mean: bool = True) -> tuple[Tensor, ...]:
    data, axes = arguments.tensor("data"), reduced_axes(arguments)
    scale = None
    if arguments.attribute("normalize_variance") is True:
        eps = Exact(float(str(arguments.attribute("eps"))))
        scale = _Scale(eps, arguments.attribute("eps_mode") == "inside_sqrt", is_mean)
    last = tuple(range(len(data.shape) - len(axes), len(data.shape)))
    moved = np.moveaxis(exact_array(data), axes, last)
    rows = moved.reshape(-1, math.prod(data.shape[axis] for axis in axes)) if moved.size else moved.reshape(0, 1)
    results = np.empty(rows.shape, object)
    for place, row in enumerate(rows):
        results[place, :] = np.fromiter(normalized(data.type, list(row), scale), object, len(row))
    back = np.moveaxis(results.reshape(moved.shape), last, axes)
    return (bounded_tensor(data.element_type, data.shape, list(back.reshape(-1))),)


def _with_other_mode(arguments: Arguments) -> tuple[Tensor, ...]:
    other = "outside_sqrt" if arguments.attribute("eps_mode") == "inside_sqrt" else "inside_sqrt"
    return _computed(replace(arguments, attributes={**arguments.attributes, "eps_mode": other}))


#: From its specification page.
MVN = Operation(
    name="MVN-6",
    inputs=(Port("data", types=REALS), Port("axes", setting=True, types=("i32", "i64"), ranks=(1,))),
    attributes=(
        AttributeSpec("normalize_variance", type="boolean"),
        AttributeSpec("eps", type="float"),
        AttributeSpec("eps_mode", type="enum", values=("inside_sqrt", "outside_sqrt")),
    ),
    checks={
        "axes.range": lambda a: any(is_outside(axis, len(a.shape("data"))) for axis in a.integers("axes")),
        "axes.unique": lambda a: len(reduced_axes(a)) < len(a.integers("axes")),
        "eps.positive": lambda a: not float(str(a.attribute("eps"))) > 0,
    },
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    compute=_computed,
    rounds=True,
    products=lambda a: FUNCTION_WORK * math.prod(a.shape("data")),
    mistakes={"As if eps were at the other side of the square root": _with_other_mode},
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "the variance is normalized": lambda a: a.attribute("normalize_variance") is True,
        "eps is inside the square root": lambda a: a.attribute("eps_mode") == "inside_sqrt",
        "the axes are the last ones": lambda a: (
            reduced_axes(a) == tuple(range(len(a.shape("data"))))[-len(reduced_axes(a)) :]
        ),
        "the axes are all of data": lambda a: len(reduced_axes(a)) == len(a.shape("data")),
        "an axis is negative": lambda a: any(axis < 0 for axis in a.integers("axes")),
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "axes.empty": Reading(rejects=lambda a: not a.integers("axes")),
        "values.special": without_special(_computed),
        "variance.mean": Reading(computes=(lambda a: _computed(a, is_mean=False),)),
    },
)
