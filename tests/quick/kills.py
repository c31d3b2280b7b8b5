"""The kills of one operation: which cases of its core tell each mutant from a right implementation, a few of each."""

import ast
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from opconform.adequacy.assessment import SEMANTICS, distinct
from opconform.adequacy.mutations import mutations_of
from opconform.adequacy.reach import reached
from opconform.adequacy.semantics import Semantics
from opconform.adequacy.target import MutatedProgram, T
from opconform.generation.expansion import expand
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.model.draft import Draft
from opconform.specs.group import Spec
from opconform.suite.selection.selection import Selection
from opconform.system.temporary import TemporaryFolder
from opconform_runners.tools.adequacy import NumpyTarget
from opconform_runners.verdicts.verdict import Fail, Own
from tests.mutants.backend import Mutant
from tests.mutants.catalogue import MUTANTS, concerns
from tests.mutants.kills import CORE, ISOLATED, Workbench

#: The most killers that are recorded of a mutant: enough to choose from.
MOST = 6
#: The mutants of the catalogue, as a target beside those of adequacy.
CATALOGUE = "catalogue"

Item = TypeVar("Item")
#: A mutant's name, and the ids of the cases that kill it; none for one that no case of the core kills.
Kills = Iterator[tuple[str, tuple[str, ...]]]


def digest_of(op: str, specs: Sequence[Spec]) -> str:
    """The SHA-256 of what the kills of an operation follow from: its specs, both implementations, the catalogue."""
    digest = sha256("".join(spec.digest for spec in specs).encode())
    for target in (Semantics((op,)), NumpyTarget()):
        parts = reached(target.program, {op: target.roots().get(op, ())})
        digest.update("".join(ast.dump(part.node) for name in sorted(parts) for part in parts[name]).encode())
    digest.update("\n".join(_concerned(op)).encode())
    return digest.hexdigest()


def recorded(op: str, specs: Sequence[Spec], seconds: float) -> dict[str, tuple[str, ...]]:
    """The killers of the mutants of an operation, by target and name.

    `seconds` is the processor time that each target may take; the mutants that it does not suffice for are left out.
    """
    drafts = [case for spec in specs for x in spec.groups if x.settings.profile == CORE for case in expand(x)]
    targets: Sequence[tuple[str, Kills]] = (
        (SEMANTICS, _systematic(op, Semantics((op,)), drafts, _ids_of_feeds)),
        ("numpy", _systematic(op, NumpyTarget(), drafts, _ids)),
        (CATALOGUE, _catalogued(op, specs)),
    )
    kills: dict[str, tuple[str, ...]] = {}
    for target, found in targets:
        until = time.process_time() + seconds
        for name, killers in found:
            kills[f"{target} {name}"] = killers
            if time.process_time() > until:
                break
    return kills


def _concerned(op: str) -> list[str]:
    """The mutants of the catalogue that run in this process, in an order in which the first are a fair sample."""
    names = [name for name, row in MUTANTS.items() if concerns(row, op) and not name.startswith(ISOLATED)]
    return sorted(names, key=lambda name: sha256(name.encode()).digest())


def _systematic(
    op: str,
    target: MutatedProgram[T],
    drafts: Sequence[Draft],
    ids_of: Callable[[Iterable[Draft], Sequence[T]], list[str]],
) -> Kills:
    cases = distinct(drafts)
    trials = target.trials(cases)
    order = list(zip(ids_of(cases, trials), trials, strict=True))
    numbers: dict[str, int] = {}
    for mutant in mutations_of(target.program.trees, reached(target.program, {op: target.roots().get(op, ())})):
        place = f"{target.shown(mutant.module)}:{mutant.function}:{mutant.before} -> {mutant.after}"
        numbers[place] = numbers.get(place, 0) + 1
        killers: list[int] = []
        names: dict[str, None] = {}
        for index in target.killers(mutant.module, mutant.tree, [trial for _, trial in order]):
            killers.append(index)
            names[order[index][0]] = None
            if len(names) == MOST:
                break
        yield f"{place} #{numbers[place]}", tuple(names)
        order = _to_front(order, killers)


def _ids(_cases: Iterable[Draft], trials: Sequence[T]) -> list[str]:
    return [trial.case.id for trial in trials]  # type: ignore[attr-defined]


def _ids_of_feeds(cases: Iterable[Draft], _trials: Sequence[T]) -> list[str]:
    return [case.id for case in cases for _ in case.feeds]


def _to_front(order: Sequence[Item], indices: Sequence[int]) -> list[Item]:
    """The items of some indices before all others: what killed a mutant is tried first for the next."""
    moved = set(indices)
    return [*(order[index] for index in indices), *(x for index, x in enumerate(order) if index not in moved)]


class _EnoughKillers(Exception):  # noqa: N818 - not an error
    """A mutant has as many killers as are recorded."""


def _catalogued(op: str, specs: Sequence[Spec]) -> Kills:
    with TemporaryFolder() as folder:
        made = generate(specs, Path(folder) / "suite", Options(dialects=(), selection=Selection(profiles=(CORE,))))
        workbench = Workbench(made.out, Selection(), timeout=60.0)
        order = list(workbench.entries)
        for name in _concerned(op):
            killers: list[int] = []
            judged = iter(range(len(order)))

            def note(own: Own, judged: Iterator[int] = judged, killers: list[int] = killers) -> None:
                index = next(judged)
                if isinstance(own, Fail):
                    killers.append(index)
                    if len(killers) == MOST:
                        raise _EnoughKillers

            with contextlib.suppress(_EnoughKillers):
                workbench.verdicts_of(Mutant(name), order, note)
            yield name, tuple(order[index].id for index in killers)
            order = _to_front(order, killers)
