"""The dialect `onnx`: models of opset 18, made from the ONNX text format."""

from opconform.dialects.onnx.model import MODEL, files_of, printed, tensor_proto

__all__ = ["MODEL", "files_of", "printed", "tensor_proto"]
