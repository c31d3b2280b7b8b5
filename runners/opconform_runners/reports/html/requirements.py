"""The requirements of each operation on the page, with one bar per backend."""

from collections import defaultdict
from typing import NamedTuple

from opconform_runners.reports.html.subject import cases_place
from opconform_runners.reports.matrix import Cell, Matrix, Row


class Bar(NamedTuple):
    """One requirement on one backend: its cell, the parts of the bar, and the address of its cases.

    A part is a verdict, and its beginning and its width in percent.
    """

    cell: Cell
    parts: tuple[tuple[str, str, str], ...]
    link: str


class BarRow(NamedTuple):
    """One requirement, the address of its cases, and one bar per backend."""

    row: Row
    link: str
    bars: tuple[Bar, ...]


def operations_of(matrix: Matrix) -> dict[str, list[BarRow]]:
    """The requirements that have cases, by operation."""
    rows: dict[str, list[BarRow]] = defaultdict(list)
    for row in matrix.rows:
        if any(any(each.counts.values()) for each in row.cells):
            bars = tuple(_bar(number, row, each) for number, each in enumerate(row.cells))
            rows[row.op].append(BarRow(row, cases_place(requirement=f"{row.op} {row.id}"), bars))
    return dict(rows)


def _bar(backend: int, row: Row, cell: Cell) -> Bar:
    total = sum(cell.counts.values())
    parts, start = [], 0.0
    for name, count in cell.counts.items():
        if count:
            width = 100 * count / total
            parts.append((name, f"{start:.2f}", f"{width:.2f}"))
            start += width
    verdict = "fail" if cell.counts["fail"] else ""
    return Bar(cell, tuple(parts), cases_place(backend=backend, requirement=f"{row.op} {row.id}", verdict=verdict))
