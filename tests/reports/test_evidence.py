"""The evidence of a failure on the HTML page: tensors, marks and the likely cause."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.suite.case import Dynamic
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.log.outputs_zip import KeptOutputs, OutputsWriter
from opconform_runners.findings.causes import feeds
from opconform_runners.findings.causes.feeds import feeds_of, likely_cause
from opconform_runners.findings.finding import Finding
from opconform_runners.reports.html import cases, evidence
from opconform_runners.reports.terminal.case_text import drawing_lines, input_lines
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result
from tests.reports.conftest import subject
from tests.reports.test_coverage import report

TWO_LENGTHS = "VariadicSplit-1/accepted/ddf616bfdd"
REJECTED = "VariadicSplit-1/rejected/edf4e822b0"


def test_passing_cases_have_their_inputs(suite: Suite) -> None:
    """So that a search finds them; the results have those of the other cases alone."""
    passing = replace(failure(suite, TWO_LENGTHS, None), verdict="pass", reason=None, sentence="")
    [listed] = cases.case_list([subject(report(passing), suite=suite)], {})["cases"]

    assert listed["inputs"] == "data f32[6, 2], axis 0, split_lengths [2, 2, 2]"


def failure(suite: Suite, identity: str, mismatch: Mismatch | None) -> Result:
    """The result of a case of the small suite that fails."""
    entry = suite.by_id[identity]
    return Result(
        id=identity,
        profile="core",
        expect="accept" if entry.expect == "accept" else "reject",
        verdict="fail",
        reason="value" if mismatch is not None else "accepted-invalid",
        requirements=entry.requirements,
        mismatch=mismatch,
        sentence="it differs",
    )


def evidence_of(suite: Suite, failed: Result, out: Path) -> dict[str, Any]:
    """The evidence of a failure, with the outputs that a run kept in a folder."""
    entry = suite.by_id[failed.id]
    return evidence.evidence_document(
        suite, entry, failed, feeds_of(suite, entry, failed, KeptOutputs(out).outputs(entry.id))
    )


DIFFERENT = Mismatch(
    reason="value", sentence="", feed=0, output="output_1", at=(1, 0), expected="0x3f800000", actual="0x00000000"
)


def test_the_evidence_of_a_wrong_value_marks_it_in_input_and_outputs(suite: Suite, tmp_path: Path) -> None:
    """Of outputs that were not kept only the expected elements are drawn; the sentence has the actual one."""
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, DIFFERENT), tmp_path)
    [feed] = found["feeds"]
    data, [[wanted, got]] = feed["data"], feed["pairs"]

    assert found["inputs"] == [
        "data: f32[6, 2], parameter",
        "axis: i64[], constant = 0",
        "split_lengths: i64[3], constant = [2, 2, 2]",
        "context: bare",
    ]
    assert found["expected"] == "It is accepted, with the outputs f32[2, 2], f32[2, 2], f32[2, 2]."
    assert data["first"] == (3, 0)
    assert data["outputs"] == ("output_0", "output_0", "output_1", "output_1", "output_2", "output_2")
    assert (wanted["name"], wanted["first"], got) == ("output_1", (1, 0), None)
    assert [name for name, _ in found["models"]] == ["openvino/layer.xml"]
    assert feed["number"] == 0
    assert feed["origin"] == "output_1[1, 0] should equal data[3, 0]"


@pytest.mark.parametrize("change", [{"at": (1,)}, {"at": (0, 0, 1)}, {"at": (0, 99)}, {"output": "output_9"}])
def test_a_place_that_the_suite_does_not_have_is_not_marked(
    suite: Suite, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Results may be damaged, or of another suite; the page is written all the same."""
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, replace(DIFFERENT, **change)), tmp_path)

    assert "first" not in found["feeds"][0]["data"]


def test_the_evidence_of_a_rejected_case_names_the_requirement(suite: Suite, tmp_path: Path) -> None:
    """There are no outputs to show."""
    found = evidence_of(suite, failure(suite, REJECTED, None), tmp_path)

    assert found["expected"] == "It is rejected, since it violates lengths.single-remainder."
    assert [feed.keys() for feed in found["feeds"]] == [{"number", "data"}]


