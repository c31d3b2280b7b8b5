"""Readers of files and replies from outside refuse what is not as it should be; `tests/robustness` tries more."""

import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from opconform.errors import SuiteError
from opconform.suite.case import canonical_json
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.log.outcomes import linked, read_log
from opconform_runners.harness.protocol import reply_problems
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.results import line_of, read_results, read_written
from opconform_runners.verdicts.run_header import header_line
from tests.conftest import MINIATURES, Run
from tests.execution.test_edits import results_text
from tests.result_files import cases_in
from tests.robustness.hostile_suites import reseal


def sealed(place: Path, suite: Path, old: str, new: str) -> Suite:
    """A copy of a suite whose first case has another text in its `case.json`, and right digests."""
    shutil.copytree(suite, place)
    path = place / open_suite(suite).entries[0].id / "case.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return open_suite(reseal(place))


def test_arrays_are_those_that_the_case_declares(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case that declares another input is refused where its arrays are read."""
    suite = sealed(tmp_path / "suite", small_suite, '"axis"', '"angle"')

    with pytest.raises(SuiteError, match=r"has no array angle\. Generate the suite again\."):
        suite.arrays(suite.entries[0], inputs_name(0))


def test_arrays_have_the_type_that_the_case_declares(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case that declares another element type is refused where its arrays are read."""
    suite = sealed(tmp_path / "suite", small_suite, '"element_type": "i64"', '"element_type": "i8"')

    with pytest.raises(SuiteError, match="axis is stored as int64, but i8 must be stored as int8"):
        suite.arrays(suite.entries[0], inputs_name(0))


def test_a_case_is_of_the_operation_of_its_id(small_suite: Path, tmp_path: Path) -> None:
    """A resealed case of another operation than its id says is refused."""
    suite = sealed(tmp_path / "suite", small_suite, '"op": "VariadicSplit-1"', '"op": "Split-1"')

    with pytest.raises(SuiteError, match="its operation Split-1 contradicts its id"):
        suite.case(suite.entries[0])


@pytest.mark.parametrize("line", [b'{"seq": 1, "status": "ok"', b'{"seq": 1, "message": "\\ud800"}', b"[" * 9_000])
def test_a_reply_that_is_not_json_is_a_fault(line: bytes) -> None:
    """Also what Python's reader takes for JSON and a strict one does not."""
    [fault] = reply_problems(line)

    assert fault.sentence.startswith("the message is not JSON: ")


@pytest.fixture(scope="module")
def failing(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a backend whose outputs differ."""
    out = tmp_path_factory.mktemp("failing") / "out"
    opconform("run", small_suite, "--backend", f"{MINIATURES}:LosesNegativeZero", "--out", out, code=1)
    return out


@pytest.mark.parametrize(
    ("key", "value"), [("output", "answer"), ("output", "output_-1"), ("feed", -1), ("feed", 7), ("at", [-1])]
)
def test_results_name_outputs_as_they_are_called(failing: Path, tmp_path: Path, key: str, value: object) -> None:
    """A difference in an output, a feed or a place that there cannot be is refused where the results are read."""
    cases = cases_in(failing)
    next(case for case in cases if "mismatch" in case)["mismatch"][key] = value
    header = json.loads((failing / "results.jsonl").read_bytes().partition(b"\n")[0])
    (tmp_path / "results.jsonl").write_bytes(results_text([header, *cases]))

    with pytest.raises(SuiteError, match="is not a result"):
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
