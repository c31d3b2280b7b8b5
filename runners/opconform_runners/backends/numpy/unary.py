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


def _unary(of: Callable[..., Array]) -> Function:
    """An operation by a function of its elements and attributes; the results of integers are rounded half up."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        data = number_array(inputs[0])
        with np.errstate(all="ignore"):
            results = np.asarray(of(data, **attributes))
            is_rounded = data.dtype.kind != "f" and results.dtype.kind == "f"
            return result_of(inputs[0].element_type, np.floor(results + 0.5) if is_rounded else results)

    return call


def _sqrt(data: Array) -> Array:
    """The square root; of integers, that of f64 may be off by one, so it is half of the root of four times as much."""
    if data.dtype.kind == "f":
        return np.sqrt(data)
    return np.array([(math.isqrt(4 * x) + 1) // 2 for x in data.ravel().tolist()], data.dtype).reshape(data.shape)


def _relu(data: Array) -> Array:
    return np.where(np.isnan(data) | (data > 0), data, np.zeros_like(data))


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


#: The function of each operation.
UNARY: Mapping[str, Function] = {
    "Abs-1": _unary(np.abs),
    "Clamp-1": _clamp,
    "Cos-1": _unary(_of_angles(np.cos)),
    "Elu-1": _elu,
    "Erf-1": _unary(_ERF),
    "Exp-1": _unary(np.exp),
    "Gelu-7": _unary(_gelu),
    "Log-1": _unary(np.log),
    "Mish-4": _unary(lambda data: data * np.tanh(np.log1p(np.exp(data)))),
    "Negative-1": _unary(np.negative),
    "ReLU-1": _unary(_relu),
    "Sigmoid-1": _unary(lambda data: 1 / (1 + np.exp(-data))),
    "Sin-1": _unary(_of_angles(np.sin)),
    "SoftPlus-4": _unary(lambda data: np.logaddexp(data, 0)),
    "SoftSign-9": _unary(lambda data: data / (1 + np.abs(data))),
    "Sqrt-1": _unary(_sqrt),
    "Swish-4": _swish,
    "Tan-1": _unary(_of_angles(np.tan)),
    "Tanh-1": _unary(np.tanh),
}
