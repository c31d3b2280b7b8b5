"""The outputs of operations on rounded elements: a formula of intervals, evaluated for three ways of rounding.

The exact way gives the golden numbers, the right way the bounds, and the reduced way the reduced bounds. A kernel may
round an intermediate result to its type, to a wider one, or not at all, so intervals have all of these.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import gmpy2
import numpy as np

from opconform.operations.arguments import Arguments, NoGolden, TensorType
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import (
    REALS,
    Exact,
    Result,
    Rounded,
    bounded_tensor,
    exact_of,
    largest,
    numbers,
    unit,
)
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Array, Spans, Tensor

#: What an element can be: the numbers of an interval, or a NaN or an infinity.
Part = Interval | float
#: The most elements of an output whose errors are followed.
_MOST_ELEMENTS = 1 << 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Formula:
    """What an operation computes of elements that may be rounded.

    Attributes:
        of: The elements of the only output for the arguments, how results are rounded, and the elements of inputs, by
            name.
        keeps_integers: Whether results for integers are integers.
    """

    of: Callable[[Arguments, Composition, Mapping[str, Sequence[Part]]], Sequence[Part]]
    keeps_integers: bool = False

    def is_exact(self, inputs: Sequence[Tensor], output: Tensor) -> bool:
        """Whether an output of exact elements is surely exact: of integers, which the type has in every order."""
        if not self.keeps_integers or output.bounds is not None:
            return False
        largest_ = float(2 ** (int(output.type.layout.nmant) + 1))
        elements = [numbers(x) for x in (*inputs, output) if x.element_type in REALS]
        with np.errstate(invalid="ignore"):
            return all(bool(((x == np.rint(x)) & (np.abs(x) < largest_)).all()) for x in elements)


#: The zero that stands where a movement has no element.
_ZEROS = np.array([Exact(0)], object)
#: The bits of ends, and how many a number may have before it is rounded outwards to these; and their least exponent.
_BITS, _MANY, _LEAST_EXPONENT = 320, 1400, -40_000


def point(exact: Exact) -> Interval:
    """The interval of one number."""
    return Interval(exact, exact)


def propagated(name: str, formula: Formula, arguments: Arguments, output: TensorType) -> Tensor:
    """The output of an operation for elements that may be rounded, with what the next operation computes with.

    `NoGolden` if errors decide what the result is.
    """
    kind = ELEMENT_TYPES[output.element_type]
    if math.prod(output.shape) > _MOST_ELEMENTS:
        raise NoGolden(f"{name}: errors of more than {_MOST_ELEMENTS:,} elements are not followed")
    types = [x.tensor.type for x in arguments.inputs.values() if x.tensor is not None and x.element_type in REALS]
    own = kind if kind.name in REALS else types[0]
    ways = (
        Composition(kind=own, is_exact=True),
        Composition(kind=own, keeps_exact=True),
        Composition(kind=own, is_reduced=True),
    )
    tensors = {key: x.tensor for key, x in arguments.inputs.items() if x.tensor is not None and x.element_type in REALS}
    try:
        exact, right, reduced = (
            formula.of(arguments, way, {key: _parts(tensor, way) for key, tensor in tensors.items()}) for way in ways
        )
    except NoGolden as error:
        raise NoGolden(f"{name}: {error}") from error
    if kind.name not in REALS:
        return _decided(name, kind, output.shape, (exact, right, reduced))
    rows = [_joined(name, kind, *parts) for parts in zip(exact, right, reduced, strict=True)]
    tensor = bounded_tensor(kind.name, output.shape, [_result(kind, row) for row in rows])
    columns = [_array(column, output.shape) for column in zip(*rows, strict=True)] if rows else []
    if not columns:
        return tensor
    middle, low, high, least, most = columns
    spans = Spans(exact=middle, right=(low, high), reduced=(least, most))
    return Tensor(
        element_type=kind.name,
        array=tensor.array,
        bounds=tensor.bounds,
        reduced=tensor.reduced,
        spans=spans,
        is_computed=True,
    )


def is_infinite(kind: ElementType, part: Interval) -> bool:
    """Whether a type rounds every number of an interval to one infinity."""
    beyond = largest(kind.name) + unit(kind, largest(kind.name)) / 2
    return part.low >= beyond or part.high <= -beyond


def spans_of(tensor: Tensor) -> Spans:
    """What the elements of a tensor can be, also of one without rounded elements."""
    if tensor.spans is not None:
        return tensor.spans
    exact = _array(exact_of(tensor), tensor.shape)
    ends = tensor.reduced and [
        _array(exact_of(Tensor(element_type=tensor.element_type, array=end)), tensor.shape) for end in tensor.reduced
    ]
    return Spans(exact=exact, right=(exact, exact), reduced=(ends[0], ends[1]) if ends else (exact, exact))


def with_infinities(spans: Spans, output: Tensor) -> Spans:
    """The spans of an output of exact elements, in which what rounding makes infinite is infinite."""
    lower, upper = output.bounds or (output.array, output.array)
    ends = [numbers(Tensor(element_type=output.element_type, array=x)) for x in (lower, upper)]
    is_infinite_ = np.isinf(ends[0]) & (ends[0] == ends[1])
    known = _array(ends[0].reshape(-1).tolist(), output.shape)
    exact, low, high, least, most = (
        np.where(is_infinite_, known, x) for x in (spans.exact, *spans.right, *spans.reduced)
    )
    return Spans(exact=exact, right=(low, high), reduced=(least, most))


def moved_spans(tensors: Mapping[str, Tensor], move: Callable[[Mapping[str, Array]], Sequence[Array]]) -> list[Spans]:
    """What the elements of the outputs of a movement can be.

    `move` moves the numbers of the elements of all inputs; -1 stands for an element of no input, which is 0.
    """
    places, after = dict[str, Array](), 0
    for name, tensor in tensors.items():
        places[name] = np.arange(after, after + tensor.array.size).reshape(tensor.shape)
        after += tensor.array.size
    columns = zip(*((x.exact, *x.right, *x.reduced) for x in map(spans_of, tensors.values())), strict=True)
    flat = [np.concatenate([*(x.reshape(-1) for x in column), _ZEROS]) for column in columns]
    every = ([column[numbers_] for column in flat] for numbers_ in move(places))
    return [Spans(exact=exact, right=(low, high), reduced=(least, most)) for exact, low, high, least, most in every]


def _array(elements: Iterable[Exact | float], shape: tuple[int, ...]) -> Array:
    array = np.empty(math.prod(shape), object)
    array[:] = [*elements]
    return array.reshape(shape)


def _parts(tensor: Tensor, way: Composition) -> list[Part]:
    """The elements of an input."""
    spans, most = spans_of(tensor), largest(tensor.element_type)
    low, high = (spans.exact,) * 2 if way.is_exact else spans.reduced if way.is_reduced else spans.right
    return [
        _part(a, b, most, is_reduced=way.is_reduced)
        for a, b in zip(low.reshape(-1).tolist(), high.reshape(-1).tolist(), strict=True)
    ]


def _part(low: Exact | float, high: Exact | float, most: Exact, *, is_reduced: bool) -> Part:
    if isinstance(low, float) and (low == high or math.isnan(low)):
        return low
    if is_reduced:
        return Interval(max(low, -most), min(high, most))  # type: ignore[arg-type]
    if low < -most or high > most:
        raise NoGolden("an element may be beyond the range of its type")
    return Interval(low, high)  # type: ignore[arg-type]


def _joined(name: str, kind: ElementType, exact: Part, right: Part, reduced: Part) -> tuple[Exact | float, ...]:
    """The exact element, and the ends of right and of less accurate ones, which have it between them."""
    if isinstance(exact, float) or isinstance(right, float) or isinstance(reduced, float):
        special = {str(x) for x in (exact, right, reduced)}
        if not isinstance(exact, float) or len(special) > 1:
            raise NoGolden(f"{name}: errors decide whether a result is finite")
        return (exact,) * 5
    middle = _trimmed(exact.low, gmpy2.RoundToNearest)
    if abs(middle) > largest(kind.name) and is_infinite(kind, right):
        return (math.inf if middle > 0 else -math.inf,) * 5
    low, high = min(right.low, middle), max(right.high, middle)
    least, most = min(reduced.low, low), max(reduced.high, high)
    down, up = gmpy2.RoundDown, gmpy2.RoundUp
    return middle, _trimmed(low, down), _trimmed(high, up), _trimmed(least, down), _trimmed(most, up)


def _trimmed(exact: Exact, rounding: int) -> Exact:
    """A number with fewer bits, if it has many: rounded far below any error."""
    if exact.numerator.bit_length() + exact.denominator.bit_length() <= _MANY:
        return exact
    with gmpy2.context(precision=_BITS, round=rounding, emin=_LEAST_EXPONENT, emax=-_LEAST_EXPONENT):
        return Exact(gmpy2.mpfr(exact))


def _result(kind: ElementType, row: tuple[Exact | float, ...]) -> Result:
    """An element of the output; a zero may have either sign."""
    middle, low, high, least, most = row
    if isinstance(middle, float):
        return middle
    if low == high == 0:
        low, high = -Exact(float(kind.layout.smallest_subnormal)), Exact(float(kind.layout.smallest_subnormal))
    return Rounded(middle, (low, high), (min(least, low), max(most, high)))


def _decided(name: str, kind: ElementType, shape: tuple[int, ...], ways: Iterable[Sequence[Part]]) -> Tensor:
    """An output of integers or booleans, on which errors must have no influence."""
    integers: list[int] = []
    for parts in zip(*ways, strict=True):
        ends = {end for part in parts for end in ((part,) if isinstance(part, float) else part[:2])}
        if len(ends) > 1 or any(isinstance(end, float) for end in ends):
            raise NoGolden(f"{name}: the errors of rounded elements decide a result")
        integers.append(int(ends.pop()))
    flat = np.array(integers, np.bool_) if kind.kind == "boolean" else encoded(kind.name, integers)
    return Tensor(element_type=kind.name, array=flat.reshape(shape), is_computed=True)
