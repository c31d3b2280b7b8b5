"""The operations on two tensors, and Select-1, as the `numpy` backend executes them: in 64 bits, rounded at the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array


def _shape_of(rule: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which tensors are broadcast under a rule."""
    refuse_if(rule == "none" and len({*shapes}) > 1, "none.shapes")
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        shape = ()
        refuse_if(True, f"{rule}.dimensions")
    refuse_if(rule == "pdpd" and shape != shapes[0], "pdpd.dimensions")
    return shape


def _elements(tensor: Tensor) -> Array:
    return tensor.array if tensor.element_type == "string" else number_array(tensor)


def binary(of: Callable[..., Array], output: str | None = None) -> Function:
    """An operation on two tensors by a function of numpy, which may have the attributes besides the rule."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        first, second = inputs
        refuse_if(first.element_type != second.element_type, "b.same-type")
        rule, options = attributes.get("auto_broadcast", "numpy"), dict(attributes)
        options.pop("auto_broadcast", None)
        refuse_if(rule == "pdpd" and len(second.shape) > len(first.shape), "pdpd.rank")
        _shape_of(rule, first.shape, second.shape)
        with np.errstate(all="ignore"):
            result = np.asarray(of(_elements(first), _elements(second), **options))
            return result_of(output or first.element_type, result)

    return call


def _divide(a: Array, b: Array, *, m_pythondiv: bool = True) -> Array:
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    if m_pythondiv or a.dtype.kind == "u":
        return quotient
    return np.asarray(quotient + ((np.remainder(a, b) != 0) & ((a < 0) != (b < 0))))


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.float_power(a, b))
    return np.asarray(np.power(a, np.where(b < 0, b & 1, b).astype(a.dtype)))  # 1 and -1 are their own inverses


def _signed_zero(choice: Callable[..., Array], sign: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    """The larger or smaller number; of two zeros, numpy takes either."""

    def chosen(a: Array, b: Array) -> Array:
        result = choice(a, b)
        if a.dtype.kind != "f":
            return result
        return np.where((a == 0) & (b == 0), np.where(sign(np.signbit(a), np.signbit(b)), -0.0, 0.0), result)

    return chosen


def select(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Select-1 by `numpy.where`."""
    cond, first, second = inputs
    rule = attributes.get("auto_broadcast", "numpy")
    refuse_if(first.element_type != second.element_type, "on_false.same-type")
    refuse_if(rule == "none" and cond.shape != first.shape, "none.shapes")
    refuse_if(rule == "pdpd" and len(second.shape) > len(first.shape), "pdpd.dimensions")
    shape = _shape_of(rule, first.shape, second.shape)
    try:
        mask = np.broadcast_to(cond.array, shape)
    except ValueError:
        mask = cond.array
        refuse_if(True, "cond.shape")
    return [Tensor(element_type=first.element_type, array=np.where(mask, first.array, second.array))]


def _remainder(a: Array, b: Array) -> Array:
    """The remainder of the absolute values with the sign of the dividend, and of integers what the quotient leaves."""
    if a.dtype.kind == "f":
        return np.asarray(np.copysign(np.remainder(np.abs(a), np.abs(b)), a))
    return np.asarray(a - b * _divide(a, b, m_pythondiv=False))


def _left_shift(a: Array, b: Array) -> Array:
    """The product with a power of two, whose low bits are those of the shift."""
    return np.asarray(a * np.power(np.array(2, a.dtype), b))


#: The function of each operation.
BINARY: Mapping[str, Function] = {
    "Add-1": binary(np.add),
    "BitwiseAnd-13": binary(np.bitwise_and),
    "BitwiseLeftShift-15": binary(_left_shift),
    "BitwiseOr-13": binary(lambda a, b: ~(~a & ~b)),
    "BitwiseRightShift-15": binary(np.right_shift),
    "BitwiseXor-13": binary(lambda a, b: (a | b) & ~(a & b)),
    "Divide-1": binary(_divide),
    "Equal-1": binary(np.equal, "boolean"),
    "FloorMod-1": binary(np.remainder),
    "Greater-1": binary(lambda a, b: b < a, "boolean"),
    "GreaterEqual-1": binary(lambda a, b: b <= a, "boolean"),
    "Less-1": binary(np.less, "boolean"),
    "LessEqual-1": binary(lambda a, b: b >= a, "boolean"),
    "LogicalAnd-1": binary(np.logical_and),
    "LogicalOr-1": binary(lambda a, b: ~(~a & ~b)),
    "LogicalXor-1": binary(np.logical_xor),
    "Maximum-1": binary(_signed_zero(np.maximum, np.logical_and)),
    "Minimum-1": binary(_signed_zero(np.minimum, np.logical_or)),
    "Mod-1": binary(_remainder),
    "Multiply-1": binary(np.multiply),
    "NotEqual-1": binary(lambda a, b: ~(a == b), "boolean"),
    "Power-1": binary(_power),
    "Select-1": select,
    "SquaredDifference-1": binary(lambda a, b: np.square(a - b)),
    "Subtract-1": binary(np.subtract),
}
