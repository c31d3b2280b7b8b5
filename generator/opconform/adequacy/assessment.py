"""The adequacy report of an operation's cases: the mutants of its semantics that survive."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from opconform.adequacy.mutations import Mutation, mutations_of
from opconform.adequacy.trials import Trial, answer_of, loaded, modules_of, trials_of
from opconform.model.draft import Draft
from opconform.resources import root
from opconform.specs.attribution import established
from opconform.specs.diagnostics import validated
from opconform.specs.document import read_document
from opconform.specs.requirements import requirements_of
from opconform.specs.schema import Keys

_FILE = "equivalents.yaml"


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
        stale: The reviewed equivalents that are no longer equivalent.
        untested: The requirements without a case, as in `Split-1:axis.range`.
    """

    ops: tuple[str, ...]
    cases: int
    mutants: int
    survivors: tuple[Mutation, ...]
    reviewed: Mapping[Mutation, str]
    stale: tuple[Equivalent, ...]
    untested: tuple[str, ...]

    @property
    def open_survivors(self) -> tuple[Mutation, ...]:
        """The survivors that were not reviewed."""
        return tuple(each for each in self.survivors if each not in self.reviewed)

    @property
    def is_adequate(self) -> bool:
        """Whether nothing is left to review."""
        return not (self.open_survivors or self.stale or self.untested)


def adequacy_of(cases: Iterable[Draft]) -> Adequacy:
    """The adequacy of some cases."""
    listed: set[tuple[str, str]] = set()
    trials = trials_of(_noted(cases, listed))
    ops = tuple(sorted({each.op for each in trials}))
    modules = modules_of(ops)
    mutants = list(mutations_of({name: ast.parse(path.read_text()) for name, path in modules.items()}, ops))
    survivors = _surviving(mutants, trials)
    found = {each: (each.module, each.function, each.before, each.after) for each in survivors}
    places = {(each.module, each.function) for each in mutants}
    known = [each for each in _equivalents() if (each.module, each.function) in places]
    reviews = {(each.module, each.function, each.before, each.after): each for each in known}
    return Adequacy(
        ops=ops,
        cases=len(trials),
        mutants=len(mutants),
        survivors=tuple(survivors),
        reviewed={each: reviews[key].reason for each, key in found.items() if key in reviews},
        stale=tuple(each for key, each in reviews.items() if key not in found.values()),
        untested=tuple(
            f"{op}:{each.id}" for op in ops for each in requirements_of(op).requirements if (op, each.id) not in listed
        ),
    )


def _noted(cases: Iterable[Draft], listed: set[tuple[str, str]]) -> Iterator[Draft]:
    """The cases, with their requirements added to a set."""
    for each in cases:
        compared = established(each.op) if each.rejected_for is None else ()
        listed.update((each.op, name) for name in (*each.requirements, *compared))
        yield each


def _surviving(mutants: Sequence[Mutation], trials: Sequence[Trial]) -> list[Mutation]:
    """The mutants that no trial detects. A trial that detected one is tried first for the next in its module."""
    modules = {each.module for each in mutants}
    concerned = {module: [each for each in trials if module in modules_of((each.op,))] for module in modules}
    alive = []
    for mutant in mutants:
        order = concerned[mutant.module]
        killer = _killer(mutant, order)
        if killer is None:
            alive.append(mutant)
        else:
            order.insert(0, order.pop(killer))
    return alive


def _killer(mutant: Mutation, trials: Sequence[Trial]) -> int | None:
    """The index of the first trial that detects a mutant; 0 if it cannot be loaded."""
    place = 0
    try:
        operations = loaded(tuple(sorted({each.op for each in trials})), {mutant.module: mutant.tree})
        for place, each in enumerate(trials):
            if answer_of(operations[each.op], each) != each.expected:
                return place
    except Exception:  # noqa: BLE001 - a mutant that does not load, or that fails, is detected
        return place
    return None


def _equivalents() -> tuple[Equivalent, ...]:
    path = Path(str(root() / "cases" / _FILE))
    if not path.is_file():
        return ()
    return validated(read_document(path, f"cases/{_FILE}"), Equivalents).equivalents
