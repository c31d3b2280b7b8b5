"""What pictures of a case show: tensors in consecutive parts, and the input elements that outputs should equal."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from opconform.model.graph import evaluated_arguments, ports_of
from opconform.operations import OPERATIONS
from opconform.operations.places import Origins
from opconform.suite.case import Accept, Case
from opconform.tensors.tensor import Array, Tensor

#: The name of a model's only output.
_OUTPUT = "output_0"
#: The most elements of a case whose origins are found.
_ELEMENTS = 1 << 19


@dataclass(frozen=True, kw_only=True, slots=True)
class Highlight:
    """A tensor in consecutive parts along an axis, each of which is a whole tensor: an output or an input.

    Attributes:
        tensor: The name of the tensor that is divided, which is an input or `output_0`.
        names: The tensor that each part is.
        sizes: The sizes of the parts along the axis.
    """

    tensor: str
    axis: int
    names: tuple[str, ...]
    sizes: tuple[int, ...]


def highlight_of(case: Case, arrays: Mapping[str, Array]) -> Highlight | None:
    """The highlight of a case, given the inputs of one feed; None if no tensor of it is divided along an axis."""
    origins = _origins(case, arrays)
    if origins is None:
        return None
    outputs = {f"output_{number}": each for number, each in enumerate(origins.outputs)}
    inputs = {ports_of(case.node)[port]: each for port, each in origins.inputs.items()}
    for whole, parts in ((inputs, outputs), (outputs, inputs)):
        if len(whole) == 1 < len(parts):
            [(name, array)], tensors = whole.items(), tuple(parts.values())
            axis = _axis_of(array, tensors)
            if axis is not None:
                sizes = tuple(each.shape[axis] for each in tensors)
                return Highlight(tensor=name, axis=axis, names=tuple(parts), sizes=sizes)
    return None


def _axis_of(whole: Array, parts: Sequence[Array]) -> int | None:
    """The dimension along which the parts are consecutive and make up the whole, or None."""
    if any(each.ndim != whole.ndim for each in parts):
        return None
    for axis in range(whole.ndim):
        beside = {(*each.shape[:axis], *each.shape[axis + 1 :]) for each in parts}
        if len(beside) == 1 and np.array_equal(np.concatenate(parts, axis), whole):
            return axis
    return None


class Origin(NamedTuple):
    """An element of an input, by the input's name and its index there."""

    tensor: str
    at: tuple[int, ...]


def origin_of(case: Case, arrays: Mapping[str, Array], output: str, at: tuple[int, ...]) -> Origin | None:
    """The input element that an element of an output should equal, given the inputs of one feed.

    None if the element comes from no input, if there is no such element, or if the model has other nodes, is rejected
    or is too large.
    """
    origins = _origins(case, arrays)
    names = [each.name for each in case.expect.accept] if isinstance(case.expect, Accept) else []
    if origins is None or output not in names:
        return None
    numbers = origins.outputs[names.index(output)]
    if len(at) != numbers.ndim or any(index >= size for index, size in zip(at, numbers.shape, strict=True)):
        return None
    names_of = ports_of(case.node)
    for port, held in origins.inputs.items():
        if held.size and held.flat[0] <= numbers[at] <= held.flat[-1]:
            place = np.unravel_index(numbers[at] - held.flat[0], held.shape)
            return Origin(names_of[port], tuple(int(each) for each in place))
    return None


def _origins(case: Case, arrays: Mapping[str, Array]) -> Origins | None:
    """The origins of the outputs by the names of ports, or None as `origin_of` says."""
    operation = OPERATIONS.get(case.op)
    if operation is None or operation.moved is None or not case.is_bare or not isinstance(case.expect, Accept):
        return None
    shapes = [*(each.shape for each in arrays.values()), *(each.shape for each in case.expect.accept)]
    if sum(map(math.prod, shapes)) > _ELEMENTS:
        return None
    tensors = {each.name: Tensor(element_type=each.element_type, array=arrays[each.name]) for each in case.inputs}
    return operation.origins(evaluated_arguments(case.node, tensors))
