"""The uses of operations in models, on a terminal."""

from rich.console import Console
from rich.table import Table

from opconform_runners.findings.report import Report
from opconform_runners.findings.use_row import use_rows


def print_uses(report: Report, console: Console) -> None:
    """One row for each operation that models use."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("in models", no_wrap=True)
    for heading in ("nodes", "affected", "failing", "unsup.", "uses", "cases", "fail", "broken"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in use_rows(report):
        nodes = (row.nodes(), row.nodes(row.affected), row.nodes(row.itself), row.nodes(row.unsupported))
        numbers = (*nodes, len(row.uses), row.cases, row.failing, len(row.broken))
        table.add_row(row.op, *(f"{number:,}" if number else "-" for number in numbers))
    if table.row_count:
        console.print(table)
        console.print()
