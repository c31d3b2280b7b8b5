"""A suite as a dataset for OpenVINO."""

import re
from pathlib import Path

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_products.openvino.runtime import ov
from opconform_runners.tools.dataset import load
from tests.conftest import ROOT, Run

SPEC = """\
op: Split-1
groups:
  - id: narrow
    title: values of types that are packed or that numpy does not have
    requirements: [outputs.order]
    matrix: {element_type: [u4, i4, f8e4m3, f8e5m2, bf16]}
    data: {shape: [6, 1], element_type: "${{ element_type }}", fill: ramp}
    axis: 0
    num_splits: 2
"""
PAGE = ROOT / "docs" / "suite.md"


def test_the_lines_of_the_documentation_work(opconform: Run, tmp_path: Path) -> None:
    """Those for i4, with the name of each type that the CPU takes at run time."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    [code] = re.findall(r"```python\n([^`]*output_of, tensor_of\n.*?)```", PAGE.read_text(), re.DOTALL)

    core, verdicts = ov.Core(), {}
    for example in load(tmp_path / "suite"):
        files, kind = example.files("openvino"), ELEMENT_TYPES[example.case.inputs[0].element_type]
        weights = ov.Tensor(np.frombuffer(files["model.bin"], np.uint8))
        request = core.compile_model(core.read_model(files["model.xml"], weights), "CPU").create_infer_request()
        [port], outputs = request.model_inputs, []
        for output in request.model_outputs:
            names = {"request": request, "port": port, "output": output, "array": example.inputs[0]["data"]}
            exec(code.replace("i4", kind.name).replace("uint8", kind.storage.name), names)  # noqa: S102 - the page's
            outputs.append(names["bits"])
        verdicts[kind.name] = example.judge([outputs]).verdict

    assert verdicts == dict.fromkeys(("u4", "i4", "f8e4m3", "f8e5m2", "bf16"), "pass")
