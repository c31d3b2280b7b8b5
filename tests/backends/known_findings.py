"""What a run on a released product breaks, beside what its findings say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from maintenance.findings import Finding, products

from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from tests.conftest import Run
from tests.result_files import report_in
from tests.sampling import SAMPLE


def findings_of(backend: str) -> tuple[Finding, ...]:
    """The findings in a backend's product; none if it has no file."""
    return next((product.findings for product in products().values() if product.backend == backend), ())


def sample_for(core: Path, backend: str) -> list[str]:
    """Options that select the sample of the core, and in it the cases of the backend's findings."""
    known = open_suite(core).by_id
    cases = {finding.case for finding in findings_of(backend) if finding.case in known}
    return [word for case in (SAMPLE, *sorted(cases)) for word in ("--select", case)]


def sampled_report(opconform: Run, core: Path, backend: str, out: Path, *options: object) -> Any:
    """The report on the sample of the core, and the cases of the backend's findings."""
    selected = sample_for(core, backend.partition(":")[0])
    opconform("run", core, "--backend", backend, *selected, "--timeout", "30", *options, "--out", out, code=None)
    return report_in(out)


def is_normative(op: str, requirement: str) -> bool:
    """Whether a violation of the requirement makes a backend non-conformant; false if the operation has none of the name."""
    row = requirements_of(op).by_id.get(requirement)
    return row is not None and row.level == "normative"


def known_violations(backend: str) -> set[tuple[str, str]]:
    """Each operation and normative requirement that a finding says is broken, in its case or in those that it names."""
    return {
        (op, requirement)
        for finding in findings_of(backend)
        for op in {case.partition("/")[0] for case in finding.cases}
        for requirement in finding.requirement
        if is_normative(op, requirement)
    }


def violations(report: Any) -> Iterator[tuple[str, str]]:
    """Each operation and normative requirement that a run breaks."""
    for op, requirements in report["requirements"].items():
        for name, requirement in requirements.items():
            if requirement["broken"] and requirement["level"] == "normative":
                yield op, name


def differences(report: Any, backend: str) -> dict[str, list[str]]:
    """What a run breaks that no finding has, and the findings whose case is in the run and does not fail."""
    failing = {case["id"]: case["verdict"] == "fail" for case in report["cases"]}
    unknown = {*violations(report)} - known_violations(backend)
    gone = [
        f"{finding.number}: {finding.case}"
        for finding in findings_of(backend)
        if finding.state is finding.varies is None
        and not finding.is_interpretation
        and failing.get(finding.case) is False
    ]
    named = {"broken without a finding": sorted(map(" ".join, unknown)), "findings that do not occur": gone}
    return {kind: names for kind, names in named.items() if names}
