"""What wrongly rounded outputs look like: those of a computation in a narrower type, or of a known mistake."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.errors import OpconformError
from opconform.model.graph import evaluated_arguments
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Rejection, Unknown
from opconform.operations.denormals import flushed
from opconform.operations.operation import ContextError, Operation
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.verdicts.flushing import is_right_if_flushed

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
    ways = (*operation.mistakes.items(), *_narrow_ways(operation, arguments))
    causes = [*_flushes(operation, arguments, named), *_cutoff(operation, arguments, named)]
    return [*causes, *(name for name, compute in ways if _gives(compute, arguments, named))]


def _flushes(operation: Operation, arguments: Arguments, actual: list[Tensor]) -> Iterator[str]:
    """Whether results are right if denormal numbers are taken for zeros."""
    golden, others = _computed(operation.evaluate, arguments), _computed(partial(flushed, operation), arguments)
    whose = {"results": (golden,), "inputs": (others,), "numbers": (golden, others)}
    for name, ways in whose.items():
        if all(len(way) == len(actual) for way in ways) and all(
            map(_is_right_if_flushed, actual, zip(*ways, strict=True))
        ):
            yield f"As if denormal {name} were flushed to zero"
            return


def _is_right_if_flushed(actual: Tensor, ways: Sequence[Tensor]) -> bool:
    has_form = all((x.shape, x.array.dtype) == (actual.shape, actual.array.dtype) for x in ways)
    return has_form and is_right_if_flushed(actual.array, [(x.array, x.bounds) for x in ways], actual.element_type)


def _cutoff(operation: Operation, arguments: Arguments, actual: list[Tensor]) -> Iterator[str]:
    """Whether the results of a function are 0 for inputs below a number, and otherwise right."""
    golden = _computed(operation.evaluate, arguments)
    tensors = [x.tensor for x in arguments.inputs.values() if x.tensor is not None]
    if any(len(x) != 1 for x in (golden, actual, tensors)):
        return
    [data], [right], [got] = tensors, golden, actual
    if len({(x.element_type, x.shape) for x in (data, right, got)}) > 1 or data.type.kind != "float":
        return
    x, wanted, returned = (numbers(tensor) for tensor in (data, right, got))
    lost = (returned == 0) & (wanted != 0)
    kept = np.where(lost, wanted, returned)
    least = x[~lost & (wanted != 0) & np.isfinite(x)].min(initial=np.inf)
    is_below = lost.any() and bool((x[lost] < least).all()) and np.isfinite(least)
    if is_below and _is_inside(right, Tensor(element_type=got.element_type, array=rounded(got.type, kept))):
        yield f"As if the function were flushed to zero below {least:.4g}"


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


def _computed(compute: _Outputs, arguments: Arguments) -> tuple[Tensor, ...]:
    """The outputs of a computation; none if it is impossible."""
    try:
        return compute(arguments)
    except (ArithmeticError, ContextError, LookupError, OpconformError, Rejection, Unknown, ValueError):
        return ()


def _gives(compute: _Outputs, arguments: Arguments, actual: list[Tensor]) -> bool:
    """Whether a computation gives all actual outputs, within its own bounds."""
    outputs = _computed(compute, arguments)
    return len(outputs) == len(actual) and all(map(_is_inside, outputs, actual))


def _is_inside(output: Tensor, actual: Tensor) -> bool:
    if output.shape != actual.shape or "float" not in (output.type.kind, actual.type.kind):
        return output.shape == actual.shape and np.array_equal(output.array, actual.array)
    lower, upper = (numbers(replace(output, array=x)) for x in output.bounds or (output.array,) * 2)
    got = numbers(actual)
    with np.errstate(invalid="ignore"):
        return bool(((lower <= got) & (got <= upper) | (np.isnan(lower) & np.isnan(got))).all())
