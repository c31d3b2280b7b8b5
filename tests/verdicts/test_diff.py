"""Comparisons of two runs: what regressed, what was fixed, and what is unknown."""

import json
from dataclasses import replace
from pathlib import Path

from opconform_runners.reports.report_file import read_report, write_report
from tests.conftest import MINIATURES, Run, interrupted
from tests.verdicts.conftest import ACCEPTED, REJECTED

TWIN = "VariadicSplit-1/rejected/c8611d2f32"


def test_diff_lists_changes(opconform: Run, runs: Path) -> None:
    """With exit code 1 if anything regressed."""
    done = opconform("diff", runs / "AcceptsEverything", runs / "LosesNegativeZero", code=1)
    said = "output_0[0, 1]: expected -0.0 (0x80000000), got 0.0 (0x00000000); differing elements: 1 of"

    assert done.stdout == (
        "Broken now: VariadicSplit-1 data.bits\n"
        "No longer broken: VariadicSplit-1 lengths.single-remainder\n"
        "\nRegressions (fail now, did not fail before): 4 cases\n"
        f"  {ACCEPTED[0]}  pass → fail (value): {said} 2\n"
        f"  {ACCEPTED[1]}  pass → fail (value): {said} 2\n"
        f"  {ACCEPTED[2]}  pass → fail (value): {said} 4\n"
        f"  {ACCEPTED[3]}  pass → fail (value): {said} 6\n"
        "\nFixes (failed before, pass now): 1 case\n"
        f"  {REJECTED}  fail (accepted-invalid) → pass\n"
        "\n4 regressions, 1 fix.\n"
    )


def test_diff_says_what_a_run_and_a_certification_are(
    opconform: Run, runs: Path, small_spec: Path, tmp_path: Path
) -> None:
    """Their rules differ, so a requirement may be broken in one of them only."""
    opconform("certify", small_spec, "--backend", "numpy", "--dialect", "openvino", "--out", tmp_path)
    done = opconform("diff", tmp_path, runs / "Perfect", code=None)

    assert (
        "\nKind of run: a certification (all cases of its profiles) → "
        "a run (perhaps of selected cases; cannot be signed)\n"
    ) in f"\n{done.stdout}"


def test_diff_ends_with_0_without_regressions(opconform: Run, runs: Path) -> None:
    """Fixes and equal results are not failures."""
    fixed = json.loads(opconform("diff", runs / "AcceptsEverything", runs / "Perfect", "--json").stdout)
    same = opconform("diff", runs / "Perfect", runs / "Perfect").stdout

    assert fixed["facts"] == [
        {
            "what": "Verdict",
            "old": "not conformant, 6 of 6 cases supported",
            "new": "conformant, 6 of 6 cases supported",
        }
    ]
    assert [fix["id"] for fix in fixed["fixes"]] == [REJECTED]
    assert fixed["is_worse"] is False
    assert same == "No case changed.\n"


def test_diff_lists_new_and_removed_cases(opconform: Run, small_suite: Path, runs: Path, tmp_path: Path) -> None:
    """A case that was run in only one of the runs is neither a fix nor a regression."""
    command = ("run", small_suite, "--backend", f"{MINIATURES}:RefusesEverything", "--out", tmp_path)
    opconform(*command, "--select", "VariadicSplit-1/rejected", code=1)
    shown = opconform("diff", runs / "AcceptsEverything", tmp_path, code=1).stdout
    back = json.loads(opconform("diff", tmp_path, runs / "AcceptsEverything", "--json", code=1).stdout)

    assert "\nMissing cases: 4 cases\n" in shown
    assert shown.endswith("\n1 regression, 4 missing cases, 1 other change.\n")
    assert [x["id"] for x in back["new"]] == ACCEPTED
    assert [(regression["id"], regression["old"], regression["new"]) for regression in back["regressions"]] == [
        (REJECTED, "inconclusive", "fail")
    ]


def test_diff_with_an_incomplete_run_ends_with_1(opconform: Run, runs: Path) -> None:
    """The first line says so."""
    shown = opconform("diff", runs / "Perfect", runs / "Raises", code=1).stdout

    assert shown.startswith(
        "INCOMPLETE, so the comparison is not final. New run: 1 case ended in a harness error.\n"
        "Verdict: conformant, 6 of 6 cases supported → incomplete, 5 of 6 cases supported\n"
    )
    assert shown.endswith("\nSo far: 1 lost case.\n")


def test_diff_ignores_cases_that_a_killed_run_did_not_execute(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """No requirement is mended, no case is new or removed, and the suite is not another one."""
    interrupted(runs / "AcceptsEverything", tmp_path, 0)
    full = runs / "AcceptsEverything"
    shown = opconform("diff", full, tmp_path, code=1).stdout
    back = json.loads(opconform("diff", tmp_path, full, "--json", code=1).stdout)
    why = "run: Interrupted after 0 of 6 cases."

    assert shown == (
        f"INCOMPLETE, so the comparison is not final. New {why}\n"
        "Verdict: not conformant, 6 of 6 cases supported → incomplete, 0 of 0 cases supported\n"
        "\nSo far: 6 cases in one of the runs only.\n"
    )
    assert [x["id"] for x in back["unknown"]] == [*ACCEPTED, TWIN, REJECTED]
    assert back["why"] == f"Old {why}"
    assert (back["new"], back["broken"], back["is_worse"]) == ([], [], True)


def test_diff_of_a_run_that_gave_up_covers_its_executed_cases(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Their failures are broken; other cases are neither mended nor removed."""
    zeros = read_report(runs / "LosesNegativeZero")
    missing = tuple(result.id for result in zeros.results[1:])
    part = replace(zeros, results=zeros.results[:1], findings=(), missing=missing, gave_up="It died.")
    interrupted(runs / "LosesNegativeZero", tmp_path, 1)
    write_report(tmp_path, part)
    document = json.loads(opconform("diff", runs / "AcceptsEverything", tmp_path, "--json", code=1).stdout)

    assert [regression["id"] for regression in document["regressions"]] == ACCEPTED[:1]
    assert document["broken"] == ["VariadicSplit-1 data.bits"]
    assert (document["mended"], document["gone"]) == ([], [])
    assert len(document["unknown"]) == 5


def test_diff_mends_no_requirement_whose_broken_case_is_gone(
    opconform: Run, small_suite: Path, runs: Path, tmp_path: Path
) -> None:
    """A run of other cases says nothing about it."""
    opconform("run", small_suite, "numpy", "--select", "VariadicSplit-1/accepted/*", "--out", tmp_path / "part")
    document = json.loads(opconform("diff", runs / "AcceptsEverything", tmp_path / "part", "--json").stdout)
    whole = json.loads(opconform("diff", runs / "AcceptsEverything", runs / "Perfect", "--json").stdout)

    assert (document["mended"], whole["mended"]) == ([], ["VariadicSplit-1 lengths.single-remainder"])
