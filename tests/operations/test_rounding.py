"""The operations that round to integers, tell classes, invert, and the activations of lines: goldens, and variants."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import numbers
from opconform.tensors.rounding import nearest
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.backend import FUNCTIONS
from opconform_runners.backends.numpy.convert import number_array
from opconform_runners.verdicts.rounding_error import errors_of
from tests.operations.test_binary import goldens, is_caught, rewritten, without_tail

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[[Sequence[Any], Mapping[str, Any]], list[Tensor]]
_MODES = {"half_to_even": ROUND_HALF_EVEN, "half_away_from_zero": ROUND_HALF_UP}


def is_infinite(x: Decimal, *, detect_negative: bool, detect_positive: bool) -> bool:
    """Whether a number is an infinity that the attributes ask for."""
    return x.is_infinite() and (detect_negative if x.is_signed() else detect_positive)


#: The operations of one element whose results are exact, by the module `decimal`.
EXACT: Mapping[str, Callable[..., Any]] = {
    "Floor-1": lambda x: x.to_integral_value(ROUND_FLOOR),
    "Ceiling-1": lambda x: x.to_integral_value(ROUND_CEILING),
    "Round-5": lambda x, mode: x.to_integral_value(_MODES[mode]),
    "Sign-1": lambda x: x.compare(Decimal(0)),
    "IsNaN-10": Decimal.is_nan,
    "IsFinite-10": Decimal.is_finite,
    "IsInf-10": is_infinite,
    "LogicalNot-1": lambda x: not x,
}


def elements(tensor: Tensor) -> list[Any]:
    """The elements as numbers of Python."""
    return list(number_array(tensor).ravel().tolist())


def cases(op: str) -> list[tuple[Mapping[str, Tensor], Mapping[str, Any], Tensor]]:
    """The inputs, the attributes and the output of the valid core cases of an operation's own groups."""
    valid = [x for x in goldens(op) if x.draft.rejected_for is None]
    attributes = [OPERATIONS[op].arguments({}, x.draft.attributes).attributes for x in valid]
    return [(x.inputs[0], y, x.outputs[0][0]) for x, y in zip(valid, attributes, strict=True)]


@pytest.mark.parametrize("op", EXACT)
def test_exact_results_are_those_of_decimal(op: str) -> None:
    """Every element of every valid case, with the sign of zeros."""
    for inputs, attributes, output in cases(op):
        expected = [EXACT[op](Decimal(x), **attributes) for x in elements(inputs["data"])]
        if output.type.kind == "float":
            floats = np.array([float(x) for x in expected])
            actual = numbers(output).ravel()
            assert np.array_equal(actual, floats, equal_nan=True)
            assert np.array_equal(np.signbit(actual[actual == 0]), np.signbit(floats[actual == 0]))
        else:
            assert elements(output) == [int(x) for x in expected]


def test_inverted_bits_are_those_of_numpy() -> None:
    """In the type itself."""
    for inputs, _, output in cases("BitwiseNot-13"):
        data = inputs["data"].array
        assert np.array_equal(output.array, np.invert(data)), output.element_type


def line(x: Fraction, slope: Fraction, offset: Fraction, most: int) -> Fraction:
    """A line with the limits 0 and another one."""
    return min(max(slope * x + offset, Fraction(0)), Fraction(most))


#: The activations by fractions, of finite elements and the scalars or slopes beside them.
FINITE: Mapping[str, Callable[..., Fraction]] = {
    "PReLU-1": lambda x, slope: x if x >= 0 else slope * x,
    "HardSigmoid-1": lambda x, alpha, beta: line(x, alpha, beta, 1),
    "HSigmoid-5": lambda x: line(x, Fraction(1), Fraction(3), 6) / 6,
    "HSwish-4": lambda x: x * line(x, Fraction(1), Fraction(3), 6) / 6,
}


def operands(op: str, inputs: Mapping[str, Tensor]) -> list[Array]:
    """The inputs as numbers of f64, in the shape of data."""
    data, *others = (number_array(inputs[port.name]) for port in OPERATIONS[op].inputs)
    if op == "PReLU-1" and others[0].ndim == 1 and others[0].shape == data.shape[1:2]:
        others = [others[0].reshape(-1, *[1] * (data.ndim - 2))]
    return [data, *(np.broadcast_to(x, data.shape) for x in others)]


