"""Range-4, from its specification page: the numbers from a start to a stop, at equal distances."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import tensor_of
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.checks import INTEGERS, NUMBERS
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import REALS, REDUCED, Exact, Result, bounded_tensor, unit, within
from opconform.tensors.rounding import Number, largest, nearest, numbers_of
from opconform.tensors.tensor import Tensor

_NAMES = ("start", "stop", "step")
#: The most integers that another operation can take as a setting.
_MOST_INTEGERS = 1 << 16


class _Settings(NamedTuple):
    """The exact settings."""

    start: Fraction
    stop: Fraction
    step: Fraction

    @property
    def quotient(self) -> Fraction:
        """The distance from the start to the stop, in steps."""
        return (self.stop - self.start) / self.step

    @property
    def size(self) -> int:
        """The number of elements (Detailed description)."""
        return max(math.ceil(self.quotient), 0)

    def elements(self, count: int) -> Iterator[Fraction]:
        """The first elements."""
        return (self.start + place * self.step for place in range(count))


def _kind(arguments: Arguments) -> ElementType:
    return ELEMENT_TYPES[str(arguments.attribute("output_type"))]


def _number(arguments: Arguments, name: str) -> Number:
    """A setting as it is given."""
    elements = arguments.elements(name)
    if len(elements) != 1:
        raise Unknown
    [number] = elements
    return number


def _numbers(arguments: Arguments) -> list[Number]:
    return [_number(arguments, name) for name in _NAMES]


def _settings(arguments: Arguments) -> _Settings:
    """The settings in the type in which elements are computed: integers for one of integers, the same ones otherwise.

    `NoGolden` for settings that are no numbers of the output, and a step that is 0 in its type.
    """
    numbers, kind = _numbers(arguments), _kind(arguments)
    if not all(map(math.isfinite, numbers)):
        raise NoGolden("the page has no elements for infinities and NaNs")
    settings = _Settings(*(Fraction(int(x) if kind.is_integer else x) for x in numbers))
    if not (settings.step if kind.is_integer else nearest(kind, numbers[2], is_truncated=True)):
        raise NoGolden("the page leaves a step undefined that is 0 in the type of the output")
    if any(abs(x) > largest(kind) if kind.kind == "float" else _is_outside(kind, x) for x in settings):
        raise NoGolden("the page has no rule for settings that the type of the output lacks")
    return settings


def _is_outside(kind: ElementType, number: Fraction) -> bool:
    """Whether a number is beyond a type of integers, or of few numbers."""
    return kind.is_integer and not kind.minimum <= number <= kind.maximum


def _has_every(kind: ElementType, numbers: Sequence[Fraction]) -> bool:
    """Whether a floating-point type has all of some numbers."""
    near = [*map(float, numbers)]
    return [*map(Fraction, near)] == [*numbers] and numbers_of(tensor_of(kind, np.array(near))) == near


def _count_in(kind: Callable[[float], Any], settings: _Settings) -> int:
    """The number of elements as a floating-point type computes it."""
    with np.errstate(all="ignore"):
        start, stop, step = (kind(float(x)) for x in settings)
        quotient = float((stop - start) / step)
    if not math.isfinite(quotient):
        raise NoGolden("the settings are beyond a floating-point type")
    return max(math.ceil(quotient), 0)


#: How the number of elements may be computed.
_COUNTS: tuple[Callable[[_Settings], int], ...] = (
    lambda settings: settings.size,
    partial(_count_in, np.float64),
    partial(_count_in, np.float32),
)


def _in_type(kind: ElementType, settings: _Settings, *, is_truncated: bool) -> _Settings:
    """The settings as numbers of the floating-point type of the output."""
    return _Settings(*(Fraction(nearest(kind, float(x), is_truncated=is_truncated)) for x in settings))


def _casts(kind: ElementType, settings: _Settings) -> Iterator[_Settings]:
    """The settings in the types that can be meant by the one in which elements are computed."""
    yield settings
    if kind.name in REALS:
        yield from (_in_type(kind, settings, is_truncated=x) for x in (False, True))


def _other_count(place: int, arguments: Arguments) -> tuple[Tensor, ...]:
    """The output with another number of elements: rounded, or of settings that are rounded first."""
    settings, kind = _settings(arguments), _kind(arguments)
    ways = [*product(_casts(kind, settings), _COUNTS)]
    if place >= len(ways):
        raise Unknown
    cast, count_of = ways[place]
    count = count_of(cast)
    if count == settings.size:
        raise Unknown
    return _tensor(kind, settings, count)


#: The number of ways to count the elements, of which the first one is ours.
_WAYS = 9


def _is_exact(kind: ElementType, settings: _Settings, count: int) -> bool:
    """Whether a type has every number from which elements are computed, in any way."""
    multiples = (place * settings.step for place in range(count))
    return _has_every(kind, [settings.start, settings.step, *settings.elements(count), *multiples])


def _rounded(kind: ElementType, settings: _Settings, count: int) -> Iterator[Result]:
    """The elements with the errors of casts, of one sum per element or of a product, and of the last cast."""
    start, step = (Exact(x) for x in (settings.start, settings.step))
    of_start, of_step = (Exact(0) if _has_every(kind, [x]) else unit(kind, Exact(x)) for x in settings[::2])
    sums = Exact(0)
    for place, element in enumerate(settings.elements(count)):
        exact, casts, last = Exact(element), of_start + place * of_step, Exact(0)
        if place:
            last = unit(kind, abs(exact) + casts + sums) / 2
            sums += last
        error = casts + max(sums, unit(kind, place * step) / 2) + last
        yield within(exact, error, (abs(start) + place * abs(step)) * REDUCED)


def _tensor(kind: ElementType, settings: _Settings, count: int) -> tuple[Tensor, ...]:
    """The output of some settings and a number of elements."""
    if kind.name in REALS and not _is_exact(kind, settings, count):
        return (bounded_tensor(kind.name, (count,), _rounded(kind, settings, count)),)
    return (tensor_of(kind, np.array([*settings.elements(count)], object)),)


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    settings, kind = _settings(arguments), _kind(arguments)
    if not kind.is_integer and _is_open(kind, _number(arguments, "start"), settings):
        raise NoGolden("rounding decides the number of elements, or whether an element is a negative zero")
    return _tensor(kind, settings, settings.size)


def _is_open(kind: ElementType, start: Number, settings: _Settings) -> bool:
    """Whether the start is a negative zero, a type of few numbers lacks one, or rounding decides their number."""
    if math.copysign(1, start) < 0 == start:
        return True
    if kind.name not in REALS:
        return not _has_every(kind, [*settings, *settings.elements(settings.size)])
    if _is_exact(kind, settings, settings.size):
        return False
    return any(count(cast) != settings.size for cast, count in product(_casts(kind, settings), _COUNTS))


def _count(arguments: Arguments) -> int:
    """The number of elements; 0 for settings without a result."""
    try:
        return _settings(arguments).size
    except NoGolden:
        return 0


def _integers(arguments: Arguments) -> tuple[int, ...] | None:
    """The elements of an output of integers; None for settings without a result, and for too many elements."""
    if arguments.attributes.get("output_type") not in INTEGERS:
        return None
    try:
        settings = _settings(arguments)
    except NoGolden:
        return None
    return None if settings.size > _MOST_INTEGERS else tuple(map(int, settings.elements(settings.size)))


def _is_fraction(arguments: Arguments) -> bool:
    """Whether a type of integers lacks the fraction of a setting."""
    return _kind(arguments).is_integer and any(x != int(x) for x in _numbers(arguments))


def _with_fractions(arguments: Arguments, *, are_sums: bool) -> tuple[Tensor, ...]:
    """The integers of an output whose number follows from settings with fractions, as may each element."""
    if not _is_fraction(arguments):
        raise Unknown
    given = _Settings(*map(Fraction, _numbers(arguments)))
    if not are_sums:
        return _tensor(_kind(arguments), _settings(arguments), given.size)
    return (tensor_of(_kind(arguments), np.array([*map(int, given.elements(given.size))], object)),)


def _other_types(arguments: Arguments) -> bool:
    return any(arguments.operand(name).element_type != _kind(arguments).name for name in _NAMES)


RANGE = Computation(
    name="Range-4",
    inputs=tuple(Port(name, setting=True, types=NUMBERS, ranks=(0,)) for name in _NAMES),
    attributes=(AttributeSpec("output_type", type="enum", values=NUMBERS),),
    types=lambda a: (TensorType(element_type=_kind(a).name, shape=(_count(a),)),),
    calculate=_computed,
    is_numeric=True,
    shaped_by_elements=True,
    products=lambda a: FUNCTION_WORK * _count(a),
    integer_output=_integers,
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "the step is negative": lambda a: _numbers(a)[2] < 0,
        "the output has no elements": lambda a: _count(a) == 0,
        "the step divides the distance": lambda a: _settings(a).quotient.denominator == 1,
        "an input has another type than the output": _other_types,
        "an input is a floating-point number": lambda a: any(has_kind(a.operand(x), "float") for x in _NAMES),
    },
    readings={
        "count.rounded": Reading(computes=tuple(partial(_other_count, place) for place in range(1, _WAYS))),
        "fractions.cast": Reading(computes=tuple(partial(_with_fractions, are_sums=x) for x in (False, True))),
    },
)
