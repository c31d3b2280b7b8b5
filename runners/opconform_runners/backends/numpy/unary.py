"""The operations on one tensor, as the `numpy` backend executes them: in 64 bits, and rounded at the end."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array

_ERF = np.vectorize(math.erf, otypes=[np.float64])


def _unary(of: Callable[..., Array], output: str | None = None) -> Function:
    """An operation by a function of its elements and attributes; the results of integers are rounded half up.

    `output` is the element type of the output if it is not that of the input.
    """

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        data = number_array(inputs[0])
        with np.errstate(all="ignore"):
            results = np.asarray(of(data, **attributes))
            is_rounded = data.dtype.kind != "f" and results.dtype.kind == "f"
            return result_of(output or inputs[0].element_type, np.floor(results + 0.5) if is_rounded else results)

    return call


def _sqrt(data: Array) -> Array:
    """The square root; of integers, that of f64 may be off by one, so it is half of the root of four times as much."""
    if data.dtype.kind == "f":
        return np.sqrt(data)
    return np.array([(math.isqrt(4 * x) + 1) // 2 for x in data.ravel().tolist()], data.dtype).reshape(data.shape)


def _relu(data: Array) -> Array:
    return np.where(np.isnan(data) | (data > 0), data, np.zeros_like(data))


def _floor(data: Array) -> Array:
    """The number without its fraction, less 1 if that is above it."""
    whole = np.trunc(data)
    return np.where(data < whole, whole - 1, whole)


def _round(data: Array, mode: str = "half_to_even") -> Array:
    """The number without its fraction, and 1 more in size if the fraction is large."""
    if data.dtype.kind != "f":
        return data
    fraction, whole = np.modf(data)
    is_odd = np.remainder(whole, 2) == 1
    is_far = (np.abs(fraction) > _HALF) | ((np.abs(fraction) == _HALF) & ((mode != "half_to_even") | is_odd))
    return np.asarray(np.copysign(np.abs(whole) + is_far, data))


def _sign(data: Array) -> Array:
    signs = (data > 0).astype(np.int64) - (data < 0)
    return np.where(np.isnan(data), data, signs)


def _is_infinite(data: Array, detect_negative: bool = True, detect_positive: bool = True) -> Array:
    return np.asarray(np.isinf(data) & np.where(np.signbit(data), detect_negative, detect_positive))


def _bitwise_not(inputs: Sequence[Any], _: Mapping[str, Any]) -> list[Tensor]:
    """The difference to an element with all bits, which keeps its low bits."""
    [data] = inputs
    numbers = number_array(data)
    last = 1 if data.element_type == "boolean" else np.iinfo(np.uint64).max if numbers.dtype == np.uint64 else -1
    return result_of(data.element_type, last - numbers)


def _clamp(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Clamp-1 by comparisons; limits beyond the range of an integer type become the limits of the type."""
    [data], least, most = inputs, attributes["min"], attributes["max"]
    refuse_if(least > most, "min.order")
    numbers, kind = number_array(data), ELEMENT_TYPES[data.element_type]
    if kind.is_integer:
        limits = math.ceil(least), math.floor(most)
        least, most = (min(max(limit, kind.minimum), kind.maximum) for limit in limits)
    with np.errstate(invalid="ignore"):  # NaNs
        below = np.where(numbers < least, numbers.dtype.type(least), numbers)
        return result_of(data.element_type, np.where(below > most, numbers.dtype.type(most), below))


def _gelu(data: Array, approximation_mode: str = "erf") -> Array:
    if approximation_mode == "erf":
        return np.asarray(data * 0.5 * (1 + _ERF(data / math.sqrt(2))))
    inner = math.sqrt(2 / math.pi) * (data + 0.044715 * data * data * data)
    return np.asarray(data * 0.5 * (1 + np.tanh(inner)))


def _elu(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Any]:
    [data], alpha = inputs, attributes["alpha"]
    refuse_if(alpha < 0, "alpha.range")
    return _unary(lambda x: np.where(x > 0, x, alpha * np.expm1(x)))([data], {})


