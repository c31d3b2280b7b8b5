"""What the operations that write updates into data have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.places import Places
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array, Tensor

#: The elements that are written (Inputs, 3).
UPDATES = Port("updates")
#: The check of the type that data and updates share (Types).
UPDATES_CHECKS: Mapping[str, Predicate] = {
    "updates.element-type": lambda a: a.operand("updates").element_type != a.operand("data").element_type,
}
#: The readings of the types and dimensions that the pages do not mention.
DATA_READINGS: Mapping[str, Reading] = {
    "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data")) or is_empty(a.operand("updates"))),
    "data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string")),
}


def copied(places: Places) -> Array:
    """A copy of data in a type that the updates fit into."""
    return np.array(places["data"], np.result_type(places["data"], places["updates"]), order="C")


def placed(places: Places, positions: Array) -> list[Array]:
    """Data with each element of the updates at the position that it goes to; of several, the last one remains."""
    output = copied(places)
    np.put(output, positions, places["updates"])
    return [output]


def indices_of(arguments: Arguments) -> Array:
    """The indices in their shape."""
    return np.array(arguments.integers("indices"), object).astype(np.int64).reshape(arguments.shape("indices"))


def in_opposite_order(arguments: Arguments, axes: Sequence[int], of_updates: Sequence[int]) -> Arguments:
    """The arguments with the indices, and the updates with them, in the opposite order along some dimensions."""
    indices, updates = arguments.operand("indices"), arguments.operand("updates")
    integers = np.flip(indices_of(arguments), tuple(axes)).ravel().tolist()
    flipped = {
        "indices": replace(indices, integers=tuple(integers), tensor=_flipped(indices, axes)),
        # without elements, as while types are inferred, updates in another order still differ
        "updates": replace(updates, tensor=_flipped(updates, of_updates), integers=()),
    }
    return replace(arguments, inputs={**arguments.inputs, **flipped})


def _flipped(operand: Operand, axes: Sequence[int]) -> Tensor | None:
    tensor = operand.tensor
    return None if tensor is None else replace(tensor, array=np.flip(tensor.array, tuple(axes)))
