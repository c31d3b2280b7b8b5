"""Arguments whose elements are rounded, or of which several are right: what a graph may compute with them."""

from dataclasses import replace

from opconform.operations.arguments import Arguments, NoGolden
from opconform.tensors.tensor import Tensor


def tensors_of(arguments: Arguments) -> list[Tensor]:
    """The tensors of the inputs."""
    return [input_.tensor for input_ in arguments.inputs.values() if input_.tensor is not None]


def has_spans(arguments: Arguments) -> bool:
    """Whether elements are rounded, and it is known how."""
    return any(tensor.spans for tensor in tensors_of(arguments)) and not any(
        tensor.bounds and tensor.spans is None for tensor in tensors_of(arguments)
    )


def check_elements(name: str, arguments: Arguments) -> None:
    """Raise `NoGolden` for elements that are rounded, or of which several are right."""
    if any(tensor.bounds or tensor.spans for tensor in tensors_of(arguments)):
        raise NoGolden(f"{name} computes with rounded elements, whose errors are not followed further")
    check_open(name, arguments)


def check_open(name: str, arguments: Arguments) -> None:
    """Raise `NoGolden` for elements of which several are right."""
    if any(tensor.also for tensor in tensors_of(arguments)):
        raise NoGolden(f"{name} computes with elements that are open, whose results are not followed")


def without_exact_spans(arguments: Arguments, *, is_certain: bool = False) -> Arguments:
    """The arguments; with exact elements alone if all that are rounded have one right result, as exp(0) has.

    `is_certain` says that reduced arithmetic must have the same result.
    """
    spans = [tensor.spans for tensor in tensors_of(arguments) if tensor.spans is not None]
    if not all(x.are_certain if is_certain else x.are_exact for x in spans):
        return arguments
    inputs = {
        name: replace(x, tensor=replace(x.tensor, spans=None, bounds=None)) if x.tensor and x.tensor.spans else x
        for name, x in arguments.inputs.items()
    }
    return replace(arguments, inputs=inputs)


def exact_arguments(arguments: Arguments) -> Arguments:
    """The arguments with the exact elements of tensors alone, since errors are not followed further."""
    inputs = {
        name: replace(x, tensor=replace(x.tensor, reduced=None)) if x.tensor is not None and x.tensor.reduced else x
        for name, x in arguments.inputs.items()
    }
    return replace(arguments, inputs=inputs)
