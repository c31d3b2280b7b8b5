"""SARIF: one rule per requirement, one result per finding, which a SARIF validator reads."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MINIATURES, Run
from tests.reports.conftest import ACCEPTED, REJECTED, written


def sarif(opconform: Run, run: Path, code: int = 0) -> Any:
    """The one run of a report as SARIF."""
    document = json.loads(written(opconform, run, "sarif", code))
    [found] = document["runs"]
    assert document["version"] == "2.1.0"
    return found


def test_a_finding_is_a_result_of_the_rule_of_its_requirement(opconform: Run, runs: Path) -> None:
    """With the specification's page, the smallest case and the number of cases."""
    found = sarif(opconform, runs / "LosesNegativeZero")
    [result] = found["results"]
    rule = found["tool"]["driver"]["rules"][result["ruleIndex"]]

    assert (result["ruleId"], result["level"], result["occurrenceCount"]) == ("VariadicSplit-1:data.bits", "error", 4)
    assert (rule["id"], rule["defaultConfiguration"]) == ("VariadicSplit-1:data.bits", {"level": "error"})
    assert rule["helpUri"].startswith("https://")
    assert rule["help"]["text"].startswith("Specification of VariadicSplit-1, ")
    [location] = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] in {f"{case}/case.json" for case in ACCEPTED}
    assert "expected -0.0 (0x80000000), got 0.0 (0x00000000)" in result["message"]["text"]


def test_what_a_baseline_expects_is_suppressed(opconform: Run, runs: Path) -> None:
    """What it does not expect is new, and its wrong lines are results too."""
    found = sarif(opconform, runs / "known")
    rows = [(x["ruleId"], x["level"], x.get("baselineState"), "suppressions" in x) for x in found["results"]]

    assert rows == [
        ("VariadicSplit-1:data.bits", "error", "new", False),
        ("opconform:baseline", "error", None, False),
        ("opconform:baseline", "error", None, False),
    ]
    # GitHub refuses a file with a result that has no place
    places = [x["locations"][0]["physicalLocation"] for x in found["results"]]
    assert places[2] == {"artifactLocation": {"uri": "known.txt"}, "region": {"startLine": 3, "endLine": 3}}
    assert len({x["partialFingerprints"]["opconform/v1"] for x in found["results"]}) == 3


def test_lost_support_and_refused_claims_are_errors(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Each with its own rule."""
    (tmp_path / "known.txt").write_text("")
    (tmp_path / "support.yaml").write_text(
        "backend: numpy\nsuite: 2.0.0\nsupported:\n- VariadicSplit-1\nunsupported: []\n"
    )
    run = ("run", small_suite, "--backend", f"{MINIATURES}:SupportsSome")
    opconform(*run, "--baseline", "known.txt", "--out", "lost", cwd=tmp_path, code=1)
    opconform(*run, "--claims", "support.yaml", "--out", "claimed", cwd=tmp_path, code=1)
    lost, claimed = (sarif(opconform, tmp_path / name)["results"] for name in ("lost", "claimed"))

    assert [(x["ruleId"], x["level"]) for x in lost] == [("opconform:support", "error")]
    assert [(x["ruleId"], x["level"]) for x in claimed] == [("opconform:claims", "error")]


def test_an_incomplete_run_was_not_successful(opconform: Run, runs: Path) -> None:
    """With the reason."""
    [invocation] = sarif(opconform, runs / "gave-up", code=1)["invocations"]

    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "The harness died"


@pytest.mark.ci_only
def test_a_validator_finds_no_fault(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Also in what a hostile backend says, and by the rules of GitHub."""
    npm = shutil.which("npm") or pytest.skip("npm is not installed")
    package = "@microsoft/sarif-multitool@5"
    subprocess.run([npm, "install", "--silent", "--prefix", str(tmp_path), package], check=True, timeout=300)
    for name in ("LosesNegativeZero", "known", "IsHostile", "Raises", "gave-up"):
        written(opconform, runs / name, "sarif", code=1 if name in ("Raises", "gave-up") else 0)
    files = sorted(runs.glob("*.sarif"))
    command = [str(tmp_path / "node_modules" / ".bin" / "sarif-multitool"), "validate", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    command += ["--rule-kind", "Ghas"]
    github = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    assert len(files) >= 5
    assert "error" not in done.stdout + github.stdout
    assert "5 files scanned" in github.stdout
    assert {line.partition("warning ")[2][:9] for line in done.stdout.splitlines() if "warning " in line} <= {
        "SARIF2005"
    }
    assert REJECTED in written(opconform, runs / "known", "sarif")
