"""Abs-1, Negative-1, ReLU-1, Clamp-1, Sqrt-1, Exp-1, Log-1, Sigmoid-1, Tanh-1, Erf-1 and Gelu-7, from their pages."""

import math
import operator
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import (
    Keep,
    Kernel,
    clamped,
    computed,
    each,
    elements_of,
    tensor_of,
    unary,
)
from opconform.operations.arithmetic.function_tensors import bounded_values, function, to_integer, with_limits
from opconform.operations.arithmetic.functions import COMPOSITE_WORK, FUNCTION_WORK, FUNCTIONS
from opconform.operations.arithmetic.mistakes import tables
from opconform.operations.arithmetic.propagation import functions as propagation
from opconform.operations.arithmetic.propagation.functions import of_elements
from opconform.operations.arithmetic.propagation.spans import Formula
from opconform.operations.checks import INTEGERS, NUMBERS
from opconform.operations.interpretation import Reading
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import REALS
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The types of numbers with a sign.
_SIGNED = tuple(x for x in NUMBERS if ELEMENT_TYPES[x].kind != "unsigned" and x != "f8e8m0")

_Of = Callable[[Arguments], Tensor]


def _exactly(kernel: Kernel, *, keep: Keep = low_bits) -> _Of:
    return lambda arguments: computed(kernel, arguments.tensor("data"), keep=keep)


def rounded_root(number: int) -> int:
    """The square root of an integer, rounded to the nearest one."""
    root = math.isqrt(number)
    return root + (number - root * root > root)


def _relu(*, keeps_nan: bool, keeps_zero: bool) -> _Of:
    """The larger one of 0 and the element; NaNs, and zeros with a sign, are kept or 0."""

    def floats(x: Array) -> Array:
        kept = (x > 0) | (keeps_nan & np.isnan(x)) | (keeps_zero & (x == 0))
        return np.where(kept, x, 0.0)

    return _exactly(Kernel(floats=floats, integers=each(1, lambda x: max(x, 0))))


def _limits(arguments: Arguments) -> tuple[float, float]:
    """The lower and the upper limit; an integer beyond f64 is as good as its largest number."""
    numbers: Iterator[Any] = (arguments.attribute(name) for name in ("min", "max"))
    least, most = (float(max(-sys.float_info.max, min(x, sys.float_info.max))) for x in numbers)
    return least, most


def _is_beyond(arguments: Arguments) -> bool:
    """Whether both limits are below or above an integer type, so that it does not have the result."""
    kind, (least, most) = ELEMENT_TYPES[arguments.operand("data").element_type], _limits(arguments)
    return kind.is_integer and (most < kind.minimum or least > kind.maximum)


def limits_of(arguments: Arguments) -> tuple[Tensor, Tensor]:
    """The limits as scalars of the type of data: rounded, of integers inwards, and not beyond the type."""
    kind, (least, most) = ELEMENT_TYPES[arguments.operand("data").element_type], _limits(arguments)
    if kind.is_integer:
        least, most = clamped(kind, math.ceil(least)), clamped(kind, math.floor(most))
    tensors = [tensor_of(kind, np.array(x, object if kind.is_integer else np.float64)) for x in (least, most)]
    return tensors[0], tensors[1]


def _clamp(arguments: Arguments, *, nan: int | None = None, is_zero_replaced: bool = False) -> Tensor:
    """The elements of data within the limits; of an integer type, the limits are rounded inwards.

    By other readings, a NaN is replaced with a limit, and so is a zero with that of the other sign.
    """
    least, most = _limits(arguments)

    def floats(x: Array) -> Array:
        zero = np.where(least == 0, least, most) if is_zero_replaced and 0 in (least, most) else x
        inside = np.where(x < least, least, np.where(x > most, most, np.where(x == 0, zero, x)))
        return inside if nan is None else np.where(np.isnan(x), (least, most)[nan], inside)

    integers = each(1, lambda x: min(max(x, math.ceil(least)), math.floor(most)))
    return computed(Kernel(floats=floats, integers=integers), arguments.tensor("data"))


def _gelu_name(arguments: Arguments) -> str:
    return f"gelu-{arguments.attribute('approximation_mode')}"


def _gelu(arguments: Arguments, *, is_limit: bool = False) -> Tensor:
    """The values in the mode; by another reading, minus infinity has the limit of the function, and not a NaN."""
    of, data = FUNCTIONS[_gelu_name(arguments)], arguments.tensor("data")
    return with_limits(of, (-0.0, math.inf), data) if is_limit else bounded_values(of, data)


def _in_other_mode(requirement: str, arguments: Arguments) -> tuple[Tensor, ...]:
    """The values in the other mode, by which a kernel breaks the requirement on the mode that is asked for."""
    mode = arguments.attribute("approximation_mode")
    of_mode = {"tanh": "values.tanh", "erf": "values.function"}[str(mode)]
    if requirement != ("approximation_mode.default" if "approximation_mode" in arguments.omitted else of_mode):
        raise Unknown
    other = {"tanh": "erf", "erf": "tanh"}[str(mode)]
    return (_gelu(replace(arguments, attributes={**arguments.attributes, "approximation_mode": other})),)