@pytest.mark.parametrize("op", FINITE)
def test_activations_are_those_of_fractions(op: str) -> None:
    """The golden of each finite element is the exact result rounded once, and the bounds are narrow around it."""
    for inputs, _, output in cases(op):
        arrays = [x.ravel().tolist() for x in operands(op, inputs)]
        lower, upper = (
            numbers(Tensor(element_type=output.element_type, array=x)).ravel().tolist()
            for x in output.bounds or (output.array,) * 2
        )
        for number, (golden, *row) in enumerate(zip(numbers(output).ravel().tolist(), *arrays, strict=True)):
            if not all(map(math.isfinite, row)):
                continue
            exact = FINITE[op](*map(Fraction, row))
            assert golden == rounded(output.type, exact)
            assert lower[number] <= golden <= upper[number]
            if abs(exact) > float(output.type.layout.smallest_normal) and op != "HardSigmoid-1":
                assert upper[number] - lower[number] <= 16 * float(output.type.layout.eps) * abs(golden)


def rounded(kind: ElementType, exact: Fraction) -> float:
    """The nearest number of a type; an infinity beyond its range."""
    number = float(nearest(kind, exact))  # type: ignore[arg-type]
    return number if abs(number) <= float(kind.layout.max) else math.copysign(math.inf, number)


