"""Updates a baseline to a run, and keeps everything that a person wrote in it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opconform.errors import SuiteError
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import counted, one_line
from opconform_runners.verdicts.baseline import PLACEHOLDER, Baseline, Ending, Line, Placed
from opconform_runners.verdicts.results import Result

#: The fewest cases of a group that become a pattern.
_FEWEST = 2
#: The most characters of a case's inputs in a note, and of the reason why a run is incomplete.
_LONGEST = 120
_LONGEST_REASON = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """An updated baseline, and its changes.

    Attributes:
        baseline: The new baseline.
        added: The new lines.
        changed: The lines that changed, as they are now.
        retired: The lines that no longer hold, and stay as comments for what a person wrote.
        removed: The lines that no longer hold, and had only generated notes.
        unseen: The lines that apply to no case of the results; they stay.
    """

    baseline: Baseline
    added: tuple[Line, ...]
    changed: tuple[Line, ...]
    retired: tuple[Line, ...]
    removed: tuple[Line, ...]
    unseen: tuple[Line, ...]


def settled_results(report: Report) -> tuple[Result, ...]:
    """The results of a run in which every case has a verdict.

    Raises:
        SuiteError: The run is incomplete.
    """
    if not report.is_finished:
        raise SuiteError(f"The run is incomplete: {one_line(report.unfinished, _LONGEST_REASON)}. Run it again.")
    return report.results


def update(baseline: Baseline, results: Sequence[Result], *, patterns: bool, prune: bool) -> Update:
    """Make a baseline expect exactly what fails in a run.

    Lines that hold stay. A pattern some of whose cases pass becomes one line per case that does not.

    Args:
        baseline: The current baseline.
        results: The result of every case of a complete run.
        patterns: Whether a group whose cases all fail for one reason becomes one pattern.
        prune: Whether lines that apply to none of the cases are retired, too.
    """
    draft = _Draft(retired_before=[each for each in baseline.placed if each.is_retired])
    placed = {each.line.pattern: each for each in baseline.placed if not each.is_retired}
    undecided = {each.id: each for each in results}
    unexpected: list[Result] = []
    for line in baseline.lines:  # the lines that take precedence come first, and leave the other cases to the next
        if line.is_pattern:
            cases = [each for each in undecided.values() if line.concerns(each.id, each.expect)]
        else:
            cases = [undecided[line.pattern]] if line.pattern in undecided else []
        if cases:
            decided = draft.place(placed[line.pattern], cases)
        else:
            decided = []
            concerned = any(line.concerns(each.id, each.expect) for each in results)
            draft.place_unseen(placed[line.pattern], concerned=concerned, prune=prune)
        for each in decided:
            del undecided[each.id]
        unexpected += [each for each in decided if each.id in draft.unexpected]
    unexpected += [each for each in undecided.values() if each.verdict == "fail"]
    draft.add(unexpected, results, patterns=patterns)
    return Update(
        baseline=replace(baseline, placed=(*draft.placed, *draft.retired_before)),
        added=tuple(draft.added),
        changed=_sorted(draft.changed),
        retired=_sorted(draft.retired),
        removed=_sorted(draft.removed),
        unseen=_sorted(draft.unseen),
    )


def _sorted(lines: Sequence[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda each: each.pattern))


@dataclass(kw_only=True, slots=True)
class _Draft:
    """The lines of the new baseline and the changes so far.

    Attributes:
        retired_before: The retired lines of the current baseline that have not come back.
        placed: The other lines.
        unexpected: The ids of the cases that a line decides but that fail for another reason.
    """

    retired_before: list[Placed]
    placed: list[Placed] = field(default_factory=list)
    unexpected: set[str] = field(default_factory=set)
    added: list[Line] = field(default_factory=list)
    changed: list[Line] = field(default_factory=list)
    retired: list[Line] = field(default_factory=list)
    removed: list[Line] = field(default_factory=list)
    unseen: list[Line] = field(default_factory=list)

    def place(self, placed: Placed, cases: Sequence[Result]) -> Sequence[Result]:
        """Keep, change, split or retire a line; returns the cases that the lines in its place decide."""
        line = placed.line
        failing = [each for each in cases if each.verdict == "fail"]
        holding = [each for each in failing if each.reason in line.endings]
        passing = [each for each in cases if each.verdict == "pass" and "pass" not in line.endings]
        if not passing and (holding or not failing):
            self.placed.append(placed)
            self.unexpected |= {each.id for each in failing if each not in holding}
            return cases
        if not line.is_pattern and failing:
            note = _former(line) if line.is_explained else line.note
            self._change(replace(placed, line=replace(line, endings=_endings(failing[0]), note=note)))
            return cases
        kept = [each for each in cases if each in holding or each.verdict not in ("pass", "fail")]
        for number, each in enumerate(kept):
            comments = () if number else placed.comments
            self._change(Placed(line=replace(line, number=0, pattern=each.id), comments=comments))
        if not kept:
            self._retire(placed)
        return kept

    def place_unseen(self, placed: Placed, *, concerned: bool, prune: bool) -> None:
        """Keep or prune a line that decides no case; other lines decide its cases where it is concerned."""
        if prune and not concerned:
            self._retire(placed)
            return
        self.placed.append(placed)
        if not concerned:
            self.unseen.append(placed.line)

    def add(self, failing: Sequence[Result], results: Sequence[Result], *, patterns: bool) -> None:
        """Add lines for failures."""
        ids = {each.id for each in failing}
        by_group: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for each in sorted(failing, key=lambda each: each.id):
            by_group[each.id.rpartition("/")[0], each.reason or ""].append(each)
        taken = {each.line.pattern for each in self.placed if not each.is_retired}
        for (group, reason), cases in sorted(by_group.items()):
            whole = Line(number=0, pattern=f"{group}/*", endings=_endings(cases[0]), note=_question(cases))
            if (
                patterns
                and len(cases) >= _FEWEST
                and whole.pattern not in taken
                and all(
                    each.id in ids and each.reason == reason for each in results if whole.concerns(each.id, each.expect)
                )
            ):
                self._add(whole)
                taken.add(whole.pattern)
            else:
                for each in cases:
                    self._add(replace(whole, pattern=each.id, note=_question([each])))

    def _add(self, line: Line) -> None:
        """Add a line, with what a person wrote when it was retired."""
        before = next((each for each in self.retired_before if each.line.pattern == line.pattern), None)
        comments: tuple[str, ...] = ()
        if before is not None:
            self.retired_before.remove(before)
            comments, old = before.comments, before.line
            if old.is_written:
                same = old.endings == line.endings or not old.is_explained
                line = replace(line, note=old.note if same else _former(old))
        self.placed.append(Placed(line=line, comments=comments))
        self.added.append(line)

    def _change(self, placed: Placed) -> None:
        self.placed.append(placed)
        self.changed.append(placed.line)

    def _retire(self, placed: Placed) -> None:
        if placed.line.is_written or placed.comments:
            self.placed.append(replace(placed, is_retired=True))
            self.retired.append(placed.line)
        else:
            self.removed.append(placed.line)


def _former(line: Line) -> str:
    """The note of a line that failed for another reason before."""
    return f"{PLACEHOLDER}, was {','.join(line.endings)}: {line.note}"


def _question(cases: Sequence[Result]) -> str:
    """The note of a new line: that it needs an explanation, and the shortest inputs."""
    given = one_line(min((each.inputs for each in cases), key=lambda each: (len(each), each)), _LONGEST)
    several = f"{counted(len(cases), 'case')}, such as " if len(cases) > 1 else ""
    return f"{PLACEHOLDER} ({several}{given})" if given else PLACEHOLDER


def _endings(result: Result) -> tuple[Ending, ...]:
    return (result.reason,) if result.reason is not None else ()