def _swish(inputs: Sequence[Any], _: Mapping[str, Any]) -> Sequence[Any]:
    data, beta = inputs[0], inputs[1] if len(inputs) > 1 else None
    factor = 1.0 if beta is None else float(number_array(beta))
    refuse_if(beta is not None and beta.element_type != data.element_type, "beta.same-type")
    refuse_if(factor < 0, "beta.range")
    return _unary(lambda x: x / (1 + np.exp(-factor * x)))([data], {})


def _of_angles(of: Callable[..., Array]) -> Callable[..., Array]:
    """A function in the machine's widest type, whose integers and remainders by a half turn have more digits."""
    return lambda data: np.asarray(of(data.astype(np.longdouble)), np.float64)


def _prelu(inputs: Sequence[Any], _: Mapping[str, Any]) -> list[Tensor]:
    """PReLU-1 by factors of 1 and the slopes, with the channels last where each has a slope."""
    data, slope = inputs
    refuse_if(data.element_type != slope.element_type, "slope.same-type")
    numbers, slopes = map(number_array, inputs)
    is_per_channel = slopes.shape == numbers.shape[1:2]
    whole = np.moveaxis(numbers, 1, -1) if is_per_channel else numbers
    try:
        shape = np.broadcast_shapes(whole.shape, slopes.shape)
    except ValueError:
        shape = ()
        refuse_if(True, "slope.dimensions")
    refuse_if(shape != whole.shape, "slope.larger")
    with np.errstate(all="ignore"):
        results = np.where(whole < 0, np.broadcast_to(slopes, shape), 1.0) * whole
        return result_of(data.element_type, np.moveaxis(results, -1, 1) if is_per_channel else results)


def _hard_sigmoid(inputs: Sequence[Any], _: Mapping[str, Any]) -> list[Tensor]:
    data, *scalars = inputs
    for scalar, name in zip(scalars, ("alpha", "beta"), strict=True):
        refuse_if(scalar.element_type != data.element_type, f"{name}.same-type")
    numbers, alpha, beta = map(number_array, inputs)
    with np.errstate(all="ignore"):
        return result_of(data.element_type, np.clip(alpha * numbers + beta, 0, 1))


def _h_sigmoid(data: Array) -> Array:
    return np.asarray(np.clip(data + 3, 0, 6) / 6)


_HALF = 0.5
#: The function of each operation.
UNARY: Mapping[str, Function] = {
    "Abs-1": _unary(np.abs),
    "BitwiseNot-13": _bitwise_not,
    "Ceiling-1": _unary(lambda data: -_floor(-data)),
    "Clamp-1": _clamp,
    "Cos-1": _unary(_of_angles(np.cos)),
    "Elu-1": _elu,
    "Erf-1": _unary(_ERF),
    "Exp-1": _unary(np.exp),
    "Floor-1": _unary(_floor),
    "Gelu-7": _unary(_gelu),
    "HSigmoid-5": _unary(_h_sigmoid),
    "HSwish-4": _unary(lambda data: data * _h_sigmoid(data)),
    "HardSigmoid-1": _hard_sigmoid,
    "IsFinite-10": _unary(lambda data: np.abs(data) < math.inf, "boolean"),
    "IsInf-10": _unary(_is_infinite, "boolean"),
    "IsNaN-10": _unary(lambda data: ~(np.abs(data) <= math.inf), "boolean"),
    "Log-1": _unary(np.log),
    "Mish-4": _unary(lambda data: data * np.tanh(np.log1p(np.exp(data)))),
    "LogicalNot-1": _unary(lambda data: 1 - data),
    "Negative-1": _unary(np.negative),
    "PReLU-1": _prelu,
    "ReLU-1": _unary(_relu),
    "Round-5": _unary(_round),
    "Sigmoid-1": _unary(lambda data: 1 / (1 + np.exp(-data))),
    "Sin-1": _unary(_of_angles(np.sin)),
    "SoftPlus-4": _unary(lambda data: np.logaddexp(data, 0)),
    "SoftSign-9": _unary(lambda data: data / (1 + np.abs(data))),
    "Sign-1": _unary(_sign),
    "Sqrt-1": _unary(_sqrt),
    "Swish-4": _swish,
    "Tan-1": _unary(_of_angles(np.tan)),
    "Tanh-1": _unary(np.tanh),
}
