"""Recorded outputs that were forged or damaged."""

import hashlib
import json
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
from opconform_runners.execution.log.outcomes import linked
from opconform_runners.execution.log.record import open_record
from opconform_runners.execution.log.replay import judge
from opconform_runners.verdicts.results import read_results
from tests.conftest import Run
from tests.execution.conftest import _unlinked


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
