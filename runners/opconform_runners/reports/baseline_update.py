"""Updates a baseline to a run; lines that still hold stay as they are written."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from opconform_runners.reports.text import counted, one_line
from opconform_runners.verdicts.baseline import PLACEHOLDER, Baseline, Ending, Line
from opconform_runners.verdicts.results import Result

#: The fewest cases of a group that become a pattern.
_FEWEST = 2
#: The most characters of a case's inputs in a note.
_LONGEST = 120


def update(
    baseline: Baseline, results: Sequence[Result], stale: Collection[Line] = ()
) -> tuple[Baseline, dict[str, list[Line]]]:
    """Make a baseline expect exactly what fails in a complete run.

    Lines that hold stay. A pattern some of whose cases pass becomes one line per case that does not. A group whose
    cases all fail for one reason becomes one pattern. `stale` are the lines that apply to no case of the suite.

    Returns:
        The new baseline; and the lines that were `added`, `changed` or `removed`, and the `unseen` ones, which decide
        no case of the run and are kept.
    """
    kept: list[Line] = []
    changes: dict[str, list[Line]] = {"added": [], "changed": [], "removed": [], "unseen": []}
    by_id = {each.id: each for each in results}
    open_cases = {each.id: each.expect for each in results}
    unexpected: list[Result] = []
    for line in baseline.by_precedence:
        cases = [by_id[name] for name in line.concerned(open_cases)]
        new = _updated(line, cases) if cases else [] if line in stale else [line]
        if not cases and new:
            changes["unseen"].append(line)
        elif new != [line]:
            changes["changed" if new else "removed"] += new or [line]
        kept += new
        for name in [name for each in new for name in each.concerned(open_cases)]:
            ending = by_id[name].reason
            if ending is not None and not any(ending in each.endings for each in new):
                unexpected.append(by_id[name])
            del open_cases[name]
    unexpected += [by_id[name] for name in open_cases if by_id[name].verdict == "fail"]
    changes["added"] = list(_added(unexpected, results, {each.pattern for each in kept}))
    ordered = {name: sorted(lines, key=lambda each: each.pattern) for name, lines in changes.items()}
    return replace(baseline, lines=(*kept, *changes["added"])), ordered


def _updated(line: Line, cases: Sequence[Result]) -> list[Line]:
    failing = [each for each in cases if each.verdict == "fail"]
    holding = [each for each in failing if each.reason in line.endings]
    passing = [each for each in cases if each.verdict == "pass" and "pass" not in line.endings]
    if not passing and (holding or not failing):
        return [line]
    if not line.is_pattern and failing:
        former = f"{PLACEHOLDER}, was {','.join(line.endings)}: {line.note}" if line.is_explained else line.note
        return [replace(line, endings=_endings(failing[0]), note=former)]
    left = [each for each in cases if each in holding or each.verdict not in ("pass", "fail")]
    return [
        replace(line, number=0, pattern=each.id, comments=() if number else line.comments)
        for number, each in enumerate(left)
    ]


def _added(unexpected: Iterable[Result], results: Sequence[Result], taken: Collection[str]) -> Iterator[Line]:
    """Lines for unexpected failures: patterns for groups of which all results fail for one reason."""
    by_group: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in sorted(unexpected, key=lambda each: each.id):
        by_group[each.id.rpartition("/")[0], each.reason or ""].append(each)
    expects = {each.id: each.expect for each in results}
    patterns: set[str] = set()
    for (group, _), cases in sorted(by_group.items()):
        whole = Line(number=0, pattern=f"{group}/*", endings=_endings(cases[0]), note=_question(cases))
        is_whole = set(whole.concerned(expects)) == {each.id for each in cases}
        if is_whole and len(cases) >= _FEWEST and whole.pattern not in {*taken, *patterns}:
            patterns.add(whole.pattern)
            yield whole
        else:
            yield from (replace(whole, pattern=each.id, note=_question([each])) for each in cases)


def _question(cases: Sequence[Result]) -> str:
    """The note of a new line: that it needs an explanation, and the shortest inputs."""
    given = one_line(min((each.inputs for each in cases), key=lambda each: (len(each), each)), _LONGEST)
    several = f"{counted(len(cases), 'case')}, such as " if len(cases) > 1 else ""
    return f"{PLACEHOLDER} ({several}{given})" if given else PLACEHOLDER


def _endings(result: Result) -> tuple[Ending, ...]:
    return (result.reason,) if result.reason is not None else ()
