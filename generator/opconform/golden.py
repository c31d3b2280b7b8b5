"""Goldens: the inputs of a case, and the outputs that the reference semantics give for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opconform.contexts import Around, outputs_of
from opconform.drafts import Draft, Refusal, arguments_of
from opconform.filling import fill
from opconform.operations.operation import Arguments, Shape
from opconform.tensors import Array, Tensor

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
    cuts = tuple(_cut(draft, arguments_of(draft, feed), each) for feed, each in enumerate(inputs))
    return Golden(
        draft=draft,
        inputs=inputs,
        pieces=tuple(pieces for pieces, _ in cuts),
        outputs=tuple(outputs_of(draft.context, pieces, around) for pieces, around in cuts),
    )


def output_shapes(draft: Draft, feed: int = 0) -> tuple[Shape, ...]:
    """The shapes of the outputs of an accepted draft's model for a feed."""
    operation, arguments = draft.operation, arguments_of(draft, feed)
    data = operation.inputs[0]
    around: Around[Shape] = Around(
        data=arguments.inputs[data].shape,
        axis=operation.axis(arguments) or 0,
        shape_of=lambda shape: shape,
        join=_joined_shape,
        again=lambda shape: operation.infer(arguments.with_data(data, shape)),
    )
    return outputs_of(draft.context, operation.infer(arguments), around)


def _cut(draft: Draft, arguments: Arguments, inputs: Mapping[str, Tensor]) -> tuple[Tensors, Around[Tensor]]:
    """The operation's own outputs for one feed, and what can be done with them."""
    operation = draft.operation
    name = operation.inputs[0]
    data = inputs[name]

    def tensor(array: Array) -> Tensor:
        return Tensor(element_type=data.element_type, array=np.ascontiguousarray(array))

    def pieces(whole: Tensor) -> Tensors:
        return tuple(tensor(each) for each in operation.evaluate(arguments.with_data(name, whole.shape), whole.array))

    around: Around[Tensor] = Around(
        data=data,
        axis=operation.axis(arguments) or 0,
        shape_of=lambda each: each.shape,
        join=lambda each, axis: tensor(np.concatenate([one.array for one in each], axis)),
        again=pieces,
    )
    return pieces(data), around


def _joined_shape(shapes: Sequence[Shape], axis: int) -> Shape:
    first = shapes[0]
    return (*first[:axis], sum(each[axis] for each in shapes), *first[axis + 1 :])
