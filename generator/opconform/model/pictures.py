"""What pictures of a case show: the regions of tensors, and the input elements that outputs should equal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from opconform.model.graph import evaluated_arguments, ports_of
from opconform.operations import OPERATIONS
from opconform.operations.operation import Region
from opconform.suite.case import Accept, Case
from opconform.tensors.tensor import Array, Tensor

#: The name of a model's only output.
_OUTPUT = "output_0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Highlight:
    """A tensor as consecutive regions along an axis, each of which is a whole tensor: an output or an input.

    Attributes:
        tensor: The name of the tensor that is divided, which is an input or `output_0`.
        names: The tensor that each region is.
    """

    tensor: str
    axis: int
    regions: tuple[Region, ...]
    names: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the regions along the axis."""
        return tuple(each.sizes[self.axis] for each in self.regions)


def highlight_of(case: Case, arrays: Mapping[str, Array]) -> Highlight | None:
    """The highlight of a case, given the inputs of one feed; None if no tensor of it is divided along an axis."""
    operation = OPERATIONS.get(case.op)
    if operation is None or not case.is_bare or not isinstance(case.expect, Accept):
        return None
    tensors = {each.name: Tensor(element_type=each.element_type, array=arrays[each.name]) for each in case.inputs}
    arguments = evaluated_arguments(case.node, tensors)
    if operation.joined is not None:
        regions = operation.joined(arguments)
        tensor, shape, names = _OUTPUT, operation.infer(arguments)[0].shape, tuple(each.input for each in regions)
    elif operation.highlight is not None and len({each.input for each in operation.highlight(arguments)}) == 1:
        regions = operation.highlight(arguments)
        tensor = regions[0].input
        shape, names = arrays[tensor].shape, tuple(f"output_{number}" for number in range(len(regions)))
    else:
        return None
    axis = _axis_of(regions, shape)
    return None if axis is None else Highlight(tensor=tensor, axis=axis, regions=regions, names=names)


def _axis_of(regions: tuple[Region, ...], shape: tuple[int, ...]) -> int | None:
    """The dimension along which regions are consecutive, or None."""
    parted = {axis for each in regions for axis, size in enumerate(each.sizes) if size != shape[axis]}
    if len(parted) > 1 or not shape:
        return None
    axis = next(iter(parted), 0)
    end = 0
    for each in regions:
        if each.start[axis] != end:
            return None
        end += each.sizes[axis]
    return axis


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
