"""Footprints: the bytes that a case takes on disk and in memory, known from its draft before anything is allocated."""

import math
from collections.abc import Iterable

from opconform.model.draft import Draft, Refusal, TensorDraft, operands_of
from opconform.model.fills import longest_text
from opconform.model.graph import graph_of, inferred
from opconform.tensors.element_types import ELEMENT_TYPES

#: How many times its files' bytes a case takes in memory while they are written, as measured over all element types.
_COPIES = 3
#: The bytes that one text takes while it is made.
_TEXT = 640
_CHARACTER = 4


def file_bytes(draft: Draft) -> int:
    """The least number of bytes of a case's files: the arrays of all feeds, and the constants of one model."""
    total = sum(_array_bytes(each) for feed in draft.feeds for each in feed.values())
    total += sum(_array_bytes(each) for name, each in draft.tensors.items() if draft.binding[name] == "constant")
    if isinstance(draft.expect, Refusal):
        return total
    graph = graph_of(draft)
    for number, feed in enumerate(draft.feeds):
        types, widths = inferred(graph, operands_of(draft, number)), _widths(feed.values())
        outputs = [types[name] for name in graph.outputs]
        total += sum(math.prod(each.shape) * widths.get(each.element_type, 1) for each in outputs)
    return total


def memory_bytes(draft: Draft) -> int:
    """About how many bytes of memory it takes to make a case."""
    texts = sum(
        math.prod(each.shape) for feed in draft.feeds for each in feed.values() if each.element_type == "string"
    )
    return _COPIES * file_bytes(draft) + _TEXT * texts


def _widths(tensors: Iterable[TensorDraft]) -> dict[str, int]:
    """The bytes of an element of each type that is given; of text as the longest one takes."""
    widths: dict[str, int] = {}
    for each in tensors:
        widths[each.element_type] = max(widths.get(each.element_type, 0), _element_bytes(each))
    return widths


def _array_bytes(tensor: TensorDraft) -> int:
    return math.prod(tensor.shape) * _element_bytes(tensor)


def _element_bytes(tensor: TensorDraft) -> int:
    return ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER * longest_text(tensor)
