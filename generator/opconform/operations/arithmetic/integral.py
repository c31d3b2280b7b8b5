"""Floor-1, Ceiling-1, Round-5 and Sign-1, whose results are integers, from their pages."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import Kernel, computed, each, elements_of, unary
from opconform.operations.arithmetic.propagation.functions import half_away, of_elements, steps
from opconform.operations.arithmetic.propagation.spans import Formula
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.exact import Exact
from opconform.tensors.tensor import Array, Tensor

_Floats = Callable[[Array], Array]
_HALF = 0.5


def _computed(of: _Floats, arguments: Arguments) -> Tensor:
    """The results of a function of numbers of f64; integers stay."""
    return computed(Kernel(floats=of, integers=each(1, int)), arguments.tensor("data"))


def _with_positive_zeros(of: _Floats, arguments: Arguments) -> Tensor:
    """The results of a function whose zeros are positive."""
    return _computed(lambda x: of(x) + 0.0, arguments)


def _rounding(name: str, of: _Floats, exact: Callable[[Exact], int]) -> Computation:
    """An operation that rounds to an integer, whose zeros are positive by another reading."""
    return replace(
        unary(name, partial(_computed, of), others={"values.zero": [partial(_with_positive_zeros, of)]}),
        rounded=of_elements(steps(exact), keeps_integers=True),
    )


def _half_away(x: Array) -> Array:
    """The nearest integer, and of two the one away from zero; an infinity has no fraction."""
    whole = np.trunc(x)
    is_far = np.isfinite(x) & (np.abs(x - whole) >= _HALF)
    return np.asarray(whole + np.where(is_far, np.copysign(1.0, x), np.copysign(0.0, x)))


#: The functions of each mode: of f64, and of exact numbers.
_MODES: dict[str, tuple[_Floats, Callable[[Exact], int]]] = {
    "half_to_even": (np.rint, round),
    "half_away_from_zero": (_half_away, half_away),
}


def _mode(arguments: Arguments) -> str:
    return str(arguments.attribute("mode"))


def _round(arguments: Arguments) -> Tensor:
    return _computed(_MODES[_mode(arguments)][0], arguments)


def _round_with_positive_zeros(arguments: Arguments) -> Tensor:
    return _with_positive_zeros(_MODES[_mode(arguments)][0], arguments)


def _in_other_mode(requirement: str, arguments: Arguments) -> tuple[Tensor, ...]:
    """The values in the other mode, by which a kernel breaks the requirement on the mode that is asked for."""
    mode, is_omitted = _mode(arguments), "mode" in arguments.omitted
    of_mode = {"half_to_even": "values.even", "half_away_from_zero": "values.away"}[mode]
    if requirement != ("mode.default" if is_omitted else of_mode):
        raise Unknown
    [other] = _MODES.keys() - {mode}
    return (_round(replace(arguments, attributes={**arguments.attributes, "mode": other})),)


def _has_half(arguments: Arguments) -> bool:
    """Whether a number is halfway between two integers."""
    if not has_kind(arguments.operand("data"), "float"):
        return False
    with np.errstate(invalid="ignore"):
        return bool((np.abs(np.modf(elements_of(arguments.tensor("data")))[0]) == _HALF).any())


def _sign(arguments: Arguments, *, keeps_zero: bool = False) -> Tensor:
    """-1, 0 or 1; of a zero the positive one, or by another reading itself."""

    def floats(x: Array) -> Array:
        signs = np.where(x == 0, x if keeps_zero else 0.0, np.copysign(1.0, x))
        return np.where(np.isnan(x), x, signs)

    return computed(Kernel(floats=floats, integers=each(1, _sign_of)), arguments.tensor("data"))


def _sign_of(x: int | Exact) -> int:
    return (x > 0) - (x < 0)


FLOOR = _rounding("Floor-1", np.floor, math.floor)
CEILING = _rounding("Ceiling-1", np.ceil, math.ceil)
_ROUND = unary("Round-5", _round, others={"values.zero": [_round_with_positive_zeros]})
ROUND = replace(
    _ROUND,
    readings={
        **_ROUND.readings,
        **{
            requirement: Reading(computes=(partial(_in_other_mode, requirement),), by_element=True, misreads=True)
            for requirement in ("values.even", "values.away", "mode.default")
        },
    },
    rounded=Formula(
        of=lambda a, way, parts: of_elements(steps(_MODES[_mode(a)][1])).of(a, way, parts), keeps_integers=True
    ),
    attributes=(AttributeSpec("mode", type="enum", values=tuple(_MODES), default="half_to_even"),),
    facts={**_ROUND.facts, "a number is halfway between two integers": _has_half},
)
SIGN = replace(
    unary("Sign-1", _sign, others={"values.zero": [partial(_sign, keeps_zero=True)]}),
    rounded=of_elements(steps(_sign_of, (-1.0, 1.0)), keeps_integers=True),
)
