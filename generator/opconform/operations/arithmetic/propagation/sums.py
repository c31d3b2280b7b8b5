"""Sums and products of rounded numbers, in any order: their exact parts, and the error that the magnitude allows."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.products import odd_part
from opconform.operations.arithmetic.propagation.pairs import largest_of, multiplied, product_of, smallest_of
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.arithmetic.sums import allowed_error, reduced_error, right_error
from opconform.tensors.exact import REDUCED, Exact, has_few_bits, largest, least_normal, wide_type
from opconform.tensors.tensor import Array

#: The element of some parts.
Reduce = Callable[[Composition, Sequence[Part]], Part]
#: The numbers of the elements that become one, along the last axis.
Rows = Callable[[Arguments, Array], Array]
_ZERO, _ONE, _MEAN_UNITS = Exact(0), Exact(1), Exact(2)


def total(way: Composition, parts: Sequence[Part], operands: Sequence[Part] | None = None) -> Part:
    """The sum of parts that are not rounded themselves, in any order.

    `operands` are what the parts are products of, if they are products.
    """
    special = [x for x in parts if isinstance(x, float)]
    if special:
        return sum(special)
    intervals = [x for x in parts if isinstance(x, Interval)]
    part = Interval(sum((x.low for x in intervals), _ZERO), sum((x.high for x in intervals), _ZERO))
    magnitude = sum((x.size for x in intervals), _ZERO)
    if way.is_exact or not magnitude:
        return part
    if magnitude > largest(wide_type(way.kind).name):
        raise NoGolden("a partial sum of rounded numbers may be beyond the range of its type")
    error = _error(way, intervals, operands or parts, magnitude)
    return Interval(part.low - error, part.high + error)


def _error(way: Composition, parts: Sequence[Interval], operands: Sequence[Part], magnitude: Exact) -> Exact:
    """The error of a sum; none if the type has every partial sum."""
    count, are_points = len(parts), all(x.low == x.high for x in parts)
    right = right_error(way.kind, [x.low for x in parts]) if are_points else allowed_error(way.kind, magnitude, count)
    if not way.is_reduced:
        return right
    is_short = not right and all(isinstance(x, Interval) and has_few_bits(x.low) for x in operands)
    return max(right, reduced_error(way.kind, magnitude, count, is_exact=is_short))


def mean(way: Composition, parts: Sequence[Part]) -> Part:
    """The mean of some parts."""
    return quotient(way, parts, len(parts)) if parts else math.nan


def quotient(way: Composition, parts: Sequence[Part], count: int) -> Part:
    """Their sum by a count; a product with its rounded reciprocal, which is exact for a power of two."""
    sum_ = total(way, parts)
    if isinstance(sum_, float):
        return sum_
    part = Interval(sum_.low / count, sum_.high / count)
    is_kept = way.keeps_exact and (count & (count - 1) == 0 or not part.size)
    right = Composition(kind=way.kind, is_exact=way.is_exact, keeps_exact=is_kept)
    return part if count == 1 else right.rounded(part, _MEAN_UNITS)


def _extreme(of: Callable[[Composition, Part, Part], Part]) -> Reduce:
    """The largest or the smallest element; a NaN if there is one."""

    def extreme(way: Composition, parts: Sequence[Part]) -> Part:
        if not parts:
            raise NoGolden("the page leaves the result for data without elements undefined")
        return reduce(lambda a, b: of(way, a, b), parts)

    return extreme


#: The largest element, and the smallest one.
maximum, minimum = _extreme(largest_of), _extreme(smallest_of)


def product(way: Composition, parts: Sequence[Part]) -> Part:
    """The product of parts in any order, each time rounded by a factor near 1."""
    if any(isinstance(x, float) for x in parts):
        return reduce(lambda a, b: multiplied(way, a, b), parts)
    intervals = [x for x in parts if isinstance(x, Interval)]
    part = reduce(product_of, intervals, point(_ONE))
    are_points = all(x.low == x.high for x in intervals)
    if way.is_exact or (are_points and not part.size):
        return part
    large = math.prod((max(x.size, _ONE) for x in intervals), start=_ONE)
    small = math.prod((min(abs(x.low), abs(x.high), _ONE) for x in intervals), start=_ONE)
    if large > largest(way.kind.name):
        raise NoGolden("a partial product of rounded numbers may be beyond the range of its type")
    bits = int(way.kind.layout.nmant) + 1
    is_exact = are_points and small >= least_normal(way.kind.name) and odd_part(part.low).bit_length() <= bits
    if is_exact and not way.is_reduced:
        return part
    is_short = is_exact and all(has_few_bits(x.low) for x in intervals)
    step = REDUCED if way.is_reduced and not is_short else Exact(1, 1 << bits)
    lost = least_normal(way.kind.name) if small < least_normal(way.kind.name) else _ZERO
    error = part.size * ((1 + step) ** len(parts) - 1) + lost
    return Interval(part.low - error, part.high + error)


def of_rows(rows: Rows, of: Reduce, *, keeps_integers: bool) -> Formula:
    """The formula of an operation by which elements of data become one."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        data = parts["data"]
        return [of(way, [data[x] for x in row]) for row in _slices(rows(arguments, _numbers(arguments, "data")))]

    return Formula(of=formula, keeps_integers=keeps_integers)


