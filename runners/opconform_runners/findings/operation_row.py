"""The cases of one operation in a report by verdict: the table of operations."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opconform_runners.findings.report import VERDICTS, Report

#: What a backend does with an operation.
OperationStatus = Literal["passes", "partly", "fails", "unsupported", "undecided", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationRow:
    """The cases of one operation by verdict, of every verdict one count."""

    op: str
    counts: Mapping[str, int]

    @property
    def status(self) -> OperationStatus:
        """The conclusion from its cases; an operation passes if all of its cases do, but for inconclusive ones."""
        if self.counts["fail"]:
            return "fails"
        if self.counts["error"]:
            return "error"
        if self.counts["unsupported"]:
            return "partly" if self.counts["pass"] else "unsupported"
        return "passes" if self.counts["pass"] else "undecided"


def operation_rows(report: Report) -> tuple[OperationRow, ...]:
    """The operations that were run, sorted by name."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in report.results:
        counts[result.op][result.verdict] += 1
    for tally in report.tallies:
        counts[tally.kind.op][tally.kind.verdict] += tally.cases
    return tuple(OperationRow(op=op, counts={name: counts[op][name] for name in VERDICTS}) for op in sorted(counts))
