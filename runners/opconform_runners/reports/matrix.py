"""The reports of several backends on one suite side by side: one row per requirement, one column per backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rich.markup import escape
from rich.table import Table

from opconform.suite.manifest import Level
from opconform_runners.reports.report import Report, RequirementRow

FORMAT = 1

#: The conclusion from one backend's cases for a requirement.
Standing = Literal["kept", "broken", "mapped", "open", "error"]

_MARKS: Mapping[Standing, str] = MappingProxyType(
    {"kept": "✓", "broken": "✗", "mapped": "~", "open": "·", "error": "!"}
)
_STYLES: Mapping[Standing, str] = MappingProxyType(
    {"kept": "green", "broken": "red", "mapped": "dim", "open": "dim", "error": "magenta"}
)
_WORDS: Mapping[Standing, str] = MappingProxyType(
    {
        "kept": "kept",
        "broken": "broken",
        "mapped": "fulfilled by the harness",
        "open": "not decided",
        "error": "harness error",
    }
)
#: The meaning of the marks.
LEGEND = (
    "✓ all decided cases pass, ✗ the number of cases that fail, ~ fulfilled by the harness, "
    "· no case was decided, ! the harness failed"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One backend's cases for one requirement by verdict, and the conclusion from them."""

    standing: Standing
    counts: Mapping[str, int]

    @property
    def mark(self) -> str:
        """The mark of the conclusion."""
        return _MARKS[self.standing]

    @property
    def words(self) -> str:
        """The conclusion as text."""
        return _WORDS[self.standing]

    @property
    def summary(self) -> str:
        """The cases by verdict, as in `2 pass, 4 fail`."""
        return counts_text(self.counts)

    @property
    def text(self) -> str:
        """The mark, with the number of failures where there are any."""
        return self.mark + (f" {self.counts['fail']:,}" if self.standing == "broken" else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One requirement, and each backend's cell in the order of the columns."""

    op: str
    id: str
    level: Level
    text: str
    cells: tuple[Cell, ...]

    @property
    def note(self) -> str:
        """The level; empty for a normative requirement."""
        return "" if self.level == "normative" else self.level


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One backend: its name in the matrix, and its report."""

    name: str
    report: Report

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
        absent: The reason why each of the other backends could not be run, by its name.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    absent: Mapping[str, str]


def matrix_of(columns: Sequence[Column], absent: Mapping[str, str]) -> Matrix:
    """The matrix of one report or more on the same suite; `absent` is that of `Matrix`."""
    by_column = [{(each.op, each.id): each for each in column.report.requirements} for column in columns]
    rows = tuple(
        Row(
            op=each.op,
            id=each.id,
            level=each.level,
            text=each.text,
            cells=tuple(_cell(found[each.op, each.id]) for found in by_column),
        )
        for each in columns[0].report.requirements
    )
    return Matrix(columns=tuple(columns), rows=rows, absent=MappingProxyType(dict(absent)))


def _cell(row: RequirementRow) -> Cell:
    standing: Standing = "mapped" if row.is_mapped else "kept"
    if row.counts["error"]:
        standing = "error"
    elif row.is_broken:
        standing = "broken"
    elif not row.counts["pass"]:
        standing = "open"
    return Cell(standing=standing, counts=row.counts)


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
                    column.name: {"standing": each.standing, "pass": each.counts["pass"], "fail": each.counts["fail"]}
                    for column, each in zip(matrix.columns, row.cells, strict=True)
                },
            }
            for row in matrix.rows
        ],
    }


def decided_rows(matrix: Matrix) -> list[Row]:
    """The requirements with a decided case on some backend."""
    return [row for row in matrix.rows if any(each.standing != "open" for each in row.cells)]


def matrix_table(matrix: Matrix) -> Table:
    """A matrix for a terminal; its columns have the numbers of `matrix_lines`."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in ("requirement", "level", *(str(number) for number, _ in enumerate(matrix.columns, 1))):
        table.add_column(name, no_wrap=True)
    op = ""
    for row in decided_rows(matrix):
        if row.op != op:
            op = row.op
            table.add_row(f"[bold]{op}[/bold]")
        table.add_row(row.id, row.note, *(f"[{_STYLES[each.standing]}]{each.text}[/]" for each in row.cells))
    return table


def matrix_lines(matrix: Matrix) -> list[str]:
    """One line per backend: its number, its verdict, and its cases by verdict."""
    lines = []
    for number, each in enumerate(matrix.columns, 1):
        counts = counts_text(each.report.summary)
        lines.append(f"{number:>2} [bold]{escape(each.title)}[/bold]: {each.report.verdict} ({counts})")
    return lines + [f" - {escape(name)}: not run: {escape(why)}" for name, why in matrix.absent.items()]


def matrix_markdown(matrix: Matrix) -> str:
    """A matrix as a page of Markdown."""
    suite, verdicts = matrix.columns[0].report.suite, list(matrix.columns[0].report.summary)
    absent = [f"- {name}: not run: {why}" for name, why in matrix.absent.items()]
    lines = [
        f"Suite {suite.version}, digest {suite.digest}.",
        "",
        _cells("backend", "verdict", *verdicts),
        f"|---|---|{'---:|' * len(verdicts)}",
        *(
            _cells(each.title, each.report.verdict, *(f"{count:,}" for count in each.report.summary.values()))
            for each in matrix.columns
        ),
        *(["", *absent] if absent else []),
        "",
        _cells("operation", "requirement", "level", *(each.name for each in matrix.columns)),
        f"|---|---|---|{'---|' * len(matrix.columns)}",
        *(_cells(row.op, row.id, row.note, *(each.text for each in row.cells)) for row in matrix.rows),
        "",
        f"{LEGEND}.",
    ]
    return "\n".join(lines) + "\n"


def counts_text(counts: Mapping[str, int]) -> str:
    """Cases by verdict, as in `2 pass, 4 fail`."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "no case"


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
