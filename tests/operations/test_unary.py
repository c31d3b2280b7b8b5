"""The operations on one tensor: goldens and bounds against mpmath, and what right and wrong variants of them give."""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.generation.expansion import expand
from opconform.model.golden import golden_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import NoGolden, Operand
from opconform.operations.arithmetic.elementwise import elements_of, tensor_of
from opconform.specs.loader import load_specs
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import nearest
from opconform.tensors.tensor import Tensor
from opconform_runners.verdicts.rounding_error import errors_of
from tests.conftest import ROOT

REALS = ("bf16", "f16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
PRECISION = 1300


def evaluated(op: str, data: Tensor, **attributes: Any) -> Tensor:
    """The output of an operation."""
    operand = Operand(element_type=data.element_type, shape=data.shape, tensor=data)
    operation = OPERATIONS[op]
    [output] = operation.evaluate(operation.arguments({"data": operand}, attributes))
    return output


def tensor(element_type: str, elements: list[Any]) -> Tensor:
    """A list of elements."""
    return Tensor(element_type=element_type, array=encoded(element_type, elements))


def of_bits(element_type: str, bits: int) -> Tensor:
    """The element of a bit pattern."""
    storage = ELEMENT_TYPES[element_type].storage
    return Tensor(element_type=element_type, array=np.array([bits], f"u{storage.itemsize}").view(storage))


def gelu(x: Any) -> Any:
    """The function of the mode erf, without the cancellation of its formula."""
    return x / 2 * mpmath.erfc(-x / mpmath.sqrt(2))


def gelu_tanh(x: Any) -> Any:
    """The formula of the mode tanh, by the exponential that does not cancel."""
    inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)
    return x / (1 + mpmath.exp(-2 * inner))


def mish(x: Any) -> Any:
    """The function by its formula."""
    return x * mpmath.tanh(mpmath.log1p(mpmath.exp(x)))


#: The functions by mpmath, with the units that are right for f32 and f64, and for narrow types; None for composites.
FUNCTIONS: Mapping[str, tuple[Callable[[Any], Any], tuple[int, int] | None]] = {
    "Cos-1": (mpmath.cos, (4, 2)),
    "Elu-1": (lambda x: x if x > 0 else mpmath.expm1(x) * 3 / 2, None),
    "Erf-1": (mpmath.erf, (16, 4)),
    "Exp-1": (mpmath.exp, (3, 2)),
    "Gelu-7": (gelu, None),
    "Log-1": (mpmath.log, (3, 2)),
    "Mish-4": (mish, None),
    "Sigmoid-1": (lambda x: 1 / (1 + mpmath.exp(-x)), None),
    "Sin-1": (mpmath.sin, (4, 2)),
    "SoftPlus-4": (lambda x: mpmath.log1p(mpmath.exp(x)), None),
    "SoftSign-9": (lambda x: x / (1 + abs(x)), None),
    "Swish-4": (lambda x: x / (1 + mpmath.exp(-x)), None),
    "Tan-1": (mpmath.tan, (5, 2)),
    "Tanh-1": (mpmath.tanh, (5, 2)),
}
#: The attributes of these functions.
ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {"Elu-1": {"alpha": 1.5}}
#: The functions whose values are between -1 and 1.
LIMITED = ("Cos-1", "Erf-1", "Sin-1", "Tanh-1")


def fraction(number: Any) -> Fraction:
    """A finite number of mpmath."""
    sign, mantissa, exponent, _ = mpmath.mpf(number)._mpf_
    power = Fraction(2) ** int(exponent)
    return (-1 if sign else 1) * int(mantissa) * power


def last_place(kind: ElementType, exact: Fraction) -> Fraction:
    """One unit in the last place."""
    exponent = math.floor(mpmath.log(abs(mpmath.mpf(exact.numerator) / exact.denominator), 2)) if exact else -(10**6)
    while Fraction(2) ** exponent > abs(exact) > 0:
        exponent -= 1
    while exact and Fraction(2) ** (exponent + 1) <= abs(exact):
        exponent += 1
    return Fraction(2) ** (max(exponent, int(kind.layout.minexp)) - int(kind.layout.nmant))


