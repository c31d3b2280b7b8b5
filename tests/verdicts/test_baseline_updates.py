"""Updates of baselines: what is added, kept and removed."""

import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opconform_runners.reports.baseline_update import update
from opconform_runners.verdicts.baseline import Baseline, compare, parse_baseline
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason, VerdictName
from tests.conftest import MINIATURES, Run, killed
from tests.verdicts.conftest import ACCEPTED, REJECTED


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
    monkeypatch.setattr("opconform_runners.cli.shared.suite_run.executed", None)
    done = updated(opconform, small_suite, copies / "LosesNegativeZero", file)
    head, *lines = file.read_text().splitlines()

    assert (
        head
        == "# Expected failures of suite 2.0.0: one case id or pattern of ids per line, and its reason, or `unsupported`."
    )
    assert lines == [f"{name} value" for name in ACCEPTED]
    assert done.stdout.startswith("".join(f"added: {line}\n" for line in lines) + f"{file}: 4 lines.\n")
    assert f"\nAgainst {file}: NOTHING NEW.\n" in done.stdout


def test_update_writes_one_line_for_an_unsupported_operation(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Not one per case."""
    file = tmp_path / "known.txt"
    updated(opconform, small_suite, tmp_path / "SupportsNothing", file)

    assert file.read_text().splitlines()[1:] == ["VariadicSplit-1/* unsupported"]


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
        f"error. Look at `opconform show {ACCEPTED[2]} {copies / 'Raises'}`.\n"
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


IDS = [f"Split-1/{group}/{digits * 10}" for group in ("a", "b") for digits in "0123"]
PATTERNS = st.sampled_from([*IDS, "Split-1/a/*", "Split-1/b/*", "Split-1/*", "*"])


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Results of eight cases in two groups."""
    found = []
    for number, identity in enumerate(IDS):
        rejected = number % 4 > 1
        reasons: list[FailReason] = ["crash", "nondeterministic", "accepted-invalid" if rejected else "value"]
        verdicts: list[VerdictName] = ["pass", "fail", "fail", "unsupported", "unsupported", "inconclusive"]
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
    endings = st.sampled_from(["crash", "nondeterministic", "value", "accepted-invalid", "unsupported", "pass"])
    lines = draw(st.lists(st.tuples(PATTERNS, endings), max_size=6))
    return parse_baseline("# head\n\n" + "".join(f"{pattern} {ending}\n" for pattern, ending in lines), "b.txt")


@given(results(), baselines())
@settings(max_examples=200)
def test_an_updated_baseline_expects_its_run(found: list[Result], baseline: Baseline) -> None:
    """Nothing is new against it, no line is stale, and a second update changes nothing."""
    suite = {hit.id: hit.expect for hit in found}
    new = update(baseline, found, suite).baseline

    assert compare(new, found, suite).is_as_expected
    assert update(new, found, suite).baseline == new


def test_a_backend_that_changed_is_executed_again(opconform: Run, tmp_path: Path) -> None:
    """With `--update-baseline`, which takes a complete run of the same backend as it is: here the file has changed."""
    spec = "op: Split-1\ngroups:\n  - id: a\n    title: a\n    requirements: [outputs.order]\n    data: {shape: [6]}\n    axis: 0\n    num_splits: 2\n"
    (tmp_path / "spec.yaml").write_text(spec)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    run = ("run", "suite", "-b", "mine.py:Mine", "--out", "out", "--baseline", "known.txt", "--update-baseline")
    head = "from opconform_runners.backends.numpy.backend import Numpy\n\n\nclass Mine(Numpy):\n"
    (tmp_path / "mine.py").write_text(head + "    pass\n")
    opconform(*run, cwd=tmp_path)
    (tmp_path / "mine.py").write_text(
        head
        + "    def run(self, case, model, feeds):\n        return [outputs[::-1] for outputs in super().run(case, model, feeds)]\n"
    )
    opconform(*run, cwd=tmp_path)
    assert "Split-1/a/" in (tmp_path / "known.txt").read_text()
