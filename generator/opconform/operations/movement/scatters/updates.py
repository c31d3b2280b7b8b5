"""What the operations that write updates into data have in common."""

from collections.abc import Mapping

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.places import Places
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array

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


def earlier(places: Places, positions: Array) -> list[Array]:
    """Data with each element of the updates but the last one that goes to a position, which is as right (Inputs, 2).

    `positions` has the number of the element of data that each element of the updates goes to, in row-major order.
    """
    updates, ranks = places["updates"].ravel(), _ranks(positions)
    last, outputs = placed(places, positions)[0], []
    for rank in range(1, int(ranks.max(initial=0)) + 1):
        output = last.copy()
        np.put(output, positions[ranks == rank], updates[ranks == rank])
        outputs.append(output)
    return outputs


def _ranks(positions: Array) -> Array:
    """How many of the later positions are the same, for each position."""
    order = np.argsort(positions[::-1], kind="stable")
    ordered = positions[::-1][order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    ranks = np.empty(positions.size, np.int64)
    ranks[order] = np.arange(positions.size) - np.repeat(starts, np.diff(starts, append=positions.size))
    return ranks[::-1]


def indices_of(arguments: Arguments) -> Array:
    """The indices in their shape."""
    return np.array(arguments.integers("indices"), object).astype(np.int64).reshape(arguments.shape("indices"))
