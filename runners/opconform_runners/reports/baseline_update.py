"""Updates a baseline to a run, and keeps everything that a person wrote in it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
_CHANGES = ("added", "changed", "retired", "removed", "unseen")


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """An updated baseline, and its changes.

    Attributes:
        baseline: The new baseline.
        changes: Lines by what happened to them: `added`, `changed`, `retired` (kept as a comment for what a person
            wrote), `removed` (had only a generated note), and `unseen` (kept, and applies to no case of the results).
    """

    baseline: Baseline
    changes: Mapping[str, Sequence[Line]]


def settled_results(report: Report) -> tuple[Result, ...]:
    """The results of a run in which every case has a verdict; a SuiteError for any other run."""
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
    for line in baseline.lines:  # the lines that take precedence come first, and leave the other cases to the next
        if line.is_pattern:
            cases = [each for each in undecided.values() if line.concerns(each.id, each.expect)]
        else:
            cases = [undecided[line.pattern]] if line.pattern in undecided else []
        if cases:
            for each in draft.place(placed[line.pattern], cases):
                del undecided[each.id]
        elif any(line.concerns(each.id, each.expect) for each in results):
            draft.placed.append(placed[line.pattern])
        elif prune:
            draft.retire(placed[line.pattern])
        else:
            draft.put("unseen", placed[line.pattern])
    draft.unexpected += [each for each in undecided.values() if each.verdict == "fail"]
    draft.add_unexpected(results if patterns else ())
    ordered = {name: sorted(lines, key=lambda each: each.pattern) for name, lines in draft.changes.items()}
    return Update(
        baseline=replace(baseline, placed=(*draft.placed, *draft.retired_before)),
        changes=ordered | {"added": draft.changes["added"]},
    )


@dataclass(kw_only=True, slots=True)
class _Draft:
    """The new baseline and the changes so far.

    Attributes:
        retired_before: The retired lines of the current baseline that have not come back.
        placed: The other lines.
        unexpected: The failures that no line expects.
    """

    retired_before: list[Placed]
    placed: list[Placed] = field(default_factory=list)
    unexpected: list[Result] = field(default_factory=list)
    changes: dict[str, list[Line]] = field(default_factory=lambda: {name: [] for name in _CHANGES})

    def place(self, placed: Placed, cases: Sequence[Result]) -> Sequence[Result]:
        """Keep, change, split or retire a line; returns the cases that the lines in its place decide."""
        line = placed.line
        failing = [each for each in cases if each.verdict == "fail"]
        holding = [each for each in failing if each.reason in line.endings]
        passing = [each for each in cases if each.verdict == "pass" and "pass" not in line.endings]
        if not passing and (holding or not failing):
            self.placed.append(placed)
            self.unexpected += [each for each in failing if each not in holding]
            return cases
        if not line.is_pattern and failing:
            note = _former(line) if line.is_explained else line.note
            self.put("changed", replace(placed, line=replace(line, endings=_endings(failing[0]), note=note)))
            return cases
        kept = [each for each in cases if each in holding or each.verdict not in ("pass", "fail")]
        for number, each in enumerate(kept):
            comments = () if number else placed.comments
            self.put("changed", Placed(line=replace(line, number=0, pattern=each.id), comments=comments))
        if not kept:
            self.retire(placed)
        return kept

    def add_unexpected(self, results: Sequence[Result]) -> None:
        """Add lines for the unexpected failures: patterns for groups of which all results fail for one reason."""
        unexpected = {each.id for each in self.unexpected}
        by_group: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for each in sorted(self.unexpected, key=lambda each: each.id):
            by_group[each.id.rpartition("/")[0], each.reason or ""].append(each)
        taken = {each.line.pattern for each in self.placed if not each.is_retired}
        for (group, reason), cases in sorted(by_group.items()):
            whole = Line(number=0, pattern=f"{group}/*", endings=_endings(cases[0]), note=_question(cases))
            concerned = [each for each in results if whole.concerns(each.id, each.expect)]
            is_whole = all(each.id in unexpected and each.reason == reason for each in concerned)
            if concerned and is_whole and len(cases) >= _FEWEST and whole.pattern not in taken:
                self._add(whole)
                taken.add(whole.pattern)
            else:
                for each in cases:
                    self._add(replace(whole, pattern=each.id, note=_question([each])))

    def _add(self, line: Line) -> None:
        """Add a line, with what a person wrote when it was retired."""
        before = next((each for each in self.retired_before if each.line.pattern == line.pattern), Placed(line=line))
        if before in self.retired_before:
            self.retired_before.remove(before)
        if before.line.is_written:
            same = before.line.endings == line.endings or not before.line.is_explained
            line = replace(line, note=before.line.note if same else _former(before.line))
        self.put("added", Placed(line=line, comments=before.comments))

    def put(self, change: str, placed: Placed) -> None:
        """Place a line, and note the change."""
        self.placed.append(placed)
        self.changes[change].append(placed.line)

    def retire(self, placed: Placed) -> None:
        """Keep a line as a comment if a person wrote any of it; otherwise remove it."""
        if placed.line.is_written or placed.comments:
            self.put("retired", replace(placed, is_retired=True))
        else:
            self.changes["removed"].append(placed.line)


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
