"""The functions and operators of expressions, and the limits on the values that they make."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from opconform.errors import quoted

#: A JSON value, as YAML gives it.
Value = Any

#: The most values, and characters of strings, in the result of an expression or of a part of it, nested ones included.
LONGEST = 100_000
#: The most bits of an integer.
_WIDEST = 4_096
_LARGEST_DIVIDED = 1_000_000
#: The deepest nesting of lists, and of brackets in an expression.
NESTED = 50

_NESTING = frozenset({str, list, tuple, dict})


def size_of(value: Value, depth: int = 0) -> int:
    """The number of values and characters in a value, including itself; `ValueError` if it is over a limit."""
    if isinstance(value, str):
        size = 1 + len(value)
    elif isinstance(value, list | tuple | dict):
        if depth > NESTED:
            raise ValueError(f"a list nested more than {NESTED} levels deep is over the limit")
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        size = 1 + len(inside)
        if not _NESTING.isdisjoint(map(type, inside)):
            for item in inside:
                size += size_of(item, depth + 1)
                if size > 2 * LONGEST:
                    break
    else:
        return 1
    if size > LONGEST + 1:
        raise ValueError(f"a list or text of more than {LONGEST:,} values or characters is over the limit")
    return size


def check_operands(operator: str, left: Value, right: Value) -> None:
    """Raise `ValueError` for an operation whose result would be large or slow to compute."""
    if operator == "%" and isinstance(left, str):
        raise ValueError("text cannot be formatted")
    lengths = [len(x) for x in (left, right) if isinstance(x, list | str)]
    factors = [x for x in (left, right) if isinstance(x, int)]
    longest = sum(lengths) if operator == "+" else math.prod(lengths) * math.prod(factors) if lengths else 0
    if longest > LONGEST:
        raise ValueError(f"a list or text of more than {LONGEST:,} values or characters is over the limit")
    bits = [factor.bit_length() for factor in factors]
    if len(bits) == 2 and (bits[0] * right if operator == "**" else sum(bits)) > _WIDEST:  # noqa: PLR2004 - two numbers
        raise ValueError(f"a number of more than {_WIDEST:,} bits is over the limit")


def _insert(items: Sequence[Value], index: int, value: Value) -> list[Value]:
    return [*items[:index], value, *items[index:]]


def _replace(items: Sequence[Value], index: int, value: Value) -> list[Value]:
    changed = list(items)
    changed[index] = value
    return changed


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if not -LONGEST <= numbers.start - numbers.stop <= LONGEST and len(numbers[: LONGEST + 1]) > LONGEST:
        raise ValueError(f"a range of more than {LONGEST:,} numbers is over the limit")
    return list(numbers)


def _repeat(value: Value, count: int) -> list[Value]:
    if count * size_of(value) > LONGEST:
        raise ValueError(f"a list of more than {LONGEST:,} values is over the limit")
    return [value] * count


def _lists(values: Sequence[Value], shortest: int, longest: int) -> list[Value]:
    made = sum(len(values) ** length * (length + 1) for length in range(shortest, min(longest, NESTED) + 1))
    if longest > NESTED or made > LONGEST:
        raise ValueError(f"lists of more than {LONGEST:,} values are over the limit")
    return [list(choice) for length in range(shortest, longest + 1) for choice in product(values, repeat=length)]


def _product(items: Sequence[Value]) -> Value:
    product: Value = 1
    for item in items:
        if not isinstance(item, int | float):
            raise TypeError("only numbers can be multiplied")
        check_operands("*", product, item)
        product *= item
    return product


def _sum(items: Sequence[Value]) -> Value:
    if not all(isinstance(item, int | float) for item in items):
        raise TypeError("only numbers can be added")
    return sum(items)


def _divisors(number: int) -> list[int]:
    if not 0 < number <= _LARGEST_DIVIDED:
        raise ValueError(f"divisors takes a number from 1 to {_LARGEST_DIVIDED:,}, not {quoted(number)}")
    low = [index for index in range(1, math.isqrt(number) + 1) if number % index == 0]
    return low + [number // x for x in reversed(low) if x * x != number]


def _rank(shape: Value) -> int:
    if not isinstance(shape, list):
        raise TypeError(f"rank takes a list, not {quoted(shape)}")
    return len(shape)


#: The functions of every expression; `docs/specs.md` documents them.
FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "abs": abs,
    "divisors": _divisors,
    "insert": _insert,
    "len": len,
    "lists": _lists,
    "max": max,
    "min": min,
    "product": _product,
    "range": _range,
    "rank": _rank,
    "repeat": _repeat,
    "replace": _replace,
    "sorted": sorted,
    "sum": _sum,
}

#: The additional functions of the expressions of `random`; `draws` makes them.
RANDOM_FUNCTIONS = ("random_choice", "random_integer", "random_partition", "random_shape", "random_shuffle")

#: The operators whose operands are checked.
OPERATORS: Mapping[str, Callable[[Any, Any], Value]] = {
    "*": lambda x, y: x * y,
    "**": lambda x, y: x**y,
    "%": lambda x, y: x % y,
    "+": lambda x, y: x + y,
}
