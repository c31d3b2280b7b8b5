"""A backend that flushes denormal numbers to zero: a fault, unless it declares to."""

import json
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Array
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.verdict import Fail, Pass
from tests.conftest import Run
from tests.result_files import report_in

SPECS = {
    "Divide-1": """a: {shape: [4], element_type: f32, values: [1.0, 1.0e-38, -1.0e-38, 3.0]}
    b: {shape: [4], element_type: f32, values: [1.0e-38, 2.0, 2.0, 4.0]}""",
    "Exp-1": "data: {shape: [4], element_type: f32, values: [-88.0, -95.0, 1.0, 1.0e-40]}",
    "Log-1": "data: {shape: [3], element_type: f32, values: [1.0e-40, 2.0, 3.0]}",
    "Multiply-1": """a: {shape: [2], element_type: f32, values: [0.99999994, 1.0]}
    b: {shape: [2], element_type: f32, values: [1.1754944e-38, 2.0]}""",
    "Transpose-1": """arg: {shape: [2], element_type: f32, values: [1.0e-40, 2.0]}
    input_order: [0]""",
}
REQUIREMENTS = {
    "Divide-1": "values.rounded",
    "Exp-1": "values.bounded",
    "Log-1": "values.bounded",
    "Multiply-1": "values.rounded",
    "Transpose-1": "arg.bits",
}
BACKEND = """
from dataclasses import replace
import numpy as np
from opconform.operations.denormals import without_denormals
from opconform_runners.backends.numpy.backend import Numpy

class Exact(Numpy):
    declares = True
    def describe(self):
        return replace(super().describe(), name="it", flushes_denormals=self.declares)

class Flushing(Exact):
    def run(self, case, model, feeds):
        if case.op == "Transpose-1":
            return super().run(case, model, feeds)
        feeds = [{name: without_denormals(tensor) for name, tensor in feed.items()} for feed in feeds]
        return [[*map(without_denormals, outputs)] for outputs in super().run(case, model, feeds)]

class Silent(Flushing):
    declares = False
"""


