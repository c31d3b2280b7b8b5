"""Shared by the operations that compute control inputs. Contexts need them only for integers."""

from collections.abc import Callable

from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, TensorType
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor


def computing(
    *,
    name: str,
    inputs: tuple[str, ...],
    attributes: tuple[AttributeSpec, ...],
    output: Callable[[Arguments], TensorType],
    values: Callable[[Arguments], tuple[int, ...] | None],
) -> Operation:
    """An operation with one output of integers, given its type and its elements in row-major order."""

    def evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
        kind, elements = output(arguments), values(arguments)
        if elements is None:
            raise LookupError(f"{name} is evaluated for integers only")
        array = encoded(kind.element_type, elements).reshape(kind.shape)
        return (Tensor(element_type=kind.element_type, array=array),)

    return Operation(
        name=name,
        inputs=tuple(Port(each, role="tensor") for each in inputs),
        attributes=attributes,
        infer=lambda arguments: (output(arguments),),
        evaluate=evaluate,
        values=values,
    )
