"""Verdicts: what is compared, what counts as evidence, and what reports conclude."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.errors import SuiteError
from opconform.suite.case import Accept, Output, Reject
from opconform.suite.reader import open_suite
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.harness.outcome import Oversized, Returned
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS, declared_gap, first_verdict, remarks_of
from opconform_runners.verdicts.results import read_results
from opconform_runners.verdicts.verdict import Fail, Pass, Unsupported
from tests.conftest import MINIATURES, Run
from tests.verdicts.conftest import report

REASONS = {
    "LosesNegativeZero": ("value", ": expected -0.0 (0x80000000), got 0.0 (0x00000000)"),
    "QuietsNans": ("nan-payload", "expected nan (0x7fc00001), got nan (0x7fc00000)"),
    "MissesOneOutput": ("count", "expected 3 outputs, got 2"),
    "AddsADimension": ("shape", "expected the shape [1, 2], got [1, 2, 1]"),
    "WidensFloats": ("element-type", "output_0: expected f32, got f64"),
    "RefusesEverything": ("rejected-valid", "rejected at build time, although it is valid: no"),
}


@pytest.mark.parametrize("name", REASONS)
def test_each_kind_of_failure_has_its_reason(opconform: Run, small_suite: Path, tmp_path: Path, name: str) -> None:
    """The sentence says what differs."""
    excused = name == "QuietsNans"  # it counts only against the requirement on NaNs, which these cases do not name
    found = report(opconform, small_suite, tmp_path, name, code=0 if excused else 1)
    failed = [case for case in found["cases"] if case["verdict"] == "fail"]
    reason, sentence = REASONS[name]

    assert {failure["reason"] for failure in failed} == {reason}
    assert any(sentence in failure["sentence"] for failure in failed)
    assert found["conformant"] is excused


def test_a_type_that_npz_cannot_name_is_compared_by_its_name(opconform: Run, tmp_path: Path) -> None:
    """The bits of a bf16 called u16 are not a bf16."""
    (tmp_path / "spec.yaml").write_text(
        "op: Split-1\ngroups:\n  - {id: a, title: t, data: {shape: [4], element_type: bf16}, axis: 0, num_splits: 2}\n"
    )
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    found = report(opconform, tmp_path / "suite", tmp_path / "out", "CallsItF16")

    assert found["cases"][0]["sentence"] == "output_0: expected bf16, got u16"


def test_a_backend_that_rejects_everything_passes_nothing(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A rejection whose twin did not pass is inconclusive."""
    found = report(opconform, small_suite, tmp_path, "RefusesEverything")
    refused = [case for case in found["cases"] if case["expect"] == "reject"]

    assert [x["verdict"] for x in refused] == ["inconclusive"]
    assert "its twin VariadicSplit-1/rejected/" in refused[0]["sentence"]
    assert found["summary"]["pass"] == 0


