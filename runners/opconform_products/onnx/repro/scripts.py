"""The scripts that reproduce failures of ONNX Runtime."""

from opconform_runners.tools.repro.graph_source import onnx_source
from opconform_runners.tools.repro.script import Script

SCRIPT = Script(
    dialects=("onnx",),
    needs=("onnxruntime", "onnx", "numpy"),
    template="opconform_products.onnx:repro/script.py.j2",
    issue="opconform_products.onnx:repro/issue.md.j2",
    model=onnx_source,
    settings=lambda device: {"device": f"{device or 'CPU'}ExecutionProvider"},
)