@pytest.mark.parametrize("op", FUNCTIONS)
@given(element_type=st.sampled_from(REALS), bits=st.integers(0, 2**64 - 1), is_small=st.booleans())
def test_values_and_bounds_are_those_of_mpmath(op: str, element_type: str, bits: int, is_small: bool) -> None:
    """The golden is the exact result rounded once, and the bounds are the last numbers within the units."""
    kind, (of, units) = ELEMENT_TYPES[element_type], FUNCTIONS[op]
    data = of_bits(element_type, bits % (1 << kind.bits))
    if is_small:
        data = tensor(element_type, [math.ldexp(bits % 2**20 / 2**16, -(bits % 7)) * (-1) ** (bits // 2**50)])
    [x] = numbers(data).tolist()
    if not math.isfinite(x) or x in (0, 1) or abs(x) > 1e4 or (op == "Log-1" and x < 0):
        return
    output = evaluated(op, data, **ATTRIBUTES.get(op, {}))
    with mpmath.workprec(PRECISION):
        exact = fraction(of(mpmath.mpf(x)))
    if op in LIMITED and abs(exact) == 1:  # below 1 by less than the bits show
        exact *= 1 - Fraction(1, 2**PRECISION)
    largest = Fraction(float(kind.layout.max))
    [golden] = numbers(output).tolist()
    expected = nearest(kind, exact)  # type: ignore[arg-type]
    assert golden == (expected if abs(expected) <= largest else math.copysign(math.inf, exact))
    if units is not None and output.bounds is not None and abs(exact) < largest / 2:
        lower, upper = (float(side.view(kind.arithmetic)[0]) for side in output.bounds)
        allowed = units[kind.bits <= 16] * last_place(kind, exact)
        outside = last_place(kind, Fraction(upper)) if upper else last_place(kind, Fraction(0))
        assert exact - allowed <= Fraction(lower) <= Fraction(golden) <= Fraction(upper) <= exact + allowed
        most = 1 if op in LIMITED else exact + allowed  # no value is outside the range
        assert Fraction(upper) + outside >= min(exact + allowed, most)


@given(bits=st.integers(0, 2**32 - 1), is_tanh=st.booleans())
def test_both_modes_of_gelu_have_the_values_of_mpmath(bits: int, is_tanh: bool) -> None:
    """Also where 1 and the function cancel."""
    data = tensor("f32", [(bits / 2**32 - 0.75) * 16])
    output = evaluated("Gelu-7", data, approximation_mode="tanh" if is_tanh else "erf")
    with mpmath.workprec(PRECISION):
        exact = fraction((gelu_tanh if is_tanh else gelu)(mpmath.mpf(float(data.array[0]))))
    assert float(output.array[0]) == nearest(ELEMENT_TYPES["f32"], exact)  # type: ignore[arg-type]


@given(element_type=st.sampled_from(INTEGERS), bits=st.integers(0, 2**64 - 1))
def test_integers_are_rounded_to_the_nearest_one(element_type: str, bits: int) -> None:
    """By the pages of Sqrt and Tanh, and by our reading of those of Erf and Log."""
    kind = ELEMENT_TYPES[element_type]
    data = of_bits(element_type, bits % (1 << kind.bits))
    [x] = data.integers()
    for op, of in {"Sqrt-1": mpmath.sqrt, "Tanh-1": mpmath.tanh, "Erf-1": mpmath.erf, "Log-1": mpmath.log}.items():
        if x >= {"Sqrt-1": 0, "Log-1": 1}.get(op, x):
            with mpmath.workprec(PRECISION):
                expected = int(mpmath.floor(of(mpmath.mpf(x)) + mpmath.mpf("0.5")))
            assert evaluated(op, data).integers() == [expected]


@pytest.mark.parametrize(
    ("op", "element_type", "element"),
    [
        ("Sqrt-1", "i32", -1),
        ("Log-1", "i32", 0),
        ("Log-1", "i32", -3),
        ("Sin-1", "u8", 5),
        ("Cos-1", "u32", 3),
        ("Tan-1", "i8", 11),
    ],
)
def test_what_a_page_leaves_undefined_has_no_golden(op: str, element_type: str, element: int) -> None:
    """A spec with such an element is refused."""
    with pytest.raises(NoGolden, match="undefined"):
        evaluated(op, tensor(element_type, [element, 1]))


def test_a_zero_keeps_its_sign_and_is_exact() -> None:
    """Of functions with a root at 0."""
    for op in ("Tanh-1", "Erf-1", "Gelu-7", "Sqrt-1", "Sin-1", "Tan-1", "Swish-4", "Mish-4", "SoftSign-9"):
        output = evaluated(op, tensor("f32", [0.0, -0.0]))
        assert output.array.tobytes() == np.array([0.0, -0.0], np.float32).tobytes()
        assert output.bounds is None


def test_numbers_far_beyond_the_type_take_no_memory() -> None:
    """The exponential of a number is an infinity or 0 long before its digits would fill the memory."""
    data = tensor("f64", [1e300, -1e300, 1e15, -1e15])
    for op in FUNCTIONS:
        if op != "Log-1":
            assert np.isfinite(evaluated(op, data, **ATTRIBUTES.get(op, {})).array[1])
    assert evaluated("Exp-1", data).array.tolist() == [math.inf, 0, math.inf, 0]
    assert evaluated("Sigmoid-1", data).array.tolist() == [1, 0, 1, 0]


class Golden(NamedTuple):
    """A case: its data, output and attributes, with the numbers of other inputs."""

    data: Tensor
    attributes: Mapping[str, Any]
    output: Tensor


@cache
def goldens(op: str) -> list[Golden]:
    """The valid cases of an operation's own groups, without twins of invalid ones."""
    [*specs] = load_specs([ROOT / "cases" / op / "values.yaml"])
    drafts = [draft for spec in specs for group in spec.groups for draft in expand(group)]
    valid = [golden_of(draft, 0) for draft in drafts if draft.rejected_for is None and not draft.is_twin]
    return [Golden(x.inputs[0]["data"], {**x.draft.attributes, **scalars(x.inputs[0])}, x.outputs[0][0]) for x in valid]


def scalars(inputs: Mapping[str, Tensor]) -> dict[str, float]:
    """The numbers of the inputs other than data."""
    return {name: float(numbers(x)) for name, x in inputs.items() if name != "data"}


#: What a variant computes: numbers of f64 or Python's integers, from the same, the element type, and the attributes.
Variant = Callable[..., Any]


def is_right(golden: Golden, variant: Variant) -> bool:
    """Whether a variant passes a case."""
    kind = golden.output.type
    with np.errstate(all="ignore"):
        results = np.asarray(variant(elements_of(golden.data), kind.name, **golden.attributes))
        actual = tensor_of(kind, results).array
    if kind.is_integer:
        return actual.tobytes() == golden.output.array.tobytes()
    bounds = golden.output.bounds or (golden.output.array,) * 2
    return bool((errors_of(golden.output.array, np.asarray(actual), bounds, kind) <= 1).all())


def narrow(x: Any) -> Any:
    """The numbers in f32."""
    return np.asarray(x).astype(np.float32)


ERF = np.vectorize(math.erf, otypes=[np.float64])
ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def in_type(of: Callable[..., Any]) -> Variant:
    """A function of floating-point numbers whose parts are rounded to f32, but of f64 to f64; no integers."""

    def call(x: Any, name: str, **attributes: Any) -> Any:
        return of(x if name == "f64" else narrow(x), **attributes)

    return call


def gelu_of(erf: Variant, tanh: Variant) -> Variant:
    """A function of the mode."""
    return in_type(lambda x, approximation_mode="erf": (tanh if approximation_mode == "tanh" else erf)(x))


ROOT_HALF, ROOT_2_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)


def of_angles(of: Callable[..., Any]) -> Mapping[str, Variant]:
    """A function in the type or in f64, and in the machine's widest type."""

    def widest(x: Any, _: str) -> Any:
        return of(x.astype(np.longdouble)).astype(np.float64)

    return {"the type": lambda x, name: widest(x, name) if name == "f64" else of(narrow(x)), "the widest type": widest}


def one_exponential(x: Any) -> Any:
    """Mish by one exponential, whose square must not overflow."""
    power = np.exp(np.minimum(x, 20))
    product = power * (power + 2)
    return np.where(x > 20, x, x * product / (product + 2))


#: Right implementations of the functions, as real ones differ.
#: The operations whose right implementations are quick to compare.
FAST = ("Abs-1", "Clamp-1", "Negative-1", "ReLU-1", "Sqrt-1", "Log-1")
RIGHT: Mapping[str, Mapping[str, Variant]] = {
    "Exp-1": {
        "the type": in_type(np.exp),
        "f64": lambda x, _: np.exp(x),
        "exp2": lambda x, _: np.exp2(x * math.log2(math.e)) if _ != "f64" else np.exp(x),
        "expm1": in_type(lambda x: np.where(np.abs(x) < 1, np.expm1(x) + 1, np.exp(x))),
        "halves": lambda x, _: np.exp(x / 2) ** 2 if _ != "f64" else np.exp(x),
    },
    "Log-1": {
        "the type": in_type(np.log),
        "f64": lambda x, _: np.log(x),
        "log2": lambda x, _: np.log2(x) * math.log(2),
        "log1p": in_type(lambda x: np.where((x > 0.9) & (x < 1.1), np.log1p(x - 1), np.log(x))),
        "log10": lambda x, _: np.log10(x) * math.log(10) if _ != "f64" else np.log(x),
    },
    "Tanh-1": {
        "the type": in_type(np.tanh),
        "f64": lambda x, _: np.tanh(x),
        "expm1": lambda x, _: np.copysign(np.expm1(-2 * np.abs(x)) / (2 + np.expm1(-2 * np.abs(x))), x),
        "odd": in_type(lambda x: np.copysign(np.tanh(np.abs(x)), x)),
        "limited": in_type(lambda x: np.where(np.abs(x) > 30, np.sign(x), np.tanh(x))),
    },
    "Erf-1": {
        "f64": lambda x, _: ERF(x),
        "erfc": lambda x, _: np.where(np.abs(x) > 0.5, 1 - ERFC(x), ERF(x)),
        "odd": lambda x, _: np.copysign(ERF(np.abs(x)), x),
        "limited": lambda x, _: np.where(np.abs(x) > 7, np.sign(x), ERF(x)),
        "f32 above 1": lambda x, _: np.where(np.abs(x) > 1, narrow(ERF(x)), ERF(x)) if _ != "f64" else ERF(x),
    },
    "Sigmoid-1": {
        "the formula": in_type(lambda x: 1 / (1 + np.exp(-x))),
        "f64": lambda x, _: 1 / (1 + np.exp(-x)),
        "both sides": in_type(lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))),
        "reciprocal": in_type(lambda x: np.reciprocal(np.exp(-x) + 1)),
        "logaddexp": lambda x, _: np.exp(-np.logaddexp(0, -x)) if _ != "f64" else 1 / (1 + np.exp(-x)),
    },
    "Sin-1": of_angles(np.sin),
    "Cos-1": of_angles(np.cos),
    "Tan-1": of_angles(np.tan),
    "SoftPlus-4": {
        "the formula": in_type(lambda x: np.where(x >= 20, x, np.log(np.exp(x) + 1))),
        "log1p": in_type(lambda x: np.where(x >= 20, x, np.log1p(np.exp(x)))),
        "stable": in_type(lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
        "f64": lambda x, _: np.logaddexp(x, 0),
    },
    "Elu-1": {
        "the formula": in_type(lambda x, alpha: np.where(x > 0, x, x.dtype.type(alpha) * (np.exp(x) - 1))),
        "expm1": in_type(lambda x, alpha: np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(x))),
        "f64": lambda x, _, alpha: np.where(x > 0, x, alpha * np.expm1(x)),
        "both sides": in_type(
            lambda x, alpha: np.maximum(x, 0) + x.dtype.type(alpha) * np.expm1(np.minimum(x, 0)),
        ),
    },
    "Swish-4": {
        "the formula": in_type(lambda x, beta=1: x * (1 / (1 + np.exp(-(x.dtype.type(beta) * x))))),
        "a quotient": in_type(lambda x, beta=1: x / (1 + np.exp(-(x.dtype.type(beta) * x)))),
        "f64": lambda x, _, beta=1: x / (1 + np.exp(-beta * x)),
    },
    "Mish-4": {
        "the formula": in_type(lambda x: x * np.tanh(np.log(1 + np.exp(x)))),
        "log1p": in_type(lambda x: x * np.tanh(np.where(x >= 20, x, np.log1p(np.exp(x))))),
        "one exponential": in_type(one_exponential),
    },
    "SoftSign-9": {
        "the formula": in_type(lambda x: x / (1 + np.abs(x))),
        "f64": lambda x, _: x / (1 + np.abs(x)),
        "odd": in_type(lambda x: np.copysign(np.abs(x) / (1 + np.abs(x)), x)),
    },
    "Gelu-7": {
        "the formula": gelu_of(
            lambda x: x * type(x.flat[0])(0.5) * (1 + ERF(x * ROOT_HALF).astype(x.dtype)),
            lambda x: x / 2 * (1 + np.tanh(x.dtype.type(ROOT_2_PI) * (x + x.dtype.type(0.044715) * x * x * x))),
        ),
        "f64": lambda x, _, approximation_mode="erf": (
            x / 2 * (1 + np.tanh(ROOT_2_PI * (x + 0.044715 * x**3)))
            if approximation_mode == "tanh"
            else x / 2 * (1 + ERF(x * ROOT_HALF))
        ),
        "other orders": gelu_of(
            lambda x: (1 + ERF(x * ROOT_HALF).astype(x.dtype)) * x / 2,
            lambda x: x * (1 + np.tanh(x * (x.dtype.type(ROOT_2_PI) * (1 + x.dtype.type(0.044715) * x * x)))) / 2,
        ),
        "without cancellation": gelu_of(
            lambda x: x / 2 * ERFC(-x * ROOT_HALF).astype(x.dtype),
            lambda x: x / (1 + np.exp(-2 * x.dtype.type(ROOT_2_PI) * (x + x.dtype.type(0.044715) * x * x * x))),
        ),
        "halves": gelu_of(
            lambda x: x * (x.dtype.type(0.5) + ERF(x * ROOT_HALF).astype(x.dtype) / 2),
            lambda x: x / 2 + x / 2 * np.tanh(x.dtype.type(ROOT_2_PI) * (x + x.dtype.type(0.044715) * x**3)),
        ),
    },
}


