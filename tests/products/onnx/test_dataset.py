"""A suite as a dataset for ONNX Runtime."""

import re
from pathlib import Path

import onnx
import onnxruntime

from opconform.suite.dataset import load
from tests.conftest import ROOT, Run

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
    _, feed, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "suite.md").read_text(), re.DOTALL)
    [example] = load(tmp_path / "suite")
    session = onnxruntime.InferenceSession(example.model("onnx"))
    names = {"onnxruntime": onnxruntime, "onnx": onnx, "session": session, "array": example.inputs[0]["data"]}
    exec(feed, names)  # noqa: S102 - the page's own lines
    outputs = names["outputs"]

    assert isinstance(outputs, list)
    assert [output.shape() for output in outputs] == [[3, 2], [3, 2]]
