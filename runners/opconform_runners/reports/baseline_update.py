"""Bringing a baseline up to date with a run, and losing nothing that a person wrote in it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opconform.errors import SuiteError
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import counted, one_line
from opconform_runners.verdicts.baseline import PLACEHOLDER, Baseline, Ending, Line, Placed
from opconform_runners.verdicts.results import Result

#: How many cases of a group a pattern stands for at the least.
_FEWEST = 2
#: The most characters of a case's inputs in a note.
_LONGEST = 120
#: The most characters of the reason why a run is incomplete.
_LONGEST_REASON = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """A baseline brought up to date, and what that changed.

    Attributes:
        baseline: The new baseline.
        added: The lines that are new.
        changed: The lines whose cases now fail for another reason, as they are now.
        retired: The lines that no longer hold, and that stay as comments for what a person wrote.
        removed: The lines that no longer hold, and that nobody had written anything in.
        unseen: The lines that are about no case of the results; they stay as they are.
    """

    baseline: Baseline
    added: tuple[Line, ...]
    changed: tuple[Line, ...]
    retired: tuple[Line, ...]
    removed: tuple[Line, ...]
    unseen: tuple[Line, ...]


def settled_results(report: Report) -> tuple[Result, ...]:
    """What became of every case of a run.

    Raises:
        SuiteError: The run is incomplete, so that nobody knows what fails.
    """
    if not report.is_finished:
        raise SuiteError(f"The run is incomplete: {one_line(report.unsettled, _LONGEST_REASON)}. Run it again.")
    return report.results


def update(baseline: Baseline, results: Sequence[Result], *, patterns: bool, prune: bool) -> Update:
    """Make a baseline expect exactly what fails in a run.

    A line stays as it is while it holds. A pattern of which some cases fail no more becomes a line for each that does.

    Args:
        baseline: The baseline as it is.
        results: What became of every case of a run that is complete.
        patterns: Whether a group whose cases all fail for one reason is written as one pattern.
        prune: Whether lines that are about none of the cases go, too.

    """
    done = _Updating(baseline, results, patterns=patterns, prune=prune).done()
    while True:  # where a pattern goes, a wider one decides about its cases, and may have to give way in its turn
        more = _Updating(done.baseline, results, patterns=patterns, prune=prune).done()
        if more.baseline.text == done.baseline.text:
            return done
        done = _together(done, more)


def _together(first: Update, second: Update) -> Update:
    standing = set(second.baseline.lines)
    return Update(
        baseline=second.baseline,
        added=tuple(each for each in (*first.added, *second.added) if each in standing),
        changed=tuple(each for each in (*first.changed, *second.changed) if each in standing),
        retired=(*first.retired, *second.retired),
        removed=(*first.removed, *second.removed),
        unseen=second.unseen,
    )


class _Updating:
    """One update, line by line."""

    def __init__(self, baseline: Baseline, results: Sequence[Result], *, patterns: bool, prune: bool) -> None:
        self._baseline = baseline
        self._results = results
        self._patterns = patterns
        self._prune = prune
        self._deciding = baseline.lines_of({each.id: each.expect for each in results})
        self._cases: dict[str, list[Result]] = defaultdict(list)
        for each in results:
            if each.id in self._deciding:
                self._cases[self._deciding[each.id].pattern].append(each)
        self._noted = {each.line.text: each for each in baseline.placed if each.is_retired}
        self._placed: list[Placed] = []
        self._added: list[Line] = []
        self._changed: list[Line] = []
        self._retired: list[Line] = []
        self._removed: list[Line] = []
        self._unseen: list[Line] = []

    def done(self) -> Update:
        failing = [each for each in self._results if each.verdict == "fail"]
        for each in self._baseline.placed:
            if not each.is_retired:
                self._place(each)
        so_far = replace(self._baseline, placed=tuple(self._placed))
        covered = so_far.lines_of({each.id: each.expect for each in failing})
        self._add([each for each in failing if each.id not in covered or each.reason not in covered[each.id].endings])
        self._placed.extend(self._noted.values())
        return Update(
            baseline=replace(self._baseline, placed=tuple(self._placed)),
            added=tuple(self._added),
            changed=tuple(self._changed),
            retired=tuple(self._retired),
            removed=tuple(self._removed),
            unseen=tuple(self._unseen),
        )

    def _place(self, placed: Placed) -> None:
        line = placed.line
        cases = self._cases[line.pattern]
        if not cases:
            self._place_unseen(placed)
            return
        failing = [each for each in cases if each.verdict == "fail"]
        holding = [each for each in failing if each.reason in line.endings]
        passing = [each for each in cases if each.verdict == "pass" and "pass" not in line.endings]
        if not passing and (holding or not failing):
            self._placed.append(placed)
        elif line.is_pattern:
            self._split(placed, [each for each in cases if each in holding or each.verdict not in ("pass", "fail")])
        elif failing:
            self._place_changed(placed, failing[0])
        else:
            self._retire(placed)

    def _place_unseen(self, placed: Placed) -> None:
        """A line that decides about no case: others do, or there is none here that can fail that way."""
        line = placed.line
        concerned = any(line.concerns(each.id, each.expect) for each in self._results)
        if concerned or not self._prune:
            self._placed.append(placed)
            if not concerned:
                self._unseen.append(line)
        else:
            self._retire(placed)

    def _split(self, placed: Placed, kept: Sequence[Result]) -> None:
        """A line for each case that a pattern is still right about; the pattern itself goes."""
        line, comments = placed.line, placed.comments
        for each in kept:
            own = replace(line, number=0, pattern=each.id)
            self._placed.append(Placed(line=own, comments=comments))
            self._changed.append(own)
            comments = ()
        if not kept:
            self._retire(placed)

    def _place_changed(self, placed: Placed, case: Result) -> None:
        """An id's line with the reason that its case fails for now; what a person wrote is about the old one."""
        line = placed.line
        old = f"{PLACEHOLDER}, was {','.join(line.endings)}: {line.note}" if line.is_explained else line.note
        new = replace(line, endings=_endings(case), note=old)
        self._placed.append(replace(placed, line=new))
        self._changed.append(new)

    def _retire(self, placed: Placed) -> None:
        if placed.line.is_written or placed.comments:
            self._placed.append(replace(placed, is_retired=True))
            self._retired.append(placed.line)
        else:
            self._removed.append(placed.line)

    def _add(self, failing: Sequence[Result]) -> None:
        ids = {each.id for each in failing}
        groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for each in failing:
            groups[each.id.rpartition("/")[0], each.reason or ""].append(each)
        taken = {each.line.pattern for each in self._placed if not each.is_retired}
        for (group, _), cases in sorted(groups.items()):
            whole = Line(number=0, pattern=f"{group}/*", endings=_endings(cases[0]), note=_question(cases))
            concerned = [each for each in self._results if whole.concerns(each.id, each.expect)]
            together = (
                self._patterns
                and len(cases) >= _FEWEST
                and whole.pattern not in taken
                and all(each.id in ids and each.reason == cases[0].reason for each in concerned)
            )
            lines = [whole] if together else [replace(whole, pattern=each.id, note=_question([each])) for each in cases]
            taken |= {each.pattern for each in lines}
            for line in lines:
                self._add_line(line)

    def _add_line(self, line: Line) -> None:
        """A new line, with what a person wrote when it failed before."""
        before = next((each for each in self._noted.values() if each.line.pattern == line.pattern), None)
        comments: tuple[str, ...] = ()
        if before is not None:
            del self._noted[before.line.text]
            comments, old = before.comments, before.line
            again = old.endings == line.endings or not old.is_explained
            note = (
                line.note
                if not old.is_written
                else old.note
                if again
                else f"{PLACEHOLDER}, was {','.join(old.endings)}: {old.note}"
            )
            line = replace(line, note=note)
        self._placed.append(Placed(line=line, comments=comments))
        self._added.append(line)


def _question(cases: Sequence[Result]) -> str:
    """What stands at a new line: that it is to be explained, and what the cases are given."""
    given = one_line(min((each.inputs for each in cases), key=lambda each: (len(each), each)), _LONGEST)
    several = f"{counted(len(cases), 'case')}, such as " if len(cases) > 1 else ""
    return f"{PLACEHOLDER} ({several}{given})" if given else PLACEHOLDER


def _endings(result: Result) -> tuple[Ending, ...]:
    return (result.reason,) if result.reason is not None else ()
