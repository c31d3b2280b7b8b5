"""IsNaN-10, IsInf-10 and IsFinite-10, which tell the classes of floating-point numbers, from their pages."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.composition import Composition
from opconform.operations.arithmetic.elementwise import Kernel, computed, unary
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.checks import NUMBERS
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import Exact
from opconform.tensors.tensor import Array

#: The floating-point types.
_FLOATS = tuple(name for name in NUMBERS if ELEMENT_TYPES[name].kind == "float")


def _class(name: str, holds: Callable[[Arguments, Array], Array]) -> Computation:
    """An operation whose elements are true for the numbers of a class."""

    def formula(arguments: Arguments, _: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        numbers = [x if isinstance(x, float) else 0.0 for x in parts["data"]]  # rounded numbers are finite
        return [point(Exact(int(is_true))) for is_true in holds(arguments, np.array(numbers)).tolist()]

    return replace(
        unary(
            name,
            lambda a: computed(Kernel(floats=lambda x: holds(a, x), output="boolean"), a.tensor("data")),
            types=_FLOATS,
        ),
        types=lambda a: (TensorType(element_type="boolean", shape=a.shape("data")),),
        rounded=Formula(of=formula),
    )


def _is_infinite(arguments: Arguments, x: Array) -> Array:
    """Whether a number is one of the infinities that the attributes ask for."""
    sides = {"detect_negative": -math.inf, "detect_positive": math.inf}
    return np.isin(x, [infinity for name, infinity in sides.items() if arguments.attribute(name)])


IS_NAN = _class("IsNaN-10", lambda _, x: np.isnan(x))
IS_FINITE = _class("IsFinite-10", lambda _, x: np.isfinite(x))
IS_INF = replace(
    _class("IsInf-10", _is_infinite),
    attributes=tuple(
        AttributeSpec(f"detect_{side}", type="boolean", default=True) for side in ("negative", "positive")
    ),
)
