"""Updates a baseline to a run; what still holds stays as it is written."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from opconform_runners.verdicts.baseline import Baseline, Line, comparison_field_of, parse_baseline
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """A baseline after an update, and the rows of its file that were `added` and `removed`."""

    baseline: Baseline
    added: tuple[str, ...]
    removed: tuple[str, ...]


def update(baseline: Baseline, results: Sequence[Result], stale: Collection[Line] = ()) -> Update:
    """Make a baseline expect exactly what fails in a complete run.

    Lines that hold stay, and so do lines without a case in the run. A pattern some of whose cases pass becomes one line
    per case that does not. `stale` are the lines that apply to no case of the suite.
    """
    expects = {result.id: result.expect for result in results}
    by_id = {result.id: result for result in results}
    lines_of = baseline.lines_of(expects)
    passing = {name for name, lines in lines_of.items() if comparison_field_of(by_id[name], lines) == "passes"}
    removed: list[Line] = []
    wanted: set[tuple[str, str]] = set()
    for line in baseline.lines:
        cases = line.cases(expects)
        failing = [name for name in cases if by_id[name].verdict == "fail"]
        holds = any(by_id[name].reason == line.reason for name in failing) or len(failing) < len(cases)
        if line in stale or not passing.isdisjoint(cases) or (cases and not holds and line.reason != "pass"):
            removed.append(line)
            wanted |= {(name, line.reason) for name in cases if by_id[name].verdict not in ("pass", "fail")}
    kept = [line for line in baseline.lines if line not in removed]
    known = {(name, line.reason) for line in kept for name in line.cases(expects)}
    wanted |= {(result.id, result.reason) for result in results if result.reason is not None}
    added = [f"{name} {reason}" for name, reason in sorted(wanted - known)]
    rows = baseline.text.split("\n")
    dropped = {line.number for line in removed}
    text = "\n".join(_placed(rows, {line.number: line.pattern for line in kept}, dropped, added))
    return Update(
        baseline=parse_baseline(text, baseline.file),
        added=tuple(added),
        removed=tuple(rows[line.number - 1].strip() for line in removed),
    )


def _placed(rows: Sequence[str], kept: dict[int, str], dropped: Collection[int], added: Sequence[str]) -> list[str]:
    """The rows without the dropped ones, by number, and each added row behind the last kept line that sorts before it.

    An added row that sorts before every line is placed at the end. `kept` has the pattern of each kept line by number.
    """
    behind: dict[int, list[str]] = {}
    end = max((number for number, row in enumerate(rows, start=1) if row.strip()), default=0)
    for row in added:
        place = max((number for number, pattern in kept.items() if pattern <= row.split()[0]), default=end)
        behind.setdefault(place, []).append(row)
    placed = list(behind.get(0, ()))
    for number, row in enumerate(rows, start=1):
        placed += ([] if number in dropped else [row]) + behind.get(number, [])
    return placed
