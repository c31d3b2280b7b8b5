"""The footprint of a case on disk and in memory, estimated from its draft before anything is allocated."""

import math
from collections import Counter

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
    constants = [each for name, each in draft.tensors.items() if draft.binding[name] == "constant"]
    given = [*(each for feed in draft.feeds for each in feed.values()), *constants]
    total = sum(math.prod(each.shape) * _element_bytes(each) for each in given)
    if draft.rejected_for is not None:
        return total
    graph = graph_of(draft)
    for number, feed in enumerate(draft.feeds):
        types, widths = inferred(graph, operands_of(draft, number)), Counter[str]()
        for each in feed.values():  # of strings, the longest one counts
            widths[each.element_type] = max(widths[each.element_type], _element_bytes(each))
        outputs = [types[name] for name in graph.outputs]
        total += sum(math.prod(each.shape) * (widths[each.element_type] or 1) for each in outputs)
    return total


def memory_bytes(draft: Draft) -> int:
    """The approximate memory for making a case, in bytes."""
    tensors = [each for feed in draft.feeds for each in feed.values()]
    texts = sum(math.prod(each.shape) for each in tensors if each.element_type == "string")
    return _COPIES * file_bytes(draft) + _TEXT * texts


def _element_bytes(tensor: TensorDraft) -> int:
    return ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER * longest_text(tensor)
