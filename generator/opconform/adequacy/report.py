"""The adequacy report of some cases: the mutants of their operations' semantics that no case detects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from pydantic import Field

from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.semantics import loaded, modules_of
from opconform.model.draft import Draft, arguments_of
from opconform.model.fills import fill
from opconform.operations.operation import Arguments, Operation, Rejection
from opconform.resources import root
from opconform.specs.diagnostics import validated
from opconform.specs.document import read_document
from opconform.specs.schema import Keys

_FILE = "equivalents.yaml"
#: Larger tensors are not filled: only their types are inferred.
_MOST_ELEMENTS = 1 << 12


class Equivalent(Keys):
    """A reviewed mutant that no case can distinguish from the original."""

    module: str = Field(description="The module in `opconform/operations`.")
    function: str = Field(description="The function that is changed.")
    before: str = Field(description="The expression.")
    after: str = Field(description="The changed expression.")
    reason: str = Field(description="Why nothing can distinguish them.", min_length=1)


class Equivalents(Keys):
    """The document `equivalents.yaml`."""

    equivalents: tuple[Equivalent, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adequacy:
    """The adequacy of the cases of some operations.

    Attributes:
        cases: The number of evaluated feeds.
        survivors: The mutants that no case detects.
        reviewed: The reviewed survivors, with the reason.
        stale: The reviewed equivalents that are not equivalent any more.
    """

    ops: tuple[str, ...]
    cases: int
    mutants: int
    survivors: tuple[Mutation, ...]
    reviewed: Mapping[Mutation, str]
    stale: tuple[Equivalent, ...]

    @property
    def open_survivors(self) -> tuple[Mutation, ...]:
        """The survivors that were not reviewed."""
        return tuple(each for each in self.survivors if each not in self.reviewed)

    @property
    def is_adequate(self) -> bool:
        """Whether nothing is left to review."""
        return not (self.open_survivors or self.stale)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trial:
    """One feed of a case: the arguments, filled with elements or not, and the answer of the semantics in use."""

    op: str
    arguments: Arguments
    filled: bool
    expected: object


def adequacy_of(cases: Iterable[Draft]) -> Adequacy:
    """The adequacy of some cases."""
    trials = [_trial(draft, feed) for draft in cases for feed in range(len(draft.feeds))]
    ops = tuple(sorted({each.op for each in trials}))
    modules = modules_of(ops)
    mutants = [each for name, path in modules.items() for each in mutations_of(path.read_text(), name)]
    survivors = {each: _key(each) for each in _surviving(ops, mutants, trials)}
    reviews = {_key(each): each for each in _equivalents() if each.module in modules}
    return Adequacy(
        ops=ops,
        cases=len(trials),
        mutants=len(mutants),
        survivors=tuple(survivors),
        reviewed={each: reviews[key].reason for each, key in survivors.items() if key in reviews},
        stale=tuple(each for key, each in reviews.items() if key not in survivors.values()),
    )


def _key(change: Mutation | Equivalent) -> tuple[str, ...]:
    return change.module, change.function, change.before, change.after


def _trial(draft: Draft, feed: int) -> _Trial:
    arguments, tensors = arguments_of(draft, feed), draft.feeds[feed]
    filled = sum(prod(each.shape) for each in tensors.values()) <= _MOST_ELEMENTS
    if filled:
        operands = {
            name: replace(each, tensor=fill(tensors[name], 0, draft.content, feed, name))
            for name, each in arguments.inputs.items()
        }
        arguments = replace(arguments, inputs=operands)
    expected = _answer(draft.operation, arguments, filled=filled)
    return _Trial(op=draft.op, arguments=arguments, filled=filled, expected=expected)


def _answer(operation: Operation, arguments: Arguments, *, filled: bool) -> object:
    """The result of an operation in a comparable form."""
    requested = operation.requested_outputs(arguments)
    try:
        types = operation.infer(arguments)
    except Rejection as rejection:
        return requested, rejection.requirements
    shapes = tuple((each.element_type, each.shape) for each in types)
    if not filled:
        return requested, shapes
    outputs = operation.evaluate(arguments)
    return requested, shapes, tuple((each.element_type, each.shape, each.array.tobytes()) for each in outputs)


def _surviving(ops: Sequence[str], mutants: Sequence[Mutation], trials: Sequence[_Trial]) -> list[Mutation]:
    """The mutants that no trial detects. A trial that detected one is tried first for the next."""
    order, alive = list(trials), []
    for mutant in mutants:
        killer = _killer(ops, mutant, order)
        if killer is None:
            alive.append(mutant)
        elif killer:
            order.insert(0, order.pop(killer))
    return alive


def _killer(ops: Sequence[str], mutant: Mutation, trials: Sequence[_Trial]) -> int | None:
    """The index of the first trial that detects a mutant; 0 if it cannot be loaded."""
    place = 0
    try:
        operations = loaded(ops, {mutant.module: mutant.tree})
        for place, each in enumerate(trials):
            if _answer(operations[each.op], each.arguments, filled=each.filled) != each.expected:
                return place
    except Exception:  # noqa: BLE001 - a mutant that does not load, or that fails, is detected
        return place
    return None


def _equivalents() -> tuple[Equivalent, ...]:
    path = Path(str(root() / "cases" / _FILE))
    if not path.is_file():
        return ()
    return validated(read_document(path, f"cases/{_FILE}"), Equivalents).equivalents
