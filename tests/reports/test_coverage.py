"""The coverage of a verdict: a backend without a decided case is not conformant, and every verdict gives its coverage."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform.suite.manifest import Level, RequirementNote
from opconform_runners.backends.backend import Implementation
from opconform_runners.cli.certify import command as certify
from opconform_runners.findings.failures import standings
from opconform_runners.findings.report import Report
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.reports.formats.badge import badge_text
from opconform_runners.reports.formats.junit import junit_text
from opconform_runners.reports.formats.markdown import markdown_text
from opconform_runners.reports.report_file import report_document
from opconform_runners.reports.terminal.conclusion import conclusion
from opconform_runners.verdicts import run_header
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import VerdictName
from tests.conftest import MINIATURES

SUITE = run_header.SuiteNote(digest="0" * 64, version="1", generator="1", seed=0)
LEVELS: Mapping[str, Level] = {
    "axis.range": "normative",
    "axis.shape": "normative",
    "data.rank": "interpretation",
    "data.zero-size": "interpretation",
}


def result(
    number: int, verdict: VerdictName, *requirements: str, essential: bool = False, broken: tuple[str, ...] = ()
) -> Result:
    """The result of a case."""
    return Result(
        id=f"Split-1/group/{number:010x}",
        profile="core",
        expect="accept",
        verdict=verdict,
        reason="value" if verdict == "fail" else None,
        requirements=requirements,
        broken=broken,
        essential=essential,
    )


def report(
    *results: Result, mapped: tuple[str, ...] = (), strict: bool = False, missing: tuple[str, ...] = ()
) -> Report:
    """The report of some results."""
    return Report(
        suite=SUITE,
        implementation=Implementation(
            name="some", version="1", element_types=(), dynamic=True, bindings=(), mapped=mapped
        ),
        started="",
        notes={
            "Split-1": {
                name: RequirementNote(level=level, text=name, profiles=("core",)) for name, level in LEVELS.items()
            }
        },
        results=results,
        missing=missing,
        gave_up=None,
        whole=True,
        strict=strict,
        environment=UNKNOWN,
        outputs=None,
        baseline=None,
    )


def test_all_that_is_essential_and_normative_decides() -> None:
    """Cases that are not essential may be unsupported, and interpretations undecided."""
    found = report(
        result(1, "pass", "axis.range", essential=True),
        result(2, "unsupported", "axis.range"),
        result(3, "unsupported", "data.rank"),
    )

    assert (found.conformant, found.incomplete) == (True, ())
    assert found.verdict == "conformant, 1 of 3 cases supported"


@pytest.mark.parametrize(
    ("failure", "conformant"),
    [
        (result(2, "fail", "axis.range", broken=("axis.shape",)), False),  # its case does not list it
        (result(2, "fail", "axis.range", broken=("data.rank",)), True),
        (result(2, "fail", broken=()), False),
        (result(2, "fail", "axis.range", broken=("unknown.id",)), False),
    ],
)
def test_a_failure_counts_by_what_it_breaks(failure: Result, conformant: bool) -> None:
    """Whatever its case lists; one that breaks nothing that is known counts as normative."""
    found = report(result(1, "pass", "axis.range"), failure)

    assert found.conformant is conformant
    assert (standings(found)[failure.id] == "new") is not conformant


BOTH = ("data.rank", "data.zero-size")


@pytest.mark.parametrize(
    ("others", "differing"),
    [
        ((), BOTH),
        ((result(3, "fail", "data.rank", broken=("data.rank",)),), ("data.rank",)),
        ((result(3, "pass", "data.rank"),), ("data.zero-size",)),
        ((result(3, "pass", *BOTH),), BOTH),
        ((result(3, "fail", "data.rank", broken=("data.rank",)), result(4, "pass", "data.rank")), ("data.rank",)),
    ],
)
def test_a_failure_that_two_readings_explain_counts_against_the_likelier_one(
    others: tuple[Result, ...], differing: tuple[str, ...]
) -> None:
    """The one that another case breaks alone, or else the one that no case passes; both if that does not decide."""
    found = report(result(1, "pass", "axis.range"), result(2, "fail", *BOTH, broken=BOTH), *others)

    assert tuple(x.id for x in found.differing) == differing
    assert found.conformant is True


def test_a_normative_requirement_that_some_elements_misread_counts_beside_readings() -> None:
    """Other elements show another reading, which another case breaks alone."""
    mixed = result(2, "fail", "data.rank", broken=("data.rank", "axis.range"))
    found = report(result(1, "fail", "data.rank", broken=("data.rank",)), mixed)

    assert [x.id for x in found.broken] == ["axis.range"]
    assert found.conformant is False


@pytest.mark.parametrize("verdict", ["unsupported", "inconclusive"])
def test_an_essential_case_without_a_decision_leaves_the_verdict_open(verdict: VerdictName) -> None:
    """Whether the backend does not support it, or its rejection is inconclusive."""
    found = report(result(1, "pass", "axis.range", essential=True), result(2, verdict, "axis.range", essential=True))

    assert found.conformant is None
    assert found.incomplete == ("1 of 2 essential cases was not supported, such as Split-1/group/0000000002",)
    assert found.is_finished


def test_a_normative_requirement_without_a_decided_case_leaves_the_verdict_open() -> None:
    """The report names it."""
    found = report(result(1, "pass", "axis.range"), result(2, "unsupported", "axis.shape"))

    assert found.conformant is None
    assert found.incomplete == ("no case was supported for Split-1:axis.shape",)


def test_an_operation_without_a_supported_case_is_named_once() -> None:
    """Not each of its requirements, with the command that leaves it out; another operation is judged as before."""
    lacking = replace(result(2, "unsupported", "axis.shape", essential=True), id="Concat-1/group/0000000002")
    found = report(result(1, "pass", "axis.range", essential=True), lacking)

    assert found.incomplete == ("no case of Concat-1 was supported; `certify BACKEND Split-1` leaves it out",)


def test_what_the_harness_fulfils_needs_no_decided_case() -> None:
    """A mapped requirement is not the backend's own work, which the report says."""
    found = report(
        result(1, "pass", "axis.range"), result(2, "unsupported", "axis.shape"), mapped=("Split-1:axis.shape",)
    )

    assert found.conformant is True
    assert "The harness fulfils the mapped requirements itself" in conclusion(found)[1]


