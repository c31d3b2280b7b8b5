"""Outputs that are recorded in one place and judged in another."""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opconform.errors import SuiteError
from opconform.suite.case import canonical_json
from opconform.suite.reader import open_suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log import record
from opconform_runners.execution.log.outcomes import linked, log_in
from opconform_runners.execution.log.record import blind_digest, open_record
from opconform_runners.execution.log.replay import judge
from opconform_runners.verdicts.results import read_results, read_written, write_results
from tests.conftest import MINIATURES, Run

#: What cannot be checked of specs that are not opconform's own.
GOLDENS = "the suite's specs and IR, since opconform does not ship its specs"


@pytest.fixture(scope="module")
def blind_suite(opconform: Run, small_spec: Path) -> Path:
    """The small suite without its expected outputs, as one file."""
    out = small_spec.parent / "blind.zip"
    opconform("generate", small_spec, "--blind", "--out", out)
    return out


@pytest.fixture(scope="module")
def outputs(opconform: Run, blind_suite: Path) -> Path:
    """The recorded outputs of a perfect backend."""
    out = blind_suite.parent / "outputs.zip"
    opconform("run", blind_suite, "--backend", f"{MINIATURES}:Perfect", "--record", out)
    return out


def lines(path: Path) -> list[Any]:
    """The lines of results without the times, which are never the same."""
    documents = [json.loads(line) for line in (path / "results.jsonl").read_text().splitlines()[1:-1]]
    return [{name: x for name, x in document.items() if name != "seconds"} for document in documents]