@pytest.fixture(scope="module")
def place(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite of one case per operation, and a file of backends."""
    folder = tmp_path_factory.mktemp("flushing")
    (folder / "specs").mkdir()
    for op, inputs in SPECS.items():
        group = f"id: small\n    title: denormal numbers\n    requirements: [{REQUIREMENTS[op]}]\n    {inputs}\n"
        (folder / "specs" / f"{op}.yaml").write_text(f"op: {op}\ngroups:\n  - {group}")
    opconform("generate", "specs", "--out", "suite", cwd=folder)
    (folder / "backends.py").write_text(BACKEND)
    return folder


@pytest.fixture
def suite(place: Path) -> Suite:
    """The suite."""
    return open_suite(place / "suite")


def verdict_on(suite: Suite, op: str, output: Array, *, flushes: bool) -> Pass | Fail:
    """The verdict on the output of the case of an operation."""
    [entry] = [entry for entry in suite.entries if entry.op == op]
    returned = Returned(outputs=((np.asarray(output, np.float32),),), element_types=None, seconds=None)
    found = first_verdict(suite, entry, suite.case(entry), returned, flushes=flushes)
    assert isinstance(found, Pass | Fail)
    return found


RIGHT = {
    "inputs": ("Divide-1", [np.inf, 0, -0.0, 0.75]),
    "results": ("Divide-1", [1 / np.float32(1e-38), 0, -0.0, 0.75]),
    "one result": ("Divide-1", [1 / np.float32(1e-38), 0, np.float32(-1e-38) / 2, 0.75]),
    "bounded results": ("Exp-1", [0, 0, np.e, 1]),
    "a result that is rounded to the least normal number": ("Multiply-1", [0, 2]),
    "inputs of a function": ("Log-1", [-np.inf, np.log(2), np.log(3)]),
}
WRONG = {
    "a zero of the other sign": ("Divide-1", [np.inf, -0.0, -0.0, 0.75]),
    "a number beside them": ("Divide-1", [np.inf, 0, -0.0, 0.5]),
    "a zero for a normal number": ("Divide-1", [0, 0, -0.0, 0.75]),
    "a smaller denormal number": ("Exp-1", [0, np.float32(1e-43), np.e, 1]),
    "data that are moved": ("Transpose-1", [0, 2]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_flushed_numbers_are_right_only_by_the_declaration(suite: Suite, name: str) -> None:
    """In inputs, in results, or in both, at any element."""
    op, output = RIGHT[name]

    assert verdict_on(suite, op, np.array(output), flushes=True) == Pass(flushed=True)
    assert isinstance(verdict_on(suite, op, np.array(output), flushes=False), Fail)


@pytest.mark.parametrize("name", WRONG)
def test_the_declaration_excuses_nothing_else(suite: Suite, name: str) -> None:
    """What flushing does not give is wrong with the declaration, as it is without."""
    op, output = WRONG[name]

    assert isinstance(verdict_on(suite, op, np.array(output), flushes=True), Fail)


def test_a_suite_has_what_flushed_inputs_give(suite: Suite) -> None:
    """Where it is not the golden output without its own denormal numbers, with bounds as the golden output has them."""
    flushed = {entry.op: suite.flushed(entry, 0) for entry in suite.entries}

    assert {op: [*outputs] for op, outputs in flushed.items()} == {
        "Divide-1": ["output_0"],
        "Exp-1": [],
        "Log-1": ["output_0"],
        "Multiply-1": [],
        "Transpose-1": [],
    }
    quotients, bounds = flushed["Divide-1"]["output_0"]
    assert quotients.tolist() == [np.inf, 0, 0, 0.75]
    assert bounds is not None
    logarithms, bounds = flushed["Log-1"]["output_0"]
    assert bounds is not None
    assert (bounds[0][0], logarithms[0], bounds[1][0]) == (-np.inf, -np.inf, -np.inf)
    assert bounds[0][1] < logarithms[1] < bounds[1][1]


def test_an_output_without_denormal_inputs_is_required(suite: Suite) -> None:
    """A file that lacks it is not the one that the case declares."""
    [entry] = [entry for entry in suite.entries if entry.op == "Log-1"]
    case = suite.case(entry)

    assert case.outputs[0].flushed
    assert {*suite.arrays(entry, "expected.npz")} == {
        f"output_0{part}{side}" for part in ("", ".flushed") for side in ("", ".lower", ".upper")
    } | {"output_0.reduced.lower", "output_0.reduced.upper"}
    assert inputs_name(0) in entry.files


def test_a_run_says_how_many_cases_need_the_declaration(opconform: Run, place: Path) -> None:
    """Or that no case does; without it, flushing breaks what it broke before."""
    needed, needless, silent = (
        opconform("run", "suite", "-b", f"backends.py:{name}", "--out", name, cwd=place, code=None)
        for name in ("Flushing", "Exact", "Silent")
    )
    sentence = "The backend declares that it flushes denormal numbers to zero; "

    assert f"{sentence}3 cases pass only so." in needed.stdout
    assert f"{sentence}no case needs it." in needless.stdout
    assert sentence not in silent.stdout
    documents = {name: report_in(place / name) for name in ("Flushing", "Exact", "Silent")}
    assert [document["summary"]["fail"] for document in documents.values()] == [0, 0, 3]
    assert [document.get("flushed") for document in documents.values()] == [3, 0, None]
    assert json.dumps(documents["Flushing"]["implementation"]["flushes_denormals"]) == "true"


def test_a_run_names_the_accuracy_level_that_each_operation_meets(opconform: Run, place: Path) -> None:
    """And `reduced` where a result is less accurate. Operations that round nothing have no level."""
    exact, silent = (
        opconform("run", "suite", "-b", f"backends.py:{name}", "--out", name, "--force", cwd=place, code=None)
        for name in ("Exact", "Silent")
    )
    exact_levels, levels = (
        {op: accuracies["f32"]["level"] for op, accuracies in report_in(place / name)["accuracy"].items()}
        for name in ("Exact", "Silent")
    )

    assert exact_levels["Divide-1"] == "correctly-rounded"
    assert {*exact_levels.values()} <= {"correctly-rounded", "bounded"}
    assert {*exact_levels} == {"Divide-1", "Exp-1", "Log-1", "Multiply-1"}
    assert "Accuracy level correctly-rounded met by " in exact.stdout
    assert levels == {
        "Divide-1": "none",
        "Exp-1": "reduced",
        "Log-1": "none",
        "Multiply-1": "correctly-rounded",
    }
    assert "Accuracy level reduced met by 1 operation: Exp-1." in silent.stdout
