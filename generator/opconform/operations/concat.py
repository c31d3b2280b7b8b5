"""Concat-1, from its specification page: tensors joined along an axis."""

import numpy as np

from opconform.operations.operation import Arguments, AttributeSpec, Operand, Operation, Port, Rejection, TensorType
from opconform.tensors.tensor import Tensor


def _axis(arguments: Arguments) -> int | None:
    """The non-negative axis, or None if the first input has no such dimension (Attributes, axis)."""
    given, tensors = arguments.attributes.get("axis"), arguments.every("inputs")
    rank = len(tensors[0].shape) if tensors else 0
    is_axis = isinstance(given, int) and not isinstance(given, bool) and -rank <= given < rank
    return given % rank if is_axis and isinstance(given, int) else None


def _axis_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the axis (Attributes, axis)."""
    given = arguments.attributes.get("axis")
    if given is None:
        return ["axis.required"]
    if not isinstance(given, int) or isinstance(given, bool):
        return ["axis.type"]
    return ["axis.range"] if arguments.every("inputs") and _axis(arguments) is None else []


def _input_violations(tensors: tuple[Operand, ...], axis: int | None) -> list[str]:
    """The violated requirements on the inputs (Inputs, 1..N)."""
    if not tensors:
        return ["inputs.required"]
    first = tensors[0]
    types = [] if all(each.element_type == first.element_type for each in tensors) else ["inputs.element-type"]
    if any(len(each.shape) != len(first.shape) for each in tensors):
        return [*types, "inputs.rank"]
    fixed = [number for number in range(len(first.shape)) if number != axis]
    differ = axis is not None and any(each.shape[n] != first.shape[n] for each in tensors for n in fixed)
    return [*types, *(["inputs.shape"] if differ else [])]


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    tensors, axis = arguments.every("inputs"), _axis(arguments)
    violated = (*_axis_violations(arguments), *_input_violations(tensors, axis))
    if violated or axis is None:
        raise Rejection(violated)
    shape = tensors[0].shape
    size = sum(each.shape[axis] for each in tensors)
    return (TensorType(element_type=tensors[0].element_type, shape=(*shape[:axis], size, *shape[axis + 1 :])),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    tensors = [each.tensor.array for each in arguments.every("inputs") if each.tensor is not None]
    array = np.concatenate(tensors, axis=_axis(arguments) or 0)
    return (Tensor(element_type=arguments.every("inputs")[0].element_type, array=array),)


def _values(arguments: Arguments) -> tuple[int, ...] | None:
    """The integers of a list that is joined from lists."""
    lists = [each.known_integers for each in arguments.every("inputs") if len(each.shape) == 1]
    known = [integer for each in lists if each is not None for integer in each]
    return None if None in lists or len(lists) < len(arguments.inputs) else tuple(known)


CONCAT = Operation(
    name="Concat-1",
    inputs=(Port("inputs", role="tensor", variadic=True),),
    attributes=(AttributeSpec("axis", type="int"),),
    infer=_infer,
    evaluate=_evaluate,
    bits="inputs.bits",
    values=_values,
)
