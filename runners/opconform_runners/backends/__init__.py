"""The contract of a Python backend, and the backends that opconform ships: one module or folder per product."""

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
from opconform_runners.backends.graph import outputs_of

__all__ = [
    "Backend",
    "Implementation",
    "Inputs",
    "Outputs",
    "PlacedOutputs",
    "Placement",
    "Rejected",
    "Unsupported",
    "outputs_of",
]
