"""Sin-1, Cos-1 and Tan-1, from their pages."""

from dataclasses import replace

from opconform.operations.arithmetic.elementwise import unary
from opconform.operations.arithmetic.function_tensors import function, lacks_integer, to_integer
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation import functions as propagation
from opconform.operations.checks import INTEGERS
from opconform.operations.operation import Computation
from opconform.tensors.exact import REALS


def _of_angles(name: str, function_name: str, *, has_reading: bool) -> Computation:
    """A function of angles; `has_reading` says that the page has no word on the fractions of integers."""
    operation = unary(
        name,
        function(function_name),
        types=(*REALS, *INTEGERS),
        undefined=lacks_integer(function_name),
        work=FUNCTION_WORK,
        others={"values.integers": to_integer(function_name)} if has_reading else None,
    )
    return replace(operation, rounded=propagation.function(function_name))


SIN = _of_angles("Sin-1", "sin", has_reading=True)
COS = _of_angles("Cos-1", "cos", has_reading=True)
TAN = _of_angles("Tan-1", "tan", has_reading=False)
