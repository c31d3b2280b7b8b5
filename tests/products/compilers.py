"""What tests of backends that compile a rendered model check: they break exactly the known requirements."""

from collections.abc import Collection
from pathlib import Path

from tests.backends.known_findings import differences, sampled_report
from tests.conftest import Run


def check_findings(
    opconform: Run,
    core: Path,
    backend: str,
    python: str,
    out: Path,
    undeclared: Collection[str] = (),
    messages: Collection[str] = (),
) -> None:
    """Check the report on a sample of the core: no harness errors, and nothing unsupported but what is declared, these, and what a message says."""
    report = sampled_report(opconform, core, backend, out, "--jobs", "2", "--python", python)

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    assert differences(report, backend) == {}
    assert report["summary"]["pass"] > len(report["cases"]) / 5
    found = [case for case in report["cases"] if "undeclared-unsupported" in case.get("remarks", [])]
    unknown = [case for case in found if not any(message in case["sentence"] for message in messages)]
    assert {case["id"] for case in unknown} <= {*undeclared}
