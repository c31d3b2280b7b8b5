"""The matrix: the reports of several backends on one suite side by side, a row a requirement and a column a backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rich.markup import escape
from rich.table import Table

from opconform.suite.manifest import Level
from opconform_runners.backends.backend import full_name
from opconform_runners.reports.report import Report, RequirementRow

FORMAT = 1

#: What a backend's cases for a requirement come to.
Standing = Literal["kept", "broken", "mapped", "open", "error"]

_MARKS: Mapping[Standing, str] = MappingProxyType(
    {"kept": "✓", "broken": "✗", "mapped": "~", "open": "·", "error": "!"}
)
_STYLES: Mapping[Standing, str] = MappingProxyType(
    {"kept": "green", "broken": "red", "mapped": "dim", "open": "dim", "error": "magenta"}
)
#: What the marks mean, for a person.
LEGEND = (
    "✓ every case that was decided passes, ✗ so many cases fail, ~ done by the harness on the backend's behalf, "
    "· no case was decided, ! the harness failed"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one backend's cases for one requirement come to, and how many passed and failed."""

    standing: Standing
    passed: int
    failed: int

    @property
    def text(self) -> str:
        """The mark, with the number of failures where there are any."""
        return _MARKS[self.standing] + (f" {self.failed:,}" if self.standing == "broken" else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One requirement, and each backend's cell in the order of the columns."""

    op: str
    id: str
    level: Level
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One backend: what it was called, and its report."""

    name: str
    report: Report

    @property
    def conclusion(self) -> str:
        """The verdict on the whole, in two words at the most."""
        return self.report.conclusion

    @property
    def title(self) -> str:
        """The name with the version and the device."""
        who = self.report.implementation
        return f"{self.name} {who.version}" + (f" on {who.device}" if who.device else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Matrix:
    """The reports of several backends on one suite.

    Attributes:
        columns: The backends.
        rows: The requirements.
        absent: Why each of the other backends could not be run, by its name.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    absent: Mapping[str, str]


def matrix_of(columns: Sequence[Column], absent: Mapping[str, str]) -> Matrix:
    """The matrix of some reports.

    Args:
        columns: One backend at least, all run on the same suite.
        absent: Why each of the others could not be run.
    """
    by_column = [{(each.op, each.id): each for each in column.report.requirements} for column in columns]
    rows = tuple(
        Row(
            op=each.op,
            id=each.id,
            level=each.level,
            cells=tuple(
                _cell(found[each.op, each.id], column.report) for found, column in zip(by_column, columns, strict=True)
            ),
        )
        for each in columns[0].report.requirements
    )
    return Matrix(columns=tuple(columns), rows=rows, absent=MappingProxyType(dict(absent)))


def _cell(row: RequirementRow, report: Report) -> Cell:
    counts = row.counts
    standing: Standing = (
        "error"
        if counts["error"]
        else "broken"
        if row.is_broken
        else "open"
        if not counts["pass"]
        else "mapped"
        if full_name(row.op, row.id) in report.implementation.mapped
        else "kept"
    )
    return Cell(standing=standing, passed=counts["pass"], failed=counts["fail"])


def matrix_document(matrix: Matrix) -> dict[str, object]:
    """A matrix as a JSON object."""
    return {
        "format": FORMAT,
        "suite": matrix.columns[0].report.suite.digest,
        "backends": [
            {
                "name": each.name,
                "version": each.report.implementation.version,
                "device": each.report.implementation.device,
                "conformant": each.report.conformant,
                "incomplete": list(each.report.incomplete),
                "summary": each.report.summary,
            }
            for each in matrix.columns
        ],
        "absent": dict(matrix.absent),
        "requirements": [
            {
                "op": row.op,
                "id": row.id,
                "level": row.level,
                "backends": {
                    column.name: {"standing": cell.standing, "pass": cell.passed, "fail": cell.failed}
                    for column, cell in zip(matrix.columns, row.cells, strict=True)
                },
            }
            for row in matrix.rows
        ],
    }


def decided_rows(matrix: Matrix) -> list[Row]:
    """The requirements that some backend's cases say something of."""
    return [row for row in matrix.rows if any(each.standing != "open" for each in row.cells)]


def matrix_table(matrix: Matrix) -> Table:
    """A matrix for a terminal; its columns are numbered as `matrix_lines` numbers the backends."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("requirement", no_wrap=True)
    table.add_column("level", no_wrap=True)
    for number, _ in enumerate(matrix.columns, 1):
        table.add_column(str(number), no_wrap=True)
    op = ""
    for row in decided_rows(matrix):
        if row.op != op:
            op = row.op
            table.add_row(f"[bold]{op}[/bold]")
        cells = (f"[{_STYLES[each.standing]}]{each.text}[/{_STYLES[each.standing]}]" for each in row.cells)
        table.add_row(row.id, "" if row.level == "normative" else "interpretation", *cells)
    return table


def matrix_lines(matrix: Matrix) -> list[str]:
    """A line a backend: its number, and what its cases come to."""
    lines = []
    for number, each in enumerate(matrix.columns, 1):
        counts = each.report.summary
        shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        lines.append(f"{number:>2} [bold]{escape(each.title)}[/bold]: {each.report.verdict} ({shown})")
    lines += [f" - {escape(name)}: not run: {escape(why)}" for name, why in matrix.absent.items()]
    return lines


def matrix_markdown(matrix: Matrix) -> str:
    """A matrix as a page of Markdown."""
    counts = [
        f"| {each.title} | {each.report.verdict} | "
        + " | ".join(f"{each.report.summary[name]:,}" for name in each.report.summary)
        + " |"
        for each in matrix.columns
    ]
    names = list(matrix.columns[0].report.summary)
    rows = [
        f"| {row.op} | {row.id} | {'' if row.level == 'normative' else 'interpretation'} | "
        + " | ".join(each.text for each in row.cells)
        + " |"
        for row in matrix.rows
    ]
    absent = [f"- {name}: not run: {why}" for name, why in matrix.absent.items()]
    suite = matrix.columns[0].report.suite
    lines = [
        f"Suite {suite.version}, digest {suite.digest}.",
        "",
        f"| backend | verdict | {' | '.join(names)} |",
        f"|---|---|{'---:|' * len(names)}",
        *counts,
        *(["", *absent] if absent else []),
        "",
        f"| operation | requirement | level | {' | '.join(each.name for each in matrix.columns)} |",
        f"|---|---|---|{'---|' * len(matrix.columns)}",
        *rows,
        "",
        f"{LEGEND}.",
    ]
    return "\n".join(lines) + "\n"
