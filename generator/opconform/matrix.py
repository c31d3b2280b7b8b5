"""Matrices: from a group's variables to the combinations of their values, as in a GitHub Actions matrix."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from allpairspy import AllPairs

from opconform.expressions import Expression, ExpressionError, Value, compiled, expression_of, is_expression
from opconform.loading import Group

Combination = dict[str, Value]


class MatrixError(Exception):
    """A matrix that cannot be expanded; `key` is the group's key at fault, and the message says why."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(key, sentence)
        self.key, self.sentence = key, sentence


def combinations_of(group: Group, limit: int) -> Iterator[Combination]:
    """The combinations of a group's matrix, one of no variables where it has none.

    Raises:
        MatrixError: There are more than the limit, or an expression fails.
    """
    matrix = {name: _values(name, values) for name, values in group.matrix.items()}
    wanted = where_of(group) if group.sample is None else None  # the filter of a sample looks at what is drawn
    if group.combine == "pairwise":
        plain = _pairwise(matrix, group, wanted)
    else:
        count = prod(len(each) for each in matrix.values())
        if count > limit:
            raise MatrixError("matrix", f"the matrix has {count:,} combinations, over the limit of {limit:,}")
        plain = (dict(zip(matrix, each, strict=True)) for each in product(*matrix.values()))
    kept = (each for each in plain if not any(_matches(each, left_out) for left_out in group.exclude))
    for each in _included(list(kept), group.include, list(matrix)) if group.include else kept:
        if wanted is None or holds(wanted, each):
            yield each


def where_of(group: Group) -> Expression | None:
    """The group's filter, or None."""
    if group.where is None:
        return None
    return expression_of(group.where) if is_expression(group.where) else compiled(group.where)


def holds(wanted: Expression, variables: Mapping[str, Value]) -> bool:
    """Whether a filter holds for a combination.

    Raises:
        MatrixError: It fails, or is neither true nor false.
    """
    try:
        value = wanted.value(variables)
    except ExpressionError as fault:
        raise MatrixError("where", f"{fault}, with {shown(variables)}") from fault
    if not isinstance(value, bool):
        raise MatrixError("where", f"`{wanted.text}` gives {value!r}, which is neither true nor false")
    return value


def shown(variables: Mapping[str, Value]) -> str:
    """A combination as a person reads it: `axis=0, shape=[6, 2]`."""
    return ", ".join(f"{name}={value!r}" for name, value in variables.items()) or "no variables"


def _values(name: str, values: Any) -> Sequence[Value]:
    if not is_expression(values):
        return [expression_of(each).value({}) if is_expression(each) else each for each in values]
    try:
        found = expression_of(values).value({})
    except ExpressionError as fault:
        raise MatrixError("matrix", f"{name}: {fault}") from fault
    if not isinstance(found, list) or not found:
        raise MatrixError("matrix", f"{name}: {values} gives {found!r}, where a list of values is needed")
    return found


def _pairwise(matrix: Mapping[str, Sequence[Value]], group: Group, wanted: Expression | None) -> Iterator[Combination]:
    names = list(matrix)
    if len(names) < 2:  # noqa: PLR2004 - a pair
        raise MatrixError("combine", "pairwise needs a matrix of at least two variables")

    def allowed(row: Sequence[Value]) -> bool:
        partial = dict(zip(names, row, strict=False))
        if any(_matches(partial, each) for each in group.exclude if each.keys() <= partial.keys()):
            return False
        try:
            return wanted is None or holds(wanted, partial)
        except MatrixError:
            if len(row) == len(names):
                raise
            return True

    return (dict(zip(names, row, strict=True)) for row in AllPairs(list(matrix.values()), filter_func=allowed))


def _matches(combination: Combination, part: Mapping[str, Value]) -> bool:
    return all(name in combination and combination[name] == value for name, value in part.items())


def _included(
    kept: list[Combination], include: Sequence[Mapping[str, Value]], names: Sequence[str]
) -> Iterator[Combination]:
    """Each entry extends the combinations that it contradicts in no variable of the matrix, or is one of its own."""
    extended = [(each, dict(each)) for each in kept]
    alone: list[Combination] = []
    for entry in include:
        original = {name: value for name, value in entry.items() if name in names}
        matching = [after for before, after in extended if _matches(before, original)] if names else []
        for after in matching:
            after.update(entry)
        if not matching:
            alone.append(dict(entry))
    base = [after for _, after in extended]
    yield from base if names or not include else []
    yield from alone