def in_type(of: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of f32, or of f64 for f64."""
    return lambda name, *arrays: of(*(x if name == "f64" else x.astype(np.float32) for x in arrays))


def limited(x: Any) -> Any:
    """The number plus 3, limited to 0 and 6."""
    return np.minimum(np.maximum(x + x.dtype.type(3), x.dtype.type(0)), x.dtype.type(6))


#: Right kernels, as real ones differ.
RIGHT: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("HardSigmoid-1", "the type"): in_type(lambda x, a, b: np.clip(a * x + b, 0, 1)),
    ("HardSigmoid-1", "f64"): lambda _, x, a, b: np.clip(a * x + b, 0, 1),
    ("HSigmoid-5", "the type"): in_type(lambda x: limited(x) / x.dtype.type(6)),
    ("HSigmoid-5", "a reciprocal"): in_type(lambda x: limited(x) * x.dtype.type(1 / 6)),
    ("HSigmoid-5", "a reciprocal that is rounded down"): in_type(
        lambda x: limited(x) * np.nextafter(x.dtype.type(1 / 6), x.dtype.type(0))
    ),
    ("HSigmoid-5", "f64"): lambda _, x: limited(x) / 6,
    ("HSwish-4", "the type"): in_type(lambda x: x * (limited(x) / x.dtype.type(6))),
    ("HSwish-4", "a division in the end"): in_type(
        lambda x: np.where(np.abs(x) > 1e37, x * (limited(x) / x.dtype.type(6)), x * limited(x) / x.dtype.type(6))
    ),
    ("HSwish-4", "a reciprocal"): in_type(lambda x: x * (limited(x) * x.dtype.type(1 / 6))),
    ("HSwish-4", "f64"): lambda _, x: x * (limited(x) / 6),
}


@pytest.mark.parametrize(("op", "name"), RIGHT)
def test_right_kernels_pass_every_case(op: str, name: str) -> None:
    """In every floating-point type."""
    for inputs, _, output in cases(op):
        with np.errstate(all="ignore"):
            results = RIGHT[op, name](output.element_type, *operands(op, inputs))
            [actual] = result_of(output.element_type, np.asarray(results, np.float64))
        errors = errors_of(output.array, actual.array, output.bounds or (output.array,) * 2, output.type)
        assert errors.max(initial=0) <= 1, (inputs["data"].shape, output.element_type)


def kernel(of: Callable[..., Any], output: str | None = None) -> Function:
    """A function of the elements as f64 or integers of 64 bits, and of the attributes."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        with np.errstate(all="ignore"):
            results = np.asarray(of(*map(number_array, inputs), **attributes))
            return result_of(output or inputs[0].element_type, results)

    return call


def of_floats(of: Callable[..., Any], output: str | None = None) -> Function:
    """A wrong function of floating-point numbers; integers stay."""
    return kernel(lambda x, **attributes: of(x, **attributes) if x.dtype.kind == "f" else x, output)


def of_integers(op: str, of: Callable[[Any], Any]) -> Function:
    """A wrong function of integers beside a right one of floating-point numbers."""
    wrong = kernel(of)
    return lambda inputs, attributes: (
        wrong(inputs, attributes) if inputs[0].type.is_integer else list(FUNCTIONS[op](inputs, attributes))
    )


def through_f32(x: Any) -> Any:
    """Integers in f32 and back."""
    return x.astype(np.float32).astype(np.float64)


def half_away(x: Any) -> Any:
    """The sum with one half without its fraction, which is wrong next to a half."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def one_pattern(inputs: Sequence[Any], _: Mapping[str, Any]) -> list[Tensor]:
    """The NaN that processors give is told alone."""
    with np.errstate(invalid="ignore"):
        [nan] = result_of(inputs[0].element_type, np.array(math.nan))
    return [Tensor(element_type="boolean", array=inputs[0].array == nan.array)]


def sloped(data: Any, slope: Any, **_: Any) -> Any:
    """Slopes by the rules of numpy alone, or of the channels where these rules do not fit."""
    try:
        wide = np.broadcast_to(slope, data.shape)
    except ValueError:
        wide = slope.reshape(-1, *[1] * (data.ndim - 2))
    return np.where(data < 0, data * wide, data)


def prelu(of: Callable[[Any, Any], Any]) -> Function:
    """A wrong function of elements and their slopes, of which inputs that do not fit are rejected."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        [right] = FUNCTIONS["PReLU-1"](inputs, attributes)
        with np.errstate(all="ignore"):
            named = dict(zip(("data", "slope"), inputs, strict=True))
            return result_of(right.element_type, np.asarray(of(*operands("PReLU-1", named))))

    return call


#: Wrong implementations.
MUTANTS: Mapping[tuple[str, str], Function] = {
    ("Floor-1", "towards zero"): of_floats(np.trunc),
    ("Floor-1", "a conversion to i32"): of_floats(lambda x: np.floor(np.clip(x, -(2**31), 2**31 - 1))),
    ("Floor-1", "of a little more"): of_floats(lambda x: np.floor(x + 1e-6)),
    ("Floor-1", "1 less for every negative number"): of_floats(lambda x: np.trunc(x) - (x < 0)),
    ("Floor-1", "the nearest integer"): of_floats(np.rint),
    ("Floor-1", "integers through f32"): of_integers("Floor-1", through_f32),
    ("Floor-1", "no tail"): rewritten("Floor-1", without_tail),
    ("Ceiling-1", "the floor and 1"): of_floats(lambda x: np.floor(x) + 1),
    ("Ceiling-1", "towards zero"): of_floats(np.trunc),
    ("Ceiling-1", "of a little less"): of_floats(lambda x: np.ceil(x - 1e-6)),
    ("Ceiling-1", "integers through f32"): of_integers("Ceiling-1", through_f32),
    ("Ceiling-1", "positive zeros"): of_floats(lambda x: np.ceil(x) + 0.0),
    ("Round-5", "half up"): of_floats(lambda x, **_: np.floor(x + 0.5)),
    ("Round-5", "even in both modes"): of_floats(lambda x, **_: np.rint(x)),
    ("Round-5", "away in both modes"): of_floats(lambda x, **_: half_away(x)),
    ("Round-5", "a sum with one half"): of_floats(lambda x, mode: np.rint(x) if "even" in mode else half_away(x)),
    ("Round-5", "integers through f32"): of_integers("Round-5", lambda x, **_: through_f32(x)),
    ("Sign-1", "a NaN becomes 0"): kernel(lambda x: np.nan_to_num(np.sign(x)) + (x.dtype.type(0))),
    ("Sign-1", "unsigned integers are read as signed"): of_integers("Sign-1", lambda x: np.sign(x.astype(np.int64))),
    ("Sign-1", "denormals lost"): kernel(lambda x: np.sign(np.where(np.abs(x) < 1e-37, 0, x)) + x.dtype.type(0)),
    ("Sign-1", "zeros are positive numbers"): kernel(lambda x: np.where(x >= 0, 1, np.sign(x))),
    ("Sign-1", "infinities stay"): of_floats(lambda x: np.where(np.isinf(x), x, np.sign(x) + 0.0)),
    ("IsNaN-10", "infinities too"): kernel(lambda x: ~np.isfinite(x), "boolean"),
    ("IsNaN-10", "one pattern"): one_pattern,
    ("IsNaN-10", "no tail"): rewritten("IsNaN-10", without_tail),
    ("IsFinite-10", "infinities too"): kernel(lambda x: ~np.isnan(x), "boolean"),
    ("IsFinite-10", "in f16"): kernel(lambda x: np.isfinite(x.astype(np.float16)), "boolean"),
    ("IsFinite-10", "not the largest number"): kernel(lambda x: np.abs(x) < 65504, "boolean"),
    ("IsInf-10", "NaN too"): kernel(lambda x, **_: ~np.isfinite(x), "boolean"),
    ("IsInf-10", "both always"): kernel(lambda x, **_: np.isinf(x), "boolean"),
    ("IsInf-10", "signs exchanged"): kernel(
        lambda x, detect_negative, detect_positive: np.isinf(x) & np.where(x > 0, detect_negative, detect_positive),
        "boolean",
    ),
    ("IsInf-10", "negative by default alone"): kernel(
        lambda x, detect_negative, detect_positive: (
            np.isneginf(x) if detect_negative else np.isposinf(x) & detect_positive
        ),
        "boolean",
    ),
    ("LogicalNot-1", "the same"): kernel(lambda x: x),
    ("LogicalNot-1", "no tail"): rewritten("LogicalNot-1", without_tail),
    ("BitwiseNot-13", "the negative"): kernel(operator.neg),
    ("BitwiseNot-13", "the low byte"): kernel(lambda x: x ^ x.dtype.type(255)),
    ("BitwiseNot-13", "integers that are not 0 are true"): kernel(lambda x: x == 0),
    ("PReLU-1", "the rules of numpy first"): kernel(sloped),
    ("PReLU-1", "the slope of the first element"): prelu(lambda x, s: np.where(x < 0, x * s.reshape(-1)[:1], x)),
    ("PReLU-1", "no products"): prelu(lambda x, _: np.where(x < 0, 0, x)),
    ("PReLU-1", "every element"): prelu(operator.mul),
    ("PReLU-1", "the larger one"): prelu(lambda x, s: np.maximum(x, x * s)),
    ("PReLU-1", "the second formula"): prelu(lambda x, s: np.maximum(x, 0) + s * np.minimum(x, 0)),
    ("HardSigmoid-1", "other defaults"): kernel(lambda x, _alpha, _beta: np.clip(0.2 * x + 0.5, 0, 1)),
    ("HardSigmoid-1", "no upper limit"): kernel(lambda x, a, b: np.maximum(a * x + b, 0)),
    ("HardSigmoid-1", "alpha and beta exchanged"): kernel(lambda x, a, b: np.clip(b * x + a, 0, 1)),
    ("HSigmoid-5", "no upper limit"): kernel(lambda x: np.maximum(x + 3, 0) / 6),
    ("HSigmoid-5", "a fifth"): kernel(lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    ("HSigmoid-5", "of limited numbers"): kernel(lambda x: np.clip(x, 0, 6) / 6),
    ("HSwish-4", "without the factor"): kernel(lambda x: limited(x) / 6),
    ("HSwish-4", "the function of a sigmoid"): kernel(lambda x: x / (1 + np.exp(-x))),
    ("HSwish-4", "limited to 6"): kernel(lambda x: np.minimum(x, 6) * limited(x) / 6),
    ("HSwish-4", "products that overflow"): kernel(
        lambda x: np.where(np.abs(x) > 6e37, np.copysign(math.inf, x) * limited(x), x * limited(x) / 6)
    ),
}


@pytest.mark.parametrize("op", sorted({op for op, _ in MUTANTS}))
def test_the_numpy_backend_passes(op: str) -> None:
    """And so the mutants below fail for their faults."""
    assert not is_caught(op, FUNCTIONS[op])  # type: ignore[arg-type]


@pytest.mark.parametrize(("op", "fault"), MUTANTS)
def test_mutants_are_caught(op: str, fault: str) -> None:
    """By at least one core case of the operation."""
    assert is_caught(op, MUTANTS[op, fault])
