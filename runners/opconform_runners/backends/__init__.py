"""The contract of a Python backend, and one module for each backend that opconform ships."""

from opconform_runners.backends.backend import (
    Backend,
    Implementation,
    Inputs,
    Outputs,
    PlacedOutputs,
    Placement,
    Rejected,
    Unsupported,
)

__all__ = [
    "Backend",
    "Implementation",
    "Inputs",
    "Outputs",
    "PlacedOutputs",
    "Placement",
    "Rejected",
    "Unsupported",
]
