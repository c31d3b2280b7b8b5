"""SoftPlus-4, Elu-1, Swish-4, Mish-4 and SoftSign-9, from their pages: composites of one tensor."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import unary
from opconform.operations.arithmetic.function_tensors import bounded_values, with_limits
from opconform.operations.arithmetic.functions import COMPOSITE_WORK, FUNCTIONS, RealFunction, elu, swish
from opconform.operations.arithmetic.mistakes import tables
from opconform.operations.arithmetic.propagation.functions import of_function
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.exact import REALS, numbers
from opconform.tensors.tensor import Tensor

_Of = Callable[[Arguments], RealFunction]


def _values(of: _Of, arguments: Arguments) -> Tensor:
    return bounded_values(of(arguments), arguments.tensor("data"))


def _limited(of: _Of, limits: tuple[float, float], arguments: Arguments) -> Tensor:
    return with_limits(of(arguments), limits, arguments.tensor("data"))


def _activation(name: str, of: _Of, limits: tuple[float, float] | None = None) -> Computation:
    """A function that the arguments decide; `limits` are its limits, if its formula gives a NaN for infinities."""
    others = {} if limits is None else {"values.special": [partial(_limited, of, limits)]}
    operation = unary(name, partial(_values, of), types=REALS, work=COMPOSITE_WORK, others=others)
    return replace(operation, rounded=of_function(of), mistakes=tables(of))


def _alpha(arguments: Arguments) -> float:
    return float(str(arguments.attribute("alpha")))


def _elu(arguments: Arguments) -> RealFunction:
    return elu(_alpha(arguments))


def _beta(arguments: Arguments) -> float:
    if "beta" not in arguments.inputs:
        return 1.0
    if arguments.shape("beta") or arguments.operand("beta").element_type not in REALS:
        raise Unknown
    return float(numbers(arguments.tensor("beta")))


def _swish(arguments: Arguments) -> RealFunction:
    return swish(_beta(arguments))


def _types_differ(arguments: Arguments) -> bool:
    data, beta = (arguments.operand(name).element_type for name in ("data", "beta"))
    return data != beta and {data, beta} <= {*REALS}


SOFTPLUS = _activation("SoftPlus-4", lambda _: FUNCTIONS["softplus"])
MISH = _activation("Mish-4", lambda _: FUNCTIONS["mish"], (-0.0, math.inf))
SOFTSIGN = _activation("SoftSign-9", lambda _: FUNCTIONS["softsign"], (-1.0, 1.0))
_ELU = _activation("Elu-1", _elu)
ELU = replace(
    _ELU,
    attributes=(AttributeSpec("alpha", type="float"),),
    checks={"alpha.range": lambda a: _alpha(a) < 0},
    facts={**_ELU.facts, "alpha is not 1": lambda a: _alpha(a) != 1},
)
_SWISH = _activation("Swish-4", _swish, (-0.0, math.inf))
SWISH = replace(
    _SWISH,
    inputs=(Port("data", types=REALS), Port("beta", optional=True, types=REALS, ranks=(0,))),
    checks={"beta.same-type": _types_differ, "beta.range": lambda a: _beta(a) < 0},
    same_types=("beta",),
    facts={**_SWISH.facts, "beta is omitted": lambda a: "beta" not in a.inputs},
)
