"""Readers of files and replies from outside: whatever is changed in a right document, they refuse it or read it."""

import hashlib
import json
import random
import re
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from benchmarks.robustness.fuzzed_readers import DOCUMENTED, Reader, changed, readers_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opconform.errors import SuiteError
from opconform.suite.case import canonical_json
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.outcomes import linked, read_log
from opconform_runners.harness.protocol import reply_faults
from opconform_runners.reports.report_file import read_report
from opconform_runners.tools.protocol_check.conversation import said_in
from opconform_runners.verdicts.results import line_of, read_results, read_written
from opconform_runners.verdicts.run_header import header_line
from tests.conftest import MINIATURES, Run


@pytest.fixture(scope="module")
def readers(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Reader]:
    """Every reader, with documents that were written by right commands."""
    return readers_of(tmp_path_factory.mktemp("readers"), partial(opconform, code=None))


def test_right_documents_are_read(readers: Mapping[str, Reader]) -> None:
    """What was not changed is read without an error, so that the next test tests something."""
    refused = []
    for name, reader in readers.items():
        for each in reader.documents:
            try:
                reader.read(each)
            except DOCUMENTED as fault:
                refused.append((name, str(fault)))

    assert refused == []
    assert all(each.documents for each in readers.values())


@settings(max_examples=400, suppress_health_check=[*HealthCheck])
@given(seed=st.integers(0, 1 << 32), number=st.integers(0, 10_000))
def test_a_changed_document_is_read_or_refused(readers: Mapping[str, Reader], seed: int, number: int) -> None:
    """A change by structure or by bytes ends in a documented error or in none, never in another one."""
    reader = [*readers.values()][number % len(readers)]
    document = changed(random.Random(seed), reader)  # noqa: S311 - seeded on purpose
    try:
        reader.read(document)
    except DOCUMENTED:
        return


def sealed(path: Path, suite: Path, name: str, old: str, new: str) -> Suite:
    """A zip file with a suite whose first case has another text in one of its files, and right digests."""
    members = {each.relative_to(suite).as_posix(): each.read_bytes() for each in suite.rglob("*") if each.is_file()}
    lines = [json.loads(line) for line in members["manifest.jsonl"].splitlines()]
    place = f"{lines[0]['id']}/{name}"
    assert old.encode() in members[place]
    members[place] = members[place].replace(old.encode(), new.encode())
    lines[0]["files"][name] = hashlib.sha256(members[place]).hexdigest()
    members["manifest.jsonl"] = "".join(canonical_json(each) + "\n" for each in lines).encode()
    header = json.loads(members["suite.json"])
    del header["checksum"]
    header["digest"] = hashlib.sha256(members["manifest.jsonl"]).hexdigest()
    checksum = hashlib.sha256(canonical_json(header).encode()).hexdigest()
    members["suite.json"] = (json.dumps(header | {"checksum": checksum}, indent=1, ensure_ascii=False) + "\n").encode()
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return open_suite(path)


