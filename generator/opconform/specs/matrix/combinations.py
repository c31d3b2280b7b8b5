"""The matrix of a group: the combinations of its variables' values, as in GitHub Actions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from math import prod
from typing import Any

from allpairspy import AllPairs

from opconform.errors import quoted
from opconform.specs.group import Group
from opconform.specs.matrix.expressions import (
    Expression,
    ExpressionError,
    Meter,
    UndefinedVariableError,
    compiled,
    expression_of,
    is_expression,
)
from opconform.specs.matrix.functions import Value
from opconform.specs.yaml_document import KeyMistake

Combination = dict[str, Value]

#: The most pairs of values that a pairwise matrix may have, and combinations that may be tried for it.
PAIR_LIMIT = 5_000
_TRIED = 5_000
_UNCOUNTED = 10**18
_SHOWN = 300
#: The most comparisons of combinations with the entries of `exclude`.
_COMPARED = 500_000
#: How many combinations a matrix with a filter may have for each case that is allowed.
FILTERED = 10


def combinations_of(group: Group, limit: int, meter: Meter) -> Iterator[Combination]:
    """The combinations of a group's matrix, for at most `limit` cases; an empty one without a matrix."""
    settings = group.settings
    matrix = {name: _values(name, values, meter) for name, values in settings.matrix.items()}
    condition = where_of(group) if settings.random is None else None  # with `random`, the filter applies to the draws
    if settings.combine == "pairwise":
        plain = _pairwise(matrix, group, condition, meter)
    else:
        size = prod(len(value) for value in matrix.values())
        largest = limit * (1 if condition is None else FILTERED)
        if size > largest:
            number = f"{size:,}" if size < _UNCOUNTED else f"more than {_UNCOUNTED:,}"
            raise KeyMistake("matrix", f"the matrix has {number} combinations, over the limit of {largest:,}")
        if size * len(settings.exclude) > _COMPARED:
            compared = f"{size:,} combinations times {len(settings.exclude):,} entries"
            sentence = f"{compared} are over the limit of {_COMPARED:,}; use `where`, or separate groups"
            raise KeyMistake("exclude", sentence)
        plain = (dict(zip(matrix, choice, strict=True)) for choice in product(*matrix.values()))
    for entry in settings.exclude:
        if never := [name for name, value in entry.items() if value not in matrix.get(name, ())]:
            sentence = f"`exclude` {shown(entry)} matches no combination: {never[0]} never has this value"
            raise KeyMistake("exclude", sentence)
    for item in plain:
        if any(_matches(item, left_out) for left_out in settings.exclude):
            continue
        if condition is None or holds(condition, item, meter):
            yield item


def matrix_size(group: Group) -> int:
    """How many combinations a group's matrix has before any filter; 0 if it cannot be evaluated."""
    try:
        sizes = [len(_values(name, values, Meter())) for name, values in group.settings.matrix.items()]
    except KeyMistake:
        return 0
    return min(prod(sizes), PAIR_LIMIT) if group.settings.combine == "pairwise" else prod(sizes)


def where_of(group: Group) -> Expression | None:
    """The filter of a group, or None."""
    where = group.settings.where
    if where is None:
        return None
    return expression_of(where) if is_expression(where) else compiled(where)


def holds(condition: Expression, variables: Mapping[str, Value], meter: Meter) -> bool:
    """Whether a filter is true for a combination."""
    try:
        value = condition.value(variables, meter)
    except ExpressionError as error:
        raise KeyMistake("where", failure(error, variables)) from error
    if not isinstance(value, bool):
        raise KeyMistake("where", f"{condition} returns {quoted(value)}, which is neither true nor false")
    return value


def failure(error: ExpressionError, variables: Mapping[str, Value]) -> str:
    """Why an expression failed, with the values of the variables."""
    if isinstance(error, UndefinedVariableError):
        return f"{error}; defined variables: {shown(variables) if variables else 'none'}"
    return f"{error}, with {shown(variables)}"


def shown(variables: Mapping[str, Value]) -> str:
    """A combination as text: `axis=0, shape=[6, 2]`."""
    text = ", ".join(f"{name}={quoted(value)}" for name, value in variables.items()) or "no variables"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _values(name: str, values: Any, meter: Meter) -> Sequence[Value]:
    try:
        if not is_expression(values):
            return [expression_of(value).value({}, meter) if is_expression(value) else value for value in values]
        listed = expression_of(values).value({}, meter)
    except ExpressionError as error:
        raise KeyMistake("matrix", f"{name}: {error}", (name,)) from error
    if not isinstance(listed, list) or not listed:
        sentence = f"{name}: {expression_of(values)} must return a non-empty list of values, not {quoted(listed)}"
        raise KeyMistake("matrix", sentence, (name,))
    return listed


def _pairwise(
    matrix: Mapping[str, Sequence[Value]], group: Group, condition: Expression | None, meter: Meter
) -> Iterator[Combination]:
    names = list(matrix)
    if len(names) < 2:  # noqa: PLR2004 - a pair
        raise KeyMistake("combine", "pairwise needs a matrix of at least two variables")
    sizes = [len(value) for value in matrix.values()]
    pairs = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    if pairs > PAIR_LIMIT:
        raise KeyMistake("combine", f"pairwise has {pairs:,} pairs of values, over the limit of {PAIR_LIMIT:,}")
    tried = count()
    filtered = condition.variables.intersection(names) if condition else frozenset()

    def allowed(row: Sequence[Value]) -> bool:
        if next(tried) > _TRIED:
            raise KeyMistake(
                "where", f"{_TRIED:,} combinations were tried without success; simplify `where` or `exclude`"
            )
        partial = dict(zip(names, row, strict=False))
        if any(_matches(partial, x) for x in group.settings.exclude if x.keys() <= partial.keys()):
            return False
        return condition is None or not filtered <= partial.keys() or holds(condition, partial, meter)

    return (dict(zip(names, row, strict=True)) for row in AllPairs(list(matrix.values()), filter_func=allowed))


def _matches(combination: Combination, part: Mapping[str, Value]) -> bool:
    return all(name in combination and combination[name] == value for name, value in part.items())