def _has_negative(arguments: Arguments, least: int = 0) -> bool:
    """Whether an element is below the least one."""
    return bool((elements_of(arguments.tensor("data")) < least).any())


def _has_no_logarithm(arguments: Arguments) -> bool:
    """Whether an integer is not positive, so that its logarithm is no number."""
    return arguments.operand("data").is_integer and _has_negative(arguments, 1)


_ABS = Kernel(floats=np.abs, integers=np.abs)
_NEGATIVE = Kernel(floats=np.negative, integers=operator.neg)
ABS = replace(
    unary(
        "Abs-1",
        _exactly(_ABS),
        others={"values.wrap": [_exactly(_ABS, keep=clamped)]},
    ),
    rounded=of_elements(propagation.absolute, keeps_integers=True),
)
NEGATIVE = replace(
    unary(
        "Negative-1",
        _exactly(_NEGATIVE),
        types=_SIGNED,
        others={"values.wrap": [_exactly(_NEGATIVE, keep=clamped)]},
    ),
    rounded=of_elements(propagation.negative, keeps_integers=True),
)
RELU = replace(
    unary(
        "ReLU-1",
        _relu(keeps_nan=True, keeps_zero=False),
        others={
            "values.nan": [_relu(keeps_nan=False, keeps_zero=False)],
            "values.zero": [_relu(keeps_nan=True, keeps_zero=True)],
        },
    ),
    rounded=of_elements(propagation.relu, keeps_integers=True),
)
CLAMP = replace(
    unary(
        "Clamp-1",
        _clamp,
        undefined=_is_beyond,
        others={
            "values.nan": [partial(_clamp, nan=side) for side in (0, 1)],
            "values.zero": [partial(_clamp, is_zero_replaced=True)],
        },
    ),
    rounded=propagation.clamp(_limits),
    attributes=(AttributeSpec("min", type="float"), AttributeSpec("max", type="float")),
    checks={"min.order": lambda a: operator.gt(*_limits(a))},
    facts={"a limit has a fraction": lambda a: any(x % 1 for x in _limits(a))},
)
SQRT = replace(
    unary(
        "Sqrt-1",
        _exactly(Kernel(floats=np.sqrt, integers=each(1, rounded_root), magnitude=np.sqrt)),
        undefined=_has_negative,
        others={"values.zero": [_exactly(Kernel(floats=lambda x: np.sqrt(np.abs(x)), integers=each(1, rounded_root)))]},
    ),
    rounded=of_elements(propagation.square_root),
)
EXP = replace(unary("Exp-1", function("exp"), work=FUNCTION_WORK, types=REALS), rounded=propagation.function("exp"))
LOG = replace(
    unary(
        "Log-1",
        function("log"),
        work=FUNCTION_WORK,
        types=(*REALS, *INTEGERS),
        undefined=_has_no_logarithm,
        others={"values.integers": to_integer("log")},
    ),
    rounded=propagation.function("log"),
)
SIGMOID = replace(
    unary("Sigmoid-1", function("sigmoid"), work=COMPOSITE_WORK, types=REALS),
    rounded=propagation.function("sigmoid"),
    mistakes=tables(lambda _: FUNCTIONS["sigmoid"]),
)
TANH = replace(
    unary("Tanh-1", function("tanh"), work=FUNCTION_WORK, types=(*REALS, *INTEGERS)),
    rounded=propagation.function("tanh"),
    mistakes=tables(lambda _: FUNCTIONS["tanh"]),
)
ERF = replace(
    unary(
        "Erf-1",
        function("erf"),
        work=FUNCTION_WORK,
        types=(*REALS, *INTEGERS),
        others={"values.integers": to_integer("erf")},
    ),
    rounded=propagation.function("erf"),
    mistakes=tables(lambda _: FUNCTIONS["erf"]),
)
_GELU = unary(
    "Gelu-7",
    _gelu,
    work=COMPOSITE_WORK,
    types=REALS,
    others={"values.special": [partial(_gelu, is_limit=True)]},
)
GELU = replace(
    _GELU,
    readings={
        **_GELU.readings,
        **{
            requirement: Reading(computes=(partial(_in_other_mode, requirement),), by_element=True, misreads=True)
            for requirement in ("values.function", "values.tanh", "approximation_mode.default")
        },
    },
    rounded=Formula(of=lambda a, way, parts: propagation.function(_gelu_name(a)).of(a, way, parts)),
    mistakes=tables(lambda a: FUNCTIONS[_gelu_name(a)]),
    attributes=(AttributeSpec("approximation_mode", type="enum", values=("erf", "tanh"), default="erf"),),
)
