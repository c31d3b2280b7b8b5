"""How the operations on one tensor that compute become calls of a framework."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_products.frameworks.framework import Row
from opconform_runners.backends.backend import Unsupported

_REALS = ("bf16", "f16", "f32", "f64")
#: The operations whose results frameworks have in the type of data.
_EXACT = ("Abs-1", "Negative-1", "ReLU-1")


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

    calls: Mapping[str, Callable[..., Any]] = {"Clamp-1": clamp, "Gelu-7": gelu}
    return function if op in _EXACT else calls.get(op, real)
