"""The dialects `onnx`, `onnx-13` and `onnx-17`: models of opsets 18, 13 and 17, made from the ONNX text format."""

from opconform.dialects.onnx.model import MODEL, files_of, printed, tensor_proto

__all__ = ["MODEL", "files_of", "printed", "tensor_proto"]
