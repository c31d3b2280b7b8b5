"""Outputs that are recorded in one place and judged in another."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.case import canonical_json
from opconform.suite.reader import open_suite
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log import recorder
from opconform_runners.execution.log.outcomes import linked, log_in
from opconform_runners.execution.log.record import blind_digest, open_record
from opconform_runners.execution.log.replay import judge
from opconform_runners.verdicts.results import read_written, write_results
from tests.conftest import MINIATURES, Run
from tests.execution.conftest import _unlinked

#: What cannot be checked of specs that are not opconform's own.
GOLDENS = "the suite's specs and IR, since opconform does not ship its specs"


def lines(path: Path) -> list[Any]:
    """The lines of results without the times, which are never the same."""
    documents = [json.loads(line) for line in (path / "results.jsonl").read_text().splitlines()[1:-1]]
    return [{name: x for name, x in document.items() if name != "seconds"} for document in documents]


@pytest.mark.parametrize(
    ("name", "counts", "code"),
    [
        ("Perfect", "1 rejected, 5 returned", 0),
        ("LosesNegativeZero", "1 rejected, 5 returned", 0),
        pytest.param("RightTheSecondTime", "1 rejected, 5 returned", 0, marks=pytest.mark.ci_only),
        ("RefusesEverything", "6 rejected", 0),
        pytest.param("Aborts", "1 crash, 1 rejected, 4 returned", 0, marks=pytest.mark.ci_only),
        ("Raises", "1 error, 1 rejected, 4 returned", 1),
    ],
)
def test_recorded_outputs_have_the_verdicts_of_a_run(
    opconform: Run,
    small_suite: Path,
    blind_suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    counts: str,
    code: int,
) -> None:
    """With the same sentences, also for crashes and nondeterministic cases."""
    backend, kept = f"{MINIATURES}:{name}", tmp_path / "outputs.zip"
    monkeypatch.setenv("OPCONFORM_TEST_MARK", str(tmp_path / "elsewhere"))
    recorded = opconform("run", blind_suite, "--backend", backend, "--record", kept, code=code).stdout
    monkeypatch.setenv("OPCONFORM_TEST_MARK", str(tmp_path / "here"))
    ran = opconform("run", small_suite, "--backend", backend, "--out", tmp_path / "run", code=None)
    judged = opconform("certificate", "judge", kept, "--suite", small_suite, "--out", tmp_path / "judged", code=None)
    report = json.loads((tmp_path / "judged" / "report.json").read_text())
    digest = hashlib.sha256(kept.read_bytes()).hexdigest()

    assert recorded.startswith(f"{kept}: numpy ")
    assert recorded.endswith(f", 6 cases ({counts})\nSHA-256 {digest}\n")
    assert lines(tmp_path / "judged") == lines(tmp_path / "run")
    assert judged.returncode == ran.returncode
    assert (report["whole"], report["outputs"]) == (True, digest)


def test_the_full_suite_knows_the_digest_of_its_blind_suite(small_suite: Path, blind_suite: Path) -> None:
    """Its digest is that of the full suite's manifest without the expected outputs."""
    full, blind = open_suite(small_suite), open_suite(blind_suite)

    assert blind_digest(full) == blind_digest(blind) == blind.header.digest
    assert full.header.digest != blind.header.digest


def test_outputs_are_judged_against_their_own_suite_only(
    opconform: Run, small_spec: Path, blind_suite: Path, outputs: Path, tmp_path: Path
) -> None:
    """Another suite and the blind suite are refused."""
    other = tmp_path / "other"
    opconform("generate", small_spec, "--select", "lengths.remainder", "--out", other)
    full, theirs = blind_digest(open_suite(other)), open_suite(blind_suite).header.digest
    refused = opconform("certificate", "judge", outputs, "--suite", other, "--out", tmp_path / "out", code=1).stderr
    blind = opconform("certificate", "judge", outputs, "--suite", blind_suite, "--out", tmp_path / "out", code=1).stderr

    assert refused.strip() == (
        f"error: {outputs} has outputs of a different suite: the blind digest of {other} is {full[:16]}, not {theirs[:16]}. "
        "Generate the suite with the same specs, profiles, seed, dialects and version."
    )
    assert f"{blind_suite} is blind: it has no expected outputs." in blind
    assert not (tmp_path / "out").exists()


