"""The scripts that reproduce failures of OpenVINO, and of its frontend for ONNX."""

from collections.abc import Mapping

from opconform_products.openvino.prefixes import prefixed
from opconform_products.openvino.repro.calls import openvino_source, opsets
from opconform_products.openvino.repro.cpp_test import cpp_test_of
from opconform_products.openvino.repro.ir import ir_source
from opconform_runners.tools.repro.graph_source import onnx_source
from opconform_runners.tools.repro.script import Script

#: The templates.
_FOLDER = "opconform_products.openvino:repro"


def _settings(text: str) -> Mapping[str, object]:
    device, is_accurate, is_imported = prefixed(text)
    is_elsewhere = device not in ("", "CPU")
    return {"device": device or "CPU", "is_elsewhere": is_elsewhere, "accurate": is_accurate, "imported": is_imported}


SCRIPT = Script(
    dialects=("openvino",),
    needs=("openvino", "numpy"),
    template=f"{_FOLDER}/calls.py.j2",
    without_graph=f"{_FOLDER}/ir.py.j2",
    issue=f"{_FOLDER}/issue.md.j2",
    graph=lambda case, _: openvino_source(case),
    settings=_settings,
    names=lambda case: {"opsets": opsets(case)},
    model=ir_source,
    cpp_test=cpp_test_of,
    cpp_needs="C++17, OpenVINO and GoogleTest",
)
THROUGH_ONNX = Script(
    dialects=("onnx",),
    needs=("openvino", "onnx", "numpy"),
    template=f"{_FOLDER}/onnx.py.j2",
    issue=f"{_FOLDER}/issue.md.j2",
    settings=_settings,
    model=onnx_source,
)
