"""Bars: the requirements of each operation, with a bar a backend."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from opconform.suite.manifest import Level
from opconform_runners.reports.html.subject import place_of
from opconform_runners.reports.matrix import Cell, Matrix
from opconform_runners.reports.report import VERDICTS, RequirementRow

_MARKS = {"kept": "✓", "broken": "✗", "mapped": "~", "open": "·", "error": "!"}
_STANDINGS = {
    "kept": "kept",
    "broken": "broken",
    "mapped": "done by the harness",
    "open": "not decided",
    "error": "harness error",
}


class Segment(NamedTuple):
    """A part of a bar: the verdict, where it begins and how wide it is, both in percent."""

    verdict: str
    start: str
    width: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BarCell:
    """One requirement on one backend."""

    standing: str
    mark: str
    words: str
    counts: str
    segments: tuple[Segment, ...]
    link: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BarRow:
    """One requirement: its text, and a cell a backend."""

    id: str
    level: Level
    text: str
    link: str
    cells: tuple[BarCell, ...]


def operations_of(matrix: Matrix) -> dict[str, tuple[BarRow, ...]]:
    """The requirements of each operation that have cases."""
    rows: dict[str, list[BarRow]] = defaultdict(list)
    found = [{(each.op, each.id): each for each in column.report.requirements} for column in matrix.columns]
    for row in matrix.rows:
        mine = [each[row.op, row.id] for each in found]
        if any(any(each.counts.values()) for each in mine):
            rows[row.op].append(
                BarRow(
                    id=row.id,
                    level=row.level,
                    text=mine[0].text,
                    link=place_of(requirement=f"{row.op} {row.id}"),
                    cells=tuple(
                        _bar(number, each, cell)
                        for number, (each, cell) in enumerate(zip(mine, row.cells, strict=True))
                    ),
                )
            )
    return {op: tuple(each) for op, each in rows.items()}


def _bar(backend: int, row: RequirementRow, cell: Cell) -> BarCell:
    total = sum(row.counts.values())
    segments, start = [], 0.0
    for name in VERDICTS:
        width = 100 * row.counts[name] / total if total else 0.0
        if width:
            segments.append(Segment(name, f"{start:.2f}", f"{width:.2f}"))
        start += width
    counts = ", ".join(f"{row.counts[name]:,} {name}" for name in VERDICTS if row.counts[name])
    link = place_of(backend=backend, requirement=f"{row.op} {row.id}", verdict="fail" if row.counts["fail"] else "")
    return BarCell(
        standing=cell.standing,
        mark=_MARKS[cell.standing],
        words=_STANDINGS[cell.standing],
        counts=counts or "no case",
        segments=tuple(segments),
        link=link,
    )
