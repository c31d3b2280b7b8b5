"""Updates a baseline to a run; what still holds stays as it is written."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opconform_runners.verdicts.baseline import (
    Baseline,
    Ending,
    Line,
    comparison_field_of,
    ending_of,
    is_allowed,
    parse_baseline,
)
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """A baseline after an update, and the rows of its file that were `added` and `removed`."""

    baseline: Baseline
    added: tuple[str, ...]
    removed: tuple[str, ...]


def update(baseline: Baseline, results: Sequence[Result], suite: Mapping[str, str]) -> Update:
    """Make a baseline expect exactly what fails or is unsupported in a complete run.

    Lines that hold stay, and so do lines without a case in the run. A pattern some of whose cases pass becomes one line
    per case that does not. An operation or a group whose cases are all unsupported becomes one line.

    `suite` has the expectation of each case of the suite, `accept` or `reject`, by its id.
    """
    expects = {result.id: result.expect for result in results}
    by_id = {result.id: result for result in results}
    lines_of = baseline.lines_of(expects)
    passing = {name for name, lines in lines_of.items() if comparison_field_of(by_id[name], lines) == "passes"}
    removed: list[Line] = []
    required: set[tuple[str, Ending]] = set()
    for line in baseline.lines:
        cases = line.cases(expects)
        endings = [ending for name in cases if (ending := ending_of(by_id[name]))]
        holds = any(is_allowed(ending, {line.reason}) for ending in endings) or len(endings) < len(cases)
        if not line.cases(suite) or not passing.isdisjoint(cases) or (cases and not holds and line.reason != "pass"):
            removed.append(line)
            required |= {(name, line.reason) for name in cases if by_id[name].verdict in ("inconclusive", "error")}
    kept = [line for line in baseline.lines if line not in removed]
    known: defaultdict[str, set[Ending]] = defaultdict(set)
    for line in kept:
        for name in line.cases(expects):
            known[name].add(line.reason)
    required |= {(result.id, ending) for result in results if (ending := ending_of(result))}
    missing = {(name, reason) for name, reason in required if not is_allowed(reason, known[name])}
    added = [f"{name} {reason}" for name, reason in sorted(_joined(missing, by_id, suite))]
    rows = baseline.text.split("\n")
    dropped = {line.number for line in removed}
    text = "\n".join(_placed(rows, {line.number: line.pattern for line in kept}, dropped, added))
    return Update(
        baseline=parse_baseline(text, baseline.file),
        added=tuple(added),
        removed=tuple(rows[line.number - 1].strip() for line in removed),
    )


def _joined(
    required: Collection[tuple[str, Ending]], results: Mapping[str, Result], suite: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The lines, with one pattern for an operation or a group of the suite whose cases are all unsupported."""
    uncovered = {name for name, reason in required if reason == "unsupported"}
    yield from ((name, reason) for name, reason in required if reason != "unsupported")
    for depth in (1, 2):
        for folder in sorted({"/".join(name.split("/")[:depth]) for name in uncovered}):
            inside = {name for name in suite if name.startswith(f"{folder}/")}
            lacking = inside & uncovered
            if len(lacking) > 1 and all(name in lacking or _is_open(results.get(name)) for name in inside):
                yield f"{folder}/*", "unsupported"
                uncovered -= lacking
    yield from ((name, "unsupported") for name in uncovered)


def _is_open(result: Result | None) -> bool:
    return result is not None and result.verdict == "inconclusive"


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
