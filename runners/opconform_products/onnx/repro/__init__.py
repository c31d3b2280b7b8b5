"""The scripts that reproduce failures of ONNX Runtime."""

from opconform_products.onnx.repro.scripts import SCRIPT

__all__ = ["SCRIPT"]
