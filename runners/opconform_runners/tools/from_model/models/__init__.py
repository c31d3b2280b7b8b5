"""Models, read from ONNX or from OpenVINO's IR."""
