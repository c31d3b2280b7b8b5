"""Functions of the elements of a tensor: their values with the bounds of right results, or the nearest integers."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.elementwise import tensor_of
from opconform.operations.arithmetic.functions import FUNCTIONS, RealFunction, results_of, value_of
from opconform.operations.checks import Predicate
from opconform.suite.case import Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import Exact, bounded_tensor, numbers
from opconform.tensors.tensor import Tensor

_Integer = Callable[[Exact], int]


def function(name: str) -> Callable[[Arguments], Tensor]:
    """The values of a function, with the bounds of right results; of an integer type, the nearest integers."""
    return partial(_applied, name, _nearest)


def to_integer(name: str) -> tuple[Callable[[Arguments], Tensor], ...]:
    """The readings by which integers lose their fractions, or are rounded down."""
    return tuple(partial(_applied, name, integer) for integer in (math.trunc, math.floor))


def lacks_integer(name: str) -> Predicate:
    """Whether a result is an integer that the integer type of data lacks."""

    def is_outside(arguments: Arguments) -> bool:
        kind, data = arguments.operand("data").element_type, arguments.tensor("data")
        if not ELEMENT_TYPES[kind].is_integer:
            return False
        return any(not data.type.minimum <= x <= data.type.maximum for x in _integers(name, _nearest, data))

    return is_outside


def bounded_values(function: RealFunction, data: Tensor) -> Tensor:
    """The values at the elements of a tensor, with the bounds of right results."""
    return _bounded(function, data.element_type, data.shape, data.array.tobytes())


def with_limits(function: RealFunction, limits: tuple[float, float], data: Tensor) -> Tensor:
    """The values of a function that has limits at infinities, where its formula gives a NaN."""
    if not np.isinf(numbers(data)).any():
        return bounded_values(function, data)
    return bounded_tensor(data.element_type, data.shape, results_of(replace(function, limits=limits), data))


def _nearest(exact: Exact) -> int:
    return math.floor(exact + Exact(1, 2))


def _integers(name: str, integer: _Integer, data: Tensor) -> list[int]:
    return [integer(Exact(value_of(FUNCTIONS[name], x))) for x in data.integers()]


def _applied(name: str, integer: _Integer, arguments: Arguments) -> Tensor:
    data = arguments.tensor("data")
    if data.type.is_integer:
        return tensor_of(data.type, np.array(_integers(name, integer, data), object).reshape(data.shape))
    return bounded_values(FUNCTIONS[name], data)


@lru_cache(maxsize=4)
def _bounded(function: RealFunction, element_type: str, shape: Shape, content: bytes) -> Tensor:
    """The values at the bytes of a tensor; other readings ask for most values again."""
    array = np.frombuffer(content, ELEMENT_TYPES[element_type].storage).reshape(shape)
    return bounded_tensor(element_type, shape, results_of(function, Tensor(element_type=element_type, array=array)))
