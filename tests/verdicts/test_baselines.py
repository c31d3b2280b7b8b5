"""Baselines: new failures fail, and known failures are counted."""

import json
from pathlib import Path

from opconform_runners.verdicts.baseline import is_allowed
from tests.conftest import MINIATURES, Run
from tests.verdicts.conftest import ACCEPTED, REJECTED


def run_with(
    opconform: Run, suite: Path, folder: Path, name: str, baseline: str, *more: str, code: int
) -> tuple[str, str]:
    """What a run against a baseline prints."""
    (folder / "known.txt").write_text(baseline)
    command = ("run", suite, "--backend", f"{MINIATURES}:{name}", "--out", "out", "--baseline", "known.txt", *more)
    done = opconform(*command, cwd=folder, code=code)
    return done.stdout, done.stderr


def test_a_known_failure_is_counted_and_ends_with_0(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A pattern that names a rejection does not apply to the twins beside it, which pass."""
    baseline = "VariadicSplit-1/rejected/* accepted-invalid  # not checked https://example.org/1\n"
    shown, _ = run_with(opconform, small_suite, tmp_path, "AcceptsEverything", baseline, code=0)
    document = json.loads((tmp_path / "out" / "report.json").read_text())

    assert "\nAgainst known.txt: NOTHING NEW.\n" in shown
    assert document["conformant"] is False
    assert [x["id"] for x in document["baseline"]["known"]] == [REJECTED]
    assert document["baseline"]["known"][0]["lines"] == [
        {"number": 1, "pattern": "VariadicSplit-1/rejected/*", "reason": "accepted-invalid"}
    ]


def test_regressions_and_unexpected_passes_are_named(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Each with what happened, or with the line that expects something else."""
    baseline = f"{REJECTED}  accepted-invalid  # not checked\n{ACCEPTED[0]}  value  # zeros\n{ACCEPTED[0]} crash\n"
    shown, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", baseline, code=1)
    said = "output_0[0, 1]: expected -0.0 (0x80000000), got 0.0 (0x00000000)"

    assert shown.count("New findings\nVariadicSplit-1 data.bits: wrong data (value), 3 of its 4 cases\n") == 1
    assert shown.count(said) == 1
    passes = f"Unexpected passes\n  {REJECTED} passes, and known.txt:1 expects accepted-invalid\n\n"
    assert passes in shown
    assert shown[shown.index("\n\nExpected") :] == (
        "\n\nExpected by known.txt: 1 known failure.\n"
        "2 of 29 requirements tested.\n"
        "NOT CONFORMANT, 6 of 6 cases supported: 4 cases fail; 1 normative requirement is broken: VariadicSplit-1: data.bits.\n"
        "Against known.txt: NEW: 3 regressions, 1 unexpected pass.\n"
        "Results: out/results.jsonl, out/report.json\n"
        "Worst finding: VariadicSplit-1 data.bits: wrong data (value), 3 of its 4 cases\n"
        f"Next: opconform show {ACCEPTED[2]} out\n"
        "      opconform report out\n"
    )


def test_a_summary_lists_only_what_is_new(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Known failures are counted, and the verdict against the baseline follows the plain one."""
    pattern = "VariadicSplit-1/accepted/*  value  # zeros\n"
    nothing, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", pattern, code=0)
    some = "".join(f"{name} value\n" for name in ACCEPTED[:3]) + f"{ACCEPTED[3]} crash\n"
    new, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", some, code=1)
    found = "VariadicSplit-1 data.bits: wrong data (value), 1 of its 4 cases\n"

    assert nothing[nothing.index("\n\nExpected") :] == (
        "\n\nExpected by known.txt: 4 known failures.\n"
        "2 of 29 requirements tested.\n"
        "NOT CONFORMANT, 6 of 6 cases supported: 4 cases fail; 1 normative requirement is broken: VariadicSplit-1: data.bits.\n"
        "Against known.txt: NOTHING NEW.\n"
        "Results: out/results.jsonl, out/report.json\n"
        "Next: opconform report out\n"
    )
    assert "aults\n" not in nothing
    assert ACCEPTED[0] not in nothing
    assert new.index("\nNew findings\n" + found) < new.index("\nExpected by known.txt: 3 ")
    assert new.count(ACCEPTED[3]) == 2  # in its group, and in the next step
    assert "\n  baseline known.txt:4 expects crash\n" in new
    assert "\n  expected " in new
    assert not any(x in new for x in ACCEPTED[:3])


def test_a_failure_for_another_reason_is_a_regression(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A missing rejection instead of a crash."""
    shown, _ = run_with(opconform, small_suite, tmp_path, "AcceptsEverything", f"{REJECTED} crash\n", code=1)

    assert "\n  got      accepted, although it violates" in shown
    assert f"\n  case     {REJECTED}\n" in shown
    assert "\n  baseline known.txt:1 expects crash\n" in shown
    assert "Stale lines" not in shown


def test_support_that_is_lost_is_new(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A skipped case hides a failure, so the job fails, and every report says why."""
    shown, _ = run_with(opconform, small_suite, tmp_path, "SupportsSome", "", code=1)
    opconform("report", "out", "--junit", "junit.xml", "--markdown", "summary.md", cwd=tmp_path, code=None)
    annotations = opconform("report", "out", "--github", cwd=tmp_path, code=None).stdout
    lost = f"{ACCEPTED[2]} is unsupported, and known.txt does not expect it: not today"

    assert f"No longer supported\n  {lost}\n" in shown
    assert "\nAgainst known.txt: NEW: 1 unsupported case.\n" in shown
    assert (tmp_path / "junit.xml").read_text().count('type="unsupported"') == 1
    assert "### No longer supported" in (tmp_path / "summary.md").read_text()
    assert f"::error title=opconform%3A no longer supported::{lost}" in annotations


def test_unsupported_cases_can_be_expected(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """They are counted, and one that passes is new."""
    shown, _ = run_with(opconform, small_suite, tmp_path, "SupportsSome", f"{ACCEPTED[2]} unsupported\n", code=0)
    gained, _ = run_with(opconform, small_suite, tmp_path, "Perfect", f"{ACCEPTED[0]} unsupported\n", "--force", code=1)

    assert "Expected by known.txt: 0 known failures; 1 known unsupported case." in shown
    assert f"{ACCEPTED[0]} passes, and known.txt:1 expects unsupported" in gained


def test_a_stale_line_ends_with_1(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It matches no case, or only cases that cannot fail for its reason."""
    baseline = (
        "# ours\n\nVariadicSplit-1/acepted/*  value  # misspelt\nVariadicSplit-1/accepted/*  accepted-invalid # no\n"
        f"{REJECTED} value\n"
    )
    shown, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, code=1)

    assert shown[shown.index("Stale lines") :].splitlines()[:5] == [
        "Stale lines",
        "  known.txt:3: no case of the suite matches 'VariadicSplit-1/acepted/*' and can fail with value",
        "  known.txt:4: no case of the suite matches 'VariadicSplit-1/accepted/*' and can fail with accepted-invalid",
        f"  known.txt:5: no case of the suite matches '{REJECTED}' and can fail with value",
        "",
    ]


def test_a_fix_is_followed_by_the_command_that_updates_the_baseline(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """It is the same command with one option more, and is not advised while something else fails."""
    baseline = f"{REJECTED}  accepted-invalid  # not checked\n"
    fixed, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, code=1)
    failing, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", baseline, "--force", code=1)
    [line] = [line for line in fixed.splitlines() if "--update-baseline" in line]
    words = line.removeprefix("Next: ").split()[1:]

    assert words[2:4] == ["--backend", f"{MINIATURES}:Perfect"]
    assert "--update-baseline" not in failing
    opconform(*words, "--force", cwd=tmp_path)
    assert "accepted-invalid" not in (tmp_path / "known.txt").read_text()


def test_a_selection_makes_no_line_stale(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A case that was not run is still in the suite."""
    selection = ("--select", "VariadicSplit-1/accepted")
    baseline = f"{REJECTED}  accepted-invalid  # x\n"
    shown, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, *selection, code=0)

    assert "Against known.txt: NOTHING NEW.\n" in shown


def test_a_flaky_case_may_pass(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Two lines allow the failure and the pass, so that neither is new."""
    baseline = f"# now and then\n{REJECTED} accepted-invalid\n{REJECTED} pass\n"
    passes, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, code=0)
    fails, _ = run_with(opconform, small_suite, tmp_path, "AcceptsEverything", baseline, "--force", code=0)

    assert ["Against known.txt: NOTHING NEW.\n" in x for x in (passes, fails)] == [True, True]
    assert ["1 known failure" in x for x in (passes, fails)] == [False, True]


def test_a_nondeterministic_case_may_pass_or_fail_otherwise(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """One line is enough for what differs from execution to execution, but no crash is among it."""
    baseline = f"{REJECTED} nondeterministic\n"
    passes, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, code=0)
    fails, _ = run_with(opconform, small_suite, tmp_path, "AcceptsEverything", baseline, "--force", code=0)

    assert ["Against known.txt: NOTHING NEW.\n" in x for x in (passes, fails)] == [True, True]
    assert not is_allowed("crash", {"nondeterministic"})


def test_an_incomplete_run_ends_with_1(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Although nothing is new."""
    shown, _ = run_with(opconform, small_suite, tmp_path, "Raises", "", code=1)

    assert "Against known.txt: INCOMPLETE, so the comparison is not final. New so far: nothing.\n" in shown


def test_every_mistake_in_a_baseline_is_reported(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """With its line, before anything is run."""
    lines = (
        f"{REJECTED}  accepted-invalid  # fine",
        "Split-1/x",
        "Split-1/x  valeu  # misspelt",
        "<<<<<<<",
        "Split-1/x value crash",
    )
    _, said = run_with(opconform, small_suite, tmp_path, "Perfect", "\n".join(lines), code=2)

    allowed = (
        "count, element-type, shape, value, rounding, nan-payload, accepted-invalid, rejected-valid, claimed, accuracy, crash, timeout, "
        "nondeterministic, unsupported, pass"
    )

    assert said.splitlines() == [
        "error: known.txt:2: a line must be `ID REASON`, not 'Split-1/x'.",
        f"known.txt:3: 'valeu' is not a reason. Allowed: {allowed}.",
        "known.txt:4: a line must be `ID REASON`, not '<<<<<<<'.",
        "known.txt:5: a line must be `ID REASON`, not 'Split-1/x value crash'.",
    ]
    assert not (tmp_path / "out").exists()


def test_a_missing_baseline_is_reported(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """With the command that writes one."""
    done = opconform("run", small_suite, "--backend", "numpy", "--baseline", "b.txt", cwd=tmp_path, code=2)

    assert done.stderr == ("error: Baseline not found: b.txt. Add --update-baseline to write it.\n")


def test_a_baseline_of_another_suite_is_noted(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """An update gives it the version of the suite that was run."""
    known = tmp_path / "known.txt"
    known.write_text("# Expected failures of suite 1.9.0: my own words.\n")
    run = ("run", small_suite, "numpy", "--out", tmp_path / "out", "--baseline", known)
    note = f"note: {known} is from version 1.9.0 of the suite, and this is 2.0.0. Update it with --update-baseline.\n"

    assert note in opconform(*run).stderr
    assert opconform(*run, "--update-baseline").stderr == ""
    assert known.read_text() == "# Expected failures of suite 2.0.0: my own words.\n"
    assert opconform(*run).stderr == ""