def test_arrays_are_those_that_the_case_declares(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case that declares another input is refused where its arrays are read."""
    suite = sealed(tmp_path / "suite.zip", small_suite, "case.json", '"axis"', '"angle"')

    with pytest.raises(SuiteError, match=r"has no array angle\. Generate the suite again\."):
        suite.arrays(suite.entries[0], inputs_name(0))


def test_arrays_have_the_type_that_the_case_declares(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case that declares another element type is refused where its arrays are read."""
    suite = sealed(tmp_path / "suite.zip", small_suite, "case.json", '"element_type": "i64"', '"element_type": "i8"')

    with pytest.raises(SuiteError, match="axis is stored as int64, but i8 must be stored as int8"):
        suite.arrays(suite.entries[0], inputs_name(0))


def test_a_case_is_of_the_operation_of_its_id(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case of another operation than its id says is refused."""
    suite = sealed(tmp_path / "suite.zip", small_suite, "case.json", '"op": "VariadicSplit-1"', '"op": "Split-1"')

    with pytest.raises(SuiteError, match="its operation Split-1 contradicts its id"):
        suite.case(suite.entries[0])


@pytest.mark.parametrize("line", [b'{"seq": 1, "status": "ok"', b'{"seq": 1, "message": "\\ud800"}', b"[" * 9_000])
def test_a_reply_that_is_not_json_is_a_fault(line: bytes) -> None:
    """Also what Python's reader takes for JSON and a strict one does not."""
    [fault] = reply_faults(line)

    assert fault.sentence.startswith("the message is not JSON: ")


def test_a_greeting_that_nests_deep_is_read_without_it() -> None:
    """A key of an answer to `start` whose value cannot be written as JSON again stands for all that there is."""
    nested: list[object] = []
    for _ in range(9_000):
        nested = [nested]

    assert said_in({"dynamic": False, "mapped": nested}).mapped == ()


@pytest.fixture(scope="module")
def failing(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a backend whose outputs differ."""
    out = tmp_path_factory.mktemp("failing") / "out"
    opconform("run", small_suite, "--backend", f"{MINIATURES}:LosesNegativeZero", "--out", out, code=1)
    return out


@pytest.mark.parametrize(
    ("key", "value"), [("output", "answer"), ("output", "output_-1"), ("feed", -1), ("feed", 7), ("at", [-1])]
)
def test_a_report_names_outputs_as_they_are_called(failing: Path, tmp_path: Path, key: str, value: object) -> None:
    """A difference in an output, a feed or a place that there cannot be is refused where the report is read."""
    report = json.loads((failing / "report.json").read_text())
    next(each for each in report["cases"] if "mismatch" in each)["mismatch"][key] = value
    (tmp_path / "results.jsonl").write_bytes((failing / "results.jsonl").read_bytes())
    (tmp_path / "report.json").write_text(json.dumps(report))

    with pytest.raises(SuiteError, match="is not a report that opconform wrote"):
        read_report(tmp_path)


@pytest.mark.parametrize(
    ("own", "case"),
    [
        ({"verdict": ["pass"]}, "Split-1/a/0123456789"),
        ({"verdict": {}}, "Split-1/a/0123456789"),
        ({"verdict": None}, "Split-1/a/0123456789"),
        ({"verdict": "other"}, "Split-1/a/0123456789"),
        ({"verdict": "pass"}, "a"),
    ],
)
def test_a_line_of_a_log_has_a_known_verdict(failing: Path, own: dict[str, object], case: str) -> None:
    """A line whose verdict is anything else is refused, as is a case without an id."""
    line = {"case": case, "execution": "first", "outcome": {"status": "returned"}, "own": own}
    header = read_written(failing / "results.jsonl").header

    with pytest.raises(SuiteError, match=r"^outcomes\.jsonl:2 is not what a run wrote there\."):
        read_log(linked(header_line(header), [line_of(line)]), "outcomes.jsonl")


def test_a_zip_file_with_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """A name that says it is UTF-8 and is not makes `zipfile` fail in a way of its own."""
    with zipfile.ZipFile(tmp_path / "suite.zip", "w") as archive:
        archive.writestr("é", b"")
    (tmp_path / "suite.zip").write_bytes((tmp_path / "suite.zip").read_bytes().replace("é".encode(), b"\xff\xff"))

    with pytest.raises(SuiteError, match="is not a complete zip file"):
        open_suite(tmp_path / "suite.zip")


def test_numbers_of_results_are_finite(failing: Path, tmp_path: Path) -> None:
    """JSON has no infinity, though Python reads and writes one."""
    lines = (failing / "results.jsonl").read_bytes().splitlines(keepends=True)
    lines[1] = re.sub(rb'"seconds":[^,}]+', b'"seconds":Infinity', lines[1])
    footer = json.loads(lines[-1]) | {"digest": hashlib.sha256(b"".join(lines[:-1])).hexdigest()}
    (tmp_path / "results.jsonl").write_bytes(b"".join(lines[:-1]) + canonical_json(footer).encode() + b"\n")

    with pytest.raises(
        SuiteError,
        match=r"results\.jsonl:2 is not a result: seconds: Input should be a finite number\. Repeat the run\.",
    ):
        read_results(tmp_path / "results.jsonl")
