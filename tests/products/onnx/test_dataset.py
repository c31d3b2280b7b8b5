"""A suite as a dataset for ONNX Runtime."""

import re
from pathlib import Path

import onnx
import onnxruntime
import pytest

from opconform_runners.tools.dataset import load
from tests.conftest import ROOT, Run
from tests.result_files import cases_in

PAGE = ROOT / "docs" / "suite.md"
#: Cases of which ONNX Runtime fails some: a changed NaN, an accepted invalid case, a refused scalar, the order of NaNs.
GROUPS = ("Exp-1/element-types/*", "Pad-12/element-types/*", "Pad-12/*scalar/*", "TopK-11/not-a-number/*")

SPEC = """\
op: Split-1
groups:
  - id: narrow
    title: values of a type that numpy does not have
    requirements: [outputs.order]
    data: {shape: [6, 2], element_type: bf16}
    axis: 0
    num_splits: 2
"""


def test_the_lines_of_the_documentation_work(opconform: Run, tmp_path: Path) -> None:
    """Two of them feed bf16 to ONNX Runtime."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "spec.yaml", "--dialect", "onnx", "--out", tmp_path / "suite")
    _, feed, *_ = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [example] = load(tmp_path / "suite")
    session = onnxruntime.InferenceSession(example.model("onnx"))
    names = {"onnxruntime": onnxruntime, "onnx": onnx, "session": session, "array": example.inputs[0]["data"]}
    exec(feed, names)  # noqa: S102 - the page's own lines
    outputs = names["outputs"]

    assert isinstance(outputs, list)
    assert [output.shape() for output in outputs] == [[3, 2], [3, 2]]


def test_the_runner_of_the_documentation_gives_the_verdicts_of_a_run(
    opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In twelve lines, on cases that pass, fail in several ways, or cannot be given to ONNX Runtime."""
    selected = [word for group in GROUPS for word in ("--select", group)]
    opconform(
        "generate",
        "Exp-1",
        "Pad-12",
        "TopK-11",
        "--profile",
        "core",
        *selected,
        "--dialect",
        "onnx",
        "--out",
        "suite",
        cwd=tmp_path,
    )
    opconform("run", "suite", "onnxruntime", "--out", "results", cwd=tmp_path, code=1)
    [code] = re.findall(r"```python\n(import onnxruntime\n.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # noqa: S102 - the page's own lines
    printed = capsys.readouterr().out.splitlines()

    ran = cases_in(tmp_path / "results")
    assert len([line for line in code.splitlines() if line]) <= 12
    assert {case["verdict"] for case in ran} == {"pass", "fail", "unsupported"}
    for line, case in zip(printed, ran, strict=True):
        assert line.startswith(f"{case['id']} {case['verdict']} "), line
        if case["verdict"] == "fail":
            sentence = case["sentence"].replace("at run time", "at build time")  # the runner does not say when
            assert line == " ".join((case["id"], "fail", sentence, *case["broken"]))