def test_large_tensors_are_not_drawn(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evidence says so, and lists the inputs without values."""
    monkeypatch.setattr(feeds, "_ELEMENTS", 4)
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, DIFFERENT), tmp_path)

    assert found["inputs"][1] == "axis: i64[], constant"
    assert "feeds" not in found


def test_outputs_past_the_end_of_the_input_are_drawn_as_bars(suite: Suite, tmp_path: Path) -> None:
    """All elements past the end are marked, and the likely cause says where they are."""
    writer = OutputsWriter(tmp_path / "outputs.zip", None)
    outputs = {"output_0": np.zeros((4, 4), np.float32), "output_1": np.zeros((5, 4), np.float32)}
    writer.write(f"{REJECTED}/outputs.npz", npz_bytes(outputs))
    writer.close()
    failed = failure(suite, REJECTED, None)
    entry = suite.by_id[REJECTED]
    [kept] = feeds_of(suite, entry, failed, KeptOutputs(tmp_path).outputs(entry.id))
    [feed] = evidence_of(suite, failed, tmp_path)["feeds"]

    assert feed["got"] == {"axis": 0, "size": 6, "outputs": [("output_0", 0, 4), ("output_1", 4, 5)]}
    assert [(wanted, got.get("first"), got["mark"]) for wanted, got in feed["pairs"]] == [
        (None, None, "differs"),
        (None, (2, 0), "is past the end"),
    ]
    assert feed["pairs"][1][1]["marked"] == tuple(
        (row, column, "0x00000000") for row in (2, 3, 4) for column in range(4)
    )
    assert likely_cause(suite.case(entry), failed, kept) == (
        "Read past the end: the input has 6 elements along axis 0, and the outputs contain indices 6 to 8"
    )


@pytest.mark.parametrize("is_known", [True, False])
def test_the_causes_of_a_report_are_not_looked_for_again(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Without causes in its findings, the page looks for them."""
    failed = failure(suite, TWO_LENGTHS, DIFFERENT)
    writer = OutputsWriter(tmp_path / "outputs.zip", None)
    writer.write(f"{failed.id}/outputs.npz", npz_bytes({"output_0": np.zeros((2, 2), np.float32)}))
    writer.close()
    causes = {failed.id: "Rounded"} if is_known else {}
    finding = Finding(severity="wrong data", symptoms={"value": 1}, cases=(failed.id,), cause="Rounded", causes=causes)
    run = replace(subject(replace(report(failed), findings=(finding,)), suite=suite), kept=KeptOutputs(tmp_path))
    monkeypatch.setattr(cases, "likely_cause", lambda *_: "Shifted")
    shown, found = cases.shown_evidence([run])

    assert found == {(0, failed.id): "Rounded" if is_known else "Shifted"}
    assert list(shown) == [f"0/{failed.id}"]


def test_evidence_stops_where_the_page_is_full(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first failure of each kind has evidence before the second of any."""
    ids = sorted(entry.id for entry in suite.entries if entry.expect == "accept")
    failed = [failure(suite, id_, DIFFERENT) for id_ in ids] + [failure(suite, REJECTED, None)]
    of_suite = [subject(report(*failed), suite=suite)]
    monkeypatch.setattr(cases, "EVIDENCE_LIMIT", 0)
    shown, _ = cases.shown_evidence(of_suite)

    assert list(shown) == [f"0/{ids[0]}"]
    monkeypatch.undo()
    whole, _ = cases.shown_evidence(of_suite)
    assert [*whole][:2] == [f"0/{ids[0]}", f"0/{REJECTED}"]
    assert len(whole) == len(failed)


def test_a_drawing_has_lines_between_the_outputs(suite: Suite) -> None:
    """Along the rows here, with the number of each output where it begins."""
    entry = suite.by_id[TWO_LENGTHS]
    lines = drawing_lines(suite.case(entry), suite.arrays(entry, inputs_name(0)))

    assert [number for number, line in enumerate(lines) if set(line) == {"─"}] == [2, 5]
    assert [line.split()[-1] for line in lines if "output_" in line][:3] == ["output_0", "output_1", "output_2"]
    assert lines[-1] == "axis 0 runs downwards; outputs: output_0: 2, output_1: 2, output_2: 2"


@pytest.mark.parametrize(("dynamic", "declared"), [(("?", "2..8"), "[?, 2..8]"), ("...", "...")])
def test_an_input_has_its_declared_dimensions(suite: Suite, dynamic: Dynamic, declared: str) -> None:
    """Those that the model declares follow those of the tensor."""
    case = suite.case(suite.by_id[TWO_LENGTHS])
    data = replace(case.inputs[0], dynamic=dynamic)

    assert input_lines(replace(case, inputs=(data,)), {}) == [f"data: f32[6, 2], parameter, declared {declared}"]
