"""Streamed certifications: the cases of `exhaustive` are generated, run and dropped batch by batch."""

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from opconform.generation.output.stream import Stream
from opconform.suite.reader import open_suite
from opconform.suite.verification import problems_of
from opconform_runners.cli.shared import certification
from opconform_runners.execution.log.logged_outcome import BatchEnd
from opconform_runners.execution.runner import Judgement
from opconform_runners.execution.scale.stream import Counted
from opconform_runners.verdicts.results import read_results, read_written
from tests.conftest import EXHAUSTIVE_SPEC, MINIATURES, Run, whole

#: A backend that accepts what is invalid.
LENIENT = f"{MINIATURES}:AcceptsEverything"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec of few cases, in small batches."""
    monkeypatch.setattr(certification, "Stream", partial(Stream, size=4))
    (tmp_path / "small.yaml").write_text(whole(EXHAUSTIVE_SPEC))
    return tmp_path / "small.yaml"


def report(folder: Path) -> dict[str, Any]:
    """The report of a run without what differs each time."""
    document = json.loads((folder / "report.json").read_text())
    return {name: document[name] for name in ("conformant", "coverage", "summary", "profiles", "requirements")}


def failures(folder: Path) -> list[tuple[str, str]]:
    """The failures of a run, by id."""
    return [
        (read_result.id, read_result.sentence)
        for read_result in read_results(folder / "results.jsonl")
        if read_result.verdict == "fail"
    ]


@pytest.mark.parametrize("backend", ["numpy", LENIENT])
def test_a_streamed_run_concludes_what_a_kept_one_does(
    opconform: Run, spec: Path, tmp_path: Path, backend: str
) -> None:
    """The counts of all cases and every failure are the same."""
    certify = ("certify", spec, "--backend", backend, "--profile", "exhaustive", "--out")
    opconform(*certify, tmp_path / "kept", "--keep-suite", code=None)
    done = opconform(*certify, tmp_path / "streamed", code=None)

    assert report(tmp_path / "streamed") == report(tmp_path / "kept")
    assert failures(tmp_path / "streamed") == failures(tmp_path / "kept")
    assert "13 cases of the profile exhaustive" in done.stdout
    assert sorted(path.name for path in (tmp_path / "streamed").iterdir()) == sorted(
        {"report.html", "report.json", "outcomes.jsonl", "results.jsonl", "suite"}
        | ({"outputs.zip"} if backend == LENIENT else set())
    )


def test_the_failures_and_their_twins_are_kept(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """As a suite that can be run again, and that the commands find."""
    opconform("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--out", tmp_path / "out", code=1)
    suite = open_suite(tmp_path / "out" / "suite")
    failed = [name for name, _ in failures(tmp_path / "out")]

    assert list(problems_of(tmp_path / "out" / "suite")) == []
    assert failed
    assert {entry.id for entry in suite.entries} == {*failed, *(suite.by_id[failure].twin for failure in failed)}
    assert "accepted" in opconform("show", failed[0], tmp_path / "out").stdout
    assert "accepted-invalid" in (tmp_path / "out" / "report.html").read_text()
    findings = json.loads((tmp_path / "out" / "report.json").read_text())["findings"]
    assert {finding["about"] for finding in findings} == {""}  # it would count cases, of which the passes are not kept


def test_an_interrupted_run_repeats_no_finished_batch(
    opconform: Run, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a report, the same command continues it, and the result is that of an uninterrupted one."""
    certify = ("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--out")
    opconform(*certify, tmp_path / "whole", code=1)
    execute, run = Judgement.execute, list[str]()

    def interrupted(judgement: Judgement) -> str | None:
        run.append(judgement.entries[0].id)
        if len(run) == 2:
            raise KeyboardInterrupt
        return execute(judgement)

    monkeypatch.setattr(Judgement, "execute", interrupted)
    shown = opconform(*certify, tmp_path / "out", code=130).stdout
    partial = json.loads((tmp_path / "out" / "report.json").read_text())
    again = opconform("report", tmp_path / "out", "--markdown", "-", code=1)
    for name in ("report.json", "results.jsonl"):  # as after SIGKILL
        (tmp_path / "out" / name).unlink()
    shutil.rmtree(tmp_path / "out" / "suite")
    killed = opconform("report", tmp_path / "out", "--markdown", "-", code=1)
    opconform(*certify, tmp_path / "out", code=1)

    assert "Interrupted after 4 cases" in " ".join(shown.split())
    assert (partial["gave_up"], partial["conformant"]) == ("Interrupted after 4 cases", None)
    assert "Interrupted after 4 cases" in again.stderr
    assert (killed.stdout, killed.stderr) == (again.stdout, again.stderr)
    assert run[1] == run[2]
    assert run.count(run[0]) == 1
    assert report(tmp_path / "out") == report(tmp_path / "whole")


