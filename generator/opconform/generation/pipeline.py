"""The pipeline from specs to a suite. The bytes of the suite do not depend on the number of processes."""

import contextlib
from array import array
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from opconform.errors import UsageError, counted
from opconform.generation.case_files import files_of_cases
from opconform.generation.expansion import expand
from opconform.generation.identity.header import suite_header
from opconform.generation.options import LIMITS, Limits, Options
from opconform.generation.output.workers import BATCH, write_cases
from opconform.generation.output.writer import CaseWriter, ManifestLines, finish, translated_errors
from opconform.model.draft import DIGITS, Draft
from opconform.model.golden import file_bytes, memory_bytes
from opconform.specs.attribution import untested, warnings_of
from opconform.specs.group import Group, Spec
from opconform.specs.matrix.combinations import FILTERED, matrix_size
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import REPORTED, Mistake, SpecMistakes
from opconform.suite.file_names import MANIFEST
from opconform.suite.manifest import Entry, Header, cases_by_profile, reasons_by_dialect
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Known, Matches
from opconform.suite.selection.quick import QUICK, quick_cases
from opconform.suite.selection.reach import check_groups
from opconform.suite.selection.selection import Selection
from opconform.suite.storage.ownership import check_replaceable
from opconform.suite.storage.work_folder import work_folder
from opconform.system.memory import free_memory, shown_bytes

#: How many bits the number of a group has beside the digits of a case in 64 bits.
_GROUP_BITS = 24

#: How many times the combinations that one group may have all of them together may have.
_GROUPS = 100
#: The part of the limit of bytes that is written before the cases that are left are measured: their expansion takes an
#: eighth of the time of a generation, and most suites are far smaller.
_UNMEASURED = 128

