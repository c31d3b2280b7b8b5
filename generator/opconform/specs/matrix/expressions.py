"""Expressions `${{ … }}` of a spec, in jinja2's sandbox. An expression yields a value, not a string."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, Undefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateExpression
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from opconform.errors import near_word, quoted, quoted_text
from opconform.specs.matrix.functions import (
    FUNCTIONS,
    NESTED,
    OPERATORS,
    RANDOM_FUNCTIONS,
    Value,
    check_operands,
    size_of,
)

Variables = Mapping[str, Value]

#: The most values and characters that all expressions of a group, and all parts of them, may make.
MADE = 2_000_000
#: The most characters of an expression.
_TEXT = 2_000
#: The names that a variable cannot have.
ALL_FUNCTIONS = frozenset({*FUNCTIONS, *RANDOM_FUNCTIONS})

_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"\s*\$\{\{(.*)\}\}\s*", re.DOTALL)
#: jinja2's message about a name that is neither a variable nor a function.
_UNKNOWN = re.compile(r"'(\w+)' is undefined")
#: What Python has before the name of a function in a message on its arguments.
_INNER = re.compile(r"\b(?:\w+\.<locals>\.|_)(?=\w+\(\) )")
_INTEGERS = frozenset({int, bool})
#: The variable that holds the meter; an expression cannot name it.
_METER = "the meter"


class ExpressionError(Exception):
    """An expression that cannot be parsed or does not give a value; the message says why."""


class UndefinedVariableError(ExpressionError):
    """An expression that is an undefined variable."""


class Meter:
    """Counts the values that the expressions of a group make, to limit their running time."""

    def __init__(self) -> None:
        self._made = 0

    def count(self, value: Value) -> None:
        """Add a value that an expression or a part of it made; `ValueError` if it or the total is over its limit."""
        self._made += size_of(value)
        if self._made > MADE:
            raise ValueError(f"the expressions of the group produce more values than the limit of {MADE:,}")


class _Generator(CodeGenerator):
    """Compiles everything except the operator that makes strings, and numbers that are not finite."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802 - jinja2's name
        if not all(_is_finite(leaf) for leaf in _leaves(node.value)):
            self.fail("a number is not finite", node.lineno)
        super().visit_Const(node, frame)

    def visit_Concat(self, node: nodes.Concat, _frame: Frame) -> None:  # noqa: N802 - jinja2's name
        self.fail("`~` returns text, but an expression must return a value", node.lineno)


class _Sandbox(SandboxedEnvironment):
    """A sandbox without methods, filters and globals, in which operators cannot make large values."""

    intercepted_binops = frozenset(OPERATORS)
    code_generator_class = _Generator

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:  # noqa: ARG002 - jinja2's signature
        return False

    def call_binop(self, context: Context, operator: str, left: Value, right: Value) -> Value:
        check_operands(operator, left, right)
        value = OPERATORS[operator](left, right)
        context[_METER].count(value)
        return value

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if any(map(callable, (*args, *kwargs.values()))):
            raise ValueError("a function cannot be an argument; call it")
        is_ours = isinstance(function, FunctionType | BuiltinFunctionType)  # jinja2's checks take longer than the call
        value = function(*args, **kwargs) if is_ours else super().call(context, function, *args, **kwargs)
        context[_METER].count(value)
        return value


class _Template(Template):
    """A template whose evaluations share one context: making a new one takes longer than most expressions."""

    def new_context(self, vars: dict[str, Any] | None = None, *_args: Any, **_options: Any) -> Context:  # noqa: A002
        _CONTEXT.parent, _CONTEXT.vars = vars or {}, {}
        return _CONTEXT