def test_strict_demands_a_decision_on_interpretations_too() -> None:
    """They count as much as normative requirements."""
    found = report(result(1, "pass", "axis.range"), result(2, "unsupported", "data.rank"), strict=True)

    assert found.incomplete == ("no case was supported for Split-1:data.rank",)


@pytest.mark.parametrize("mapped", [(), ("Split-1:axis.range",)])
def test_nothing_tested_is_not_conformant(mapped: tuple[str, ...]) -> None:
    """Not without an essential case either, and not where all is mapped."""
    found = report(result(1, "unsupported", "axis.range"), result(2, "unsupported"), mapped=mapped)

    assert found.conformant is None
    assert found.incomplete == ("no case was supported",)
    assert conclusion(found)[0].startswith("INCOMPLETE, 0 of 2 cases supported: no case was supported")


def test_what_is_broken_is_not_conformant_whatever_is_open() -> None:
    """A violation that was shown is not taken back by what was not."""
    found = report(
        result(1, "fail", "axis.range", broken=("axis.range",)), result(2, "unsupported", "axis.shape", essential=True)
    )

    assert found.conformant is False
    assert found.verdict == "not conformant, 1 of 2 cases supported"


def test_a_run_that_did_not_end_says_only_that() -> None:
    """What is open for that reason is not a gap of the backend."""
    found = report(result(1, "unsupported", "axis.range"), missing=("Split-1/group/0000000002",))

    assert found.incomplete == ("1 case has no verdict",)
    assert not found.is_finished
    assert found.coverage == "0 of 2 cases supported"


def test_every_format_says_the_coverage_and_none_is_green_for_nothing() -> None:
    """Badge, Markdown, JUnit and `report.json`."""
    good, open_one = report(result(1, "pass", "axis.range")), report(result(1, "unsupported", "axis.range"))
    document = report_document(open_one)

    assert "conformant, 1 of 1 case supported" in badge_text(good)
    assert '"color": "brightgreen"' in badge_text(good)
    assert "incomplete, 0 of 1 case supported" in badge_text(open_one)
    assert "green" not in badge_text(open_one)
    assert markdown_text(good).startswith("## ✅ opconform: CONFORMANT, 1 of 1 case supported&#58; some 1")
    assert markdown_text(open_one).startswith("## ⚠️ opconform: INCOMPLETE, 0 of 1 case supported&#58; some 1")
    assert "<error " in junit_text(open_one)
    assert "<error " not in junit_text(good)
    assert (document["conformant"], document["coverage"]) == (None, {"supported": 0, "cases": 1})
    assert document["incomplete"] == ["no case was supported"]


def test_a_backend_that_supports_nothing_is_not_certified(tmp_path: Path, small_spec: Path) -> None:
    """`certify` ends with 1 and says why."""
    arguments = [str(small_spec), "--backend", f"{MINIATURES}:SupportsNothing", "--out", str(tmp_path), "--jobs", "1"]
    done = CliRunner().invoke(certify, arguments)

    assert done.exit_code == 1
    assert "INCOMPLETE, 0 of 6 cases supported: no case was supported." in done.stdout


@pytest.mark.parametrize(
    ("started", "backend"),
    [
        ("--backend torch", "torch"),
        ("--backend openvino:CPU --python py", "openvino"),
        ("--backend 'onnxruntime:my=a b.so'", "onnxruntime"),
        ("--backend torch.py:Mine", ""),
        ("--backend", ""),
        ("--backend 'torch", "torch"),
        ("--harness 'torch'", ""),
        ("", ""),
    ],
)
def test_an_installed_backend_is_known_by_its_options(started: str, backend: str) -> None:
    """Whatever the results contain: options that no shell would accept are not an error."""
    assert replace(report(), started=started).backend == backend