def test_outputs_of_whole_profiles_are_certified(
    opconform: Run, small_suite: Path, blind_suite: Path, outputs: Path, tmp_path: Path
) -> None:
    """The certificate names the file of outputs. A selection is judged, but not signed."""
    out, part = tmp_path / "out", tmp_path / "part.zip"
    opconform("certificate", "keygen", tmp_path / "me")
    judging = ("--suite", small_suite, "--out", out, "--sign", tmp_path / "me.key")
    opconform("certificate", "judge", outputs, *judging)
    checking = ("certificate", "verify", out / "certificate.json", "--key", tmp_path / "me.pub")
    everything = ("--results", out, "--suite", small_suite)
    shown = opconform(*checking, *everything, "--record", outputs).stdout
    other = opconform(*checking, "--record", blind_suite, code=1).stderr
    opconform("run", blind_suite, "--backend", "numpy", "--select", "lengths.remainder", "--record", part)
    kept = opconform("certificate", "judge", part, *judging, code=2).stderr
    refused = opconform("certificate", "judge", part, *judging, "--force", code=1).stderr

    assert ", judged from outputs recorded elsewhere\n" in shown
    assert f"the suite {small_suite}; every golden, evaluated again from the suite's inputs; every verdict and" in shown
    assert shown.endswith(f"; every verdict, judged again from the outputs.\nNot checked: {GOLDENS}.\n")
    assert other.strip() == f"error: {blind_suite} is not the file of outputs that was judged for this certificate."
    assert kept.startswith(f"error: {out} contains the results of a certification of numpy ")
    assert (
        "results.jsonl is from a run that may cover a selection of cases. Only results of `certify` or `certificate judge` can be signed."
        in refused
    )
    assert not (out / "certificate.json").exists()


def test_a_certificate_is_checked_against_the_outputs(
    opconform: Run, small_suite: Path, blind_suite: Path, tmp_path: Path
) -> None:
    """The owner of a key can sign anything, so the outputs are judged again."""
    kept, out = tmp_path / "outputs.zip", tmp_path / "out"
    backend = ("--backend", f"{MINIATURES}:LosesNegativeZero")
    opconform("run", blind_suite, *backend, "--record", kept)
    opconform("certificate", "keygen", tmp_path / "me")
    opconform("certificate", "judge", kept, "--suite", small_suite, "--out", out, code=1)
    header, *logged = (_unlinked(line) for line in (out / "outcomes.jsonl").read_bytes().splitlines())
    forged = [json.loads(line) for line in logged]
    forged = [line | {"own": {"verdict": "pass"}} if "own" in line else line for line in forged]
    (out / "outcomes.jsonl").write_bytes(linked(header, [canonical_json(line).encode() + b"\n" for line in forged]))
    refused = opconform("certificate", "sign", out, "--key", tmp_path / "me.key", "--suite", small_suite, code=1).stderr
    assert "results.jsonl does not follow from outcomes.jsonl and the suite" in refused
    write_results(out, read_written(out / "results.jsonl").header, results_of(log_in(out), open_suite(small_suite)))
    opconform("certificate", "sign", out, "--key", tmp_path / "me.key", "--suite", small_suite)
    shown = ("--key", tmp_path / "me.pub", "--results", out, "--suite", small_suite)
    plain = opconform("certificate", "verify", out / "certificate.json", *shown).stdout
    again = opconform("certificate", "verify", out / "certificate.json", *shown, "--record", kept, code=1).stderr

    assert plain.endswith(f"Not checked: the verdicts, which need --record as well; {GOLDENS}.\n")
    assert again == f"error: {kept}, judged again, does not produce the verdicts in {out / 'results.jsonl'}.\n"


def test_an_interrupted_recording_continues(
    opconform: Run, small_suite: Path, blind_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is executed twice, and no file appears before all of it is there."""
    execute, counts = vars(recorder)["execute"], list[int]()
    command = ("run", blind_suite, "--backend", "numpy", "--record", tmp_path / "outputs.zip")

    def stops(suite: Any, entries: Any, *rest: Any, **options: Any) -> Any:
        counts.append(len(entries))
        if len(counts) == 2:
            raise KeyboardInterrupt
        return execute(suite, entries, *rest, **options)

    monkeypatch.setattr(recorder, "execute", stops)
    opconform(*command, code=130)
    assert [path.name for path in tmp_path.iterdir()] == ["outputs.zip.part"]
    opconform(*command)
    run = judge(open_suite(small_suite), open_record(tmp_path / "outputs.zip"), tmp_path / "out")

    assert counts == [6, 6, 0, 6]
    assert {result.verdict for result in run.results} == {"pass"}
    assert not (tmp_path / "outputs.zip.part").exists()


def test_only_files_of_outputs_are_overwritten(
    opconform: Run, blind_suite: Path, outputs: Path, tmp_path: Path
) -> None:
    """Options that need verdicts are refused with --record."""
    mine = tmp_path / "mine.zip"
    mine.write_bytes(b"PK")
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(outputs.read_bytes().replace(b"PK\1\2", b"PK\1\3"))
    running = ("run", blind_suite, "--backend", "numpy", "--record")
    again = shutil.copy(outputs, tmp_path / "again.zip")

    assert f"opconform did not write {mine} and does not overwrite it." in opconform(*running, mine, code=2).stderr
    assert mine.read_bytes() == b"PK"
    assert f"did not write {damaged} and does not" in opconform(*running, damaged, code=2).stderr
    assert "must be a file whose name ends in .zip" in opconform(*running, tmp_path / "folder", code=2).stderr
    assert (
        "--out, --strict, --accuracy, --baseline, --known and --claims cannot be used with --record, which gives no verdicts."
        in opconform(*running, mine, "--strict", code=2).stderr
    )
    opconform(*running, again)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.zip", "damaged.zip", "mine.zip"]
