"""Backends that execute ONNX models."""
