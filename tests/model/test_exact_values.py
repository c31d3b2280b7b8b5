"""Goldens and bounds of functions against mpmath, which shares no code with MPFR, on the data of the core."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest

from opconform.model.evaluation import evaluated_arguments
from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import stretched
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers
from opconform.tensors.tensor import Array, Tensor
from tests.conftest import core_with
from tests.model.oracles import feeds_of
from tests.sampling import in_line

PRECISION = 200
#: The exponent of numbers beyond all types.
FAR = 20_000
REALS = ("bf16", "f16", "f32", "f64")
#: The units in the last place of OpenCL C 3.0 for f32 and f64, and for narrow types.
UNITS = {
    "Exp-1": (3, 2),
    "Log-1": (3, 2),
    "Tanh-1": (5, 2),
    "Erf-1": (16, 4),
    "Power-1": (16, 4),
    "Sqrt-1": (0, 0),
    "Sin-1": (4, 2),
    "Cos-1": (4, 2),
    "Tan-1": (5, 2),
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Exp-1": mpmath.exp,
    "Log-1": mpmath.log,
    "Tanh-1": mpmath.tanh,
    "Erf-1": mpmath.erf,
    "Power-1": mpmath.power,
    "Sqrt-1": mpmath.sqrt,
    "Sin-1": mpmath.sin,
    "Cos-1": mpmath.cos,
    "Tan-1": mpmath.tan,
}


@dataclass(frozen=True, kw_only=True)
class Elements:
    """The elements of an output of a case, as numbers of f64, and the arguments that they come from."""

    case: str
    kind: ElementType
    arguments: Arguments
    golden: Array
    lower: Array
    upper: Array


def outputs_of(suite: Suite, op: str) -> Iterator[Elements]:
    """The outputs of the valid cases of an operation without contexts, in every floating-point type and feed."""
    for entry in suite.entries:
        if entry.op != op or entry.expect != "accept" or (case := suite.case(entry)).context != "bare":
            continue
        if (kind := ELEMENT_TYPES[case.inputs[0].element_type]).name not in REALS:
            continue
        for feed, inputs in enumerate(feeds_of(suite, entry)):
            [golden] = suite.golden(entry, feed).values()
            [bounds] = suite.bounds(entry, feed)
            arrays = (golden, *(bounds or (golden, golden)))
            golden, lower, upper = (numbers(Tensor(element_type=kind.name, array=x)) for x in arrays)
            arguments = evaluated_arguments(case.graph.nodes[0], inputs)
            yield Elements(case=entry.id, kind=kind, arguments=arguments, golden=golden, lower=lower, upper=upper)


def fraction(number: Any) -> Fraction:
    """A number of mpmath; a tiny or a huge one in place of one far beyond those of every type, and of an infinity."""
    if number and (mpmath.isinf(number) or abs(mpmath.mag(number)) > FAR):
        size = Fraction(2) ** (FAR if abs(number) > 1 else -FAR)
        return size if number > 0 else -size
    sign, mantissa, exponent, _ = mpmath.mpmathify(number)._mpf_
    return (-1 if sign else 1) * int(mantissa) * Fraction(2) ** int(exponent)


def last_place(kind: ElementType, exact: Fraction) -> Fraction:
    """One unit in the last place of a number; of the least normal number for smaller ones."""
    exponent = int(kind.layout.minexp)
    if exact:
        size = abs(exact)
        power = size.numerator.bit_length() - size.denominator.bit_length()
        exponent = max(exponent, power - (Fraction(2) ** power > size))
    return Fraction(2) ** (exponent - int(kind.layout.nmant))


def on_grid(kind: ElementType, exact: Fraction, of: Callable[[Fraction], int]) -> float:
    """A number of a type: the nearest, the next below or the next above; an infinity beyond the largest."""
    unit = last_place(kind, exact)
    number = of(exact / unit) * unit
    is_beyond = abs(exact if of is not round else number) > Fraction(float(kind.layout.max))
    return (math.inf if exact > 0 else -math.inf) if is_beyond else float(number)


#: The ranges of functions, which bounds do not leave.
RANGES: Mapping[str, tuple[float, float]] = {
    "Exp-1": (0, math.inf),
    **dict.fromkeys(("Tanh-1", "Erf-1", "Sin-1", "Cos-1"), (-1, 1)),
}


def with_bounds(op: str, kind: ElementType, exact: Fraction, units: int) -> tuple[float, float, float]:
    """The golden number, and the last numbers within some units in the last place that the function can have."""
    least, most = RANGES.get(op, (-math.inf, math.inf))
    allowed = units * last_place(kind, exact)
    golden = on_grid(kind, exact, round)
    lower, upper = on_grid(kind, exact - allowed, math.ceil), on_grid(kind, exact + allowed, math.floor)
    return golden, max(min(lower, golden), least), min(max(upper, golden), most)


def is_regular(op: str, operands: tuple[float, ...]) -> bool:
    """Whether mpmath has the result: of finite numbers, and no root, pole or undefined power."""
    if not all(map(math.isfinite, operands)) or operands[0] == 0 or (op == "Log-1" and operands[0] == 1):
        return False
    if op == "Power-1":
        return operands[0] > 0 or operands[1] % 1 == 0
    return operands[0] > 0 or op not in ("Log-1", "Sqrt-1")


@cache
def exact(op: str, *operands: float) -> Fraction:
    """The result at 200 bits, or at more where these are those of a number of few digits, to which it is only near."""
    for precision in (PRECISION, 20 * PRECISION):
        with mpmath.workprec(precision):
            result = FUNCTIONS[op](*map(mpmath.mpf, operands))
            if RANGES.get(op) == (-1, 1) and abs(result) == 1:
                result *= 1 - mpmath.ldexp(1, -precision)
            if result._mpf_[3] > PRECISION // 2:
                break
    return fraction(result)


def flushed(result: Fraction) -> Fraction:
    """A number far below every type as 0, and another one as it is."""
    return Fraction(0) if abs(result) * Fraction(2) ** (FAR // 2) < 1 else result


@pytest.mark.parametrize("op", in_line(FUNCTIONS, "Sqrt-1"))
def test_goldens_and_bounds_of_functions_are_those_of_mpmath(request: pytest.FixtureRequest, op: str) -> None:
    """Each is recomputed at 200 bits: the exact result rounded once, and the last numbers within the units."""
    suite, (wide, narrow) = open_suite(core_with(op, request)), UNITS[op]

    count = 0
    for output in outputs_of(suite, op):
        tensors = stretched(output.arguments) if op == "Power-1" else (output.arguments.tensor("data"),)
        rows = [numbers(x).ravel().tolist() for x in tensors]
        stored = (x.ravel().tolist() for x in (output.golden, output.lower, output.upper))
        for *operands, golden, lower, upper in zip(*rows, *stored, strict=True):
            if is_regular(op, tuple(operands)):
                count += 1
                result, units = exact(op, *operands), narrow if output.kind.bits <= 16 else wide
                expected = [with_bounds(op, output.kind, x, units) for x in {result, flushed(result)}]
                assert (golden, lower, upper) in expected, (output.case, operands, (golden, lower, upper), expected)
    assert count > 100
