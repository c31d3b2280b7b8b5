"""A run that stops at the first failure, and one of the cases that failed last."""

from pathlib import Path

from tests.conftest import MINIATURES, Run
from tests.result_files import cases_in

#: Fails the four accepted cases and the twin of the rejected one, which is inconclusive then.
FAULTY = f"{MINIATURES}:MissesOneOutput"
#: A case of NaNs with payloads.
NANS = """\
op: Split-1
groups:
  - {id: a, title: t, data: {shape: [4], fill: special}, axis: 0, num_splits: 2, requirements: [data.bits, data.nan-payload]}
"""


def ids_of(run: Path) -> dict[str, str]:
    """The verdict of each case of a run by its id."""
    return {case["id"]: case["verdict"] for case in cases_in(run)}


def test_a_run_stops_at_the_first_failure(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It is incomplete; the same run starts over, and one without the option continues it."""
    words = ("run", small_suite, FAULTY, "--out", "out")
    first = opconform(*words, "-x", cwd=tmp_path, code=1)
    stopped = ids_of(tmp_path / "out")
    again = opconform(*words, "-x", cwd=tmp_path, code=1)
    whole = opconform(*words, cwd=tmp_path, code=1)

    assert [*stopped.values()] == ["fail"]
    assert (
        "INCOMPLETE, 1 of 6 cases supported: Stopped at the first failure, after 1 of 6 cases. 5 cases" in first.stdout
    )
    assert "was continued" not in again.stderr
    assert "1 of 6 cases had been executed before" in whole.stderr
    assert len(ids_of(tmp_path / "out")) == 6


def test_a_run_without_failures_does_not_stop(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Nor does one whose failures are expected."""
    opconform("run", small_suite, f"{MINIATURES}:Perfect", "--out", "perfect", "-x", cwd=tmp_path)
    (tmp_path / "known.txt").write_text("VariadicSplit-1/*  count  # known\n")
    expected = opconform("run", small_suite, FAULTY, "-x", "--baseline", "known.txt", "--out", "out", cwd=tmp_path)

    assert "NOTHING NEW." in expected.stdout


def test_what_failed_last_is_run_again(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """In a folder of its own, so that the results of the whole run stay; what passes there is left out after that."""
    words = ("run", small_suite, FAULTY, "--out", "out")
    opconform(*words, cwd=tmp_path, code=1)
    before = ids_of(tmp_path / "out")
    failed = {name for name, verdict in before.items() if verdict == "fail"}
    opconform(*words, "--last-failed", cwd=tmp_path, code=1)
    stopped = opconform(*words, "--last-failed", "-x", cwd=tmp_path, code=1)

    assert ids_of(tmp_path / "out") == before
    assert "after 1 of 5 cases" in stopped.stdout
    opconform(*words, "--last-failed", cwd=tmp_path, code=1)
    assert ids_of(tmp_path / "out" / "last-failed").keys() == failed
    assert len(failed) == 5


def test_deviations_are_run_again(opconform: Run, tmp_path: Path) -> None:
    """Though they do not count; `-x` does not stop at one."""
    (tmp_path / "spec.yaml").write_text(NANS)
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    words = ("run", "suite", f"{MINIATURES}:QuietsNans", "--out", "out")
    opconform(*words, "-x", cwd=tmp_path)
    opconform(*words, "--last-failed", cwd=tmp_path)

    assert ids_of(tmp_path / "out" / "last-failed") == ids_of(tmp_path / "out")


def test_nothing_that_failed_last_is_an_error(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """So are results of another backend, and none."""
    words = ("run", small_suite, f"{MINIATURES}:Perfect", "--last-failed", "--out", "out")
    missing = opconform(*words, cwd=tmp_path, code=2).stderr
    opconform(*words[:3], "--out", "out", cwd=tmp_path)
    passed = opconform(*words, cwd=tmp_path, code=2).stderr
    other = opconform("run", small_suite, FAULTY, *words[3:], cwd=tmp_path, code=2).stderr

    assert missing.startswith("error: Results not found: out")
    assert passed == "error: No case of the last run in out failed. Run without --last-failed.\n"
    assert other == "error: out contains the results of another backend. Name the folder of the last run with --out.\n"
