"""`opconform.load`: what a program gets that uses a suite as a dataset."""

import re
import shutil
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import opconform
from opconform.errors import SuiteError
from opconform.suite.dataset import Example, load
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


def test_the_comparison_of_the_documentation_knows_bounds(opconform: Run, tmp_path: Path) -> None:
    """A number inside the bounds, a NaN for a NaN, and neither a number outside them nor a zero of another sign."""
    (tmp_path / "spec.yaml").write_text(ROUNDED)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    names: dict[str, Any] = {"numpy": np}
    _, _, code, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "suite.md").read_text(), re.DOTALL)
    exec(code, names)  # noqa: S102 - the page's own lines
    is_right = names["is_right"]
    [example] = load(tmp_path / "suite")
    golden, bounds = example.outputs[0][0], example.bounds[0][0]
    assert bounds is not None
    below = np.nextafter(bounds[0], np.float32(-np.inf))

    assert [*is_right(golden, golden, bounds)] == [True, True, True]
    assert [*is_right(bounds[1], golden, bounds)] == [True, True, True]
    assert [*is_right(below, golden, bounds)] == [False, True, False]
