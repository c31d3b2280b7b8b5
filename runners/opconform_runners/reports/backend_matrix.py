"""The reports of several backends on one suite side by side: one row per requirement, one column per backend."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain, groupby
from typing import NamedTuple

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from opconform.errors import counted
from opconform.system.resources import render
from opconform_runners.findings.operation_row import OperationRow, OperationStatus, operation_rows
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import RequirementRow, RequirementStatus
from opconform_runners.verdicts.results import Result

FORMAT = 1


class Sign(NamedTuple):
    """How a status is shown: its mark, its colour on a terminal, and its words."""

    mark: str
    colour: str
    words: str


SIGNS: Mapping[RequirementStatus, Sign] = {
    "kept": Sign("✓", "green", "kept"),
    "broken": Sign("✗", "red", "broken"),
    "mapped": Sign("~", "dim", "fulfilled by the harness"),
    "open": Sign("·", "dim", "not decided"),
    "error": Sign("!", "magenta", "harness error"),
}
#: The meaning of the marks.
LEGEND = (
    "✓ every decided case passes, ✗ the number of cases that fail, "
    "~ fulfilled by the harness, · no case is decided, ! the harness failed"
)
#: How the table of operations shows a verdict: its mark, and its words.
VERDICT_SIGNS: Mapping[str, tuple[str, str]] = {
    "pass": ("✓", "pass"),
    "fail": ("✗", "fail"),
    "unsupported": ("\N{EN DASH}", "unsupported"),
    "inconclusive": ("?", "inconclusive"),
    "error": ("!", "harness error"),
}
#: The mark of an operation in Markdown, and its words.
OPERATION_SIGNS: Mapping[OperationStatus, tuple[str, str]] = {
    "passes": ("✅", "pass"),
    "partly": ("🟡", "partly supported"),
    "fails": ("❌", "fail"),
    "unsupported": ("⬜", "unsupported"),
    "undecided": ("❔", "undecided"),
    "error": ("⚠️", "with harness errors"),
}
#: How many products must agree.
_AGREEING = 3
#: The failures that are answers; the others only say that the backend did not end well.
_ANSWERS = frozenset(
    {"accepted-invalid", "rejected-valid", "count", "element-type", "shape", "value", "rounding", "nan-payload"}
)
#: What the suspects of a matrix are.
AGREED = "At least three products agree with each other and not with opconform, so the expected outcome may be wrong"
#: One requirement on each backend, in the order of the columns.
MatrixRow = tuple[RequirementRow, ...]


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
class Suspect:
    """A case in which opconform may be wrong.

    Attributes:
        answer: What the backends agree on: the beginning of the sentence on their failures.
        backends: The backends of at least three products that agree.
    """

    id: str
    answer: str
    backends: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The reports of one backend or more on the same suite, and why each of the `absent` ones could not be run."""

    columns: Sequence[Column]
    absent: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows(self) -> tuple[MatrixRow, ...]:
        """The requirements."""
        by_column = [
            {requirement.name: requirement for requirement in column.report.requirements} for column in self.columns
        ]
        return tuple(tuple(rows[name] for rows in by_column) for name in by_column[0])

    @cached_property
    def operations(self) -> Mapping[str, tuple[OperationRow | None, ...]]:
        """The operations, on each backend; None where no case of an operation has a verdict."""
        by_column = [{row.op: row for row in operation_rows(column.report)} for column in self.columns]
        return {op: tuple(rows.get(op) for rows in by_column) for op in sorted({*chain(*by_column)})}

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """The cases in which opconform may be wrong."""
        return suspects_of({column.name: column.report.results for column in self.columns})


