"""JUnit: one test case per case, which a JUnit parser reads."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import junitparser
import pytest

from tests.conftest import Run
from tests.reports.conftest import ACCEPTED, REJECTED, written
from tests.result_files import report_in

TWIN = "VariadicSplit-1/rejected/c8611d2f32"


def suites(text: str) -> dict[str, dict[str, str]]:
    """What a JUnit parser sees: the outcome of each case, by suite and case."""
    found: dict[str, dict[str, str]] = {}
    parsed = junitparser.JUnitXml.fromstring(text.encode())
    for suite in parsed:
        cases = {case.name: case.result[0].__class__.__name__ if case.result else "Passed" for case in suite}
        counts = Counter(cases.values())
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
            len(cases),
            counts["Failure"],
            counts["Error"],
            counts["Skipped"],
        )
        found[suite.name] = cases
    assert parsed.tests == sum(len(hit) for hit in found.values())
    return found


def test_junit_has_one_test_case_per_case(opconform: Run, runs: Path) -> None:
    """Its counts are those of `report.json`, and a failure says what is expected."""
    text = written(opconform, runs / "LosesNegativeZero", "junit")
    root = ET.fromstring(text.encode())
    bodies = [letter.text or "" for letter in root.iter("failure")]
    report = report_in(runs / "LosesNegativeZero")
    text_of_bits = report["requirements"]["VariadicSplit-1"]["data.bits"]["text"]

    assert suites(text) == {
        "VariadicSplit-1": {**dict.fromkeys(ACCEPTED, "Failure"), TWIN: "Passed", REJECTED: "Passed"}
    }
    assert int(root.get("tests", "")) == len(report["cases"])
    assert [body.splitlines()[:2] for body in bodies] == [
        [f"expected: {text_of_bits}", f"case: {case}"] for case in ACCEPTED
    ]


def test_junit_names_requirements_as_properties_of_a_case(opconform: Run, runs: Path) -> None:
    """Those that it is evidence for, and those that it breaks, with their operation."""
    root = ET.fromstring(written(opconform, runs / "LosesNegativeZero", "junit").encode())
    cases = {letter.get("name"): letter for letter in root.iter("testcase")}
    failed, passed = (
        [(letter.get("name"), letter.get("value")) for letter in cases[case].iter("property")]
        for case in (ACCEPTED[0], TWIN)
    )

    assert failed == [
        ("profile", "core"),
        ("requirement", "VariadicSplit-1:lengths.remainder"),
        ("broken", "VariadicSplit-1:data.bits"),
    ]
    assert passed == [("profile", "core"), ("requirement", "VariadicSplit-1:lengths.single-remainder")]
    assert cases[TWIN].get("classname") == "VariadicSplit-1.rejected"


def test_junit_skips_what_does_not_count(opconform: Run, runs: Path) -> None:
    """Known failures, interpretation differences, and inconclusive rejections."""
    known = written(opconform, runs / "known", "junit")
    nans = suites(written(opconform, runs / "QuietsNans", "junit"))
    refused = suites(written(opconform, runs / "RefusesEverything", "junit"))

    assert suites(known) == {
        "VariadicSplit-1": {
            ACCEPTED[0]: "Skipped",
            **dict.fromkeys(ACCEPTED[1:], "Failure"),
            TWIN: "Passed",
            REJECTED: "Failure",
        },
        "baseline": {"Split-1/*": "Failure"},
    }
    assert 'message="known failure (value): output_0[0, 1]: expected -0.0' in known
    assert f'message="{REJECTED} passes, and known.txt:1 expects accepted-invalid"' in known
    assert {x: nans["VariadicSplit-1"][x] for x in ACCEPTED} == dict.fromkeys(ACCEPTED, "Skipped")
    assert (refused["VariadicSplit-1"][TWIN], refused["VariadicSplit-1"][REJECTED]) == ("Failure", "Skipped")


def test_junit_of_a_conformant_backend_has_no_failure(opconform: Run, runs: Path) -> None:
    """Every case passes."""
    found = suites(written(opconform, runs / "Perfect", "junit"))

    assert {case for cases in found.values() for case in cases.values()} == {"Passed"}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("killed", "INCOMPLETE, 2 of 2 cases supported: Interrupted after 2 of 6 cases. 2 pass."),
        ("gave-up", "INCOMPLETE, 5 of 6 cases supported: The harness died. 1 case has no verdict. 5 pass."),
        ("Raises", "INCOMPLETE, 5 of 6 cases supported: 1 case ended in a harness error. 5 pass."),
    ],
)
def test_every_format_reports_an_incomplete_run_as_incomplete(
    opconform: Run, runs: Path, name: str, verdict: str
) -> None:
    """And as nothing else, and with 1."""
    junit = written(opconform, runs / name, "junit", code=1)
    markdown = written(opconform, runs / name, "markdown", code=1)
    badge = written(opconform, runs / name, "badge", code=1)
    annotations = opconform("report", runs / name, "--github", code=1).stdout

    assert suites(junit)["run"]["the verdict is complete"] == "Error"
    assert f'message="{verdict}"' in junit
    assert markdown.startswith("## ⚠️ opconform: INCOMPLETE")
    assert verdict.replace(":", "&#58;") in markdown
    coverage = "2 of 2" if name == "killed" else "5 of 6"
    assert json.loads(badge)["message"] == f"incomplete, {coverage} cases supported"
    assert annotations.splitlines()[0] == f"::error title=opconform%3A incomplete::{verdict}"
    for item in (junit, markdown, badge, annotations):
        assert "conformant" not in item.replace('value="conformant"', "").lower()


def test_a_missing_case_is_named(opconform: Run, runs: Path) -> None:
    """As an error in JUnit."""
    found = suites(written(opconform, runs / "gave-up", "junit", code=1))

    assert found["run"][REJECTED] == "Error"