def rewritten(path: Path, out: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The same file with changed members and correct digests, as an attacker would make it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header, *logged = (_unlinked(line) for line in members["outcomes.jsonl"].splitlines())
    members["outcomes.jsonl"] = b"".join([header, *sorted(logged, key=lambda line: json.loads(line)["case"])])
    change(members)
    header, *logged = members["outcomes.jsonl"].splitlines(keepends=True)
    members["outcomes.jsonl"] = linked(header, logged)
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out


def _unlinked(line: bytes) -> bytes:
    """A line of a log without its digest."""
    document = json.loads(line)
    document.pop("chain", None)
    return canonical_json(document).encode() + b"\n"


def changed_case(members: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> str:
    """Change the lines of the first case, first and again; returns its id."""
    header, *lines = members["outcomes.jsonl"].splitlines(keepends=True)
    documents = [json.loads(line) for line in lines]
    case = str(documents[0]["case"])
    for document in documents:
        if document["case"] == case:
            change(document)
    members["outcomes.jsonl"] = header + b"".join(canonical_json(document).encode() + b"\n" for document in documents)
    return case


@pytest.mark.parametrize(
    ("name", "counts", "code"),
    [
        ("Perfect", "1 rejected, 5 returned", 0),
        ("LosesNegativeZero", "1 rejected, 5 returned", 0),
        ("RightTheSecondTime", "1 rejected, 5 returned", 0),
        ("RefusesEverything", "6 rejected", 0),
        ("Aborts", "1 crash, 1 rejected, 4 returned", 0),
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


def test_a_failure_of_the_second_execution_is_nondeterministic(
    opconform: Run, small_suite: Path, outputs: Path, tmp_path: Path
) -> None:
    """A failure in one of two recorded executions counts, whichever failed."""

    def change(members: dict[str, bytes]) -> None:
        crash = {"outcome": {"status": "crash", "how": "was killed by SIGSEGV"}}
        changed_case(members, lambda line: line.update(crash if line["execution"] == "again" else {}))

    path = rewritten(outputs, tmp_path / "outputs.zip", change)
    opconform("certificate", "judge", path, "--suite", small_suite, "--out", tmp_path / "out", code=1)
    failed = [
        read_result for read_result in read_results(tmp_path / "out" / "results.jsonl") if read_result.verdict == "fail"
    ]

    assert [(failure.reason, failure.again) for failure in failed] == [("nondeterministic", "passed")]
    assert failed[0].sentence.startswith("first: the backend process was killed by SIGSEGV")


def test_claims_that_opconform_can_decide_are_checked(
    opconform: Run, small_suite: Path, outputs: Path, tmp_path: Path
) -> None:
    """Whether a case could be sent follows from suite and backend; mapped names must be requirements."""

    def unsent(members: dict[str, bytes]) -> None:
        outcome = {"outcome": {"status": "not-sent", "why": "it is Sunday"}}
        case = changed_case(members, lambda line: line.update(outcome))
        for name in [name for name in members if name.startswith(case)]:
            del members[name]

    def mapped(members: dict[str, bytes]) -> None:
        first, *others = members["outcomes.jsonl"].splitlines(keepends=True)
        header = json.loads(first)
        header["implementation"]["mapped"] = ["VariadicSplit-1:all.of-it"]
        members["outcomes.jsonl"] = canonical_json(header).encode() + b"\n" + b"".join(others)

    for change, sentence in (
        (unsent, "VariadicSplit-1/accepted/055b3aac7f could not be sent, but it can be."),
        (mapped, f"maps VariadicSplit-1:all.of-it, which is not a requirement of {small_suite}."),
    ):
        path = rewritten(outputs, tmp_path / "outputs.zip", change)
        done = opconform("certificate", "judge", path, "--suite", small_suite, "--out", tmp_path / "out", code=1)
        assert done.stderr.rstrip().endswith(sentence)


def test_an_interrupted_recording_continues(
    opconform: Run, small_suite: Path, blind_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is executed twice, and no file appears before all of it is there."""
    execute, counts = vars(record)["execute"], list[int]()
    command = ("run", blind_suite, "--backend", "numpy", "--record", tmp_path / "outputs.zip")

    def stops(suite: Any, entries: Any, *rest: Any, **options: Any) -> Any:
        counts.append(len(entries))
        if len(counts) == 2:
            raise KeyboardInterrupt
        return execute(suite, entries, *rest, **options)

    monkeypatch.setattr(record, "execute", stops)
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
    running = ("run", blind_suite, "--backend", "numpy", "--record")
    again = shutil.copy(outputs, tmp_path / "again.zip")

    assert f"opconform did not write {mine} and does not overwrite it." in opconform(*running, mine, code=2).stderr
    assert mine.read_bytes() == b"PK"
    assert "must be a file whose name ends in .zip" in opconform(*running, tmp_path / "folder", code=2).stderr
    assert (
        "--out, --strict and --baseline cannot be used with --record, which gives no verdicts."
        in opconform(*running, mine, "--strict", code=2).stderr
    )
    opconform(*running, again)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.zip", "mine.zip"]


def _padded(members: dict[str, bytes]) -> None:
    _with_outputs(members, npz_bytes({"output_0": np.zeros(1 << 25, np.uint8)}))


def _misnamed(members: dict[str, bytes]) -> None:
    _with_outputs(members, npz_bytes({"data": np.zeros(1, np.uint8)}))


def _with_outputs(members: dict[str, bytes], content: bytes) -> None:
    name = min(member for member in members if member.endswith(".npz"))
    before, after = (hashlib.sha256(x).hexdigest() for x in (members[name], content))
    members[name] = content
    members["outcomes.jsonl"] = members["outcomes.jsonl"].replace(before.encode(), after.encode())


def _feed_more(members: dict[str, bytes]) -> None:
    case = changed_case(members, lambda line: line["outcome"].update(files=line["outcome"]["files"] * 2))
    members[f"{case}/outputs.1.npz"] = members[f"{case}/outputs.npz"]


def _type_less(members: dict[str, bytes]) -> None:
    changed_case(members, lambda line: line["outcome"].update(element_types=[["f32"], ["f32"]]))


def _foreign(members: dict[str, bytes]) -> None:
    members["../../evil"] = b""


def _cut_short(members: dict[str, bytes]) -> None:
    members["outcomes.jsonl"] = b"".join(members["outcomes.jsonl"].splitlines(keepends=True)[:-1])


def _unknown(members: dict[str, bytes]) -> None:
    members["outcomes.jsonl"] = members["outcomes.jsonl"].replace(b'"status":"rejected"', b'"status":"fine"')


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_padded, "bytes, more than the "),
        (_misnamed, "are not called output_0, output_1, …."),
        (_feed_more, "do not match its number of feeds."),
        (_type_less, "do not match its number of feeds."),
        (_foreign, "does not contain exactly the files that it lists: ../../evil."),
        (_cut_short, "outcomes.jsonl does not have two executions of each case."),
        (_unknown, "is not what a run wrote there."),
    ],
)
def test_forged_outputs_are_refused(
    outputs: Path, small_suite: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], sentence: str
) -> None:
    """Although all their digests are correct."""
    path = rewritten(outputs, tmp_path / "changed.zip", change)

    with pytest.raises(SuiteError) as refusal:
        judge(open_suite(small_suite), open_record(path), tmp_path / "out")
    assert sentence in str(refusal.value)


def test_rewritten_outputs_without_changes_are_accepted(outputs: Path, small_suite: Path, tmp_path: Path) -> None:
    """So the forgeries above are refused for their changes."""
    path = rewritten(outputs, tmp_path / "same.zip", lambda _: None)
    run = judge(open_suite(small_suite), open_record(path), tmp_path / "out")

    assert [result.verdict for result in run.results] == ["pass"] * 6


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_byte_changes_no_verdict(
    outputs: Path, small_suite: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """It is detected, or it is a byte of the zip container that means nothing."""
    content = bytearray(outputs.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (tmp_path / "changed.zip").write_bytes(content)
    try:
        judge(open_suite(small_suite), open_record(tmp_path / "changed.zip"), tmp_path / "out")
    except SuiteError:
        return

    assert [read_result.verdict for read_result in read_results(tmp_path / "out" / "results.jsonl")] == ["pass"] * 6


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"no zip at all"])
def test_a_file_that_is_not_an_archive_of_outputs_is_refused(tmp_path: Path, content: bytes) -> None:
    """With the same sentence for all of them."""
    path = tmp_path / "outputs.zip"
    path.write_bytes(content)

    with pytest.raises(SuiteError, match="is not a complete file of outputs, as `run --record` writes it"):
        open_record(path)


def test_an_archive_of_a_later_zip_version_is_refused(outputs: Path, tmp_path: Path) -> None:
    """`zipfile` reads the needed version from the directory of the archive."""
    content = bytearray(outputs.read_bytes())
    content[content.rindex(b"PK\1\2") + 6] = 255
    (tmp_path / "outputs.zip").write_bytes(content)

    with pytest.raises(
        SuiteError, match="is not a complete file of outputs, as `run --record` writes it: zip file version"
    ):
        open_record(tmp_path / "outputs.zip")