def matrix_document(matrix: Matrix) -> dict[str, object]:
    """A matrix as a JSON object."""
    return {
        "format": FORMAT,
        "suite": matrix.columns[0].report.suite.digest,
        "backends": [
            {
                "name": column.name,
                "version": column.report.implementation.version,
                "device": column.report.implementation.device,
                "conformant": column.report.conformant,
                "incomplete": list(column.report.incomplete),
                "summary": column.report.summary,
            }
            for column in matrix.columns
        ],
        "absent": dict(matrix.absent),
        "requirements": [
            {
                "op": row[0].op,
                "id": row[0].id,
                "level": row[0].level,
                "backends": {
                    column.name: {"status": cell.status, "pass": cell.counts["pass"], "fail": cell.counts["fail"]}
                    for column, cell in zip(matrix.columns, row, strict=True)
                },
            }
            for row in matrix.rows
        ],
        "suspects": [asdict(suspect) for suspect in matrix.suspects],
    }


def matrix_view(matrix: Matrix) -> Iterator[RenderableType]:
    """A matrix for a terminal: one row per requirement with a decided case, and last the verdict on each backend."""
    yield ", ".join(f"{number}: {column.title}" for number, column in enumerate(matrix.columns, 1))
    yield ""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in ("requirement", "level", *(str(number) for number, _ in enumerate(matrix.columns, 1))):
        table.add_column(name, no_wrap=True)
    decided = [row for row in matrix.rows if any(cell.status != "open" for cell in row)]
    for op, rows in groupby(decided, key=lambda row: row[0].op):
        table.add_row(f"[bold]{op}[/bold]")
        for row in rows:
            cells = (f"[{SIGNS[cell.status].colour}]{_cell(cell)}[/]" for cell in row)
            table.add_row(row[0].id, row[0].note, *cells)
    yield table
    yield f"\n{LEGEND}."
    left_out = len(matrix.rows) - len(decided)
    if left_out:
        why = "no case of this suite that tests them is supported by a backend"
        yield f"{counted(left_out, 'requirement is', 'requirements are')} not shown, because {why}."
    if matrix.suspects:
        yield f"\n{AGREED}:"
    yield from (Text(f"  {suspect.id}: {', '.join(suspect.backends)}: {suspect.answer}") for suspect in matrix.suspects)
    yield ""
    yield from (f" - {name}: not run: {why}" for name, why in matrix.absent.items())
    for number, item in enumerate(matrix.columns, 1):
        counts = counts_text(item.report.summary)
        yield Text.from_markup(f"{number:>2} [bold]{escape(item.title)}[/bold]: {item.report.verdict} ({counts})")


def matrix_markdown(matrix: Matrix) -> str:
    """A matrix as a page of Markdown."""
    return render(
        "report/matrix.md.j2",
        columns=matrix.columns,
        rows=matrix.rows,
        absent=matrix.absent,
        suspects=matrix.suspects,
        agreed=AGREED,
        legend=LEGEND,
        cell=_cell,
        operations=matrix.operations,
        operation_text=operation_text,
        operations_legend=", ".join(f"{mark} {words}" for mark, words in OPERATION_SIGNS.values()),
        counted=counted,
    )


def operation_text(row: OperationRow | None) -> str:
    """An operation in Markdown: its mark, and its cases by verdict."""
    return "" if row is None else f"{OPERATION_SIGNS[row.status][0]} {counts_text(row.counts)}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Cases by verdict, as in `2 pass, 4 fail`."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "no case"


def _cell(row: RequirementRow) -> str:
    """The mark, with the number of failures where there are any."""
    return SIGNS[row.status].mark + (f" {row.counts['fail']:,}" if row.status == "broken" else "")


def suspects_of(results: Mapping[str, Sequence[Result]]) -> tuple[Suspect, ...]:
    """The cases in which at least three products give the same answer, which is not the expected one.

    `results` has the results on one suite by the backend's name. Backends whose names have the same first word, such as
    `openvino` and `openvino-onnx`, are of one product.
    """
    agreeing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, of_backend in results.items():
        for item in of_backend:
            if item.verdict == "fail" and item.reason in _ANSWERS:
                answer = "rejected" if item.reason == "rejected-valid" else item.sentence  # without its own words
                agreeing[item.id, answer].append(name)
    return tuple(
        Suspect(id=identity, answer=answer, backends=tuple(names))
        for (identity, answer), names in sorted(agreeing.items())
        if len({name.replace(":", "-").partition("-")[0] for name in names}) >= _AGREEING
    )
