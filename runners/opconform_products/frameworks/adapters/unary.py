"""How the operations on one tensor that compute become calls of a framework."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_products.frameworks.framework import Adapter, Row
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if

#: A framework's function of one tensor.
Unary = Callable[..., Any]
_REALS = ("bf16", "f16", "f32", "f64")
#: The operations whose results frameworks have in the type of the page, by functions with the attributes of the page.
_EXACT = (
    *("Abs-1", "BitwiseNot-13", "IsFinite-10", "IsInf-10", "IsNaN-10"),
    *("LogicalNot-1", "Negative-1", "ReLU-1", "Sign-1"),
)


def _slopes(data: Any, slope: Any) -> Sequence[Any]:
    """Data and one slope, or a list with one for each channel."""
    refuse_if(data.dtype != slope.dtype, "slope.same-type")
    if [*slope.shape] not in ([1], [*data.shape[1:2]]):
        raise Unsupported("the framework has one slope, or one for each channel")
    return data, slope


SLOPES = Adapter(_slopes, ("slope.same-type",))


def unary_rows(functions: Mapping[str, Callable[..., Any]], types: Mapping[str, Any]) -> dict[str, Row]:
    """A row for the framework's function of each operation. The function of Clamp-1 takes both limits by position.

    The function of Gelu-7 takes whether the mode is tanh, and raises `Unsupported` for a mode that it lacks. Those of
    other operations take their attributes by name.
    """
    return {op: Row(_call(op, function, types)) for op, function in functions.items()}


def without_beta(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """A framework's function for Swish-4, which is that of a beta of 1."""

    def call(data: Any, beta: Any = None) -> Any:
        if beta is not None:
            raise Unsupported("the framework's function has no beta")
        return function(data)

    return call


def infinities(of_both: Unary, of_negative: Unary | None = None, of_positive: Unary | None = None) -> Unary:
    """IsInf-10 by a framework's function for both infinities, and those for one of them, if it has them."""

    def call(data: Any, detect_negative: bool = True, detect_positive: bool = True) -> Any:
        functions = {(True, True): of_both, (True, False): of_negative, (False, True): of_positive}
        if (function := functions.get((detect_negative, detect_positive))) is None:
            raise Unsupported("the framework has no function that detects these infinities alone")
        return function(data)

    return call


def _call(op: str, function: Callable[..., Any], types: Mapping[str, Any]) -> Callable[..., Any]:
    reals = [types[name] for name in _REALS if name in types]

    def real(data: Any, *arguments: Any, **attributes: Any) -> Any:
        if data.dtype not in reals:
            raise Unsupported("the framework's function returns another type than that of integers")
        return function(data, *arguments, **attributes)

    def clamp(data: Any, **limits: Any) -> Any:
        lower, upper = limits["min"], limits["max"]
        [kind] = [ELEMENT_TYPES[name] for name, product_type in types.items() if product_type == data.dtype]
        if kind.is_integer:  # limits beyond the range of the type become the limits of the type
            lower, upper = max(math.ceil(lower), kind.minimum), min(math.floor(upper), kind.maximum)
        return function(data, lower, upper)

    def gelu(data: Any, approximation_mode: str = "erf") -> Any:
        return real(data, approximation_mode == "tanh")

    def rounded(data: Any, mode: str = "half_to_even") -> Any:
        if mode != "half_to_even":
            raise Unsupported("the framework's function rounds halves to the even integer")
        return real(data)

    calls: Mapping[str, Callable[..., Any]] = {"Clamp-1": clamp, "Gelu-7": gelu, "Round-5": rounded}
    return function if op in _EXACT else calls.get(op, real)
