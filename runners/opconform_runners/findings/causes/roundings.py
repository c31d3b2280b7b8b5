"""What wrongly rounded outputs look like: those of a computation in a narrower type, or of a known mistake."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from opconform.errors import OpconformError
from opconform.model.graph import evaluated_arguments
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Rejection, Unknown
from opconform.operations.operation import ContextError, Operation
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor

#: The types that an operation may have been computed in, the widest first.
_NARROW = ("f32", "f16", "bf16")
_Outputs = Callable[[Arguments], tuple[Tensor, ...]]


def rounding_causes(case: Case, inputs: Mapping[str, Array], actual: Mapping[str, Array]) -> list[str]:
    """How the operation of a case of one node may have been computed, so that it gives these outputs; none if unknown.

    `inputs` are the arrays of one feed in storage dtypes, and `actual` the outputs by name.
    """
    operation = OPERATIONS.get(case.op)
    if operation is None or not operation.rounds or not case.is_bare:
        return []
    tensors = {x.name: Tensor(element_type=x.element_type, array=inputs[x.name]) for x in case.inputs}
    arguments = evaluated_arguments(case.node, tensors)
    named = [Tensor(element_type=x.element_type, array=actual[x.name]) for x in case.outputs if x.name in actual]
    ways = (*_narrow_ways(operation, arguments), *operation.mistakes.items())
    return [name for name, compute in ways if _gives(compute, arguments, named)]


def _narrow_ways(operation: Operation, arguments: Arguments) -> Iterator[tuple[str, _Outputs]]:
    """The computations in narrower floating-point types than that of the first input."""
    kind = ELEMENT_TYPES[next(iter(arguments.inputs.values())).element_type]
    for name in _NARROW if kind.kind == "float" else ():
        narrow = ELEMENT_TYPES[name]
        if narrow.layout.nmant < kind.layout.nmant:
            yield f"As if computed in {name}", _in_type(operation, name)


def _in_type(operation: Operation, name: str) -> _Outputs:
    return lambda arguments: operation.evaluate(_narrowed(arguments, name))


def _narrowed(arguments: Arguments, name: str) -> Arguments:
    """The arguments whose floating-point tensors are rounded to another type."""

    def tensor(source: Tensor) -> Tensor:
        return Tensor(element_type=name, array=rounded(ELEMENT_TYPES[name], numbers(source)))

    return replace(
        arguments,
        inputs={
            port: replace(operand, element_type=name, tensor=tensor(operand.tensor))
            if operand.tensor is not None and operand.tensor.type.kind == "float"
            else operand
            for port, operand in arguments.inputs.items()
        },
    )


def _gives(compute: _Outputs, arguments: Arguments, actual: list[Tensor]) -> bool:
    """Whether a computation gives all actual outputs, within its own bounds."""
    try:
        outputs = compute(arguments)
    except (ArithmeticError, ContextError, LookupError, OpconformError, Rejection, Unknown, ValueError):
        return False
    return len(outputs) == len(actual) and all(map(_is_inside, outputs, actual))


def _is_inside(output: Tensor, actual: Tensor) -> bool:
    if output.shape != actual.shape or "float" not in (output.type.kind, actual.type.kind):
        return output.shape == actual.shape and np.array_equal(output.array, actual.array)
    lower, upper = (numbers(replace(output, array=x)) for x in output.bounds or (output.array,) * 2)
    got = numbers(actual)
    with np.errstate(invalid="ignore"):
        return bool(((lower <= got) & (got <= upper) | (np.isnan(lower) & np.isnan(got))).all())
