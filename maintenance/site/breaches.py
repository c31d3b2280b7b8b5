"""What releases break: per operation, the requirements with the findings and failing cases that show it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from maintenance.findings import Finding, ProductRelease
from maintenance.site.operations import has_operation
from opconform.errors import counted
from opconform.specs.requirements import requirements_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Breach:
    """A requirement that a release breaks: the findings that say so, and failing cases that no finding covers."""

    is_normative: bool
    findings: list[Finding] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationCell:
    """What is known of a release on an operation.

    Attributes:
        breaches: The broken requirements by id, in the order of the operation's requirements.
        counts: The number of cases by verdict; empty without results.
        is_mapped: Whether the release's backend can be given cases of the operation.
    """

    release: ProductRelease
    op: str
    breaches: Mapping[str, Breach]
    counts: Mapping[str, int]
    is_mapped: bool

    @property
    def normative(self) -> int:
        """The number of normative requirements that it breaks."""
        return sum(breach.is_normative for breach in self.breaches.values())

    @property
    def state(self) -> str:
        """One of `STATES`."""
        if self.normative or (self.counts.get("fail") and not self.breaches):
            return "wrong"
        if self.breaches:
            return "partly"
        if self.counts.get("pass"):
            return "supported"
        return "unknown" if self.is_mapped and not self.counts else "absent"

    @property
    def words(self) -> str:
        """What the release breaks, in words."""
        differing = len(self.breaches) - self.normative
        parts = [f"{counted(self.normative, 'requirement')} broken"] if self.normative else []
        parts += [f"{counted(differing, 'interpretation')} read differently"] if differing else []
        return ", ".join(parts) or STATES[self.state][1]

    @property
    def has_section(self) -> bool:
        """Whether the release's page has a section on the operation."""
        texts = self.release.product.operations
        return self.op in texts or any(finding.op == self.op for finding in self.findings)

    @property
    def findings(self) -> list[Finding]:
        """The findings on the operation, by their numbers."""
        by_number = {finding.number: finding for breach in self.breaches.values() for finding in breach.findings}
        return [by_number[number] for number in sorted(by_number)]


#: The states of a cell, with their marks and meanings.
STATES = {
    "wrong": ("✗", "breaks a normative requirement"),
    "partly": ("≈", "breaks interpretations only"),
    "supported": ("✓", "every decided case passes"),
    "absent": ("-", "not supported"),
    "unknown": ("·", "no finding"),
}


def cells_of(release: ProductRelease, ops: list[str]) -> dict[str, OperationCell]:
    """What is known of a release on each operation."""
    by_op = _by_op(release)
    results = release.results
    return {
        op: OperationCell(
            release=release,
            op=op,
            breaches=_breaches(release, op, *by_op[op]) if op in by_op else {},
            counts={} if results is None else results.operations.get(op, {}),
            is_mapped=has_operation(release.product.backend, op),
        )
        for op in ops
    }


def _by_op(release: ProductRelease) -> Mapping[str, tuple[list[Finding], list[str]]]:
    """The findings with a case of each operation, and its failing cases without a finding."""
    by_op: dict[str, tuple[list[Finding], list[str]]] = defaultdict(lambda: ([], []))
    for finding in release.product.findings:
        for op in {case.partition("/")[0] for case in finding.cases}:
            by_op[op][0].append(finding)
    for case, failure in () if release.results is None else release.results.failures.items():
        if not failure.findings:
            by_op[case.partition("/")[0]][1].append(case)
    return by_op


def _breaches(release: ProductRelease, op: str, findings: list[Finding], cases: list[str]) -> dict[str, Breach]:
    failures = {} if release.results is None else release.results.failures
    by_id = {}
    for requirement in requirements_of(op).requirements:
        breach = Breach(
            is_normative=requirement.level == "normative",
            findings=[finding for finding in findings if requirement.id in finding.requirement],
            cases=[case for case in cases if requirement.id in failures[case].broken],
        )
        if breach.findings or breach.cases:
            by_id[requirement.id] = breach
    return by_id
