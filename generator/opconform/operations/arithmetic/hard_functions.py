"""HardSigmoid-1, HSigmoid-5 and HSwish-4, from their pages: lines with limits, whose parts are rounded."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval, composed
from opconform.operations.arithmetic.elementwise import unary
from opconform.operations.arithmetic.functions import COMPOSITE_WORK
from opconform.operations.arithmetic.propagation.functions import last
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.checks import Predicate
from opconform.operations.operation import Computation
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, has_few_bits, numbers, wide_type
from opconform.tensors.tensor import Tensor

_ZERO, _ONE, _THREE, _SIX = map(Exact, (0, 1, 3, 6))


@dataclass(frozen=True, kw_only=True, slots=True)
class _HardFunction:
    """A function of one number or more.

    Attributes:
        value: The value at finite numbers.
        special: The value where a number is an infinity or a NaN.
        parts: What the formula gives if its parts are rounded.
        limits: The least and the largest value; None for an infinity.
        keeps_sign: Whether a zero has the sign of the number.
        far: A number from which on, and from whose negative on, the value stays the same.
    """

    value: Callable[..., Exact]
    special: Callable[..., float]
    parts: Callable[..., Interval]
    limits: tuple[int | None, int | None] = (0, 1)
    keeps_sign: bool = False
    far: float = math.inf

    def near(self, x: float) -> float:
        """A number that has the value of another one, and is finite if the value stays the same; a NaN stays one."""
        return x if math.isnan(x) else min(max(x, -self.far), self.far)


def _limited(part: Interval, most: Exact) -> Interval:
    """A part between 0 and a limit, which an infinity becomes as well."""
    low, high = (min(max(end, _ZERO), most) for end in part[:2])
    return Interval(low, high)


def _hard_sigmoid(x: Exact, alpha: Exact, beta: Exact) -> Exact:
    return min(max(alpha * x + beta, _ZERO), _ONE)


def _special_hard_sigmoid(x: float, alpha: float, beta: float) -> float:
    return min(max(alpha * x + beta, 0.0), 1.0)  # which keep a NaN that they get first


def _parts_of_hard_sigmoid(way: Composition, x: "Exact | Interval", *line: "Exact | Interval") -> Interval:
    alpha, beta = map(way.operand, line)
    return _limited(way.sum(way.product(alpha, way.operand(x)), beta), _ONE)


def _sixth(way: Composition, part: Interval) -> Interval:
    """The quotient by 6, or the product with a rounded sixth."""
    return replace(way, keeps_exact=False).quotient(part, Interval(_SIX, _SIX))


def _h_sigmoid(x: Exact) -> Exact:
    return min(max(x + _THREE, _ZERO), _SIX) / _SIX


def _limited_sum(way: Composition, x: "Exact | Interval") -> Interval:
    """The number plus 3, limited to 0 and 6."""
    return _limited(way.sum(way.operand(x), Interval(_THREE, _THREE)), _SIX)


def _parts_of_h_sigmoid(way: Composition, x: "Exact | Interval") -> Interval:
    return _sixth(way, _limited_sum(way, x)).clipped(_ZERO)


def _h_swish(x: Exact) -> Exact:
    return x * _h_sigmoid(x)


def _parts_of_h_swish(way: Composition, x: "Exact | Interval") -> Interval:
    """The product with the limited sum, divided by 6 before or after it; by the page, the fraction is a factor."""
    low, high, _ = way.product(way.operand(x), _limited_sum(way, x))
    return _sixth(way, Interval(low, high))


_HARD_SIGMOID = _HardFunction(value=_hard_sigmoid, special=_special_hard_sigmoid, parts=_parts_of_hard_sigmoid)
_H_SIGMOID = _HardFunction(value=_h_sigmoid, special=lambda x: x, parts=_parts_of_h_sigmoid, far=8.0)
_H_SWISH = _HardFunction(
    value=_h_swish,
    special=lambda x: x + math.inf,  # minus infinity has none
    parts=_parts_of_h_swish,
    limits=(None, None),
    keeps_sign=True,
)


def _result(function: _HardFunction, kind: ElementType, *numbers_: float) -> Result:
    operands = [*map(function.near, numbers_)]
    if not all(map(math.isfinite, operands)):
        return function.special(*operands)
    exact = [Exact(x) for x in operands]
    if not function.value(*exact):
        return math.copysign(0.0, operands[0]) if function.keeps_sign else 0.0
    return _bounded(function, kind, *exact)


@lru_cache
def _bounded(function: _HardFunction, kind: ElementType, *operands: Exact) -> Result:
    """A value that is not 0, with the errors that are right."""
    [result] = composed(
        kind,
        [function.value(*operands)],
        lambda way: [function.parts(way, *operands)],
        keeps_exact=True,
        is_short=all(map(has_few_bits, operands)),
        limits=function.limits,
    )
    return result


def _computed(function: _HardFunction, arguments: Arguments) -> Tensor:
    """The results for the elements of data and the other inputs, which are scalars."""
    data, *others = (arguments.tensor(name) for name in arguments.inputs)
    scalars = [float(numbers(x)) for x in others]
    results = [_result(function, data.type, x, *scalars) for x in numbers(data).ravel().tolist()]
    return bounded_tensor(data.element_type, data.shape, results)


def _without_nan(function: _HardFunction) -> list[Callable[[Arguments], Tensor]]:
    """The results of the function where a maximum or a minimum drops a NaN, so that it becomes a limit."""

    def special(limit: float, *operands: float) -> float:
        value = function.special(*operands)
        return limit if math.isnan(value) else value

    return [partial(_computed, replace(function, special=partial(special, limit))) for limit in (0.0, 1.0)]


def _with_limit(zero: float) -> Callable[[Arguments], Tensor]:
    """The results of HSwish-4 with a zero for minus infinity, which is the limit of the function."""
    return partial(_computed, replace(_H_SWISH, special=lambda x: max(x, zero)))  # a NaN stays one


def _formula(function: _HardFunction) -> Formula:
    def of(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        scalars = [parts[name][0] for name in [*arguments.inputs][1:]]
        return [_of_part(function, way, x, *scalars) for x in parts["data"]]

    return Formula(of=of)


def _of_part(function: _HardFunction, way: Composition, *parts: Part) -> Part:
    near = [function.near(x) if isinstance(x, float) else x for x in parts]
    operands = [point(Exact(x)) if isinstance(x, float) and math.isfinite(x) else x for x in near]
    if any(isinstance(x, float) for x in operands):
        if any(isinstance(x, Interval) and x.low != x.high for x in operands):
            raise NoGolden("a function of a rounded number and an infinity is not followed")
        value = function.special(*(x if isinstance(x, float) else float(x.low) for x in operands))
        return point(Exact(value)) if math.isfinite(value) else value
    part = last(way, function.parts(replace(way, kind=wide_type(way.kind)), *operands))
    least, most = (None if end is None or way.is_reduced else Exact(end) for end in function.limits)
    return part.clipped(least, most)


def _h_function(
    name: str, function: _HardFunction, others: Mapping[str, Sequence[Callable[[Arguments], Tensor]]]
) -> Computation:
    """A function of one tensor, with the results of other readings."""
    return replace(
        unary(name, partial(_computed, function), work=COMPOSITE_WORK, types=REALS, others=others),
        rounded=_formula(function),
    )


def _types_differ(name: str) -> Predicate:
    """Whether a scalar has another floating-point type than data."""

    def predicate(arguments: Arguments) -> bool:
        types = {arguments.operand(x).element_type for x in ("data", name)}
        return len(types) > 1 and types.issubset(REALS)

    return predicate


_SCALARS = ("alpha", "beta")
_OF_DATA = _h_function("HardSigmoid-1", _HARD_SIGMOID, {"values.nan": _without_nan(_HARD_SIGMOID)})
HARD_SIGMOID = replace(
    _OF_DATA,
    inputs=(*_OF_DATA.inputs, *(Port(name, types=REALS, ranks=(0,)) for name in _SCALARS)),
    checks={f"{name}.same-type": _types_differ(name) for name in _SCALARS},
    same_types=_SCALARS,
)
H_SIGMOID = _h_function("HSigmoid-5", _H_SIGMOID, {"values.nan": _without_nan(_H_SIGMOID)})
H_SWISH = _h_function(
    "HSwish-4",
    _H_SWISH,
    {
        "values.special": [_with_limit(-0.0), _with_limit(0.0)],
        "values.zero": [partial(_computed, replace(_H_SWISH, keeps_sign=False))],
    },
)
