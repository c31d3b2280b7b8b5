"""Origins: the input elements that elements of the outputs should equal, for pictures."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from opconform.model.graph import evaluated_arguments, ports_of
from opconform.operations import OPERATIONS
from opconform.suite.case import Accept, Case
from opconform.tensors.tensor import Array, Tensor

#: The most elements of a case whose origins are found.
_ELEMENTS = 1 << 18
#: The marks of the elements are their tensor and their number after this character, which occurs in no text.
_MARK = "\uffff"


class Origin(NamedTuple):
    """An element of an input, by the input's name and its index there."""

    tensor: str
    at: tuple[int, ...]


def origin_of(case: Case, arrays: Mapping[str, Array], output: str, at: tuple[int, ...]) -> Origin | None:
    """The input element that an element of an output should equal, given the inputs of one feed.

    The operation is evaluated on marks in place of the elements. None if the element comes from no input, if there is
    no such element, or if the model has other nodes, is rejected or is too large.
    """
    operation = OPERATIONS.get(case.op)
    if operation is None or operation.bits is None or not case.is_bare or not isinstance(case.expect, Accept):
        return None
    names = [each.name for each in case.expect.accept]
    if output not in names or sum(each.size for each in arrays.values()) > _ELEMENTS:
        return None
    ports = {tensor: operation.port_of(name) for name, tensor in ports_of(case.node).items()}
    moved = {name for name, port in ports.items() if port.role == "tensor" and port.element_type is None}
    tensors = {
        each.name: Tensor(
            element_type=each.element_type,
            array=_marks(each.name, arrays[each.name].shape) if each.name in moved else arrays[each.name],
        )
        for each in case.inputs
    }
    marks = operation.evaluate(evaluated_arguments(case.node, tensors))[names.index(output)].array
    if len(at) != marks.ndim or any(index >= size for index, size in zip(at, marks.shape, strict=True)):
        return None
    name, _, number = str(marks[at]).partition(_MARK)
    if name not in moved:
        return None
    return Origin(name, tuple(int(each) for each in np.unravel_index(int(number), arrays[name].shape)))


def _marks(name: str, shape: tuple[int, ...]) -> Array:
    """A tensor of text whose every element says where it is."""
    count = int(np.prod(shape))
    return np.array([f"{name}{_MARK}{number}" for number in range(count)], f"<U{len(name) + 8}").reshape(shape)