def test_an_interrupted_run_of_other_cases_is_not_continued(
    opconform: Run, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is replaced."""
    certify = ("certify", spec, "numpy", "--profile", "exhaustive", "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(Judgement, "results", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        opconform(*certify, code=130)
    done = opconform(*certify, "--timeout", 7, code=2)

    assert "interrupted, and --timeout has changed since then. Use another --out" in done.stderr
    opconform(*certify, "--seed", 7, code=2)
    opconform(*certify, "--seed", 7, "--force")


def test_streamed_shards_are_merged(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """To the report of all cases, with the failures of each shard."""
    certify = ("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--out")
    opconform(*certify, tmp_path / "whole", code=1)
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, shard in enumerate(shards, 1):
        opconform(*certify, shard, "--shard", f"{number}/2", code=1)
    opconform("merge", *shards, "--out", tmp_path / "merged", code=1)

    assert report(tmp_path / "merged") == report(tmp_path / "whole")
    assert failures(tmp_path / "merged") == failures(tmp_path / "whole")
    assert {entry.id for entry in open_suite(tmp_path / "merged" / "suite").entries} == {
        entry.id for entry in open_suite(tmp_path / "whole" / "suite").entries
    }


def test_a_failure_that_an_earlier_run_counted_as_a_pass_is_a_regression(
    opconform: Run, spec: Path, tmp_path: Path
) -> None:
    """And the other way round a fix, although only one of the two has a result."""
    certify = ("certify", spec, "--profile", "exhaustive")
    opconform(*certify, "--backend", "numpy", "--out", tmp_path / "right")
    opconform(*certify, "--backend", LENIENT, "--out", tmp_path / "wrong", code=1)
    count = len(failures(tmp_path / "wrong"))

    worse = opconform("diff", tmp_path / "right", tmp_path / "wrong", code=1)
    assert f"{count} regressions" in worse.stdout
    page = tmp_path / "changes.html"
    better = opconform("diff", tmp_path / "wrong", tmp_path / "right", "--html", page)
    assert f"{count} fixes" in better.stdout
    assert page.read_bytes().startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    ("options", "what"),
    [(("--sign", "me.key"), "be signed"), (("--backend", "onnxruntime"), "compare several backends")],
)
def test_what_needs_all_cases_is_refused(
    opconform: Run, spec: Path, tmp_path: Path, options: tuple[str, ...], what: str
) -> None:
    """In one sentence, before anything is run."""
    opconform("certificate", "keygen", "me", cwd=tmp_path)
    done = opconform("certify", spec, "--backend", "numpy", "--profile", "exhaustive", *options, cwd=tmp_path, code=2)
    sentence = f"A streamed certification cannot {what}, because its cases are not kept. Add --keep-suite."

    assert done.stderr == f"error: {sentence}\n"


def test_streamed_results_cannot_be_signed_later(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """Their suite has only the failures."""
    opconform("certificate", "keygen", "me", cwd=tmp_path)
    opconform("certify", spec, "numpy", "--profile", "exhaustive", "--out", "out", cwd=tmp_path)
    done = opconform("certificate", "sign", "out", "--key", "me.key", cwd=tmp_path, code=1)

    why = "is from a streamed certification, whose cases were not kept. Repeat it with --keep-suite to sign it."
    assert done.stderr == f"error: out/results.jsonl {why}\n"


def test_a_twin_that_fails_in_another_batch_is_counted_once(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """As a failure, although it passed before."""
    opconform("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--out", tmp_path / "out", code=1)
    written = read_written(tmp_path / "out" / "results.jsonl")
    assert written.header.streamed is not None
    [tally, *_] = [tally for tally in written.header.streamed.tallies if tally.kind.verdict == "pass"]
    failed = written.results[0]
    again = replace(failed, id=f"{tally.kind.op}/again/0123456789", requirements=tally.kind.requirements)
    counted = Counted(shard=None)
    counted.add(BatchEnd(batch=1, own="0" * 64, tallies=written.header.streamed.tallies), [])
    before = counted.cases
    counted.add(BatchEnd(batch=2, own="0" * 64, tallies=(), repeated=(again.id,)), [again])

    assert counted.cases == before
    assert counted.counts[tally.kind] == tally.cases - 1
