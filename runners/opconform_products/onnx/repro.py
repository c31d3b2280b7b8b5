"""The scripts that reproduce failures of ONNX Runtime."""

from opconform_runners.tools.repro.script import Script

SCRIPT = Script(
    dialects=("onnx",),
    needs=("onnxruntime", "onnx", "numpy"),
    template="onnxruntime.py.j2",
    settings=lambda device: {"device": f"{device or 'CPU'}ExecutionProvider"},
)
