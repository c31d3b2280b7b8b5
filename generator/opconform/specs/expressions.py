"""`${{ … }}`: expressions of jinja2's sandbox, which yield values over a spec's variables."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateExpression
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from opconform.errors import quoted, quoted_text

#: A JSON value, as YAML gives it.
Value = Any
Variables = Mapping[str, Value]

#: The most values, and letters of texts, that the result of an expression or of a part of it may hold, nested ones too.
LONGEST = 100_000
#: The most values and letters that the expressions of a group, and all their parts, may make.
MADE = 10_000_000
#: The most bits that an integer of an expression may have.
_WIDEST = 4_096
_LARGEST_DIVIDED = 1_000_000
#: The most characters of an expression, and the deepest nesting of brackets in it.
_TEXT = 2_000
_NESTED = 50

_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"\s*\$\{\{(.*)\}\}\s*", re.DOTALL)


class ExpressionError(Exception):
    """An expression that cannot be read or gives no value; the message says why."""


class Meter:
    """Counts the values that the expressions of a group make, so that they end in time."""

    def __init__(self) -> None:
        self._made = 0

    def count(self, value: Value) -> None:
        """Add a value that an expression or a part of it has made.

        Raises:
            ValueError: It is too large, or all of them together are.
        """
        self._made += _size(value)
        if self._made > MADE:
            raise ValueError(f"the expressions of the group make more than {MADE:,} values, the limit")


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
    if not -LONGEST <= numbers.start - numbers.stop <= LONGEST and len(numbers[: LONGEST + 1]) > LONGEST:
        raise ValueError(f"a range of more than {LONGEST:,} numbers is over the limit")
    return list(numbers)


def _repeat(value: Value, count: int) -> list[Value]:
    """`repeat(value, count)`: a list of the same value."""
    if count * _size(value) > LONGEST:
        raise ValueError(f"a list of more than {LONGEST:,} values is over the limit")
    return [value] * count


def _product(items: Sequence[Value]) -> Value:
    """`product(list)`: the numbers multiplied."""
    found: Value = 1
    for each in items:
        if not isinstance(each, int | float):
            raise TypeError("only numbers are multiplied")
        _check_operands("*", found, each)
        found *= each
    return found


def _rank(shape: Sequence[int]) -> int:
    """`rank(shape)`: how many dimensions a shape has."""
    return len(shape)


def _divisors(number: int) -> list[int]:
    """`divisors(number)`: what divides a number of at most 1,000,000, in ascending order."""
    if not 0 < number <= _LARGEST_DIVIDED:
        raise ValueError(f"divisors of {quoted(number)} are not computed, only those of 1 to {_LARGEST_DIVIDED:,}")
    low = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return low + [number // each for each in reversed(low) if each * each != number]


#: What every expression may call; `docs/specs.md` lists them.
FUNCTIONS: Mapping[str, Callable[..., Value]] = MappingProxyType(
    {
        "abs": abs,
        "divisors": _divisors,
        "insert": _insert,
        "len": len,
        "max": max,
        "min": min,
        "product": _product,
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


class _Generator(CodeGenerator):
    """Compiles everything but the operator that makes texts of values, and numbers that are not finite."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802 - jinja2's name
        if not all(_is_finite(each) for each in _leaves(node.value)):
            self.fail("a number is not finite", node.lineno)
        super().visit_Const(node, frame)

    def visit_Concat(self, node: nodes.Concat, _frame: Frame) -> None:  # noqa: N802 - jinja2's name
        self.fail("`~` makes a text, and an expression yields a value", node.lineno)


class _Sandbox(SandboxedEnvironment):
    """A sandbox without methods, filters or globals, in which no operator makes anything huge."""

    intercepted_binops = frozenset(_OPERATIONS)
    code_generator_class = _Generator

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:  # noqa: ARG002 - jinja2's signature
        return False

    def call_binop(self, context: Context, operator: str, left: Value, right: Value) -> Value:
        _check_operands(operator, left, right)
        value = _OPERATIONS[operator](left, right)
        context[_METER].count(value)
        return value

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        value = super().call(context, function, *args, **kwargs)
        context[_METER].count(value)
        return value


#: The variable that holds the meter; no expression can name it.
_METER = "the meter"


_NESTING = frozenset({str, list, tuple, dict})


def _size(value: Value, depth: int = 0) -> int:
    """How many values and letters a value holds, itself included.

    Raises:
        ValueError: They are more than are allowed, or nested too deep.
    """
    if isinstance(value, str):
        size = 1 + len(value)
    elif isinstance(value, list | tuple | dict):
        if depth > _NESTED:
            raise ValueError(f"a list nested more than {_NESTED} levels deep is over the limit")
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        size = 1 + len(inside)
        if not _NESTING.isdisjoint(map(type, inside)):
            for each in inside:
                size += _size(each, depth + 1)
                if size > 2 * LONGEST:
                    break
    else:
        return 1
    if size > LONGEST + 1:
        raise ValueError(f"a list or text of more than {LONGEST:,} values or letters is over the limit")
    return size


