"""What a page is made from: runs, suites, older runs and kept outputs."""

import json
import shutil
from pathlib import Path

import numpy as np

from opconform.explanation.pictures import Highlight
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.log.outputs_zip import KeptOutputs, OutputsWriter
from opconform_runners.reports.terminal.excerpt import Marks, excerpt_of
from tests.conftest import MINIATURES, Run, whole
from tests.reports.page.browser import failures
from tests.reports.page.specs import HOSTILE_SPEC


def test_the_commands_of_a_failure_reproduce_it(opconform: Run, run: Path, small_suite: Path, tmp_path: Path) -> None:
    """The options that the report holds start the same backend."""
    started = json.loads((run / "report.json").read_text())["started"].split()
    result = failures(run)[0]
    opconform("run", small_suite, *started, "--select", result["id"], "--out", tmp_path / "again", code=1)

    assert [failure["mismatch"] for failure in failures(tmp_path / "again")] == [result["mismatch"]]


def test_certify_writes_the_page(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """It is written beside the results, and does not replace a file that is not a page."""
    arguments = ("certify", small_spec, "--backend", "numpy", "--jobs", "1", "--out", tmp_path)
    done = opconform(*arguments)

    assert done.stdout.splitlines()[-1] == f"HTML report: {tmp_path}/report.html"
    assert "conformant</span>" in (tmp_path / "report.html").read_text()
    (tmp_path / "report.html").write_text("<p>mine</p>")
    refused = opconform(*arguments, code=2)
    assert refused.stderr.splitlines()[-1] == (
        f"error: opconform did not write {tmp_path}/report.html and does not overwrite it. Use another path."
    )


def test_a_report_that_was_changed_is_refused(opconform: Run, run: Path, tmp_path: Path) -> None:
    """Whatever a report says in sum follows from the results."""
    out = tmp_path / "out"
    for old, new in (('"conformant": false', '"conformant": true'), ('"broken": true', '"broken": false')):
        shutil.copytree(run, out, dirs_exist_ok=True)
        (out / "report.json").write_text((out / "report.json").read_text().replace(old, new, 1))
        done = opconform("report", out, code=1)

        assert done.stderr == (
            f"error: {out}/report.json does not match {out}/results.jsonl: it was changed, or is of another run. "
            "Repeat the run.\n"
        )


def test_runs_on_different_suites_are_not_compared(opconform: Run, run: Path, tmp_path: Path) -> None:
    """Their cases differ, and so would every number."""
    (tmp_path / "other.yaml").write_text(whole(HOSTILE_SPEC))
    opconform("certify", tmp_path / "other.yaml", "--backend", "numpy", "--jobs", "1", "--out", tmp_path / "other")
    done = opconform("report", run, tmp_path / "other", code=2)

    assert done.stderr.startswith(f"error: Runs on different suites cannot be compared: {run} on ")
    assert done.stderr.endswith("; use `certify` with several backends to run them on one suite.\n")


def test_a_report_is_compared_with_an_older_run(opconform: Run, run: Path, small_suite: Path, tmp_path: Path) -> None:
    """Only the report of one run is."""
    opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path / "old")
    opconform("report", run, "--against", tmp_path / "old", "--html", tmp_path / "page.html")
    refused = opconform("report", run, run, "--against", tmp_path / "old", code=2)

    assert "<b>4</b> new failures</a>" in (tmp_path / "page.html").read_text()
    assert refused.stderr == (
        "error: Only a report of one run can be compared with older runs. Name one run, and use --against OLD.\n"
    )


def test_kept_outputs_are_read_back_bit_for_bit(tmp_path: Path) -> None:
    """By feed and number; a case without outputs has none."""
    nan = np.array([0x7FC00001, 0x80000000], np.uint32).view(np.float32)
    writer = OutputsWriter(tmp_path / "outputs.zip", None)
    writer.write("Split-1/a/0000000000/outputs.npz", npz_bytes({"output_0": nan}))
    writer.write("Split-1/a/0000000000/outputs.1.npz", npz_bytes({"output_0": nan[:1]}))
    writer.close()
    kept = KeptOutputs(tmp_path)
    back = kept.outputs("Split-1/a/0000000000")

    assert {place: x.tobytes() for place, x in back.items()} == {(0, 0): nan.tobytes(), (1, 0): nan[:1].tobytes()}
    assert kept.outputs("Split-1/a/0000000001") == {}


def test_elements_that_differ_are_different_texts() -> None:
    """Numbers are the shortest texts that no other number of their type has."""
    want = np.array([0.1, 0.2, 1 / 3])
    got = np.array([np.float32(0.1), 0.2, 1 / 3])
    actual, expected = (excerpt_of("x", a, "f64", marks=Marks(other=b)).rows for a, b in ((got, want), (want, got)))

    assert actual == (("0.10000000149011612", "0.2", "0.3333333333333333"),)
    assert expected == (("0.1", "0.2", "0.3333333333333333"),)


def test_an_excerpt_moves_to_what_differs() -> None:
    """Of a large tensor the matrix and the part of it around the first difference are shown."""
    want = np.arange(2 * 40 * 50, dtype=np.int32).reshape(2, 40, 50)
    got = want.copy()
    got[1, 30, 20] = -1
    highlight = Highlight(tensor="x", axis=1, names=("a", "b"), sizes=(31, 9))
    excerpt = excerpt_of("x", got, "i32", highlight=highlight, marks=Marks(other=want, at=(1, 30, 20)))
    row, column = excerpt.first or (-1, -1)

    assert excerpt.where == "[1, :, :]"
    assert (excerpt.at[0] + row, excerpt.at[1] + column) == (30, 20)
    assert excerpt.rows[row][column] == "-1"
    assert excerpt.marked == ((row, column, "0xffffffff"),)
    assert excerpt.outputs == tuple("a" if number < 31 else "b" for number in range(excerpt.at[0], excerpt.at[0] + 10))
