"""A harness that misbehaves at one case costs no other case, and leaves nothing behind."""

import tempfile
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.fake_harnesses import MISBEHAVIOURS, command
from tests.fake_harnesses.server import VARIABLE
from tests.result_files import report_in
from tests.robustness.processes import left_behind

#: Those that are tried with every run of the tests.
SAMPLE = frozenset({
    "says text", "says another `seq`", "says an unknown key", "says `seconds` of 1e999", "says a line of 10 MB",
    "says a line too many", "says answers ahead", "says the next answer first", "says an error",
    "says an error for the next request", "writes no outputs", "writes a pipe", "writes a link to zeros",
    "writes a link to outputs", "writes a folder with files", "writes half a file", "writes a pickle", "writes a bomb",
    "writes a shape of 10**12", "writes another name", "writes another type than it says",
    "removes its scratch folder", "removes its scratch folder afterwards", "removes the files of the others",
    "changes the files of the others", "deepens its scratch folder", "takes the place of the report",
    "removes the results", "moves its scratch folder", "answers and ends", "answers and ends with 3",
    "kills its supervisor", "ends with 3", "leaves a child and ends with 4", "sleeps",
})  # fmt: skip
#: Those that only the lapse of time ends, so that they have little of it.
SILENT = frozenset(name for name, it in MISBEHAVIOURS.items() if it.sentence == "no answer within") | {
    "says half a line and silence", "says the next answer first", "closes its standard output", "closes everything",
    "closes its standard input", "says errors for ever", "writes a link to a terminal",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.ci_only) for name in MISBEHAVIOURS]
)
def test_a_misbehaviour_costs_one_case(
    opconform: Run, small_suite: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case has one of its verdicts, the others pass, and neither processes nor files are left."""
    misbehaviour, out, temporary = MISBEHAVIOURS[name], tmp_path / "out", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv(VARIABLE, str(out))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    arguments = ("--timeout", 3 if name in SILENT else 60, "--memory", "0.5", "--harness", command(name))
    done = opconform("run", small_suite, "--out", out, *arguments, code=None)
    report = report_in(out)
    odd = [case for case in report["cases"] if case["verdict"] != "pass"]

    assert done.returncode in (0, 1), done.stderr
    assert "internal error" not in done.stderr
    assert len(report["cases"]) == 6
    assert ["[2, 2, 2]" in case["inputs"] for case in odd] == [True] * (len(odd) and 1)
    assert (odd[0]["verdict"] if odd else "pass") in misbehaviour.verdicts
    assert misbehaviour.sentence in (odd[0]["sentence"] if odd else "")
    assert not odd or report["conformant"] is (False if odd[0]["verdict"] == "fail" else None)
    assert left_behind(str(out)) == []
    assert [path.name for path in temporary.iterdir() if not path.name.endswith("-moved")] == []
