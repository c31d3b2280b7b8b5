"""What pictures of a case show: tensors in consecutive parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opconform.explanation.origins import origins_in
from opconform.model.evaluation import ports_of
from opconform.suite.case import Case
from opconform.tensors.tensor import Array


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
    origins = origins_in(case, arrays)
    if origins is None:
        return None
    outputs = {f"output_{number}": output for number, output in enumerate(origins.outputs)}
    inputs = {ports_of(case.node)[port]: input_ for port, input_ in origins.inputs.items()}
    for whole, parts in ((inputs, outputs), (outputs, inputs)):
        if len(whole) == 1 < len(parts):
            [(name, array)], tensors = whole.items(), tuple(parts.values())
            axis = _axis_of(array, tensors)
            if axis is not None:
                sizes = tuple(tensor.shape[axis] for tensor in tensors)
                return Highlight(tensor=name, axis=axis, names=tuple(parts), sizes=sizes)
    return None


def _axis_of(whole: Array, parts: Sequence[Array]) -> int | None:
    """The dimension along which the parts are consecutive and make up the whole, or None."""
    if any(part.ndim != whole.ndim for part in parts):
        return None
    for axis in range(whole.ndim):
        beside = {(*part.shape[:axis], *part.shape[axis + 1 :]) for part in parts}
        if len(beside) == 1 and np.array_equal(np.concatenate(parts, axis), whole):
            return axis
    return None