def test_a_backend_that_supports_nothing_passes_nothing(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Cases that it declares and does not support are remarked on."""
    found = report(opconform, small_suite, tmp_path, "SupportsNothing")

    assert found["summary"] == {"pass": 0, "fail": 0, "unsupported": 6, "inconclusive": 0, "error": 0}
    assert all(case["remarks"] == ["undeclared-unsupported"] for case in found["cases"])


def test_a_backend_that_accepts_everything_fails(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """An accepted invalid case breaks the requirement that it violates."""
    found = report(opconform, small_suite, tmp_path, "AcceptsEverything")
    failed = [case for case in found["cases"] if case["verdict"] == "fail"]

    assert [(failure["reason"], failure["broken"]) for failure in failed] == [
        ("accepted-invalid", ["lengths.single-remainder"])
    ]
    assert found["requirements"]["VariadicSplit-1"]["lengths.single-remainder"]["broken"] is True
    assert found["requirements"]["VariadicSplit-1"]["lengths.remainder"]["broken"] is False


def test_a_rejection_for_another_reason_passes_and_is_marked(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """So does a rejection at run time that was possible when the model was built."""
    found = report(opconform, small_suite, tmp_path, "RefusesForAnotherReason", code=0)
    refused = [case for case in found["cases"] if case["expect"] == "reject"]

    assert [(x["verdict"], x["other_reason"], x["late"]) for x in refused] == [("pass", "axis.range", True)]


def test_bindings_are_declared_for_setting_inputs_only(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A backend that takes axis and lengths only as constants still has its data fed."""
    found = report(opconform, small_suite, tmp_path, "TakesConstantsOnly", code=0)

    assert not any("remarks" in case for case in found["cases"])


def test_a_pass_of_an_undeclared_case_is_remarked_on(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It is still a pass."""
    found = report(opconform, small_suite, tmp_path, "DeclaresNothing", code=0)

    assert {tuple(case.get("remarks", [])) for case in found["cases"] if case["expect"] == "accept"} == {
        ("passes-undeclared",)
    }


def test_element_types_are_declared_for_data_alone(small_suite: Path) -> None:
    """A backend may take a setting input of another type, or say that it does not support it."""
    suite = open_suite(small_suite)
    case = suite.case(next(entry for entry in suite.entries if entry.expect == "accept"))
    declared = replace(Numpy().describe(), element_types=("f32",))

    assert {input_.element_type for input_ in case.inputs if input_.role == "setting"} == {"i64"}
    assert remarks_of(case, Pass(), declared, sent=True) == ()
    assert remarks_of(case, Unsupported(why="no i64"), declared, sent=True) == ()
    both = replace(declared, element_types=("f32", "i64"))
    assert remarks_of(case, Unsupported(why="no i64"), both, sent=True) == ("undeclared-unsupported",)


def test_the_element_types_of_outputs_are_declared(small_suite: Path) -> None:
    """An operation may convert data to a type that a backend does not have."""
    suite = open_suite(small_suite)
    case = suite.case(next(entry for entry in suite.entries if entry.expect == "accept"))
    converted = replace(case, expect=Accept(accept=(Output(name="output_0", element_type="u6", shape=(1,)),)))

    assert declared_gap(case, Numpy().describe()) is None
    assert declared_gap(converted, replace(Numpy().describe(), element_types=("f32",))) == "u6"


def test_a_failure_of_an_undeclared_case_is_unsupported(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A remark names the failure. A crash still counts as a failure."""
    found = report(opconform, small_suite, tmp_path / "wrong", "FailsUndeclared")
    died = report(opconform, small_suite, tmp_path / "died", "AbortsUndeclared")
    accepted = [case for case in found["cases"] if case["expect"] == "accept"]

    assert {(x["verdict"], *x["remarks"]) for x in accepted} == {("unsupported", "fails-undeclared")}
    assert accepted[0]["sentence"].startswith("the backend does not declare f32; output_0[0, 0]: expected ")
    assert [case["verdict"] for case in found["cases"] if case["expect"] == "reject"] == ["inconclusive"]
    assert [case["reason"] for case in died["cases"] if case["verdict"] == "fail"] == ["crash"]


def test_a_wrong_return_value_is_an_error_of_the_harness(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The run is incomplete."""
    found = report(opconform, small_suite, tmp_path, "ReturnsRubbish")

    assert found["conformant"] is None
    assert found["cases"][0]["sentence"] == (
        "run() must return a list with the outputs of each feed, each a list of Tensors, but returned [[[int, int, int]]]"
    )


def test_a_selection_runs_the_twins_that_it_needs(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """An invalid case alone brings its twin, and its report says that it is a selection."""
    found = report(opconform, small_suite, tmp_path, "Perfect", "--select", "lengths.single-remainder", code=0)

    assert [case["expect"] for case in found["cases"]].count("accept") == 1
    assert found["whole"] is False
    assert found["partial"] is True


def test_only_a_selection_is_called_one(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A run of the whole suite is not a partial run."""
    run = ("run", small_suite, "numpy", "--out")
    part = opconform(*run, tmp_path / "part", "--select", "VariadicSplit-1/accepted").stdout
    whole = opconform(*run, tmp_path / "whole").stdout

    assert "\nThis run covers only a selection of cases. To certify a backend, use `certify`, or " in part
    assert "selection of cases" not in whole


def test_an_empty_selection_is_an_error(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It is not a pass."""
    done = opconform("run", small_suite, "--backend", "numpy", "--select", "nothing*", "--out", tmp_path, code=2)

    assert done.stderr.startswith("error: No case of ")
    assert done.stderr.endswith(f" matches 'nothing*'. `opconform list {small_suite} --cases` lists its cases.\n")


def test_an_unknown_profile_is_an_error(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Even beside a known one."""
    words = ["--profile", "core", "--profile", "typos"]
    done = opconform("run", small_suite, "--backend", "numpy", *words, "--out", tmp_path, code=2)

    assert done.stderr == f"error: Profile 'typos' is not in {small_suite}. Allowed: default, core.\n"


def test_results_without_their_footer_are_incomplete(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A results file that was cut short or edited is refused."""
    report(opconform, small_suite, tmp_path, "Perfect", code=0)
    path = tmp_path / "results.jsonl"
    whole = path.read_text()

    assert len(read_results(path)) == 6
    path.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    with pytest.raises(SuiteError, match="has no footer: the run did not end"):
        read_results(path)
    path.write_text(whole.replace('"pass"', '"fail"', 1))
    with pytest.raises(SuiteError, match="was changed after the run"):
        read_results(path)


def test_a_run_that_cannot_start_loses_nothing(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The results of an earlier run stay, and no folder is made."""
    report(opconform, small_suite, tmp_path / "out", "Perfect", code=0)
    opconform("report", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for out in ("out", "new"):
        opconform("run", small_suite, "--backend", f"{MINIATURES}:Missing", "--out", tmp_path / out, code=3)

    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert before.keys() == {"outcomes.jsonl", "results.jsonl", "report.json", "report.html", "suite.txt"}
    assert not (tmp_path / "new").exists()


def test_a_new_run_removes_the_report_of_an_earlier_run(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """No page of another backend is left beside the new results."""
    report(opconform, small_suite, tmp_path, "Perfect", code=0)
    opconform("report", tmp_path)
    report(opconform, small_suite, tmp_path, "LosesNegativeZero", "--force")

    assert {path.name for path in tmp_path.iterdir()} == {
        "outcomes.jsonl",
        "results.jsonl",
        "report.json",
        "outputs.zip",
        "suite.txt",
    }


def test_foreign_files_are_not_overwritten(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A report.json that opconform did not write stays."""
    (tmp_path / "report.json").write_text("{}")
    done = opconform("run", small_suite, "--backend", "numpy", "--out", tmp_path, code=2)

    assert f"opconform did not write {tmp_path / 'report.json'} and does not overwrite it." in done.stderr


@pytest.mark.parametrize("moves", [True, False])
def test_only_an_operation_that_moves_data_can_read_it_out_of_bounds(small_suite: Path, moves: bool) -> None:
    """An operation that computes has elements of its own, and as many as it likes."""
    suite = open_suite(small_suite)
    entry = next(entry for entry in suite.entries if isinstance(entry.expect, Reject))
    declared = tuple(replace(x, moves_data=moves) for x in suite.header.declarations)
    changed = replace(suite, header=replace(suite.header, declarations=declared))
    many = Returned(outputs=((np.full(99, 7777, np.float32),),), element_types=None, seconds=None)

    for outcome in (many, Oversized(size=1 << 40)):
        verdict = first_verdict(changed, entry, suite.case(entry), outcome)

        assert isinstance(verdict, Fail)
        assert (OUT_OF_BOUNDS in verdict.sentence) is moves
