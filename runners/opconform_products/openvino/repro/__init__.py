"""The scripts and C++ tests that reproduce failures of OpenVINO."""

from opconform_products.openvino.repro.scripts import SCRIPT, THROUGH_ONNX

__all__ = ["SCRIPT", "THROUGH_ONNX"]
