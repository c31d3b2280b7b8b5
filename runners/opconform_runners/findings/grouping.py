"""What the failures of a run have in common: its findings."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opconform.errors import counted
from opconform.suite.reader import Suite
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.progress import OnProgress
from opconform_runners.findings.causes.likely import causes_of_failures
from opconform_runners.findings.failures import SEVERITIES, Standing, result_size, severity_of, standings
from opconform_runners.findings.finding import Finding, Severity, Subgraph
from opconform_runners.findings.known.failures import Known
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import DECIDED, RequirementRow
from opconform_runners.findings.run_conditions import run_conditions
from opconform_runners.findings.symptom import symptom_of, symptom_text
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import OF_CLAIMS

#: The part of the cases of a finding that must be of a severity for the finding to be.
_TENTH = 10
#: The most requirements that are named.
_NAMED = 4


def with_findings(
    report: Report,
    suite: Suite | None = None,
    kept: KeptOutputs | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Report:
    """A report with the findings of its run; without the suite or the passing cases, no conditions are searched.

    Each condition is a finding, and so are the failures under no condition that have the same operation, broken
    requirements and symptom.
    """
    failing = {result.id: result for result in report.results if result.verdict == "fail"}
    stands = standings(report)
    severities = {name: severity_of(case, stands[name]) for name, case in failing.items()}
    kinds = {name: (case.op, case.broken, stands[name], severities[name]) for name, case in failing.items()}
    causes = {} if suite is None or kept is None else causes_of_failures(failing.values(), suite, kept, on_progress)
    symptoms = {name: symptom_text(symptom_of(case, causes.get(name, ""))) for name, case in failing.items()}
    findings: list[Finding] = []
    explained: set[str] = set()
    for condition in () if suite is None or report.tallies else run_conditions(report, suite, symptoms, on_progress):
        known = sum(case.id in explained for case in condition.cases)
        shared = f"; {known:,} of them also meet another condition" if known > 1 else ""
        finding = _finding(condition.cases, severities, symptoms, explained)
        explained.update(finding.cases)
        finding = replace(
            finding,
            condition=f"{condition.sentence}{shared}",
            facts=condition.fact_sentences,
            undecided=condition.undecided,
        )
        findings.append(replace(finding, others=condition.others, passing=condition.passing))
    alike: dict[tuple[object, ...], list[Result]] = defaultdict(list)
    for name in failing.keys() - explained:
        alike[*kinds[name], symptoms[name]].append(failing[name])
    for results in alike.values():
        finding = _finding(results, severities, symptoms)
        about = "" if suite is None or report.tallies else _about(finding, suite, report.results)
        findings.append(replace(finding, about=about))
    findings = [_with_causes(finding, causes) for finding in findings]
    return replace(report, findings=tuple(sorted(findings, key=_rank)))


def subgraphs_of(report: Report) -> list[Subgraph]:
    """The smallest failing subgraphs that the findings of a report name."""
    return [finding.subgraph for finding in report.findings if finding.subgraph is not None]


def with_named_subgraphs(report: Report, subgraphs: Iterable[Subgraph]) -> Report:
    """A report whose findings name the first of some subgraphs that is of one of their cases."""
    known = {subgraph.case: subgraph for subgraph in subgraphs}

    def named(finding: Finding) -> Finding:
        return replace(finding, subgraph=next((known[case] for case in finding.cases if case in known), None))

    return replace(report, findings=tuple(map(named, report.findings)))


def _rank(finding: Finding) -> tuple[int, int, tuple[str, ...]]:
    return SEVERITIES.index(finding.severity), -len(finding.cases), finding.cases


def _finding(
    cases: Sequence[Result],
    severities: Mapping[str, Severity],
    symptoms: Mapping[str, str],
    explained: Collection[str] = (),
) -> Finding:
    """The finding with these cases, without a condition. Unexplained cases decide its severity and first case."""
    unexplained = [case for case in cases if case.id not in explained]
    counts = Counter(severities[x.id] for x in unexplained)
    severity = min((name for name, count in counts.items() if count * _TENTH >= len(unexplained)), key=SEVERITIES.index)
    first = min(unexplained, key=lambda x: (severities[x.id] != severity, *result_size(x)))
    rest = sorted((case for case in cases if case is not first), key=result_size)
    said = Counter(symptoms[case.id] for case in (first, *rest))
    ids = (first.id, *(case.id for case in rest))
    return Finding(severity=severity, symptoms=dict(said.most_common()), cases=ids)


def _about(finding: Finding, suite: Suite, results: Sequence[Result]) -> str:
    """What the first case of a finding tests, and how many decided cases of its group are in the finding."""
    first = suite.by_id.get(finding.cases[0])
    if first is None:
        return ""
    group = f"{first.id.rpartition('/')[0]}/"
    decided = sum(result.id.startswith(group) and result.verdict in DECIDED for result in results)
    failing = sum(name.startswith(group) for name in finding.cases)
    title = suite.recent_case(first).title
    return f"{title} ({failing:,} of {counted(decided, 'decided case')} of {group[:-1]})"


def _with_causes(finding: Finding, causes: Mapping[str, str]) -> Finding:
    known = {name: causes[name] for name in finding.cases if causes.get(name)}
    return replace(finding, cause=known.get(finding.cases[0], ""), causes=known)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFinding:
    """A finding as a reader sees it: its failures that have some standings, and the requirements that they break.

    Attributes:
        standing: `new` if one of them counts.
        results: The failures, the smallest of the finding's severity first.
        known: Where a released product is known to fail in the same way; empty if it is not.
    """

    finding: Finding
    standing: Standing
    results: tuple[Result, ...]
    requirements: tuple[RequirementRow, ...]
    known: str

    @property
    def smallest(self) -> Result:
        """The smallest failure."""
        return self.results[0]

    @property
    def cases_text(self) -> str:
        """How many cases these are, and of how many in the finding: the others have another standing."""
        here, every = len(self.results), len(self.finding.cases)
        return f"{here:,} of its {every:,} cases" if here < every else counted(here, "case")

    @property
    def names(self) -> str:
        """The operations and the broken requirements, as in `Split-1 axis.range`."""
        names: dict[str, list[str]] = defaultdict(list)
        for result in self.results:
            names[result.op] += [name for name in result.broken if name not in names[result.op]]
        unnamed = "claims" if self.smallest.reason in OF_CLAIMS else "no requirement named"
        texts = [f"{op} {', '.join(broken) or unnamed}" for op, broken in sorted(names.items())]
        more = f" and {len(texts) - _NAMED} more operations" if len(texts) > _NAMED + 1 else ""
        return "; ".join(texts[:_NAMED] if more else texts) + more

    @property
    def subgraph(self) -> str:
        """The smallest failing subgraph, with its case if that is not the smallest one; empty if none was searched."""
        subgraph = self.finding.subgraph
        if subgraph is None or all(result.id != subgraph.case for result in self.results):
            return ""
        where = "" if subgraph.case == self.smallest.id else f", of {subgraph.case}"
        return f"{subgraph.sentence}{where}"

    @property
    def heading(self) -> str:
        """What the smallest failure breaks, and how many more operations or requirements the others do."""
        unnamed = "claims" if self.smallest.reason in OF_CLAIMS else "no requirement named"
        first = f"{self.smallest.op} {', '.join(self.smallest.broken) or unnamed}"
        if others := len(self.other_operations):
            return f"{first} and {counted(others, 'more operation')}"
        broken = {name for result in self.results for name in result.broken}
        more = len(broken - {*self.smallest.broken})
        return f"{first} and {counted(more, 'more requirement')}" if more else first

    @property
    def other_operations(self) -> list[str]:
        """The operations of the failures besides that of the smallest."""
        return sorted({result.op for result in self.results} - {self.smallest.op})

    @property
    def kind(self) -> str:
        """The severity, and the reason of the smallest case if it says more."""
        severity, reason = self.finding.severity, self.smallest.reason or ""
        return severity if severity == reason else f"{severity} ({reason})"


def shown_findings(report: Report, standing: Iterable[Standing] = ("new", "known", "read")) -> tuple[ShownFinding, ...]:
    """The findings of a report that have a failure with one of some standings.

    First come failures that are not known of a release, of a finding that has both kinds as one of its own; what a
    baseline expects comes last.
    """
    stands, wanted = standings(report), set(standing)
    results = {result.id: result for result in report.results}
    rows = {(requirement.op, requirement.id): requirement for requirement in report.requirements}
    known = report.known.cases if report.known is not None else {}
    shown: list[ShownFinding] = []
    for finding in report.findings or with_findings(report).findings:
        chosen = [results[case] for case in finding.cases if stands[case] in wanted]
        parts = [x for x in chosen if x.id not in known], [x for x in chosen if x.id in known]
        shown += [_shown(finding, part, stands, rows, report.known) for part in parts if part]
    return tuple(sorted(shown, key=lambda x: (x.standing == "known", bool(x.known))))


def _shown(
    finding: Finding,
    part: Sequence[Result],
    stands: Mapping[str, Standing],
    rows: Mapping[tuple[str, str], RequirementRow],
    known: Known | None,
) -> ShownFinding:
    """Some failures of a finding, all of them known of a release or none."""
    met = {stands[x.id] for x in part}
    broken = dict.fromkeys((x.op, name) for x in part for name in x.broken)
    names = [x.id for x in part]
    return ShownFinding(
        finding=finding,
        standing=next(name for name in ("new", "read", "known") if name in met),
        results=tuple(part),
        requirements=tuple(rows[requirement] for requirement in broken if requirement in rows),
        known=known.sentence(names) if known is not None and names[0] in known.cases else "",
    )
