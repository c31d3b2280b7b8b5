"""Where the elements of outputs come from: the elements of inputs that they should equal."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from opconform.model.evaluation import evaluated_arguments, ports_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Accept, Case
from opconform.tensors.tensor import Array, Tensor

#: The most elements of a case whose origins are found.
_ELEMENTS = 1 << 19


@dataclass(frozen=True, kw_only=True, slots=True)
class Origins:
    """The numbers of the elements of data inputs, and those that came to the outputs.

    Attributes:
        inputs: Per data input an array of its shape; the numbers go on from one input to the next, from 0.
        outputs: Per output an array of its shape; -1 for an element that comes from no input.
    """

    inputs: Mapping[str, Array]
    outputs: tuple[Array, ...]


def origins_of(operation: Movement, arguments: Arguments) -> Origins:
    """The origins of the outputs of an operation that moves data, for arguments that it accepts."""
    numbers, start = {}, 0
    for name, input_ in arguments.inputs.items():
        if not operation.port_of(name).setting:
            numbers[name] = np.arange(start, start + math.prod(input_.shape)).reshape(input_.shape)
            start += numbers[name].size
    outputs = operation.moved(arguments, Places(numbers, none=np.array(-1)))
    return Origins(inputs=numbers, outputs=tuple(map(np.asarray, outputs)))


class Origin(NamedTuple):
    """An element of an input, by the input's name and its index there."""

    tensor: str
    at: tuple[int, ...]


def origin_of(case: Case, arrays: Mapping[str, Array], output: str, at: tuple[int, ...]) -> Origin | None:
    """The input element that an element of an output should equal, given the inputs of one feed.

    None if the element comes from no input, if there is no such element, or if the model has other nodes, is rejected
    or is too large.
    """
    origins = origins_in(case, arrays)
    names = [output.name for output in case.expect.accept] if isinstance(case.expect, Accept) else []
    if origins is None or output not in names:
        return None
    numbers = origins.outputs[names.index(output)]
    if len(at) != numbers.ndim or any(index >= size for index, size in zip(at, numbers.shape, strict=True)):
        return None
    names_of = ports_of(case.node)
    for port, elements in origins.inputs.items():
        if elements.size and elements.flat[0] <= numbers[at] <= elements.flat[-1]:
            place = np.unravel_index(numbers[at] - elements.flat[0], elements.shape)
            return Origin(names_of[port], tuple(int(x) for x in place))
    return None


def origins_in(case: Case, arrays: Mapping[str, Array]) -> Origins | None:
    """The origins of the outputs by the names of ports, or None as `origin_of` says."""
    operation = OPERATIONS.get(case.op)
    if not isinstance(operation, Movement) or not case.is_bare or not isinstance(case.expect, Accept):
        return None
    shapes = [*(array.shape for array in arrays.values()), *(output.shape for output in case.expect.accept)]
    if sum(map(math.prod, shapes)) > _ELEMENTS:
        return None
    tensors = {
        input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs
    }
    arguments = evaluated_arguments(case.node, tensors)
    return None if operation.calculates(arguments) else origins_of(operation, arguments)
