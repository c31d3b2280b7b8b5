"""Samples: random draws of a spec's variables, the same whatever else is generated."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from opconform.case import canonical_json
from opconform.expressions import FUNCTIONS, ExpressionError, Value, expression_of, is_expression
from opconform.filling import random_words
from opconform.loading import Group
from opconform.matrix import Combination, MatrixError, holds, shown, where_of

#: How many draws may fail the filter or repeat, for each one that is wanted.
PATIENCE = 200

_WORDS = 64


class _Source:
    """Random integers below a bound, from a stream that its key alone decides."""

    def __init__(self, *key: object) -> None:
        self._key = key
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """An integer of `0 … bound-1`, each as likely as the others."""
        if not 0 < bound <= 1 << 64:
            raise ValueError(f"nothing is to be drawn from {bound} values")
        usable = (1 << 64) // bound * bound
        while (word := self._next()) >= usable:
            pass
        return word % bound

    def _next(self) -> int:
        if not self._words:
            self._words = random_words(_WORDS, *self._key, self._block).tolist()
            self._block += 1
        return self._words.pop()


def random_functions(*key: object) -> Mapping[str, Callable[..., Value]]:
    """The functions that an expression of a sample may call besides the plain ones."""
    source = _Source(*key)

    def random_integer(low: int, high: int) -> int:
        """`random_integer(low, high)`: an integer of `low … high`."""
        return low + source.below(high - low + 1)

    def random_choice(items: Sequence[Value]) -> Value:
        """`random_choice(list)`: one of the list's elements."""
        return items[source.below(len(items))]

    def random_shape(low_rank: int, high_rank: int, low: int, high: int) -> list[int]:
        """`random_shape(low_rank, high_rank, low, high)`: a shape of such a rank and such sizes."""
        return [random_integer(low, high) for _ in range(random_integer(low_rank, high_rank))]

    def random_partition(total: int, parts: int) -> list[int]:
        """`random_partition(total, parts)`: lengths of 0 or more, `parts` of them, whose sum is `total`."""
        cuts = sorted(random_integer(0, total) for _ in range(parts - 1))
        return [end - start for start, end in zip([0, *cuts], [*cuts, total], strict=True)]

    def random_shuffle(items: Sequence[Value]) -> list[Value]:
        """`random_shuffle(list)`: the list in another order."""
        left = list(items)
        return [left.pop(source.below(len(left))) for _ in range(len(left))]

    return MappingProxyType(
        {
            **FUNCTIONS,
            "random_integer": random_integer,
            "random_choice": random_choice,
            "random_shape": random_shape,
            "random_partition": random_partition,
            "random_shuffle": random_shuffle,
        }
    )


def samples_of(group: Group, combination: Combination, seed: int) -> Iterator[Combination]:
    """A group's random draws on top of one combination of its matrix, without end.

    Each draw depends on the seeds, the group's name, the combination and its own number, and on nothing else.

    Raises:
        MatrixError: An expression fails, or hardly any draw passes the filter.
    """
    sample, wanted = group.sample, where_of(group)
    if sample is None:
        return
    key = (seed, sample.seed, group.op, group.id, canonical_json(combination))
    refused = 0
    for number in range(1 << 62):
        drawn = _draw(sample.draw, combination, random_functions(*key, number))
        if wanted is None or holds(wanted, drawn):
            yield drawn
        else:
            refused += 1
            if refused > sample.count * PATIENCE:
                raise MatrixError("sample", f"`where` is false for {refused:,} draws and more; make the domain smaller")


def _draw(
    draw: Mapping[str, Value], combination: Combination, functions: Mapping[str, Callable[..., Value]]
) -> Combination:
    drawn = dict(combination)
    for name, value in draw.items():
        try:
            drawn[name] = expression_of(value).value(drawn, functions) if is_expression(value) else value
        except ExpressionError as fault:
            raise MatrixError("sample", f"{name}: {fault}, with {shown(drawn)}") from fault
    if any(isinstance(each, float) and not math.isfinite(each) for each in drawn.values()):
        raise MatrixError("sample", "a draw is no finite number")
    return drawn
