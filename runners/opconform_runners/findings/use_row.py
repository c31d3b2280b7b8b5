"""The uses of operations in models, weighted by the nodes that have each, and what their cases show."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from opconform.errors import counted
from opconform_runners.backends.backend import full_name
from opconform_runners.findings.report import Report
from opconform_runners.verdicts.results import Result

#: The profile of the cases that are the uses themselves, and not beside them.
_ITSELF = "core"


@dataclass(frozen=True, kw_only=True, slots=True)
class UseRow:
    """The uses of one operation.

    Attributes:
        uses: How many nodes have each use, by name.
        cases: How many cases stand for a use, and of these, how many are `failing`.
        touched: The requirements that the cases are evidence for, and of these, `broken` are broken.
        affected: The uses with a failing case, and of these, `itself` has those that fail themselves.
        unsupported: The uses that the backend does not support themselves.
    """

    op: str
    uses: Mapping[str, int]
    cases: int
    failing: int
    touched: frozenset[str]
    broken: frozenset[str]
    affected: frozenset[str]
    itself: frozenset[str]
    unsupported: frozenset[str]

    def nodes(self, uses: frozenset[str] | None = None) -> int:
        """How many nodes have some of the uses, by default any."""
        return sum(count for name, count in self.uses.items() if uses is None or name in uses)


def use_rows(report: Report) -> tuple[UseRow, ...]:
    """The uses of each operation in models, the most frequent operation first; empty without uses."""
    results: dict[str, list[Result]] = defaultdict(list)
    for result in report.results if report.suite.uses else ():
        if result.id.rpartition("/")[0] in report.suite.uses:
            results[result.op].append(result)
    rows = (_row(op, of_op, report) for op, of_op in results.items())
    return tuple(sorted(rows, key=lambda row: (-row.nodes(), row.op)))


def _row(op: str, results: list[Result], report: Report) -> UseRow:
    counting = {row.name for row in report.broken}
    uses = {result.id: report.suite.uses[result.id.rpartition("/")[0]] for result in results}
    broken_by = {result.id: {full_name(op, name) for name in result.broken} & counting for result in results}
    failing = [x for x in results if x.verdict == "fail" and (broken_by[x.id] or x.id in report.unnamed)]
    broken = frozenset(name for result in failing for name in broken_by[result.id])
    return UseRow(
        op=op,
        uses={name: count for of_case in uses.values() for name, count in of_case.items()},
        cases=len(results),
        failing=len(failing),
        touched=broken | {full_name(op, name) for result in results for name in result.requirements},
        broken=broken,
        affected=frozenset(name for result in failing for name in uses[result.id]),
        itself=frozenset(name for x in failing if x.profile == _ITSELF for name in uses[x.id]),
        unsupported=frozenset(
            name for x in results if (x.profile, x.verdict) == (_ITSELF, "unsupported") for name in uses[x.id]
        ),
    )


def uses_sentence(rows: tuple[UseRow, ...]) -> str:
    """What the uses in models touch, how much of it fails, and how much is not supported."""
    touched, broken = (sum(len(getattr(row, name)) for row in rows) for name in ("touched", "broken"))
    every = _weighted(sum(len(row.uses) for row in rows), sum(row.nodes() for row in rows))
    what = f"{every} of {counted(len(rows), 'operation')} touch {counted(touched, 'requirement')}"
    affected, itself, unsupported = (
        _weighted(sum(len(getattr(x, name)) for x in rows), sum(x.nodes(getattr(x, name)) for x in rows))
        for name in ("affected", "itself", "unsupported")
    )
    fail = (
        f"{broken:,} of these {'fails' if broken == 1 else 'fail'}, for {affected}" if broken else "none of these fails"
    )
    return f"Uses in models: {what}; {fail}. As the models have them, failing: {itself}; unsupported: {unsupported}."


def _weighted(uses: int, nodes: int) -> str:
    """A number of uses with the number of their nodes."""
    return f"{counted(uses, 'use')} ({counted(nodes, 'node')})" if uses else "no use"
