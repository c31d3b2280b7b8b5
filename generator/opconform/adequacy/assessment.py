"""The adequacy report of an operation's cases: the mutants of each target that survive."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.reach import reached
from opconform.adequacy.semantics import Semantics
from opconform.adequacy.target import T, Target
from opconform.model.draft import Draft
from opconform.resources import root
from opconform.specs.attribution import established
from opconform.specs.diagnostics import validated
from opconform.specs.document import read_document
from opconform.specs.requirements import requirements_of
from opconform.specs.schema import Keys

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
        stale: The reviewed changes that cases distinguish, or that are not made any more.
    """

    trials: int
    mutants: int
    survivors: tuple[Mutation, ...]
    reviewed: Mapping[Mutation, str]
    stale: tuple[Change, ...]

    @property
    def open_survivors(self) -> tuple[Mutation, ...]:
        """The survivors that were not reviewed."""
        return tuple(each for each in self.survivors if each not in self.reviewed)


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
        return not self.untested and not any(each.open_survivors or each.stale for each in self.targets.values())


def adequacy_of(cases: Sequence[Draft], others: Mapping[str, Target[T]]) -> Adequacy:
    """The adequacy of some cases for the reference semantics and for other targets."""
    listed: set[tuple[str, str]] = set()
    for each in cases:
        compared = established(each.op) if each.rejected_for is None else ()
        listed.update((each.op, name) for name in (*each.requirements, *compared))
    ops = tuple(sorted({each.op for each in cases}))
    known = _equivalents()
    return Adequacy(
        ops=ops,
        untested=tuple(
            f"{op}:{each.id}" for op in ops for each in requirements_of(op).requirements if (op, each.id) not in listed
        ),
        targets={
            SEMANTICS: _assessed(Semantics(ops), cases, known),
            **{name: _assessed(each, cases, known) for name, each in others.items()},
        },
    )


def _assessed(target: Target[T], cases: Sequence[Draft], known: Iterable[Equivalent]) -> Assessment:
    trials = target.trials(cases)
    ops = {each.op for each in trials}
    roots = {op: each for op, each in target.roots().items() if op in ops}
    mutants = list(mutations_of(target.program.trees, reached(target.program, roots)))
    survivors = [replace(each, module=target.shown(each.module)) for each in _surviving(target, mutants, trials)]
    alive = {each: Change(each.module, each.function, each.before, each.after) for each in survivors}
    places = {(target.shown(each.module), each.function) for each in mutants}
    reviews = {
        Change(each.module, each.function, *change): each.reason
        for each in known
        for change in each.changes
        if (each.module, each.function) in places
    }
    return Assessment(
        trials=len(trials),
        mutants=len(mutants),
        survivors=tuple(survivors),
        reviewed={each: reviews[change] for each, change in alive.items() if change in reviews},
        stale=tuple(each for each in reviews if each not in alive.values()),
    )


def _surviving(target: Target[T], mutants: Iterable[Mutation], trials: Sequence[T]) -> Iterator[Mutation]:
    """The mutants that no trial of their operations detects.

    A trial that detected one is tried first for the next of the same operations.
    """
    orders: dict[tuple[str, ...], list[T]] = {}
    for mutant in mutants:
        order = orders.setdefault(mutant.ops, [each for each in trials if each.op in mutant.ops])
        killer = target.killer(mutant.module, mutant.tree, order)
        if killer is None:
            yield mutant
        elif order:
            order.insert(0, order.pop(killer))


def _equivalents() -> tuple[Equivalent, ...]:
    path = Path(str(root() / "cases" / _FILE))
    if not path.is_file():
        return ()
    return validated(read_document(path, f"cases/{_FILE}"), Equivalents).equivalents
