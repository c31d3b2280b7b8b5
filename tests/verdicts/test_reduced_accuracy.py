"""What faulty and less accurate kernels break: by the golden outputs of an operation, its bounds, and the reduced ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand
from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.verdicts.comparison import mismatch_of

#: Random numbers of a normal distribution, in f32.
NORMAL = np.random.default_rng(0).standard_normal((4, 400)).astype(np.float32)
#: Small integers, of which every order has the exact sum.
SMALL = np.random.default_rng(1).integers(-4, 5, (4, 400)).astype(np.float32)
MVN: Mapping[str, Attribute] = {"normalize_variance": True, "eps": 1e-6, "eps_mode": "inside_sqrt"}
CONVOLUTION: Mapping[str, Attribute] = {
    "strides": (1,),
    "pads_begin": (0,),
    "pads_end": (0,),
    "dilations": (1,),
    "auto_pad": "explicit",
}


def golden(op: str, inputs: Sequence[Array], attributes: Mapping[str, Attribute], axes: Sequence[int] = ()) -> Tensor:
    """The output of an operation for inputs of f32, or of the type of the first one."""
    operation = OPERATIONS[op]
    kind = next(x for x in ELEMENT_TYPES.values() if x.arithmetic == inputs[0].dtype)
    tensors = {
        port.name: Tensor(element_type=kind.name, array=np.ascontiguousarray(array).view(kind.storage))
        for port, array in zip((x for x in operation.inputs if not x.setting), inputs, strict=True)
    }
    if axes:
        tensors["axes"] = Tensor(element_type="i64", array=np.array(axes))
    operands = {
        name: Operand(
            element_type=x.element_type,
            shape=x.shape,
            integers=tuple(axes) if name == "axes" else None,
            tensor=x,
        )
        for name, x in tensors.items()
    }
    [output] = operation.evaluate(operation.arguments(operands, attributes))
    return output


def reason(output: Tensor, actual: Any) -> str | None:
    """Why an actual output fails; None if it is right."""
    array = np.asarray(actual).astype(output.type.arithmetic).reshape(output.shape).view(output.type.storage)
    bounds = output.bounds or (output.array,) * 2
    found = mismatch_of([output.array], [array], [output.element_type], bounds=[bounds], reduced=[output.reduced])
    return None if found is None else found.reason


def in_bf16(array: Array) -> Array:
    """The numbers as operands of eight significant bits."""
    return array.astype(ml_dtypes.bfloat16).astype(np.float32)


def in_tf32(array: Array) -> Array:
    """The numbers as operands of eleven significant bits."""
    return ((array.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def without_a_tenth(array: Array) -> Array:
    """Numbers of which every tenth one beyond 300 is dropped."""
    kept = array.copy()
    kept[..., 300::10] = 0
    return kept


def convolved(data: Array, filters: Array) -> Array:
    """The convolution of each row with one filter, in f64."""
    return np.stack([np.convolve(row, filters[::-1], "valid") for row in data.astype(np.float64)])


@pytest.mark.parametrize("op", ["ReduceSum-1", "ReduceMean-1"])
@pytest.mark.parametrize("data", [np.abs(NORMAL), SMALL, np.abs(SMALL)])
def test_a_sum_without_some_terms_is_wrong(op: str, data: Array) -> None:
    """Also where its bound is wide, since many terms are added; a sum in another order is right."""
    output = golden(op, [data], {}, (1,))
    of = np.mean if op == "ReduceMean-1" else np.sum

    assert reason(output, of(without_a_tenth(data), 1)) == "value"
    assert reason(output, of(data[:, ::-1], 1)) is None


def test_a_convolution_without_some_terms_is_wrong() -> None:
    """And one in bf16 or tf32 is less accurate, as a MatMul is."""
    filters = np.abs(NORMAL[0, :380])
    output = golden("Convolution-1", [NORMAL[:, np.newaxis], filters[np.newaxis, np.newaxis]], CONVOLUTION)
    product = golden("MatMul-1", [NORMAL, NORMAL[:1].T.copy()], {})
    positive = golden("Convolution-1", [np.abs(NORMAL)[:, np.newaxis], filters[np.newaxis, np.newaxis]], CONVOLUTION)

    assert reason(positive, convolved(np.abs(NORMAL), without_a_tenth(filters))) == "value"
    for narrow in (in_bf16, in_tf32):
        assert reason(output, convolved(narrow(NORMAL), narrow(filters))) == "rounding"
        assert reason(product, narrow(NORMAL) @ narrow(NORMAL[:1].T)) == "rounding"


def test_integers_of_more_than_eight_bits_are_less_accurate_in_bf16() -> None:
    """Those of eight bits are not, so that another sum of them is wrong."""
    large, small = np.array([[1001.0, 513.0, 3.0]], np.float32), np.array([[100.0, 51.0, 3.0]], np.float32)
    ones = np.ones((3, 1), np.float32)

    assert reason(golden("MatMul-1", [large, ones], {}), in_bf16(large) @ ones) == "rounding"
    assert reason(golden("MatMul-1", [small, ones], {}), small @ ones + 1) == "value"


def test_a_winograd_convolution_is_less_accurate() -> None:
    """Of small integers, whose sums are exact in every other order: F(4, 3) divides by 24."""
    data, filters = SMALL.reshape(-1)[:1200].reshape(200, 6), np.array([1.0, -3.0, 5.0], np.float32)
    output = golden("Convolution-1", [data[:, np.newaxis], filters[np.newaxis, np.newaxis]], CONVOLUTION)
    of_data = np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        np.float32,
    )
    of_filters = np.array(
        [
            [1 / 4, 0, 0],
            [-1 / 6, -1 / 6, -1 / 6],
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ],
        np.float32,
    )
    of_output = np.array(
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]], np.float32
    )
    winograd = (of_output @ ((of_filters @ filters)[:, np.newaxis] * (of_data @ data.T))).T

    assert reason(output, convolved(data, filters)) is None
    assert not np.array_equal(winograd, convolved(data, filters))
    assert reason(output, winograd) == "rounding"


def test_a_mean_that_divides_first_is_less_accurate() -> None:
    """Or keeps a running mean; the exact result is a number of the type."""
    data = np.full((1, 10), 3.0, np.float32)
    output = golden("ReduceMean-1", [np.concatenate([data, -data], 1)], {}, (1,))
    running = np.float32(0)
    for count, x in enumerate(np.concatenate([data, -data], 1)[0], 1):
        running += (x - running) / np.float32(count)

    assert running != 0
    assert reason(output, [running]) in (None, "rounding")
    assert reason(output, [0.01]) == "value"


@pytest.mark.parametrize("op", ["Log-1", "Erf-1", "Tanh-1", "Sigmoid-1", "Exp-1", "Sqrt-1"])
def test_a_function_with_four_digits_is_less_accurate(op: str) -> None:
    """And one that is wrong in the second digit is wrong."""
    output = golden(op, [np.abs(NORMAL[0]) + np.float32(0.25)], {})
    right = output.array.astype(np.float64)

    assert reason(output, right * (1 - 1e-4)) == "rounding"
    assert reason(output, right * 0.95) == "value"


def test_a_power_with_three_digits_is_less_accurate() -> None:
    """And another power is wrong."""
    bases, exponents = np.abs(NORMAL[0]) + np.float32(0.5), NORMAL[1]
    output = golden("Power-1", [bases, exponents], {})

    assert reason(output, output.array * 1.001) == "rounding"
    assert reason(output, output.array * 1.1) == "value"


def _welford(row: Array) -> Array:
    """The differences to a mean that is updated with each element, in f32."""
    mean = np.float32(0)
    for count, x in enumerate(row, 1):
        mean = np.float32(mean + np.float32(x - mean) * np.float32(1 / count))
    return row - mean


def test_a_normalization_by_welfords_method_is_less_accurate() -> None:
    """Where the exact result is 0; so is one with twelve bits of the reciprocal root."""
    row = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0, 8.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]], np.float32)
    output = golden("MVN-6", [row], MVN, (1,))
    differences = _welford(row[0])
    exact = (row[0] - row[0].mean()) / row[0].std()

    assert reason(output, differences / differences.std()) in (None, "rounding")
    assert reason(output, exact + np.float32(1.1e-8) * (exact == 0)) == "rounding"
    assert reason(output, exact * (1 + 2.0**-12)) == "rounding"
    assert reason(output, exact + np.float32(0.1)) == "value"


def test_a_softmax_in_bf16_is_less_accurate() -> None:
    """And one that does not sum to 1 is wrong."""
    output = golden("SoftMax-8", [NORMAL[:, :8]], {"axis": 1})
    powers = np.exp(in_bf16(NORMAL[:, :8]))

    assert reason(output, in_bf16((powers / powers.sum(1, keepdims=True)).astype(np.float32))) == "rounding"
    assert reason(output, powers / powers.sum(1, keepdims=True) * 1.5) == "value"


@pytest.mark.parametrize("op", ["Add-1", "Multiply-1", "Divide-1", "Subtract-1"])
def test_arithmetic_in_bf16_is_less_accurate(op: str) -> None:
    """And with exact operands it is wrong."""
    of: Callable[[Any, Any], Any] = {"Add-1": np.add, "Multiply-1": np.multiply, "Divide-1": np.divide}.get(
        op, np.subtract
    )
    first, second = NORMAL[0], NORMAL[1]
    output, exact = (
        golden(op, x, {}) for x in ([first, second], [np.array([6.0], np.float32), np.array([3.0], np.float32)])
    )

    assert reason(output, of(in_bf16(first), in_bf16(second))) == "rounding"
    assert reason(exact, exact.array * np.float32(1 + 2.0**-22)) == "rounding"
    assert reason(exact, exact.array * 1.001) == "value"


@pytest.mark.parametrize(("x", "lower", "upper"), [(3e38, 2.9e38, np.inf), (-328885.0, -0.171, 0), (-20.0, -1e-4, 0)])
def test_bounds_of_gelu_do_not_leave_its_range(x: float, lower: float, upper: float) -> None:
    """A tiny negative result is a negative zero."""
    output = golden("Gelu-7", [np.array([x], np.float32)], {})
    assert output.bounds is not None

    assert lower <= output.bounds[0][0] <= output.bounds[1][0] <= upper
    assert np.signbit(output.array[0]) == (x < 0)


@pytest.mark.parametrize("op", ["Exp-1", "Sigmoid-1", "Tanh-1", "Erf-1"])
@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_no_bound_is_outside_the_range_of_a_function(op: str, kind: Any) -> None:
    """Also where the result is at its end; a little beyond it, the result is less accurate."""
    least = {"Exp-1": 0, "Sigmoid-1": 0}.get(op, -1)
    output = golden(op, [np.array([-300, -90, -20, -9.5, 9.5, 20, 50], kind)], {})
    assert output.bounds is not None
    assert output.reduced is not None
    lower, upper, low, high = (x.view(kind).astype(float) for x in (*output.bounds, *output.reduced))

    assert lower.min() >= least
    assert op == "Exp-1" or upper.max() <= 1 <= high.max() < 1.05
    assert least == -1 or low.min() >= 0


def test_squares_beyond_the_range_make_a_normalized_result_zero() -> None:
    """In every kernel, which is right to return it."""
    output = golden("MVN-6", [np.array([[1e200, 2e200, 4e200]])], MVN, (1,))

    assert reason(output, np.zeros((1, 3))) is None
    assert reason(output, [[1.0, 0.0, 0.0]]) == "value"


def arguments_of(op: str, data: Array, axes: Sequence[int]) -> Arguments:
    """The arguments of a reduction."""
    kind = next(x for x in ELEMENT_TYPES.values() if x.arithmetic == data.dtype)
    tensors = {
        "data": Tensor(element_type=kind.name, array=data),
        "axes": Tensor(element_type="i64", array=np.array(axes, np.int64)),
    }
    operands = {name: Operand(element_type=x.element_type, shape=x.shape, tensor=x) for name, x in tensors.items()}
    operands["axes"] = replace(operands["axes"], integers=tuple(axes))
    return OPERATIONS[op].arguments(operands, {})


@pytest.mark.parametrize("op", ["ReduceSum-1", "ReduceMean-1"])
def test_a_sum_that_begins_with_zero_deviates_from_an_interpretation(op: str) -> None:
    """Without axes, it makes negative zeros positive, and changes nothing else."""
    data = np.array([-0.0, 1.0, 0.0, np.nan], np.float32)
    operation, arguments = OPERATIONS[op], arguments_of(op, data, ())
    [[other]] = (compute(arguments) for compute in operation.readings["axes.empty-zeros"].computes)

    assert operation.evaluate(arguments)[0].array.tobytes() == data.tobytes()
    assert other.array.tobytes() == np.array([0.0, 1.0, 0.0, np.nan], np.float32).tobytes()


def test_a_mean_of_a_sum_beyond_the_type_deviates_from_an_interpretation() -> None:
    """It wraps or saturates before it is divided."""
    arguments = arguments_of("ReduceMean-1", np.array([100] * 5, np.int8), (0,))
    [golden_mean] = OPERATIONS["ReduceMean-1"].evaluate(arguments)
    others = {
        int(compute(arguments)[0].array) for compute in OPERATIONS["ReduceMean-1"].readings["values.wide-sums"].computes
    }

    assert int(golden_mean.array) == 100
    assert others == {-2, -3, 25}


def test_a_sigmoid_whose_exponential_overflows_is_less_accurate() -> None:
    """In f16, the exponential of 12 is an infinity, and the result 0 in place of a number below the least normal one."""
    output = golden("Sigmoid-1", [np.array([-12.0, 0.5], np.float16)], {})
    with np.errstate(over="ignore"):
        half = np.float16(1) / (np.float16(1) + np.exp(np.array([12.0, -0.5], np.float16)))

    assert half[0] == 0
    assert reason(output, half) == "rounding"
    assert reason(output, np.array([0.001, half[1]], np.float16)) == "value"
