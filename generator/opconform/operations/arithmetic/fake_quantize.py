"""FakeQuantize-1, from its specification page: elements clipped to a range and rounded to one of its levels."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.broadcasting import RULES, attribute, follows
from opconform.operations.arithmetic.composition import composed
from opconform.operations.arithmetic.functions import COMPOSITE_WORK
from opconform.operations.arithmetic.propagation.quantization import Limits, fake_quantized, level
from opconform.operations.arithmetic.propagation.spans import point
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, exact_of, has_few_bits, numbers
from opconform.tensors.tensor import Tensor

#: The inputs with the limits.
_LIMITS = ("input_low", "input_high", "output_low", "output_high")
_NAMES = ("x", *_LIMITS)
#: An element with its limits: exact numbers, but for NaNs and infinities, or what they can be.
_Row = tuple[Any, ...]
#: The fewest levels.
_FEWEST = 2


def _fits(shape: Shape, whole: Shape) -> bool:
    """Whether limits can be repeated to the shape of the elements."""
    aligned = (1,) * (len(whole) - len(shape)) + shape
    return len(aligned) == len(whole) and all(size in (1, most) for size, most in zip(aligned, whole, strict=True))


def _rows(arguments: Arguments, elements: Mapping[str, Sequence[Any]]) -> Iterator[_Row]:
    """Each element with its limits."""
    places = (np.arange(len(elements[name])).reshape(arguments.shape(name)) for name in _NAMES)
    columns = [np.broadcast_to(numbers, arguments.shape("x")).ravel().tolist() for numbers in places]
    for row in zip(*columns, strict=True):
        yield tuple(elements[name][place] for name, place in zip(_NAMES, row, strict=True))


def _has_special_limit(arguments: Arguments) -> bool:
    """Whether a limit is a NaN or an infinity, for which the formula has no level."""
    return any(not np.isfinite(numbers(arguments.tensor(name))).all() for name in _LIMITS)


def _exact(x: Exact, limits: Sequence[Exact], levels: int) -> Exact:
    """The exact result; of two levels that are as near, the even one."""
    low, high, output_low, output_high = limits
    if x <= min(low, high):
        return output_low
    if x > max(low, high):
        return output_high
    last = levels - 1
    return Exact(round((x - low) / (high - low) * last)) / last * (output_high - output_low) + output_low


def _result(kind: ElementType, levels: int, x: Exact | float, *limits: Exact) -> Result:
    if isinstance(x, float):
        if math.isnan(x):
            return x
        x = Exact(math.copysign(float(kind.layout.max), x))  # which no limit is beyond, either
    element, range_ = point(x), Limits(*map(point, limits))
    [result] = composed(
        kind,
        [_exact(x, limits, levels)],
        lambda way: [level(way, element, range_, levels)],
        keeps_exact=True,
        is_short=all(map(has_few_bits, (x, *limits))),
    )
    return result


def _elements(arguments: Arguments) -> list[_Row]:
    return [*_rows(arguments, {name: exact_of(arguments.tensor(name)) for name in _NAMES})]


def _tensor(arguments: Arguments, rows: Sequence[_Row]) -> tuple[Tensor, ...]:
    x, levels = arguments.operand("x"), arguments.number("levels")
    kind = ELEMENT_TYPES[x.element_type]
    return (bounded_tensor(kind.name, x.shape, [_result(kind, levels, *row) for row in rows]),)


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    return _tensor(arguments, _elements(arguments))


def _of_others(changed: Callable[..., _Row]) -> Calculate:
    """The results of changed elements and limits; `Unknown` if none changes."""

    def outputs(arguments: Arguments) -> tuple[Tensor, ...]:
        rows = _elements(arguments)
        others = [changed(*row) for row in rows]
        if others == rows:
            raise Unknown
        return _tensor(arguments, others)

    return outputs


def _clipped(x: Any, low: Any, high: Any, output_low: Any, output_high: Any) -> _Row:
    """An element that is clipped first: at the lower end of a reversed range, it becomes the last level."""
    return (x, low, high, output_low, output_high) if low <= high else (x, high, low, output_high, output_low)


def _without_nan(infinity: float, x: Any, *limits: Any) -> _Row:
    """An element that is at an end of the range if it is a NaN, since it is not compared as the page does."""
    return (infinity if isinstance(x, float) and math.isnan(x) else x, *limits)


def _with_levels(more: int, arguments: Arguments) -> tuple[Tensor, ...]:
    """The results for another number of levels."""
    levels = arguments.number("levels") + more
    if levels < _FEWEST:
        raise Unknown
    return _computed(replace(arguments, attributes={**arguments.attributes, "levels": levels}))


def _differs(name: str) -> Callable[[Arguments], bool]:
    """Whether a limit has another floating-point type than the elements."""

    def check(arguments: Arguments) -> bool:
        types = {arguments.operand(x).element_type for x in ("x", name)}
        return len(types) > 1 and types.issubset(REALS)

    return check


def _has_pair(of: Callable[[Any, Any], bool], *names: str) -> Callable[[Arguments], bool]:
    """Whether two limits of an element are in some relation."""

    def fact(arguments: Arguments) -> bool:
        is_valid = all(
            arguments.operand(name).element_type in REALS and _fits(arguments.shape(name), arguments.shape("x"))
            for name in _NAMES
        )
        if not is_valid:
            raise Unknown
        pairs = [[row[_NAMES.index(name)] for name in names] for row in _elements(arguments)]
        return any(of(*pair) for pair in pairs)

    return fact


_MISTAKES: Mapping[str, Calculate] = {
    "As if there were one level more": partial(_with_levels, 1),
    "As if there were one level fewer": partial(_with_levels, -1),
}
#: From its specification page.
FAKE_QUANTIZE = Computation(
    name="FakeQuantize-1",
    inputs=(Port("x", types=REALS), *(Port(name, types=REALS) for name in _LIMITS)),
    attributes=(AttributeSpec("levels", type="int"), attribute(RULES)),
    checks={
        **{f"{name}.same-type": _differs(name) for name in _LIMITS},
        "levels.range": lambda a: a.number("levels") < _FEWEST,
        "none.shapes": lambda a: follows(a, "none") and len({a.shape(name) for name in _NAMES}) > 1,
        "limits.shape": lambda a: (
            not follows(a, "none") and not all(_fits(a.shape(name), a.shape("x")) for name in _LIMITS)
        ),
    },
    types=lambda a: (TensorType(element_type=a.operand("x").element_type, shape=a.shape("x")),),
    calculate=_computed,
    rounded=fake_quantized(_rows),
    undefined=_has_special_limit,
    is_numeric=True,
    products=lambda a: 2 * COMPOSITE_WORK * math.prod(a.shape("x")),
    mistakes=_MISTAKES,
    same_types=_LIMITS,
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "there are two levels": lambda a: a.number("levels") == _FEWEST,
        "the limits are scalars": lambda a: all(not a.shape(name) for name in _LIMITS),
        "a limit is repeated along some dimensions, and not along others": lambda a: any(
            math.prod(a.shape(name)) not in (1, math.prod(a.shape("x"))) for name in _LIMITS
        ),
        "limits of inputs are equal": _has_pair(operator.eq, *_LIMITS[:2]),
        "limits of inputs are reversed": _has_pair(operator.gt, *_LIMITS[:2]),
        "limits of outputs are reversed": _has_pair(operator.gt, *_LIMITS[2:]),
    },
    readings={
        "x.zero-size": Reading(rejects=lambda a: is_empty(a.operand("x"))),
        "input_low.order": Reading(computes=(_of_others(_clipped),), by_element=True),
        "values.nan": Reading(
            computes=tuple(_of_others(partial(_without_nan, end)) for end in (-math.inf, math.inf)), by_element=True
        ),
    },
)
