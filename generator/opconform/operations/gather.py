"""Gather-8, from its specification page, for a list of integers and indices of its elements."""

from opconform.operations.integers import computing
from opconform.operations.operation import Arguments, AttributeSpec, TensorType


def _output(arguments: Arguments) -> TensorType:
    data, indices = arguments.inputs["data"], arguments.inputs["indices"]
    return TensorType(element_type=data.element_type, shape=indices.shape)


def _values(arguments: Arguments) -> tuple[int, ...] | None:
    data, indices = (arguments.inputs[name].known_integers for name in ("data", "indices"))
    return None if data is None or indices is None else tuple(data[each] for each in indices)


GATHER = computing(
    name="Gather-8",
    inputs=("data", "indices", "axis"),
    attributes=(AttributeSpec("batch_dims", type="int", default=0),),
    output=_output,
    values=_values,
)
