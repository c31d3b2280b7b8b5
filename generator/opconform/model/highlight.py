"""Highlights: the part of an input that becomes each output, for pictures of a case."""

from collections.abc import Mapping
from dataclasses import dataclass

from opconform.model.graph import evaluated_arguments
from opconform.operations import OPERATIONS
from opconform.operations.operation import Region
from opconform.suite.case import Accept, Case
from opconform.tensors.tensor import Array, Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Highlight:
    """The outputs of a case as consecutive regions of one input along an axis."""

    input: str
    axis: int
    regions: tuple[Region, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the regions along the axis."""
        return tuple(each.sizes[self.axis] for each in self.regions)


def highlight_of(case: Case, arrays: Mapping[str, Array]) -> Highlight | None:
    """The highlight of a case, given the inputs of one feed; None if its outputs are not consecutive regions of one."""
    operation = OPERATIONS.get(case.op)
    if operation is None or operation.highlight is None or not case.is_bare or not isinstance(case.expect, Accept):
        return None
    tensors = {each.name: Tensor(element_type=each.element_type, array=arrays[each.name]) for each in case.inputs}
    regions = operation.highlight(evaluated_arguments(case.node, tensors))
    names = {each.input for each in regions}
    name = next(iter(names), "")
    axis = _axis_of(regions, arrays[name].shape) if len(names) == 1 else None
    return None if axis is None else Highlight(input=name, axis=axis, regions=regions)


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