@pytest.mark.parametrize(
    ("op", "name"),
    [
        pytest.param(op, name, marks=() if op in FAST else pytest.mark.ci_only)
        for op, variants in RIGHT.items()
        for name in variants
    ],
)
def test_right_implementations_pass_every_case(op: str, name: str) -> None:
    """In every floating-point type; infinities are left to the readings of Gelu, Swish, Mish and SoftSign."""
    of_reals = [x for x in goldens(op) if x.output.type.kind == "float"]
    accused = [x for x in of_reals if not is_right(x, RIGHT[op][name])]
    assert [(x.output.element_type, x.data.shape, x.attributes) for x in accused] == []


def table(of: Callable[[Any], Any], low: float, high: float, count: int) -> Variant:
    """A function by the nearest of some values, and by the last ones outside."""

    def call(x: Any, *_: Any, **__: Any) -> Any:
        places = np.linspace(low, high, count)
        return np.where(np.isnan(x), x, of(places[np.abs(np.subtract.outer(np.clip(x, low, high), places)).argmin(-1)]))

    return call


def reals(of: Callable[[Any], Any]) -> Variant:
    """A wrong function of numbers, for integers as well."""
    return lambda x, _name, **_attributes: of(x if x.dtype != object else x.astype(np.float64))


def integers(of: Callable[[Any], Any], right: Variant) -> Variant:
    """A wrong function of integers beside a right one of floating-point numbers."""
    return lambda x, name, **attributes: of(x) if x.dtype == object else right(x, name, **attributes)