def _check_operands(operator: str, left: Value, right: Value) -> None:
    """Refuse what would take long or much, before it is computed."""
    if operator == "%" and isinstance(left, str):
        raise ValueError("text is not formatted here")
    lengths = [len(each) for each in (left, right) if isinstance(each, list | str)]
    factors = [each for each in (left, right) if isinstance(each, int)]
    longest = sum(lengths) if operator == "+" else math.prod(lengths) * math.prod(factors) if lengths else 0
    if longest > LONGEST:
        raise ValueError(f"a list or text of more than {LONGEST:,} values or letters is over the limit")
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

    def value(
        self, variables: Variables, meter: Meter, functions: Mapping[str, Callable[..., Value]] = FUNCTIONS
    ) -> Value:
        """What the expression yields.

        Args:
            variables: The variables that it may name.
            meter: Counts the values that it makes.
            functions: The functions that it may call.

        Raises:
            ExpressionError: It names what is not there, or fails.
        """
        try:
            found = self._compiled({**functions, **variables, _METER: meter})
            meter.count(found)
        except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as fault:
            raise ExpressionError(f"{self} fails: {_sentence(fault)}") from fault
        leaves = list(_leaves(found))
        if not all(each is None or isinstance(each, bool | int | float | str) for each in leaves):
            known = ", ".join(sorted(variables)) or "none"
            raise ExpressionError(f"{self} is no value; the variables here are: {quoted_text(known)}")
        if not all(_is_finite(each) for each in leaves):
            raise ExpressionError(f"{self} gives {quoted(found)}, in which a number is not finite")
        if any(isinstance(each, str) and _SURROGATE.search(each) for each in leaves):
            raise ExpressionError(f"{self} gives a text with half of a surrogate pair, which is not a character")
        return list(found) if isinstance(found, tuple) else found

    def __str__(self) -> str:
        return f"`{quoted_text(self.text)}`"


def expression_of(value: str) -> Expression:
    """The expression that is the whole of a spec's value, as in `${{ rank(shape) - 1 }}`.

    Raises:
        ExpressionError: It cannot be read, or text stands around it.
    """
    if "}}" not in value:
        raise ExpressionError(f"{quoted(value)} is not closed; an expression stands between ${{{{ and }}}}")
    whole = _WHOLE.fullmatch(value)
    if whole is None or "${{" in whole[1]:
        raise ExpressionError(f"{quoted(value)} mixes text with an expression; an expression must be the whole value")
    return compiled(whole[1].strip())


@lru_cache(maxsize=4_096)
def compiled(text: str) -> Expression:
    """A bare expression, as `where` holds it.

    Raises:
        ExpressionError: It cannot be read.
    """
    _check_text(text)
    try:
        return Expression(text, _SANDBOX.compile_expression(text, undefined_to_none=False))
    except (TemplateError, RecursionError, SyntaxError, ValueError) as fault:
        raise ExpressionError(f"`{quoted_text(text)}` cannot be read: {_sentence(fault)}") from fault


def _check_text(text: str) -> None:
    """Refuse an expression that is too long or too deep to be compiled."""
    if len(text) > _TEXT:
        raise ExpressionError(f"`{quoted_text(text)}` has more than {_TEXT:,} characters, the limit")
    depth = deepest = 0
    for each in text:
        depth += (each in "([{") - (each in ")]}")
        deepest = max(deepest, depth)
    if deepest > _NESTED:
        raise ExpressionError(f"`{quoted_text(text)}` nests brackets more than {_NESTED} levels deep, the limit")


def _is_finite(leaf: object) -> bool:
    return not isinstance(leaf, float) or math.isfinite(leaf)


_INTEGERS = frozenset({int, bool})


def _leaves(value: object) -> Iterator[object]:
    """What a value of lists and mappings holds in the end, without lists of integers alone.

    A mapping whose keys are not all texts is a leaf itself.
    """
    if isinstance(value, list | tuple):
        for each in value if not _INTEGERS.issuperset(map(type, value)) else ():
            yield from _leaves(each)
    elif isinstance(value, dict) and all(isinstance(each, str) for each in value):
        yield from value
        yield from _leaves(list(value.values()))
    else:
        yield value


def _sentence(fault: BaseException) -> str:
    return quoted_text((str(fault).strip() or type(fault).__name__).removesuffix("."))