def of_means(rows: Callable[[Arguments], Iterable[tuple[Sequence[int], int]]]) -> Formula:
    """The formula of means, each given by the numbers of its elements of data, and what divides their sum."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        data = parts["data"]
        return [quotient(way, [data[x] for x in row], count) for row, count in rows(arguments)]

    return Formula(of=formula)


def of_products(rows: Callable[[Arguments, Array, Array], tuple[Array, Array]], names: tuple[str, str]) -> Formula:
    """The formula of sums of products of each row of the first tensor with each row of the second one.

    `rows` has the numbers of their elements in matrices of equal batch dimensions; -1 stands for a zero.
    """

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        first, second = ([*parts[name], point(_ZERO)] for name in names)
        left, right = rows(arguments, *(_numbers(arguments, name) for name in names))
        results: list[Part] = []
        for place in np.ndindex(left.shape[:-2]):
            a = [[first[x] for x in row] for row in left[place].tolist()]
            b = [[second[x] for x in row] for row in right[place].tolist()]
            results += [dot_product(way, row, column) for row in a for column in b]
        return results

    return Formula(of=formula, keeps_integers=True)


def dot_product(way: Composition, a: Sequence[Part], b: Sequence[Part]) -> Part:
    """The sum of the products of two lists of equal length."""
    products = [
        product_of(x, y) if isinstance(x, Interval) and isinstance(y, Interval) else multiplied(way, x, y)
        for x, y in zip(a, b, strict=True)
    ]
    return total(way, products, [*a, *b])


def of_slices(rows: Rows, of: Callable[[Arguments, Composition, Sequence[Part]], Sequence[Part]]) -> Formula:
    """The formula of an operation that computes slices of data, along the last axis of `rows`, from each other."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        data = parts["data"]
        results = [*data]
        for row in _slices(rows(arguments, _numbers(arguments, "data"))):
            for place, result in zip(row, of(arguments, way, [data[x] for x in row]), strict=True):
                results[place] = result
        return results

    return Formula(of=formula)


def partial_sums(exclusive: str) -> Callable[[Arguments, Composition, Sequence[Part]], list[Part]]:
    """The sums of the elements up to each one, which they leave out if an attribute says so."""

    def of(arguments: Arguments, way: Composition, parts: Sequence[Part]) -> list[Part]:
        last = 0 if arguments.attribute(exclusive) is True else 1
        return [total(way, parts[: place + last]) for place in range(len(parts))]

    return of


def _slices(numbers: Array) -> list[list[int]]:
    lists: list[list[int]] = numbers.reshape(math.prod(numbers.shape[:-1]), numbers.shape[-1]).tolist()
    return lists


def _numbers(arguments: Arguments, name: str) -> Array:
    """The numbers of the elements of an input, in its shape."""
    shape = arguments.shape(name)
    return np.arange(math.prod(shape)).reshape(shape)
