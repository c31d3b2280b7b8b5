"""Specs from the operations of a model, read from ONNX or from OpenVINO's IR."""
