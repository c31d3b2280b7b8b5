"""Trials: cases evaluated by an operation, to detect mutants of its semantics."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from opconform.model.draft import Draft, arguments_of
from opconform.model.golden import inputs_of
from opconform.operations.operation import Arguments, Operation, Rejection

#: Larger tensors are not filled: only their types are inferred.
_MOST_ELEMENTS = 1 << 12
#: Outputs with a larger dimension or more elements, which a mutant can have, are not evaluated.
_MOST_OUTPUT_ELEMENTS = 1 << 22


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One feed of a case: the arguments, with or without elements, and the result of the semantics in use."""

    case: str
    twin: str | None
    op: str
    arguments: Arguments
    filled: bool
    expected: object


def trials_of(cases: Iterable[Draft]) -> list[Trial]:
    """The trials of some cases."""
    return [_trial(draft, feed) for draft in cases for feed in range(len(draft.feeds))]


def answer_of(operation: Operation, arguments: Arguments, *, filled: bool) -> object:
    """The result of an operation in a comparable form."""
    requested = operation.requested_outputs(arguments)
    try:
        types = operation.infer(arguments)
    except Rejection as rejection:
        return requested, rejection.requirements
    shapes = tuple((each.element_type, each.shape) for each in types)
    if not filled or any(max(prod(each.shape), *each.shape, 0) > _MOST_OUTPUT_ELEMENTS for each in types):
        return requested, shapes
    outputs, values = operation.evaluate(arguments), operation.values(arguments)
    return requested, shapes, values, tuple((each.element_type, each.shape, each.array.tobytes()) for each in outputs)


def _trial(draft: Draft, feed: int) -> Trial:
    arguments, tensors = arguments_of(draft, feed), draft.feeds[feed]
    filled = sum(prod(each.shape) for each in tensors.values()) <= _MOST_ELEMENTS
    if filled:
        given = inputs_of(draft, 0)[feed]
        operands = {name: replace(each, tensor=given[name]) for name, each in arguments.inputs.items()}
        arguments = replace(arguments, inputs=operands)
    expected = answer_of(draft.operation, arguments, filled=filled)
    return Trial(case=draft.id, twin=draft.twin, op=draft.op, arguments=arguments, filled=filled, expected=expected)