_SANDBOX = _Sandbox(undefined=StrictUndefined, autoescape=False)
_CONTEXT = _SANDBOX.from_string("").new_context()
_SANDBOX.template_class = _Template
_SANDBOX.globals.clear()
_SANDBOX.filters.clear()


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    text: str
    _compiled: TemplateExpression

    def value(
        self, variables: Variables, meter: Meter, functions: Mapping[str, Callable[..., Value]] = FUNCTIONS
    ) -> Value:
        """The value that the expression yields, or `ExpressionError`; the meter counts the values that it makes."""
        try:
            if self.text in variables:  # most are; jinja2 takes ten times as long
                meter.count(variables[self.text])
                return variables[self.text]
            result = self._compiled({**functions, **variables, _METER: meter})
            meter.count(result)
        except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as error:
            unknown = _UNKNOWN.fullmatch(str(error))
            hint = _hint(unknown[1], functions, variables) if unknown else ""
            raise ExpressionError(f"{self} fails: {_sentence(error)}{hint}") from error
        if isinstance(result, bool | int):  # the value of a filter, which is computed for each combination
            return result
        leaves = list(_leaves(result))
        if any(isinstance(leaf, Undefined) for leaf in leaves):
            raise UndefinedVariableError(f"{self} is undefined")
        if not all(leaf is None or isinstance(leaf, bool | int | float | str) for leaf in leaves):
            raise ExpressionError(f"{self} is not a value")
        if not all(_is_finite(leaf) for leaf in leaves):
            raise ExpressionError(f"{self} returns {quoted(result)}, which contains a number that is not finite")
        if any(isinstance(leaf, str) and _SURROGATE.search(leaf) for leaf in leaves):
            raise ExpressionError(f"{self} returns text with an unpaired surrogate")
        return list(result) if isinstance(result, tuple) else result

    @property
    def variables(self) -> frozenset[str]:
        """The names that the expression reads."""
        return _names_in(self.text)

    def __str__(self) -> str:
        return f"`{quoted_text(self.text)}`"


@lru_cache(maxsize=4_096)
def _names_in(text: str) -> frozenset[str]:
    """The variables and functions that an expression names."""
    return frozenset(x.name for x in _SANDBOX.parse(f"{{{{ {text} }}}}").find_all(nodes.Name))


def is_expression(value: object) -> bool:
    """Whether a value of a spec is an expression."""
    return isinstance(value, str) and "${{" in value


def expression_of(value: str) -> Expression:
    """The expression that is the whole of a spec's value, as in `${{ rank(shape) - 1 }}`."""
    if "}}" not in value:
        raise ExpressionError(f"{quoted(value)} is not closed; an expression is written between ${{{{ and }}}}")
    whole = _WHOLE.fullmatch(value)
    if whole is None or "${{" in whole[1]:
        raise ExpressionError(f"{quoted(value)} mixes text with an expression; an expression must be the whole value")
    return compiled(whole[1].strip())


@lru_cache(maxsize=4_096)
def compiled(text: str) -> Expression:
    """An expression without its brackets, as in `where`; `ExpressionError` if it is malformed, too long or too deep."""
    if len(text) > _TEXT:
        raise ExpressionError(f"`{quoted_text(text)}` has more characters than the limit of {_TEXT:,}")
    depth = deepest = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if deepest > NESTED:
        raise ExpressionError(f"`{quoted_text(text)}` nests brackets deeper than the limit of {NESTED} levels")
    try:
        return Expression(text, _SANDBOX.compile_expression(text, undefined_to_none=False))
    except (TemplateError, RecursionError, SyntaxError, ValueError) as error:
        raise ExpressionError(f"`{quoted_text(text)}` is not a valid expression: {_sentence(error)}") from error


def _is_finite(leaf: object) -> bool:
    return not isinstance(leaf, float) or math.isfinite(leaf)


def _leaves(value: object) -> Iterator[object]:
    """The values inside lists and mappings, except lists of integers only.

    A mapping with a key that is not a string is itself a leaf.
    """
    if isinstance(value, list | tuple):
        for item in value if not _INTEGERS.issuperset(map(type, value)) else ():
            yield from _leaves(item)
    elif isinstance(value, dict) and all(isinstance(x, str) for x in value):
        yield from value
        yield from _leaves(list(value.values()))
    else:
        yield value


def _hint(name: str, functions: Iterable[str], variables: Iterable[str]) -> str:
    """What to write instead of an unknown name, in brackets."""
    if name == "matrix":  # as in GitHub Actions
        return " (write a variable without `matrix.`)"
    near = near_word(name, [*functions, *variables])
    return f" (did you mean {near!r}?)" if near else f" (functions: {', '.join(functions)})"


def _sentence(error: BaseException) -> str:
    """What is wrong with an expression, in the words of specs."""
    if isinstance(error, SecurityError):
        return "a value has no attributes and methods"
    problem = _INNER.sub("", str(error).strip() or type(error).__name__).removesuffix(".")
    problem = problem.replace("end of template", "end").replace("No filter named", "unknown filter")
    return quoted_text(problem)
