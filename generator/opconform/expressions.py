"""`${{ … }}`: expressions of jinja2's sandbox, which yield values over a spec's variables."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.environment import TemplateExpression
from jinja2.sandbox import SandboxedEnvironment

#: A JSON value, as YAML gives it.
Value = Any
Variables = Mapping[str, Value]

#: The longest list or text that an expression may make.
LONGEST = 100_000
#: The most bits that an integer of an expression may have.
_WIDEST = 4_096
_LARGEST_DIVIDED = 1_000_000

_WHOLE = re.compile(r"\s*\$\{\{(.*)\}\}\s*", re.DOTALL)


class ExpressionError(Exception):
    """An expression that cannot be read or gives no value; the message says why."""


def is_expression(value: object) -> bool:
    """Whether a value of a spec is an expression, which is always the whole value."""
    return isinstance(value, str) and "${{" in value


def _insert(items: Sequence[Value], index: int, value: Value) -> list[Value]:
    """`insert(list, index, value)`: the list with a value put in before an index."""
    return [*items[:index], value, *items[index:]]


def _replace(items: Sequence[Value], index: int, value: Value) -> list[Value]:
    """`replace(list, index, value)`: the list with another value at an index."""
    changed = list(items)
    changed[index] = value
    return changed


def _range(*bounds: int) -> list[int]:
    """`range(stop)`, `range(start, stop)`, `range(start, stop, step)`: as Python's, but a list."""
    numbers = range(*bounds)
    if len(numbers) > LONGEST:
        raise ValueError(f"a range of {len(numbers):,} numbers is over the limit of {LONGEST:,}")
    return list(numbers)


def _repeat(value: Value, count: int) -> list[Value]:
    """`repeat(value, count)`: a list of the same value."""
    if count > LONGEST:
        raise ValueError(f"a list of {count:,} is over the limit of {LONGEST:,}")
    return [value] * count


def _rank(shape: Sequence[int]) -> int:
    """`rank(shape)`: how many dimensions a shape has."""
    return len(shape)


def _divisors(number: int) -> list[int]:
    """`divisors(number)`: what divides a number of at most 1,000,000, in ascending order."""
    if not 0 < number <= _LARGEST_DIVIDED:
        raise ValueError(f"divisors of {number} are not computed, only those of 1 to {_LARGEST_DIVIDED:,}")
    return [each for each in range(1, number + 1) if number % each == 0]


#: What every expression may call; `docs/specs.md` lists them.
FUNCTIONS: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "abs": abs,
        "divisors": _divisors,
        "insert": _insert,
        "len": len,
        "max": max,
        "min": min,
        "product": prod,
        "range": _range,
        "rank": _rank,
        "repeat": _repeat,
        "replace": _replace,
        "sorted": sorted,
        "sum": sum,
    }
)

#: What the expressions of a sample may call besides; `sampling` makes them.
RANDOM_FUNCTIONS = ("random_choice", "random_integer", "random_partition", "random_shape", "random_shuffle")

#: The names that no variable can have.
ALL_FUNCTIONS = frozenset({*FUNCTIONS, *RANDOM_FUNCTIONS})

_OPERATIONS: Mapping[str, Callable[[Any, Any], Value]] = MappingProxyType(
    {"*": lambda x, y: x * y, "**": lambda x, y: x**y, "%": lambda x, y: x % y, "+": lambda x, y: x + y}
)


class _Sandbox(SandboxedEnvironment):
    """A sandbox without methods, filters or globals, in which no operator makes anything huge."""

    intercepted_binops = frozenset(_OPERATIONS)

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:  # noqa: ARG002 - jinja2's signature
        return False

    def call_binop(self, context: object, operator: str, left: Value, right: Value) -> Value:  # noqa: ARG002
        _check_size(operator, left, right)
        return _OPERATIONS[operator](left, right)


def _check_size(operator: str, left: Value, right: Value) -> None:
    """Refuse what would take long or much, before it is computed."""
    if operator == "%" and isinstance(left, str):
        raise ValueError("text is not formatted here")
    lengths = [len(each) for each in (left, right) if isinstance(each, list | str)]
    factors = [each for each in (left, right) if isinstance(each, int)]
    longest = sum(lengths) if operator == "+" else prod(lengths) * prod(factors) if lengths else 0
    if longest > LONGEST:
        raise ValueError(f"a list of {longest:,} is over the limit of {LONGEST:,}")
    bits = [each.bit_length() for each in factors]
    if len(bits) == 2 and (bits[0] * right if operator == "**" else sum(bits)) > _WIDEST:  # noqa: PLR2004 - two numbers
        raise ValueError(f"a number of over {_WIDEST:,} bits is over the limit")


def _sandbox() -> _Sandbox:
    sandbox = _Sandbox(undefined=StrictUndefined, autoescape=False)
    sandbox.globals.clear()
    sandbox.filters.clear()
    return sandbox


_SANDBOX = _sandbox()


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    text: str
    _compiled: TemplateExpression

    def value(self, variables: Variables, functions: Mapping[str, Callable[..., Value]] = FUNCTIONS) -> Value:
        """What the expression yields.

        Raises:
            ExpressionError: It names what is not there, or fails.
        """
        try:
            found = self._compiled(**functions, **variables)
        except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as fault:
            raise ExpressionError(f"`{self.text}` fails: {_sentence(fault)}") from fault
        if not _is_plain(found):
            known = ", ".join(sorted(variables)) or "none"
            raise ExpressionError(f"`{self.text}` is no value; the variables here are: {known}")
        return list(found) if isinstance(found, tuple) else found


def expression_of(value: str) -> Expression:
    """The expression that is the whole of a spec's value, as in `${{ rank(shape) - 1 }}`.

    Raises:
        ExpressionError: It cannot be read, or text stands around it.
    """
    if "}}" not in value:
        raise ExpressionError(f"{value!r} is not closed; an expression stands between ${{{{ and }}}}")
    whole = _WHOLE.fullmatch(value)
    if whole is None or "${{" in whole[1]:
        raise ExpressionError(f"{value!r} mixes text with an expression; an expression must be the whole value")
    return compiled(whole[1].strip())


@lru_cache(maxsize=4_096)
def compiled(text: str) -> Expression:
    """A bare expression, as `where` holds it.

    Raises:
        ExpressionError: It cannot be read.
    """
    try:
        return Expression(text, _SANDBOX.compile_expression(text, undefined_to_none=False))
    except (TemplateError, RecursionError) as fault:
        raise ExpressionError(f"`{text}` cannot be read: {_sentence(fault)}") from fault


def _is_plain(value: object) -> bool:
    """Whether a value is one that YAML could hold; jinja's own objects are not."""
    if isinstance(value, list | tuple):
        return all(_is_plain(each) for each in value)
    if isinstance(value, dict):
        return all(_is_plain(each) for each in (*value, *value.values()))
    return value is None or isinstance(value, bool | int | float | str)


def _sentence(fault: BaseException) -> str:
    return (str(fault).strip() or type(fault).__name__).removesuffix(".")
