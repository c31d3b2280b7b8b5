"""The adequacy report of an operation's cases: the mutants of each target that survive."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.reach import reached
from opconform.adequacy.semantics import Semantics
from opconform.adequacy.target import MutatedProgram, T
from opconform.model.draft import Draft
from opconform.specs.attribution import established
from opconform.specs.diagnostics import validated
from opconform.specs.operation_names import tested_operations
from opconform.specs.requirements import requirements_of
from opconform.specs.schema.keys import Keys
from opconform.specs.yaml_document import read_document
from opconform.system.resources import root

_FILE = "equivalents.yaml"
#: The name of the target that every operation has.
SEMANTICS = "semantics"


class Equivalent(Keys):
    """Reviewed mutants that no case can distinguish from the original, for one reason."""

    module: str = Field(description="The module: in `opconform/operations`, or `backends.…` of the runners.")
    function: str = Field(description="The function that is changed.")
    changes: tuple[tuple[str, str], ...] = Field(description="An expression and the changed one, per mutant.")
    reason: str = Field(description="Why nothing can distinguish them.", min_length=1)


class Equivalents(Keys):
    """The document `equivalents.yaml`."""

    equivalents: tuple[Equivalent, ...]


class Change(NamedTuple):
    """What identifies a mutant for a review."""

    module: str
    function: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """What the cases detect in one target.

    Attributes:
        trials: The number of evaluated feeds or cases.
        survivors: The mutants that no case detects; their modules have the names that are shown.
        reviewed: The reviewed survivors, with the reason.
        shared: The survivors in code that other operations reach, whose cases may detect them.
        stale: The reviewed changes that cases distinguish. Of all operations, also those that are not made any more.
    """

    trials: int
    mutants: int
    survivors: tuple[Mutation, ...]
    reviewed: Mapping[Mutation, str]
    shared: frozenset[Mutation]
    stale: tuple[Change, ...]

    @property
    def open_survivors(self) -> tuple[Mutation, ...]:
        """The survivors that were not reviewed, and that only these operations can have detected."""
        return tuple(x for x in self.survivors if x not in self.reviewed and x not in self.shared)

    @property
    def shared_survivors(self) -> tuple[Mutation, ...]:
        """The survivors that were not reviewed, and that the cases of other operations may detect."""
        return tuple(x for x in self.survivors if x not in self.reviewed and x in self.shared)


@dataclass(frozen=True, kw_only=True, slots=True)
class Adequacy:
    """The adequacy of the cases of some operations.

    Attributes:
        untested: The requirements without a case, as in `Split-1:axis.range`.
        targets: What the cases detect in each target; the first one is the reference semantics.
    """

    ops: tuple[str, ...]
    untested: tuple[str, ...]
    targets: Mapping[str, Assessment]

    @property
    def is_adequate(self) -> bool:
        """Whether nothing is left to review."""
        return not self.untested and not any(target.open_survivors or target.stale for target in self.targets.values())


def adequacy_of(cases: Sequence[Draft], others: Mapping[str, MutatedProgram[T]], *, trusted: bool = False) -> Adequacy:
    """The adequacy of some cases for the reference semantics and for other targets.

    If reviews are `trusted`, the mutants in them are not tried again: that no case detects one takes all cases to see.
    """
    listed: set[tuple[str, str]] = set()
    for case in cases:
        compared = established(case.op) if case.rejected_for is None else ()
        listed.update((case.op, name) for name in (*case.requirements, *compared))
    ops = tuple(sorted({case.op for case in cases}))
    known, tried = _equivalents(), distinct(cases)
    return Adequacy(
        ops=ops,
        untested=tuple(
            f"{op}:{requirement.id}"
            for op in ops
            for requirement in requirements_of(op).requirements
            if (op, requirement.id) not in listed
        ),
        targets={
            SEMANTICS: _assessed(Semantics(ops), ops, tried, known, trusted=trusted),
            **{name: _assessed(target, ops, tried, known, trusted=trusted) for name, target in others.items()},
        },
    )


def distinct(cases: Sequence[Draft]) -> list[Draft]:
    """One of the cases that give the node under test the same but for random bits, if possible without other nodes."""
    ordered = sorted(cases, key=lambda case: case.has_other_nodes, reverse=True)
    return [*{repr((x.op, x.attributes, x.feeds, x.rejected_for)): x for x in ordered}.values()]


def _assessed(
    target: MutatedProgram[T],
    ops: Collection[str],
    cases: Sequence[Draft],
    known: Iterable[Equivalent],
    *,
    trusted: bool,
) -> Assessment:
    trials, users = target.trials(cases), target.users()
    tried = {trial.op for trial in trials}
    roots = {op: r for op, r in target.roots().items() if op in tried}
    mutants = list(mutations_of(target.program.trees, reached(target.program, roots)))
    changes = {
        mutant: Change(target.shown(mutant.module), mutant.function, mutant.before, mutant.after) for mutant in mutants
    }
    places = {(change.module, change.function) for change in changes.values()}
    reviews = {
        Change(x.module, x.function, *change): x.reason
        for x in known
        for change in x.changes
        if (x.module, x.function) in places
    }
    untried = {mutant for mutant, change in changes.items() if trusted and change in reviews}
    surviving = {*untried, *_surviving(target, [mutant for mutant in mutants if mutant not in untried], trials)}
    survivors = {replace(x, module=target.shown(x.module)): changes[x] for x in mutants if x in surviving}
    alive = set(survivors.values())
    shared_parts = {x.part for x in mutants if not users.get(x.part, frozenset()) <= {*ops}}
    shared = [mutant for mutant in mutants if mutant.part in shared_parts]
    return Assessment(
        trials=len(trials),
        mutants=len(mutants),
        survivors=tuple(survivors),
        reviewed={survivor: reviews[change] for survivor, change in survivors.items() if change in reviews},
        shared=frozenset(x for x in survivors if x.part in shared_parts),
        stale=tuple(x for x in _judged(reviews, changes, shared, ops) if x not in alive),
    )


def _judged(
    reviews: Collection[Change], changes: Mapping[Mutation, Change], shared: Collection[Mutation], ops: Collection[str]
) -> Iterator[Change]:
    """The reviews that the cases of some operations can show to be stale.

    That a change is not made any more is known of functions that only these operations reach: other parts of a module
    have no name of their own.
    """
    made, is_whole = {*changes.values()}, {*tested_operations()} <= {*ops}
    others = {(changes[mutant].module, changes[mutant].function) for mutant in shared}
    for review in reviews:
        is_own = review.function.isidentifier() and (review.module, review.function) not in others
        if is_whole or is_own or review in made:
            yield review


def _surviving(target: MutatedProgram[T], mutants: Iterable[Mutation], trials: Sequence[T]) -> Iterator[Mutation]:
    """The mutants that no trial of their operations detects.

    A trial that detected one is tried first for the next of the same operations.
    """
    orders: dict[tuple[str, ...], list[T]] = {}
    for mutant in mutants:
        if mutant.ops not in orders:
            orders[mutant.ops] = [trial for trial in trials if trial.op in mutant.ops]
        order = orders[mutant.ops]
        killer = next(target.killers(mutant.module, mutant.tree, order), None)
        if killer is None:
            yield mutant
        else:
            order.insert(0, order.pop(killer))


def _equivalents() -> tuple[Equivalent, ...]:
    path = Path(str(root() / "cases" / _FILE))
    if not path.is_file():
        return ()
    return validated(read_document(path, f"cases/{_FILE}"), Equivalents).equivalents
