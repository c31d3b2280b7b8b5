"""Baselines: new failures fail, known failures are counted, and an update keeps lines that hold as written."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opconform_runners.reports.baseline_update import update
from opconform_runners.reports.report_file import read_report, write_report
from opconform_runners.verdicts.baseline import Baseline, compare, parse_baseline
from opconform_runners.verdicts.results import Result, read_results
from opconform_runners.verdicts.verdict import FailReason, VerdictName
from tests.conftest import MINIATURES, Run, interrupted, killed

REJECTED = "VariadicSplit-1/rejected/edf4e822b0"
TWIN = "VariadicSplit-1/rejected/c8611d2f32"
ACCEPTED = [f"VariadicSplit-1/accepted/{name}" for name in ("055b3aac7f", "9c3891e153", "ddf616bfdd", "f7298254ae")]


@pytest.fixture(scope="module")
def runs(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of some backends, each by its name."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("Perfect", "AcceptsEverything", "LosesNegativeZero", "Raises"):
        out = folder / name
        opconform("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", out, code=None)
    return folder


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

    assert shown.count("New findings\nVariadicSplit-1 data.bits: wrong data (value), 3 cases\n") == 1
    assert shown.count(said) == 1
    passes = f"Unexpected passes\n  {REJECTED} passes, and known.txt:1 expects accepted-invalid\n\n"
    assert passes in shown
    assert shown[shown.index("\n\nExpected") :] == (
        "\n\nExpected by known.txt: 1 known failure.\n"
        "2 of 29 requirements tested.\n"
        "NOT CONFORMANT, 6 of 6 cases supported: 4 cases fail; 1 normative requirement is broken: VariadicSplit-1: data.bits.\n"
        "Against known.txt: NEW: 3 regressions, 1 unexpected pass.\n"
        "Results: out/results.jsonl, out/report.json\n"
        "Worst finding: VariadicSplit-1 data.bits: wrong data (value), 3 cases\n"
        f"Next: opconform show {ACCEPTED[2]} out --suite {small_suite}\n"
        f"      opconform report out --suite {small_suite}\n"
    )


def test_a_summary_lists_only_what_is_new(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Known failures are counted, and the verdict against the baseline follows the plain one."""
    pattern = "VariadicSplit-1/accepted/*  value  # zeros\n"
    nothing, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", pattern, code=0)
    some = "".join(f"{name} value\n" for name in ACCEPTED[:3]) + f"{ACCEPTED[3]} crash\n"
    new, _ = run_with(opconform, small_suite, tmp_path, "LosesNegativeZero", some, code=1)
    found = "VariadicSplit-1 data.bits: wrong data (value), 1 case\n"

    assert nothing[nothing.index("\n\nExpected") :] == (
        "\n\nExpected by known.txt: 4 known failures.\n"
        "2 of 29 requirements tested.\n"
        "NOT CONFORMANT, 6 of 6 cases supported: 4 cases fail; 1 normative requirement is broken: VariadicSplit-1: data.bits.\n"
        "Against known.txt: NOTHING NEW.\n"
        "Results: out/results.jsonl, out/report.json\n"
        f"Next: opconform report out --suite {small_suite}\n"
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
    assert f"\n  baseline known.txt:1 expects crash\n  case     {REJECTED}\n" in shown
    assert "Stale lines" not in shown


def test_a_stale_line_ends_with_1(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It matches no case, or only cases that cannot fail for its reason."""
    baseline = (
        "# ours\n\nVariadicSplit-1/acepted/*  value  # misspelt\nVariadicSplit-1/accepted/*  accepted-invalid # no\n"
        f"{REJECTED} value\n"
    )
    shown, _ = run_with(opconform, small_suite, tmp_path, "Perfect", baseline, code=1)

    assert shown[shown.index("Stale lines") :].splitlines()[:5] == [
        "Stale lines",
        "  known.txt:3: no case of the suite that matches 'VariadicSplit-1/acepted/*' can fail with value",
        "  known.txt:4: no case of the suite that matches 'VariadicSplit-1/accepted/*' can fail with accepted-invalid",
        f"  known.txt:5: no case of the suite that matches '{REJECTED}' can fail with value",
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
        "count, element-type, shape, value, nan-payload, accepted-invalid, rejected-valid, crash, timeout, "
        "nondeterministic, pass"
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


def updated(opconform: Run, suite: Path, run: Path, file: Path, *more: str, code: int = 0) -> "CompletedProcess[str]":
    """What `--update-baseline` does for a run that is complete in a folder."""
    backend = f"{MINIATURES}:{run.name}"
    words = ("run", suite, "--backend", backend, "--out", run, "--baseline", file, "--update-baseline", *more)
    return opconform(*words, code=code)


@pytest.fixture
def copies(runs: Path, tmp_path: Path) -> Path:
    """The runs in a folder of the test."""
    return Path(shutil.copytree(runs, tmp_path / "runs"))


def test_update_writes_one_line_per_failure(
    opconform: Run, small_suite: Path, copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complete run is not executed again, and nothing is new in it."""
    file = tmp_path / "known.txt"
    monkeypatch.setattr("opconform_runners.cli.run.executed", None)
    done = updated(opconform, small_suite, copies / "LosesNegativeZero", file)
    head, *lines = file.read_text().splitlines()

    assert head == "# Expected failures: one case id or pattern of ids per line, and the reason of the failure."
    assert lines == [f"{name} value" for name in ACCEPTED]
    assert done.stdout.startswith("".join(f"added: {line}\n" for line in lines) + f"{file}: 4 lines.\n")
    assert f"\nAgainst {file}: NOTHING NEW.\n" in done.stdout


def test_update_runs_what_was_not_run(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A folder without results, and one with the results of a selection."""
    file = tmp_path / "known.txt"
    run = tmp_path / "LosesNegativeZero"
    updated(opconform, small_suite, run, file, "--select", ACCEPTED[0])
    one = file.read_text().splitlines()[1:]
    updated(opconform, small_suite, run, file, "--force")

    assert [x.split()[0] for x in one] == [ACCEPTED[0]]
    assert [line.split()[0] for line in file.read_text().splitlines()[1:]] == ACCEPTED


def test_update_keeps_what_a_person_wrote(opconform: Run, small_suite: Path, copies: Path, tmp_path: Path) -> None:
    """Comments, and lines that still hold."""
    file = tmp_path / "known.txt"
    kept = "VariadicSplit-1/accepted/*  value  # zeros lose their sign  https://example.org/2\n\n# the end\n"
    file.write_text(f"# Our backend.\n\n{REJECTED}  accepted-invalid  # not checked\n# about zeros\n{kept}")
    done = updated(opconform, small_suite, copies / "LosesNegativeZero", file)

    assert file.read_text() == f"# Our backend.\n\n# about zeros\n{kept}"
    assert done.stdout.startswith(
        f"removed, since it no longer holds: {REJECTED}  accepted-invalid  # not checked\n{file}: 1 line.\n"
    )


def test_update_replaces_another_reason(opconform: Run, small_suite: Path, copies: Path, tmp_path: Path) -> None:
    """Also where the case could never fail for the old reason."""
    file = tmp_path / "known.txt"
    for reason in ("crash", "value"):
        file.write_text(f"{REJECTED} {reason}\n")
        done = updated(opconform, small_suite, copies / "AcceptsEverything", file)

        assert file.read_text() == f"{REJECTED} accepted-invalid\n"
        assert done.stdout.startswith(
            f"added: {REJECTED} accepted-invalid\nremoved, since it no longer holds: {REJECTED} {reason}\n"
        )


def test_update_puts_new_lines_in_order(opconform: Run, small_suite: Path, copies: Path, tmp_path: Path) -> None:
    """Behind the last line that sorts before them, so that branches merge."""
    file = tmp_path / "known.txt"
    file.write_text(f"{ACCEPTED[0]} value\n{ACCEPTED[1]} value\n# the last\n{ACCEPTED[3]} value\n")
    updated(opconform, small_suite, copies / "LosesNegativeZero", file)

    first, second, third, fourth = (f"{name} value" for name in ACCEPTED)
    assert file.read_text().splitlines() == [first, second, third, "# the last", fourth]


def test_update_keeps_lines_about_cases_that_were_not_run(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """But removes those that apply to no case of the suite."""
    file, run = tmp_path / "known.txt", tmp_path / "Perfect"
    kept = f"{REJECTED}  accepted-invalid  # elsewhere\n"
    file.write_text(f"{kept}Split-1/axis/*  value  # gone\n")
    done = updated(opconform, small_suite, run, file, "--select", "VariadicSplit-1/accepted")

    assert file.read_text() == kept
    assert done.stdout.startswith(
        f"removed, since it no longer holds: Split-1/axis/*  value  # gone\n{file}: 1 line.\n"
    )


def test_update_refuses_an_incomplete_run(opconform: Run, small_suite: Path, copies: Path, tmp_path: Path) -> None:
    """Its baseline would lack the failures of cases without a verdict."""
    done = updated(opconform, small_suite, copies / "Raises", tmp_path / "b.txt", code=1)

    assert done.stderr == (
        f"error: {tmp_path / 'b.txt'} was not updated, since the run is incomplete: 1 case ended in a harness "
        f"error. Look at `opconform show {ACCEPTED[2]} {copies / 'Raises'} --suite {small_suite}`.\n"
    )
    assert not (tmp_path / "b.txt").exists()


def test_update_continues_a_killed_run(opconform: Run, small_suite: Path, copies: Path, tmp_path: Path) -> None:
    """The cases without a verdict are executed."""
    (copies / "Perfect" / "results.jsonl").unlink()
    (copies / "Perfect" / "outcomes.jsonl").write_bytes(killed(copies / "Perfect"))
    done = updated(opconform, small_suite, copies / "Perfect", tmp_path / "b.txt")

    assert "was continued; 2 of 6 cases had been executed before." in done.stderr
    assert done.stdout.startswith(f"{tmp_path / 'b.txt'}: 0 lines.\n")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "report.json is not a report that opconform wrote. Repeat the run."),
        ("LosesNegativeZero", "it was changed, or is of another run. Repeat the run."),
    ],
)
def test_update_refuses_results_without_their_report(
    opconform: Run, small_suite: Path, copies: Path, tmp_path: Path, content: str, sentence: str
) -> None:
    """An empty report, or that of another run, as `report` and `diff` do."""
    run = copies / "Perfect"
    if content:
        shutil.copy(copies / content / "report.json", run)
    else:
        (run / "report.json").write_text("")
    done = updated(opconform, small_suite, run, tmp_path / "b.txt", code=1)

    assert done.stderr.endswith(f"{sentence}\n")
    assert done.stderr == opconform("diff", run, copies / "Raises", code=1).stderr
    assert not (tmp_path / "b.txt").exists()


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
    assert shown.endswith("\nSo far: 1 lost pass.\n")


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


IDS = [f"Split-1/{group}/{digits * 10}" for group in ("a", "b") for digits in "0123"]
PATTERNS = st.sampled_from([*IDS, "Split-1/a/*", "Split-1/b/*", "Split-1/*", "*"])


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Results of eight cases in two groups."""
    found = []
    for number, identity in enumerate(IDS):
        rejected = number % 4 > 1
        reasons: list[FailReason] = ["crash", "accepted-invalid" if rejected else "value"]
        verdicts: list[VerdictName] = ["pass", "fail", "fail", "unsupported"]
        verdict = draw(st.sampled_from(verdicts))
        found.append(
            Result(
                id=identity,
                profile="core",
                expect="reject" if rejected else "accept",
                verdict=verdict,
                reason=draw(st.sampled_from(reasons)) if verdict == "fail" else None,
            )
        )
    return found


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    """Baselines of some lines, in any order."""
    endings = st.sampled_from(["crash", "value", "accepted-invalid", "pass"])
    lines = draw(st.lists(st.tuples(PATTERNS, endings), max_size=6))
    return parse_baseline("# head\n\n" + "".join(f"{pattern} {ending}\n" for pattern, ending in lines), "b.txt")


@given(results(), baselines())
@settings(max_examples=200)
def test_an_updated_baseline_expects_its_run(found: list[Result], baseline: Baseline) -> None:
    """Nothing is new against it, no line is stale, and a second update changes nothing."""
    suite = {hit.id: hit.expect for hit in found}
    new = update(baseline, found, compare(baseline, found, suite).stale).baseline

    assert compare(new, found, suite).is_as_expected
    assert update(new, found).baseline == new


def test_the_runs_have_the_results_that_these_tests_assume(runs: Path) -> None:
    """The ids above are those of the small suite."""
    assert [read_result.id for read_result in read_results(runs / "Perfect" / "results.jsonl")] == [
        *ACCEPTED,
        TWIN,
        REJECTED,
    ]


def test_a_backend_that_changed_is_executed_again(opconform: Run, tmp_path: Path) -> None:
    """With `--update-baseline`, which takes a complete run of the same backend as it is: here the file has changed."""
    spec = "op: Split-1\ngroups:\n  - id: a\n    title: a\n    requirements: [outputs.order]\n    data: {shape: [6]}\n    axis: 0\n    num_splits: 2\n"
    (tmp_path / "spec.yaml").write_text(spec)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    run = ("run", "suite", "-b", "mine.py:Mine", "--out", "out", "--baseline", "known.txt", "--update-baseline")
    head = "from opconform_runners.backends.frameworks.numpy import Numpy\n\n\nclass Mine(Numpy):\n"
    (tmp_path / "mine.py").write_text(head + "    pass\n")
    opconform(*run, cwd=tmp_path)
    (tmp_path / "mine.py").write_text(
        head
        + "    def run(self, case, model, feeds):\n        return [outputs[::-1] for outputs in super().run(case, model, feeds)]\n"
    )
    opconform(*run, cwd=tmp_path)
    assert "Split-1/a/" in (tmp_path / "known.txt").read_text()
