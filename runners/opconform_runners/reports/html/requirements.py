"""The requirements of each operation on the page, with one bar per backend."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from opconform.suite.manifest import Level
from opconform_runners.reports.html.subject import cases_place
from opconform_runners.reports.matrix import MARKS, Cell, Matrix, Row

_STANDINGS = {
    "kept": "kept",
    "broken": "broken",
    "mapped": "fulfilled by the harness",
    "open": "not decided",
    "error": "harness error",
}


class Segment(NamedTuple):
    """A part of a bar: the verdict, and its beginning and its width in percent."""

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
    """One requirement: its text, and one cell per backend."""

    id: str
    level: Level
    text: str
    link: str
    cells: tuple[BarCell, ...]


def operations_of(matrix: Matrix) -> dict[str, list[BarRow]]:
    """The requirements that have cases, by operation."""
    rows: dict[str, list[BarRow]] = defaultdict(list)
    for row in matrix.rows:
        if any(any(each.counts.values()) for each in row.cells):
            rows[row.op].append(
                BarRow(
                    id=row.id,
                    level=row.level,
                    text=row.text,
                    link=cases_place(requirement=f"{row.op} {row.id}"),
                    cells=tuple(_bar(number, row, each) for number, each in enumerate(row.cells)),
                )
            )
    return dict(rows)


def _bar(backend: int, row: Row, cell: Cell) -> BarCell:
    total = sum(cell.counts.values())
    segments, start = [], 0.0
    for name, count in cell.counts.items():
        if count:
            width = 100 * count / total
            segments.append(Segment(name, f"{start:.2f}", f"{width:.2f}"))
            start += width
    verdict = "fail" if cell.counts["fail"] else ""
    return BarCell(
        standing=cell.standing,
        mark=MARKS[cell.standing],
        words=_STANDINGS[cell.standing],
        counts=", ".join(f"{count:,} {name}" for name, count in cell.counts.items() if count) or "no case",
        segments=tuple(segments),
        link=cases_place(backend=backend, requirement=f"{row.op} {row.id}", verdict=verdict),
    )
