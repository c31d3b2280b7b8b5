"""`opconform.load`: what a program gets that uses a suite as a dataset."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import opconform
from opconform.errors import SuiteError
from opconform_runners.backends import Rejected, Unsupported
from opconform_runners.tools.dataset import Example, MissingModel, load
from tests.conftest import ROOT, Run

SPEC = """\
op: Split-1
groups:
  - id: types
    title: values of several types
    requirements: [outputs.order]
    matrix: {element_type: [bf16, i4, u1, f32, string]}
    data: {shape: [6, 2], element_type: "${{ element_type }}"}
    axis: 0
    num_splits: 2
  - id: uneven
    title: four pieces of six
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 4
    expect: {reject: num_splits.divides}
    twin: {num_splits: 3}
"""
ROUNDED = """\
op: Exp-1
groups:
  - {id: bounds, title: exponentials, requirements: [values.bounded], data: {values: [0.5, .nan, -2.25]}}
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of six cases in ONNX."""
    folder = tmp_path_factory.mktemp("dataset")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--dialect", "onnx", "--out", folder / "suite")
    return folder / "suite"


@pytest.fixture
def examples(suite: Path) -> list[Example]:
    """Its cases as a program gets them."""
    return list(opconform.load(suite))


def test_arrays_have_the_dtypes_that_have_their_values(examples: list[Example]) -> None:
    """Those of numpy and ml_dtypes; u1 has none, and stays what is stored."""
    types = {
        example.case.inputs[0].element_type: (example.inputs[0]["data"].dtype, example.outputs[0][1].dtype)
        for example in examples
        if "/types/" in example.id
    }

    assert types.pop("string") == (np.dtype("<U3"), np.dtype("<U3"))
    assert types == {
        "bf16": (np.dtype(ml_dtypes.bfloat16),) * 2,
        "i4": (np.dtype(ml_dtypes.int4),) * 2,
        "u1": (np.dtype("uint8"),) * 2,
        "f32": (np.dtype("float32"),) * 2,
    }


def test_outputs_are_the_goldens_of_the_inputs(examples: list[Example]) -> None:
    """Split by numpy itself, they are the same."""
    for example in examples:
        if example.rejects is None:
            pieces = np.split(example.inputs[0]["data"], len(example.outputs[0]))
            assert all(np.array_equal(*pair) for pair in zip(pieces, example.outputs[0], strict=True))


def test_an_invalid_case_says_what_it_violates(examples: list[Example]) -> None:
    """It has inputs and no outputs."""
    [invalid] = [example for example in examples if example.rejects]

    assert (invalid.rejects, invalid.outputs) == ("num_splits.divides", ())
    assert invalid.inputs[0]["data"].shape == (6, 2)


def test_a_model_is_the_dialects_or_the_reason_for_none(examples: list[Example]) -> None:
    """ONNX reads it; u1, which ONNX lacks, has none; a dialect that was not generated is named."""
    by_type = {example.case.inputs[0].element_type: example for example in examples if "/types/" in example.id}

    onnx.checker.check_model(onnx.load_from_string(by_type["f32"].model("onnx")))
    with pytest.raises(LookupError, match=r"^Split-1/types/\w{10} has no model in onnx: .*u1"):
        by_type["u1"].model("onnx")
    with pytest.raises(LookupError, match=r"^the suite has no dialect stablehlo, only onnx$"):
        by_type["f32"].model("stablehlo")


def test_the_files_of_a_model_are_a_program_and_its_constants(opconform: Run, tmp_path: Path) -> None:
    """As a runtime reads them from memory; without constants there is no `model.bin`."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    examples = list(load(tmp_path / "suite"))

    assert all(example.files("openvino")["model.xml"] == example.model("openvino") for example in examples)
    assert {name for example in examples for name in example.files("openvino")} == {
        "layer.xml",
        "model.bin",
        "model.xml",
    }
    with pytest.raises(LookupError, match="no dialect onnx"):
        examples[0].files("onnx")


def test_arrays_may_be_written_to(examples: list[Example]) -> None:
    """Inputs and outputs, as runtimes ask for."""
    for example in examples:
        arrays = [array for feed in example.inputs for array in feed.values()]
        arrays += [array for feed in example.outputs for array in feed]
        assert all(array.flags.writeable for array in arrays), example.id


def test_a_changed_array_is_refused(suite: Path, tmp_path: Path) -> None:
    """With the suite's error, when its case is reached."""
    copy = shutil.copytree(suite, tmp_path / "suite")
    file = min(copy.rglob("inputs.npz"))
    file.write_bytes(file.read_bytes()[:-1] + b"\1")

    with pytest.raises(SuiteError, match=r"inputs\.npz was changed after the suite was generated"):
        list(opconform.load(copy))