def clamp(x: Any, _name: str, **limits: float) -> Any:
    """Right, but for integers."""
    return np.where(
        np.isnan(x), x, np.where(x < limits["min"], limits["min"], np.where(x > limits["max"], limits["max"], x))
    )


def clamp_integers(least: Callable[[float], int], most: Callable[[float], int]) -> Variant:
    """Limits of integers that are rounded otherwise."""

    def call(x: Any, name: str, **limits: float) -> Any:
        if x.dtype != object:
            return clamp(x, name, **limits)
        return np.array([min(max(i, least(limits["min"])), most(limits["max"])) for i in x.ravel()], object)

    return call


def through(kind: Any) -> Callable[[Any], Any]:
    """Integers in another type and back."""
    return lambda x: np.array([int(i) for i in x.astype(kind).ravel()], object).reshape(x.shape)


def abramowitz(x: Any) -> Any:
    """The error function by Abramowitz and Stegun 7.1.26, with an absolute error of 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    sum_ = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.copysign(1 - sum_ * np.exp(-x * x), x)


def few_digits_of_pi(of: Callable[[Any], Any]) -> Variant:
    """A function of the remainder by a turn of f32, in f32."""
    turn = np.float32(2 * math.pi)
    return reals(lambda x: of(narrow(x) - turn * np.rint(narrow(x) / turn)))


def by_integer(integer: Callable[[int, ElementType], int], real: Callable[[Any], Any]) -> Variant:
    """A function of each integer, and one of arrays of floating-point numbers."""

    def call(x: Any, name: str) -> Any:
        kind = ELEMENT_TYPES[name]
        return (
            real(x) if x.dtype != object else np.array([integer(i, kind) for i in x.ravel()], object).reshape(x.shape)
        )

    return call


def signed(integer: int, kind: ElementType) -> int:
    """An integer of an unsigned type, read as a signed one."""
    return integer - (1 << kind.bits) if integer >> (kind.bits - 1) == 1 else integer


def low_byte(integer: int) -> int:
    """The low 8 bits, with a sign."""
    return (integer + 128) % 256 - 128


def nearest_root(integer: int) -> int:
    """The square root, rounded to the nearest integer."""
    return int(mpmath.nint(mpmath.sqrt(integer)))


def relu(x: Any) -> Any:
    """Of floating-point numbers."""
    return np.where(np.isnan(x) | (x > 0), x, 0.0)


GELU = RIGHT["Gelu-7"]["f64"]
F32_LEAST = float(np.finfo(np.float32).tiny)
#: Wrong implementations.
WRONG: Mapping[str, Mapping[str, Variant]] = {
    "Abs-1": {
        "the least integer saturates": by_integer(lambda i, kind: min(abs(i), kind.maximum), np.abs),
        "unsigned integers are read as signed": by_integer(lambda i, kind: abs(signed(i, kind)), np.abs),
        "minus zero stays": lambda x, _: np.where(x < 0, -x, x),
        "denormals are lost": by_integer(lambda i, _: abs(i), lambda x: np.where(np.abs(x) < F32_LEAST, 0, np.abs(x))),
        "integers through f32": integers(lambda x: np.abs(through(np.float32)(x)), lambda x, _: np.abs(x)),
        "a NaN becomes 0": by_integer(lambda i, _: abs(i), lambda x: np.where(np.isnan(x), 0, np.abs(x))),
    },
    "Negative-1": {
        "0 minus the element": lambda x, _: 0 - x,
        "integers through f64": integers(lambda x: -through(np.float64)(x), lambda x, _: -x),
        "the least integer saturates": by_integer(lambda i, kind: min(-i, kind.maximum), np.negative),
        "the complement": integers(lambda x: -x - 1, lambda x, _: -x),
        "infinities stay": lambda x, _: np.where(np.isinf(x.astype(np.float64)), x, -x),
    },
    "ReLU-1": {
        "a NaN becomes 0": reals(lambda x: np.where(x > 0, x, 0)),
        "minus zero stays": lambda x, _: np.where(x < 0, 0, x),
        "leaky": by_integer(lambda i, _: max(i, 0), lambda x: np.where(x < 0, x * 0.01, np.where(x == 0, 0, x))),
        "limited to 6": lambda x, _: np.minimum(np.where(x <= 0, 0, x), 6),
        "unsigned integers are read as signed": by_integer(lambda i, kind: max(signed(i, kind), 0), relu),
        "negative zeros": by_integer(lambda i, _: max(i, 0), lambda x: np.where(x > 0, x, x * 0)),
    },
    "Clamp-1": {
        "limits lose their fractions": clamp_integers(math.trunc, math.trunc),
        "limits are rounded outwards": clamp_integers(math.floor, math.ceil),
        "limits are rounded to the nearest": clamp_integers(round, round),
        "limits keep their low 8 bits": clamp_integers(
            lambda x: low_byte(math.ceil(x)), lambda x: low_byte(math.floor(x))
        ),
        "a NaN becomes the lower limit": lambda x, _, **limits: clamp_integers(math.ceil, math.floor)(
            x if x.dtype == object else np.where(np.isnan(x), limits["min"], x), _, **limits
        ),
        "only the upper limit": lambda x, _, **a: np.where(x > a["max"], math.floor(a["max"]), x),
        "swapped limits": lambda x, _, **a: np.where(x < a["max"], a["max"], np.where(x > a["min"], a["min"], x)),
        "integers through f32": integers(through(np.float32), clamp),
    },
    "Sqrt-1": {
        "by the reciprocal": reals(lambda x: x * (1 / np.sqrt(x))),
        "truncated": by_integer(lambda i, _: nearest_root(i), lambda x: np.nextafter(narrow(np.sqrt(x)), narrow(0))),
        "integers lose their fractions": by_integer(lambda i, _: math.isqrt(i), np.sqrt),
        "integers through f32": by_integer(lambda i, _: math.floor(np.sqrt(np.float32(i)) + np.float32(0.5)), np.sqrt),
        "integers through f64": by_integer(lambda i, _: round(math.sqrt(i)), np.sqrt),
        "denormals are lost": by_integer(
            lambda i, _: nearest_root(i), lambda x: np.sqrt(np.where(x < F32_LEAST, 0 * x, x))
        ),
        "in 11 bits": reals(lambda x: np.sqrt(x.astype(np.float16)) if (x < 6e4).all() else np.sqrt(x)),
    },
    "Exp-1": {
        "flushed below -87": lambda x, _: np.where(x < -87, 0, np.exp(x)),
        "limited to 88": lambda x, _: np.exp(np.minimum(x, 88)),
        "by a power": lambda x, _: (1 + x / 1024) ** 1024,
        "by a table": table(np.exp, -10, 10, 4096),
        "1 plus the number where it is small": lambda x, _: np.where(np.abs(x) < 0.02, 1 + x, np.exp(x)),
        "a NaN becomes infinity": lambda x, _: np.where(np.isnan(x), math.inf, np.exp(x)),
    },
    "Log-1": {
        "log2 and a factor in bf16": reals(lambda x: np.log2(x) * 0.69140625),
        "log2 and a factor in f16": reals(lambda x: np.log2(x) * float(np.float16(math.log(2)))),
        "log10": reals(np.log10),
        "of 1e-7 more": reals(lambda x: np.log(x + 1e-7)),
        "denormals are lost": lambda x, _: np.log(np.where((x > 0) & (x < F32_LEAST), 0, x).astype(np.float64)),
        "a sum that cancels near 1": reals(
            lambda x: narrow(np.log(np.frexp(x)[0])) + narrow(np.frexp(x)[1] * math.log(2))
        ),
    },
    "Tanh-1": {
        "by a table of 256 entries": table(np.tanh, -4, 4, 256),
        "by a table of 65,536 entries": reals(lambda x: np.tanh(np.rint(x * 3276.8) / 3276.8)),
        "the formula, which cancels": lambda x, _: 2 / (1 + np.exp(-2 * narrow(x))) - 1,
        "saturates at 4": reals(lambda x: np.where(np.abs(x) > 4, np.sign(x), np.tanh(x))),
        "the number near 0": reals(lambda x: np.where(np.abs(x) < 0.02, x, np.tanh(x))),
        "of more than 88": reals(lambda x: (np.exp(2 * narrow(x)) - 1) / (np.exp(2 * narrow(x)) + 1)),
        "integers lose their fractions": by_integer(lambda i, _: math.trunc(math.tanh(i)), np.tanh),
    },
    "Erf-1": {
        "Abramowitz and Stegun": reals(abramowitz),
        "the factor of the page": reals(lambda x: ERF(x) / math.sqrt(math.pi)),
        "by tanh": reals(lambda x: np.tanh(1.1283791670955126 * x + 0.1009 * x**3)),
        "saturates at 3": reals(lambda x: np.where(np.abs(x) > 3, np.sign(x), ERF(x))),
        "not of the negative": reals(lambda x: ERF(np.abs(x))),
    },
    "Sigmoid-1": {
        "by tanh": in_type(lambda x: x.dtype.type(0.5) + np.tanh(x / 2) / 2),
        "hard": lambda x, _: np.clip(x / 6 + 0.5, 0, 1),
        "limited to 16": lambda x, _: 1 / (1 + np.exp(-np.clip(x, -16, 16))),
        "by a table of 1,024 entries": table(lambda x: 1 / (1 + np.exp(-x)), -8, 8, 1024),
        "flushed below -20": lambda x, _: np.where(x < -20, 0, 1 / (1 + np.exp(-x))),
        "exp of the positive": in_type(lambda x: np.exp(x) / (1 + np.exp(x))),
    },
    "Sin-1": {
        "the cosine": reals(np.cos),
        "of degrees": reals(lambda x: np.sin(np.radians(x))),
        "not of the negative": reals(lambda x: np.sin(np.abs(x))),
        "the number near 0": reals(lambda x: np.where(np.abs(x) < 0.6, x, np.sin(x))),
        "few digits of pi": few_digits_of_pi(np.sin),
        "integers lose their fractions": by_integer(lambda i, _: math.trunc(math.sin(i)), np.sin),
    },
    "Cos-1": {
        "the sine": reals(np.sin),
        "of degrees": reals(lambda x: np.cos(np.radians(x))),
        "1 near 0": reals(lambda x: np.where(np.abs(x) < 0.6, 1, np.cos(x))),
        "few digits of pi": few_digits_of_pi(np.cos),
        "integers lose their fractions": by_integer(lambda i, _: math.trunc(math.cos(i)), np.cos),
    },
    "Tan-1": {
        "the inverse": reals(np.arctan),
        "the cotangent": reals(lambda x: 1 / np.tan(x)),
        "the hyperbolic one": reals(np.tanh),
        "the number near 0": reals(lambda x: np.where(np.abs(x) < 0.6, x, np.tan(x))),
        "few digits of pi": few_digits_of_pi(np.tan),
        "integers lose their fractions": by_integer(lambda i, _: math.trunc(math.tan(i)), np.tan),
    },
    "SoftPlus-4": {
        "without a threshold": in_type(lambda x: np.log(np.exp(x) + 1)),
        "the threshold is 5": reals(lambda x: np.where(x > 5, x, np.log1p(np.exp(x)))),
        "of base 2": reals(lambda x: np.logaddexp2(x, 0)),
        "ReLU": reals(lambda x: np.maximum(x, 0)),
        "0 below -5": reals(lambda x: np.where(x < -5, 0, np.logaddexp(x, 0))),
        "by a table of 1,024 entries": table(lambda x: np.logaddexp(x, 0), -8, 8, 1024),
    },
    "Elu-1": {
        "alpha is 1": reals(lambda x: np.where(x > 0, x, np.expm1(x))),
        "the exponential alone": lambda x, _, alpha: np.where(x > 0, x, alpha * np.exp(x)),
        "leaky": lambda x, _, alpha: np.where(x > 0, x, alpha * x),
        "alpha of positive numbers": lambda x, _, alpha: alpha * np.where(x > 0, x, np.expm1(x)),
        "-alpha below -2": lambda x, _, alpha: np.where(x > 0, x, np.where(x < -2, -alpha, alpha * np.expm1(x))),
        "alpha in the exponent": lambda x, _, alpha: np.where(x > 0, x, np.expm1(alpha * x)),
    },
    "Swish-4": {
        "beta is 1": reals(lambda x: x / (1 + np.exp(-x))),
        "beta is a factor": lambda x, _, beta=1: beta * x / (1 + np.exp(-x)),
        "the default is 1.702": lambda x, _, beta=1.702: x / (1 + np.exp(-beta * x)),
        "the sigmoid": lambda x, _, beta=1: 1 / (1 + np.exp(-beta * x)),
        "hard": lambda x, _, beta=1: x * np.clip(beta * x / 6 + 0.5, 0, 1),
        "0 below -5": lambda x, _, beta=1: np.where(x < -5, 0, x / (1 + np.exp(-beta * x))),
    },
    "Mish-4": {
        "Swish": reals(lambda x: x / (1 + np.exp(-x))),
        "without SoftPlus": reals(lambda x: x * np.tanh(np.exp(x))),
        "the square overflows": in_type(
            lambda x: x * (np.exp(x) ** 2 + 2 * np.exp(x)) / (np.exp(x) * (np.exp(x) + 2) + 2)
        ),
        "0 below -2.5": reals(lambda x: np.where(x < -2.5, 0, x * np.tanh(np.logaddexp(x, 0)))),
        "the number above 1": reals(lambda x: np.where(x > 1, x, x * np.tanh(np.logaddexp(x, 0)))),
    },
    "SoftSign-9": {
        "tanh": reals(np.tanh),
        "of the square": reals(lambda x: x / np.sqrt(1 + x * x)),
        "without the absolute value": reals(lambda x: x / (1 + x)),
        "the square overflows": in_type(lambda x: x * x / (x + np.sign(x) * x * x)),
        "not of the negative": reals(lambda x: np.abs(x) / (1 + np.abs(x))),
    },
    "Gelu-7": {
        "tanh in place of erf": lambda x, _, **__: GELU(x, _, approximation_mode="tanh"),
        "erf in place of tanh": lambda x, _, **__: GELU(x, _),
        "the default is tanh": lambda x, _, **a: GELU(x, _, **{"approximation_mode": "tanh", **a}),
        "by a sigmoid": lambda x, _, **__: x / (1 + np.exp(-1.702 * x)),
        "0 below -3": lambda x, _, **a: np.where(x < -3, 0, GELU(x, _, **a)),
        "the number above 3": lambda x, _, **a: np.where(x > 3, x, GELU(x, _, **a)),
        "a short constant": lambda x, _, **__: x / 2 * (1 + np.tanh(0.8 * (x + 0.0447 * x**3))),
    },
}


def wrong() -> Iterator[tuple[str, str]]:
    """The wrong implementations, by operation and name."""
    return ((op, name) for op, variants in WRONG.items() for name in variants)


@pytest.mark.parametrize(
    ("op", "name"),
    [pytest.param(op, name, marks=() if op in FAST else pytest.mark.ci_only) for op, name in wrong()],
)
def test_wrong_implementations_fail_a_case(op: str, name: str) -> None:
    """Of the cases that the operation ships, in another type than f64, in which what is computed in f32 is wrong anyway."""
    assert not all(is_right(x, WRONG[op][name]) for x in goldens(op) if x.output.element_type != "f64")


def test_a_wrong_one_is_wrong_alone() -> None:
    """The exact operations by numpy pass, so that the wrong ones fail for what their names say."""
    exact: Mapping[str, Variant] = {
        "Abs-1": lambda x, _: np.abs(x),
        "Negative-1": lambda x, _: -x,
        "ReLU-1": by_integer(lambda i, _: max(i, 0), relu),
        "Clamp-1": clamp_integers(math.ceil, math.floor),
        "Sqrt-1": by_integer(lambda i, _: nearest_root(i), np.sqrt),
    }
    with mpmath.workprec(PRECISION):
        for op, variant in exact.items():
            assert all(is_right(x, variant) for x in goldens(op)), op


@pytest.mark.parametrize(("least", "most"), [(-2.0, -1.0), (256.0, 300.0)])
def test_limits_beyond_an_unsigned_type_leave_no_result(least: float, most: float) -> None:
    """The nearest limit is no integer of the type."""
    clamp = OPERATIONS["Clamp-1"]
    data = Tensor(element_type="u8", array=np.array([1], np.uint8))
    operand = Operand(element_type="u8", shape=(1,), tensor=data)

    with pytest.raises(NoGolden, match="undefined"):
        clamp.evaluate(clamp.arguments({"data": operand}, {"min": least, "max": most}))
    [output] = clamp.evaluate(clamp.arguments({"data": operand}, {"min": -2.0, "max": 300.0}))
    assert output.integers() == [1]