#: Called periodically with the completed fraction (0 to 1) and the number of cases.
OnProgress = Callable[[float, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """A generated suite with its header, and warnings.

    The warnings name requirements without a case, requirements that are listed without effect, and groups that expand
    to the same case.
    """

    out: Path
    header: Header
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
    cases = _SelectedDrafts(specs, options, on_progress)
    generated = write_suite(cases, specs, out, options, large=cases.large)
    return replace(generated, warnings=(*untested(specs), *warnings_of(specs), *cases.repeated(), *cases.gone()))


def write_suite(
    cases: Iterable[Draft],
    specs: Sequence[Spec],
    out: Path,
    options: Options,
    *,
    whole: str = "",
    large: Collection[str] | None = None,
) -> Generated:
    """Write the suite of some cases, as `generate` does.

    `whole` is the digest of the suite that it is a part of. `large` has the ids of the cases so far that need much
    memory; they are computed if it is None.
    """
    free = free_memory()

    def is_large(draft: Draft) -> bool:
        if large is not None:
            return draft.id in large
        return memory_bytes(draft, file_bytes(draft)) * options.jobs > free

    with contextlib.ExitStack() as stack:
        try:
            check_replaceable(out)
            out.absolute().parent.mkdir(parents=True, exist_ok=True)
            work = stack.enter_context(work_folder(out))
        except OSError as error:
            raise UsageError(f"{out} cannot be written: {error.strerror}. Use another --out.") from error
        writer = CaseWriter(partial=work.partial, options=options)
        counts, size = {"accept": 0, "reject": 0}, 0
        cases_of = Counter[tuple[str, str]]()
        unused = set(options.required)
        left_out = Counter[tuple[str, str]]()
        with translated_errors(out), work.lines.open("w+b") as file:
            lines = ManifestLines(file)
            for write_case in write_cases(cases, writer, jobs=options.jobs, is_large=is_large):
                lines.add(write_case)
                counts[write_case.expect] += 1
                cases_of[write_case.id.partition("/")[0], write_case.profile] += 1
                left_out.update(write_case.left_out.items())
                size += write_case.size
                unused -= {name for name in unused if f'"{name}/'.encode() in write_case.line}
                if size > options.limits.bytes:
                    over = f"more than the limit of {options.limits.bytes:,} bytes"
                    raise UsageError(f"The suite takes {over}; raise the limit with --max-bytes.")
            if unused:
                named = " or ".join(sorted(unused))
                raise UsageError(f"No case has a model in the dialect {named}. Leave the dialect out.")
            digest = lines.write(work.partial / MANIFEST)
        header = suite_header(specs, options, counts=counts, cases=cases_by_profile(cases_of), digest=digest)
        header = replace(header, left_out=reasons_by_dialect(left_out), part_of=whole)
        finish(work, header)
    return Generated(out=out, header=header, warnings=())


def evaluated_entries(specs: Sequence[Spec], options: Options) -> Iterator[Entry]:
    """The lines of the manifest that a generation would write, in any order. Nothing is written."""
    cases = _SelectedDrafts(specs, options, lambda *_: None)
    yield from (entry for entry, _ in files_of_cases(cases, options))


def selected_groups(specs: Sequence[Spec], selection: Selection, limits: Limits = LIMITS) -> list[Group]:
    """The selected groups, in an order that does not depend on the files.

    Raises:
        UsageError: No group is selected, or the groups have too many combinations to expand all of them.
    """
    every = [group for spec in specs for group in spec.groups]
    known = {x.full_name: x.settings.profile for x in every}
    check_groups(selection, known, lambda: known_of(every))
    groups = [x for x in every if selection.wants(x.full_name, x.settings.profile)]
    sizes = [matrix_size(group) for group in groups]
    total = sum(size for size in sizes if size <= FILTERED * limits.cases)  # larger ones are mistakes of their group
    if total > _GROUPS * limits.cases:
        over = f"{total:,} combinations in total, over the limit of {_GROUPS * limits.cases:,}"
        raise UsageError(
            f"The groups have {over}. Generate them in several suites, or raise the limit with --max-cases."
        )
    return sorted(groups, key=lambda x: f"{x.full_name}/")


def known_of(groups: Iterable[Group]) -> Known:
    """What the cases of some groups can be selected from."""
    groups = [*groups]
    return Known(
        groups={group.full_name: group.settings.profile for group in groups},
        requirements={name for group in groups for name in group.settings.requirements},
    )


class _SelectedDrafts:
    """The selected cases of all groups, in order.

    A suite that takes a good part of its limit is measured before more of its cases are given, unless it `is_measured`.
    """

    def __init__(
        self, specs: Sequence[Spec], options: Options, on_progress: OnProgress, *, is_measured: bool = False
    ) -> None:
        self._groups = selected_groups(specs, options.selection, options.limits)
        self._specs, self._options, self._on_progress = specs, options, on_progress
        self._matches, self._is_measured = Matches(options.selection), is_measured
        self._gone: list[str] = []  # the listed cases of the profile `quick` that their groups do not have
        self._seen = array("Q")  # the digits of each case that is not a twin, and the number of its group
        self._bytes = 0
        self._free = free_memory()
        #: The cases that need so much memory that they are written alone.
        self.large: set[str] = set()

    def __iter__(self) -> Iterator[Draft]:
        count = 0
        mistakes: list[Mistake] = []
        for number, group in enumerate(self._groups):
            try:
                for item in self._selected(group):
                    if mistakes:
                        continue
                    if not item.is_twin:
                        self._seen.append(int(item.digits, 16) << _GROUP_BITS | number)
                    self._check_size(item)
                    yield item
                    count += 1
                    if count % BATCH == 0:
                        self._on_progress(number / len(self._groups), count)
            except SpecMistakes as error:
                mistakes.extend(error.mistakes)
                if len(mistakes) > REPORTED:
                    break
        if mistakes:
            raise SpecMistakes(mistakes)
        if self._options.selection.patterns:
            check_matches(self._matches, lambda: known_of(group for spec in self._specs for group in spec.groups))
        self._on_progress(1.0, count)

    def _selected(self, group: Group) -> Iterator[Draft]:
        if not self._matches.may_want(group.full_name, requirements_of(group.op).by_id):
            return
        cases = expand(group, seed=self._options.seed, limits=self._options.limits)
        profile, selection = group.settings.profile, self._options.selection
        if not selection.patterns and selection.wants_profile(profile):
            yield from cases
            return
        every = list(cases)
        if QUICK in selection.profiles:
            self._gone += sorted({*quick_cases().get(group.full_name, ())} - {x.id for x in every})
        wanted = [x for x in every if self._matches.wants(x.id, profile, x.requirements)]
        ids = {name.id for name in wanted} | {name.twin for name in wanted}
        yield from (x for x in every if x.id in ids)

    def _check_size(self, draft: Draft) -> None:
        """Refuse a case that is too large, before anything is allocated."""
        limit = self._options.limits.bytes
        size = file_bytes(draft)
        self._bytes += size
        if self._bytes > limit:
            least = f"the suite takes at least {self._bytes:,} bytes, more than the limit of {limit:,}"
            raise UsageError(f"{draft.where}: with group {draft.group!r}, {least}; raise the limit with --max-bytes.")
        if not self._is_measured and self._bytes > limit // _UNMEASURED:
            self._is_measured = True
            deque(_SelectedDrafts(self._specs, self._options, lambda *_: None, is_measured=True), maxlen=0)
        needed = memory_bytes(draft, size)
        if needed > self._free:
            sizes = f"needs {shown_bytes(needed)} of memory, but only {shown_bytes(self._free)} is free"
            raise UsageError(f"{draft.where}: a case of group {draft.group!r} {sizes}.")
        if needed * self._options.jobs > self._free:
            self.large.add(draft.id)

    def gone(self) -> Iterator[str]:
        """A warning of listed cases of the profile `quick` that do not exist."""
        if self._gone:
            number = counted(len(self._gone), "case")
            yield f"The profile {QUICK} lists {number} that the specs do not have, such as {self._gone[0]}."

    def repeated(self) -> Iterator[str]:
        """Warnings of groups that expanded to the case of an earlier group."""
        seen = np.sort(np.frombuffer(self._seen, np.uint64))
        digits = seen >> _GROUP_BITS
        for place in np.flatnonzero(digits[1:] == digits[:-1]) + 1:
            known = digits.searchsorted(digits[place])
            group, first = (self._groups[seen[x] % (1 << _GROUP_BITS)] for x in (place, known))
            if all(x.samples is not None or x.settings.uses for x in (group, first)):
                continue  # the groups of every operation overlap, and so do those of several models
            identity = f"{group.full_name}/{digits[place]:0{DIGITS}x}"
            sentence = f"{group.place}: group {group.id!r} expands to the same case as group {first.id!r}"
            yield f"{sentence} at {first.place}: {identity}."
