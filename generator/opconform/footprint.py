"""Footprints: the bytes that a case takes on disk and in memory, known from its draft before anything is allocated."""

import math

from opconform.drafts import Draft, Refusal, TensorDraft
from opconform.element_types import ELEMENT_TYPES
from opconform.filling import longest_text
from opconform.golden import output_shapes

#: How many times its files' bytes a case takes in memory while they are written, as measured over all element types.
_COPIES = 3
#: The bytes that one text takes while it is made.
_TEXT = 640
_CHARACTER = 4


def file_bytes(draft: Draft) -> int:
    """The least number of bytes of a case's files: the arrays of all feeds, and the constants of one model."""
    data = draft.operation.inputs[0]
    total = sum(_array_bytes(each) for feed in draft.feeds for each in feed.values())
    total += sum(_array_bytes(each) for name, each in draft.tensors.items() if draft.binding[name] == "constant")
    if isinstance(draft.expect, Refusal):
        return total
    for number, feed in enumerate(draft.feeds):
        elements = sum(math.prod(shape) for shape in output_shapes(draft, number))
        total += elements * _element_bytes(feed[data])
    return total


def memory_bytes(draft: Draft) -> int:
    """About how many bytes of memory it takes to make a case."""
    texts = sum(
        math.prod(each.shape) for feed in draft.feeds for each in feed.values() if each.element_type == "string"
    )
    return _COPIES * file_bytes(draft) + _TEXT * texts


def _array_bytes(tensor: TensorDraft) -> int:
    return math.prod(tensor.shape) * _element_bytes(tensor)


def _element_bytes(tensor: TensorDraft) -> int:
    return ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER * longest_text(tensor)