def test_the_lines_of_the_documentation_work(
    suite: Path, examples: list[Example], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three of them print every case."""
    read, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "suite.md").read_text(), re.DOTALL)
    monkeypatch.chdir(suite.parent)
    exec(read)  # noqa: S102 - the page's own lines
    printed = capsys.readouterr().out.splitlines()

    assert len(printed) == len(examples)


@pytest.fixture
def rounded(opconform: Run, tmp_path: Path) -> Example:
    """A case whose output has bounds."""
    (tmp_path / "spec.yaml").write_text(ROUNDED)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    [example] = load(tmp_path / "suite")
    return example


def test_right_outputs_pass(examples: list[Example]) -> None:
    """In the dtypes of the example, as bits, and, of strings, as objects."""
    for example in examples:
        if example.rejects is None:
            bits = [[x if x.dtype.kind == "U" else x.view(f"u{x.dtype.itemsize}") for x in example.outputs[0]]]
            storage = [[x if x.dtype.kind in "Uf" else y for x, y in zip(*example.outputs, *bits, strict=True)]]
            objects = [[x.astype(object) if x.dtype.kind == "U" else x for x in example.outputs[0]]]
            for outputs in (example.outputs, storage, objects):
                assert example.judge(outputs).verdict == "pass", example.id


def test_a_wrong_element_is_named_with_its_bits_and_what_it_breaks(examples: list[Example]) -> None:
    """As in the results of a run."""
    [example] = [example for example in examples if example.case.inputs[0].element_type == "bf16"]
    first, second = example.outputs[0]
    second[1, 0] = 7

    result = example.judge([[first, second]])

    assert (result.verdict, result.reason, result.broken) == ("fail", "value", ("outputs.order",))
    assert result.sentence == "output_1[1, 0]: expected 9.0 (0x4110), got 7.0 (0x40e0); differing elements: 1 of 6"
    assert result.mismatch is not None
    assert (result.mismatch.output, result.mismatch.at) == ("output_1", (1, 0))


@pytest.mark.parametrize(
    ("outputs", "reason", "sentence"),
    [
        ([], "count", "expected 2 outputs, got 0"),
        (np.zeros((2, 6, 2), np.float32), "shape", "output_0: expected the shape [3, 2], got [6, 2]"),
        (np.zeros((2, 3, 2), np.float64), "element-type", "output_0: expected f32, got f64"),
    ],
    ids=["count", "shape", "type"],
)
def test_outputs_of_another_form_fail(
    examples: list[Example], outputs: Sequence[np.ndarray[Any, Any]], reason: str, sentence: str
) -> None:
    """Their number, shape or element type differs."""
    [example] = [x for x in examples if "/types/" in x.id and x.case.inputs[0].element_type == "f32"]

    result = example.judge([[*outputs]])

    assert (result.verdict, result.reason, result.sentence) == ("fail", reason, sentence)


def test_numbers_are_judged_by_their_bounds(rounded: Example) -> None:
    """A number at the bound, a NaN for a NaN, and one beside it."""
    [[golden]], [[bounds]] = rounded.outputs, rounded.bounds
    assert bounds is not None
    below = np.nextafter(bounds[0], np.float32(-np.inf))

    assert (rounded.judge([[golden]]).error, rounded.judge([[bounds[1]]]).error) == (0.0, 1.0)
    wrong = rounded.judge([[below]])
    assert (wrong.verdict, wrong.broken, wrong.mismatch and wrong.mismatch.differing) == (
        "fail",
        ("values.bounded",),
        2,
    )
    assert "allowed are" in wrong.sentence


def test_an_invalid_case_must_be_refused(examples: list[Example]) -> None:
    """Its acceptance breaks what it violates; a refusal of a valid case breaks that."""
    [invalid] = [example for example in examples if example.rejects]
    [valid] = [example for example in examples if example.id == invalid.case.twin]
    error = ValueError("cannot be\nsplit")

    accepted = invalid.judge([[np.zeros((2, 2), np.float32)]])
    assert (accepted.reason, accepted.broken) == ("accepted-invalid", ("num_splits.divides",))
    assert "violates num_splits.divides" in accepted.sentence
    assert (invalid.judge(error).verdict, invalid.judge(error).message) == ("pass", "cannot be split")
    assert invalid.judge(error, stage="run").late
    assert invalid.judge(Rejected("build", "no", "axis.range")).other_reason == "axis.range"
    refused = valid.judge(error)
    assert refused.sentence == "rejected at build time, although it is valid: cannot be split"


def test_what_a_backend_lacks_is_unsupported(examples: list[Example]) -> None:
    """It says so, or the dialect cannot express the case."""
    [narrow] = [example for example in examples if example.case.inputs[0].element_type == "u1"]
    with pytest.raises(MissingModel) as caught:
        narrow.files("onnx")

    for error in (caught.value, NotImplementedError("no u1"), Unsupported("no u1")):
        result = narrow.judge(error)
        assert (result.verdict, result.sentence) == ("unsupported", str(error))


def test_what_are_no_outputs_of_each_feed_is_an_error(examples: list[Example]) -> None:
    """A list of arrays, another number of feeds, and a dtype that no element type has."""
    [example] = [x for x in examples if "/types/" in x.id and x.case.inputs[0].element_type == "f32"]
    [outputs] = example.outputs

    for wrong in (outputs, [], [outputs, outputs], outputs[:1]):
        with pytest.raises(ValueError, match=r"judge takes the outputs of each feed, here one list of arrays"):
            example.judge(wrong)  # type: ignore[arg-type] # what a person may do
    with pytest.raises(ValueError, match="no element type has the dtype complex64"):
        example.judge([[output.astype(np.complex64) for output in outputs]])


def test_a_blind_suite_judges_nothing(opconform: Run, tmp_path: Path) -> None:
    """It has no expected outputs."""
    (tmp_path / "spec.yaml").write_text(ROUNDED)
    opconform("generate", tmp_path / "spec.yaml", "--blind", "--out", tmp_path / "suite")
    [example] = load(tmp_path / "suite")

    with pytest.raises(SuiteError, match="the suite is blind"):
        example.judge([[example.inputs[0]["data"]]])
