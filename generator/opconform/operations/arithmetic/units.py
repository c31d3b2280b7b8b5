"""The units in the last place within which results of functions are right.

They are taken from OpenCL C 3.0, section 7.4 (full profile), and from its extension cl_khr_fp16 for the narrower types.
"""

from collections.abc import Mapping
from typing import NamedTuple

from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Exact, is_narrow, unit


class Units(NamedTuple):
    """The units in the last place within which a result is right, of f32 and f64, and of the narrower types."""

    wide: int
    narrow: int

    def of(self, kind: ElementType, exact: Exact) -> Exact:
        """The error that is right for an exact result."""
        return (self.narrow if is_narrow(kind) else self.wide) * unit(kind, exact)


#: The units of functions that are not composites.
UNITS: Mapping[str, Units] = {
    "exp": Units(3, 2),
    "log": Units(3, 2),
    "sin": Units(4, 2),
    "cos": Units(4, 2),
    "tan": Units(5, 2),
    "tanh": Units(5, 2),
    "erf": Units(16, 4),
    "pow": Units(16, 4),
}
#: Those of a division.
DIVISION = 3
