"""The footprint of a case on disk and in memory, estimated from its draft before anything is allocated."""

import math
from collections.abc import Iterable

from opconform.model.draft import Draft, TensorDraft, operands_of
from opconform.model.fills import longest_text
from opconform.model.graph import graph_of, inferred
from opconform.tensors.element_types import ELEMENT_TYPES

#: The memory for writing a case, as a multiple of its files' bytes; measured over all element types.
_COPIES = 3
#: The bytes of one string while it is made.
_TEXT = 640
_CHARACTER = 4


def file_bytes(draft: Draft) -> int:
    """The minimum size of a case's files in bytes: the arrays of all feeds, and the constants of one model."""
    total = sum(_array_bytes(each) for feed in draft.feeds for each in feed.values())
    total += sum(_array_bytes(each) for name, each in draft.tensors.items() if draft.binding[name] == "constant")
    if draft.rejected_for is not None:
        return total
    graph = graph_of(draft)
    for number, feed in enumerate(draft.feeds):
        types, widths = inferred(graph, operands_of(draft, number)), _widths(feed.values())
        outputs = [types[name] for name in graph.outputs]
        total += sum(math.prod(each.shape) * widths.get(each.element_type, 1) for each in outputs)
    return total


def memory_bytes(draft: Draft) -> int:
    """The approximate memory for making a case, in bytes."""
    texts = sum(
        math.prod(each.shape) for feed in draft.feeds for each in feed.values() if each.element_type == "string"
    )
    return _COPIES * file_bytes(draft) + _TEXT * texts


def _widths(tensors: Iterable[TensorDraft]) -> dict[str, int]:
    """The bytes per element of each type of the tensors; for strings those of the longest one."""
    widths: dict[str, int] = {}
    for each in tensors:
        widths[each.element_type] = max(widths.get(each.element_type, 0), _element_bytes(each))
    return widths


def _array_bytes(tensor: TensorDraft) -> int:
    return math.prod(tensor.shape) * _element_bytes(tensor)


def _element_bytes(tensor: TensorDraft) -> int:
    return ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER * longest_text(tensor)
