"""The dialects `onnx` and `onnx13`: models of opset 18 and 13, made from the ONNX text format."""

from opconform.dialects.onnx.model import MODEL, VERSIONS, files_of, printed

__all__ = ["MODEL", "VERSIONS", "files_of", "printed"]
