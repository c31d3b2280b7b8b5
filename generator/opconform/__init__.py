"""A conformance test-suite generator for tensor operations."""

__version__ = "0.1.0"
