"""The pipeline from specs to a suite. The bytes of the suite do not depend on the number of processes."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from opconform.errors import UsageError
from opconform.generation.case_files import case_files
from opconform.generation.expansion import Expanded, expand
from opconform.generation.header import suite_header
from opconform.generation.options import Options
from opconform.generation.work_folder import work_folder
from opconform.generation.workers import BATCH, CaseWriter, Pool, written
from opconform.generation.writer import finish, forgetting, manifest_file, prepare
from opconform.memory import free_memory, shown_bytes
from opconform.model.draft import id_of
from opconform.model.footprint import file_bytes, memory_bytes
from opconform.specs.attribution import warnings_of
from opconform.specs.document import REPORTED, Mistake, SpecMistakes
from opconform.specs.expressions import is_expression
from opconform.specs.loader import Group, Spec
from opconform.suite.manifest import Entry, Header
from opconform.suite.selection import Selection, near_miss

#: Called periodically with the completed fraction (0 to 1) and the number of cases.
OnProgress = Callable[[float, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """The result of a generation.

    Attributes:
        out: The suite.
        header: Its `suite.json`.
        taken: How many cases were taken over from an earlier suite or attempt.
        warnings: One sentence for each requirement that is listed in vain, and for each two groups that expand to the
            same case.
    """

    out: Path
    header: Header
    taken: int
    warnings: tuple[str, ...]


def generate(
    specs: Sequence[Spec], out: Path, options: Options, on_progress: OnProgress = lambda *_: None
) -> Generated:
    """Write the suite of some specs to a folder, or to a file whose name ends in `.zip`; an earlier suite is replaced.

    Raises:
        SpecMistakes: A spec cannot be expanded.
        SuiteError: A file cannot be written, for example because the disk is full.
        UsageError: Nothing is selected, or `out` is not a suite, or another process writes to it.
    """
    if out.name in ("", ".."):
        raise UsageError(f"--out {str(out)!r} is not the name of a folder. Name one, such as --out suite.")
    with contextlib.ExitStack() as held:
        try:
            out.absolute().parent.mkdir(parents=True, exist_ok=True)
            work = held.enter_context(work_folder(out))
        except OSError as fault:
            raise UsageError(f"{out} cannot be written: {fault.strerror}. Name another --out.") from fault
        cases = _Cases(_groups(specs, options.selection), options, on_progress)
        leftovers = prepare(work)
        held.enter_context(forgetting(leftovers))
        writer = CaseWriter(leftovers=leftovers, recipe=options.recipe)
        pool = Pool(jobs=options.jobs, folder=work.path, is_large=cases.is_large)
        size, taken = 0, 0
        with manifest_file(work) as manifest:
            for each in written(cases, writer, pool):
                manifest.add(each.id, each.line, accepted=each.accepted)
                taken += each.taken
                size += each.size
                if size > options.limits.bytes:
                    over = f"more than {options.limits.bytes:,} bytes, the limit"
                    raise UsageError(f"The suite takes {over}; raise it with --max-bytes.")
            digest = manifest.finish()
        header = suite_header(specs, options, counts=manifest.counts, digest=digest)
        finish(work, header, resumed=leftovers.resumed)
    return Generated(out=out, header=header, taken=taken, warnings=(*warnings_of(specs), *cases.repeated))


def evaluated_entries(specs: Sequence[Spec], options: Options) -> Iterator[Entry]:
    """The lines of the manifest that a generation would write, in any order. Nothing is written.

    Raises:
        SpecMistakes: A spec cannot be expanded.
        UsageError: Nothing is selected.
    """
    for each in _Cases(_groups(specs, options.selection), options, lambda *_: None):
        yield case_files(each, options.recipe).entry


def _groups(specs: Sequence[Spec], selection: Selection) -> list[Group]:
    """The selected groups, in an order that does not depend on the files."""
    every = [each for spec in specs for each in spec.groups]
    known = sorted({each.settings.profile for each in every})
    selection.of(known, "in the specs")
    groups = [each for each in every if selection.wants_profile(each.settings.profile)]
    if not groups:
        profiles = " --profile ".join(known)
        raise UsageError(f"The profiles of all groups must be selected by name: --profile {profiles}.")
    return sorted(groups, key=lambda each: f"{each.op}/{each.id}/")


class _Cases:
    """The selected cases of all groups, in order."""

    def __init__(self, groups: Sequence[Group], options: Options, on_progress: OnProgress) -> None:
        self._groups = groups
        self._options = options
        self._on_progress = on_progress
        self._first: dict[str, int] = {}
        self._bytes = 0
        self._free = free_memory()
        self.repeated: list[str] = []

    def is_large(self, expanded: Expanded) -> bool:
        """Whether a case needs more memory than one of several processes may take."""
        return memory_bytes(expanded.draft) * self._options.jobs > self._free

    def __iter__(self) -> Iterator[Expanded]:
        sizes = [_size_of(each) for each in self._groups]
        whole, count = sum(sizes), 0
        mistakes: list[Mistake] = []
        for number, group in enumerate(self._groups):
            try:
                for position, each in enumerate(self._selected(group)):
                    if mistakes:
                        continue
                    self._note(each, number)
                    self._check_size(each)
                    yield each
                    count += 1
                    if count % BATCH == 0:
                        done = sum(sizes[:number]) + min(sizes[number], position)
                        self._on_progress(done / whole, count)
            except SpecMistakes as fault:
                mistakes.extend(fault.mistakes)
                if len(mistakes) > REPORTED:
                    break
        if mistakes:
            raise SpecMistakes(mistakes)
        if not count:
            patterns = self._options.selection.patterns
            requirements = [name for each in self._groups for name in each.settings.requirements]
            hint = near_miss(patterns, [f"{each.op}/{each.id}" for each in self._groups], requirements)
            raise UsageError(f"No case matches {' '.join(patterns)}.{hint}")
        self._on_progress(1.0, count)

    def _selected(self, group: Group) -> Iterator[Expanded]:
        selection = self._options.selection
        cases = expand(group, seed=self._options.seed, limits=self._options.limits)
        if not selection.patterns:
            yield from cases
            return
        every = list(cases)
        wanted = {
            each.digits: each.draft.twin
            for each in every
            if selection.wants(id_of(each.draft, each.digits), each.draft.requirements)
        }
        yield from (each for each in every if each.digits in wanted or each.digits in wanted.values())

    def _check_size(self, expanded: Expanded) -> None:
        """Refuse a case that is too large, before anything is allocated."""
        draft, limit = expanded.draft, self._options.limits.bytes
        self._bytes += file_bytes(draft)
        if self._bytes > limit:
            least = f"the suite takes {self._bytes:,} bytes or more, over the limit of {limit:,}"
            raise UsageError(f"{draft.where}: with group {draft.group!r} {least}; raise it with --max-bytes.")
        needed = memory_bytes(draft)
        if needed > self._free:
            sizes = f"needs {shown_bytes(needed)} of memory; {shown_bytes(self._free)} are free"
            raise UsageError(f"{draft.where}: a case of group {draft.group!r} {sizes}.")

    def _note(self, expanded: Expanded, number: int) -> None:
        """Record a case, and whether another group expands to it too."""
        if expanded.draft.is_twin:
            return
        first = self._first.setdefault(expanded.digits, number)
        if first != number:
            one, other = self._groups[first], self._groups[number]
            sentence = f"{other.place}: group {other.id!r} expands to the same case as group {one.id!r} at {one.place}"
            self.repeated.append(f"{sentence}: {id_of(expanded.draft, expanded.digits)}.")


def _size_of(group: Group) -> int:
    """About how many cases a group has."""
    settings = group.settings
    lists = [10 if is_expression(each) else len(each) for each in settings.matrix.values()]
    return prod(lists) * (settings.sample.count if settings.sample else 1)
