"""What operations that compute give if they take denormal numbers for zeros."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.operation import Computation, Operation
from opconform.tensors.exact import REALS, numbers, rounded
from opconform.tensors.tensor import Array, Tensor


def with_tensors(arguments: Arguments, of: Callable[[Tensor], Tensor]) -> Arguments:
    """The arguments with other tensors."""
    operands = {name: replace(x, tensor=of(x.tensor)) if x.tensor else x for name, x in arguments.inputs.items()}
    return replace(arguments, inputs=operands)


def without_denormals(tensor: Tensor) -> Tensor:
    """A tensor with zeros of the same sign in place of denormal numbers."""
    if tensor.element_type not in REALS:
        return tensor
    zeros = rounded(tensor.type, np.copysign(0.0, numbers(tensor)))
    return replace(tensor, array=np.asarray(np.where(_are_denormal(tensor), zeros, tensor.array)))


def has_denormals(tensor: Tensor) -> bool:
    """Whether an element is a denormal number."""
    return tensor.element_type in REALS and bool(_are_denormal(tensor).any())


def flushed(operation: Operation, arguments: Arguments) -> tuple[Tensor, ...]:
    """The outputs of a node for its inputs without denormal numbers, also where the page has no result for zeros."""
    if not isinstance(operation, Computation) or operation.shaped_by_elements:
        return operation.evaluate(arguments)
    return operation.calculate(with_tensors(arguments, without_denormals))


def _are_denormal(tensor: Tensor) -> Array:
    values = numbers(tensor)
    return np.asarray((np.abs(values) < float(tensor.type.layout.smallest_normal)) & (values != 0))
