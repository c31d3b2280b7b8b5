"""OpenVINO: its plugins, and its own evaluation."""
