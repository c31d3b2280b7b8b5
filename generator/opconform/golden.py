"""Goldens: the inputs of a case, and the outputs that the reference semantics give for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from opconform.case import Context
from opconform.drafts import Draft, Refusal, arguments_of
from opconform.filling import fill
from opconform.operations.operation import Shape
from opconform.tensors import Tensor

Tensors = tuple[Tensor, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """A draft with its values.

    Attributes:
        inputs: The inputs of each feed, by name.
        pieces: The outputs of the operation itself for each feed; None for a rejected case.
        outputs: The outputs of the model, which its context makes of the pieces; None for a rejected case.
    """

    draft: Draft
    inputs: tuple[Mapping[str, Tensor], ...]
    pieces: tuple[Tensors, ...] | None
    outputs: tuple[Tensors, ...] | None


def golden_of(draft: Draft, content: str, seed: int) -> Golden:
    """The golden of a draft.

    Args:
        draft: The draft; its expectation agrees with the reference semantics.
        content: Its content in canonical JSON, which with the seed decides every random bit.
        seed: The suite's seed.
    """
    first = {name: fill(each, seed, content, 0, name) for name, each in draft.tensors.items()}
    second = {name: fill(each, seed, content, 1, name) for name, each in (draft.second or {}).items()}
    inputs = (first,) if draft.second is None else (first, {**first, **second})
    if isinstance(draft.expect, Refusal):
        return Golden(draft=draft, inputs=inputs, pieces=None, outputs=None)
    data = draft.operation.inputs[0]
    pieces = tuple(_pieces(draft, feed, each[data]) for feed, each in enumerate(inputs))
    outputs = tuple(_CONTEXTS[draft.context].tensors(each[data], cut) for each, cut in zip(inputs, pieces, strict=True))
    return Golden(draft=draft, inputs=inputs, pieces=pieces, outputs=outputs)


def _pieces(draft: Draft, feed: int, data: Tensor) -> Tensors:
    arrays = draft.operation.evaluate(arguments_of(draft, feed), data.array)
    return tuple(Tensor(element_type=data.element_type, array=np.ascontiguousarray(each)) for each in arrays)


def output_shapes(draft: Draft, pieces: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """The shapes of the outputs that a draft's context makes of its pieces."""
    return _CONTEXTS[draft.context].shapes(draft.tensors[draft.operation.inputs[0]].shape, pieces)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outputs:
    """What a context's model gives, from data and the pieces: the tensors, and their shapes alone."""

    tensors: Callable[[Tensor, Tensors], Tensors]
    shapes: Callable[[Shape, tuple[Shape, ...]], tuple[Shape, ...]]


_PIECES = _Outputs(tensors=lambda _, pieces: pieces, shapes=lambda _, pieces: pieces)
_JOINED = _Outputs(tensors=lambda data, _: (data,), shapes=lambda data, _: (data,))

_CONTEXTS: Mapping[Context, _Outputs] = MappingProxyType({"bare": _PIECES, "folded": _PIECES, "concat": _JOINED})
