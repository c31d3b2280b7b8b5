"""Contexts: what the model around an operation makes of the operation's outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from opconform.case import Context
from opconform.drafts import Draft, Refusal, arguments_of
from opconform.operations.operation import Rejection, Shape

#: The outputs that the context `partial` uses: every second one, so that the first and one in the middle are not.
USED = slice(1, None, 2)

#: What a context can hold although the operation has no outputs to go on with.
_WITHOUT_OUTPUTS = ("bare", "folded", "concat", "partial")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Around(Generic[T]):
    """What a context may do with outputs, be they tensors or their shapes alone.

    Attributes:
        data: What was split.
        axis: The axis, counted from the front.
        shape_of: The shape of an output.
        join: Outputs joined along an axis.
        again: An output split again, by the same axis and lengths.
    """

    data: T
    axis: int
    shape_of: Callable[[T], Shape]
    join: Callable[[Sequence[T], int], T]
    again: Callable[[T], Sequence[T]]


def outputs_of(context: Context, pieces: Sequence[T], around: Around[T]) -> tuple[T, ...]:
    """What a context's model gives.

    Args:
        context: The context.
        pieces: The operation's own outputs.
        around: What can be done with them.
    """
    return tuple(_OUTPUTS[context](pieces, around))


def alike(shapes: Sequence[Shape]) -> tuple[int, ...]:
    """The outputs that the context `shared` joins: those of the last one's shape."""
    return tuple(number for number, shape in enumerate(shapes) if shape == shapes[-1])


def other_axis(axis: int, rank: int) -> int:
    """The axis that the context `shared` joins along: the next one, and the first after the last."""
    return (axis + 1) % rank


def context_fault(draft: Draft) -> str | None:
    """Why a draft's context is none for it, or None."""
    arguments = arguments_of(draft, 0)
    asked = draft.operation.asked(arguments) or 0
    if draft.context == "partial" and asked < 2:  # noqa: PLR2004 - a second output
        return "`partial` uses every second output, so there must be two at the least"
    if isinstance(draft.expect, Refusal) and len(draft.feeds) == 1:
        if draft.context not in _WITHOUT_OUTPUTS:
            return f"a rejected case has no outputs for the context {draft.context!r} to use"
        if draft.context == "concat" and draft.operation.axis(arguments) is None:
            return "the outputs cannot be joined along an axis that is wrong"
    elif draft.context == "chain":
        return _chain_fault(draft)
    elif draft.context == "shared":
        inferred = [draft.operation.infer(arguments_of(draft, feed)) for feed in range(len(draft.feeds))]
        if len({alike(each) for each in inferred}) > 1:
            return "`shared` joins the outputs of one shape, and in the second feed those are others"
    return None


def _chain_fault(draft: Draft) -> str | None:
    for feed in range(len(draft.feeds)):
        arguments = arguments_of(draft, feed)
        last = draft.operation.infer(arguments)[-1]
        try:
            draft.operation.infer(arguments.with_data(draft.operation.inputs[0], last))
        except Rejection as rejection:
            violated = ", ".join(rejection.requirements)
            return f"`chain` splits the last output again, and of its shape {list(last)} that violates {violated}"
    return None


def _pieces(pieces: Sequence[T], _around: Around[T]) -> Sequence[T]:
    return pieces


def _concat(_pieces: Sequence[T], around: Around[T]) -> Sequence[T]:
    return (around.data,)


def _chain(pieces: Sequence[T], around: Around[T]) -> Sequence[T]:
    return (*pieces[:-1], *around.again(pieces[-1]))


def _partial(pieces: Sequence[T], _around: Around[T]) -> Sequence[T]:
    return pieces[USED]


def _shared(pieces: Sequence[T], around: Around[T]) -> Sequence[T]:
    shapes = [around.shape_of(each) for each in pieces]
    joined = around.join([pieces[number] for number in alike(shapes)], other_axis(around.axis, len(shapes[0])))
    return (*pieces, joined)


_OUTPUTS: Mapping[Context, Callable[[Sequence[T], Around[T]], Sequence[T]]] = MappingProxyType(
    {"bare": _pieces, "folded": _pieces, "concat": _concat, "chain": _chain, "partial": _partial, "shared": _shared}
)
