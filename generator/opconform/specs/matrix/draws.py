"""Random draws of a group's variables, which depend on nothing else that is generated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from opconform.errors import quoted
from opconform.specs.document import KeyMistake
from opconform.specs.group import Group
from opconform.specs.matrix.combinations import Combination, failure, holds, where_of
from opconform.specs.matrix.expressions import ExpressionError, Meter, expression_of, is_expression
from opconform.specs.matrix.functions import FUNCTIONS, Value
from opconform.suite.case import canonical_json
from opconform.tensors.philox import random_words

#: How many consecutive draws may give no new case, plus how many per case found.
PATIENCE = 2_000
PATIENCE_EACH = 20

_WORDS = 64
#: The longest list that is drawn.
_LONGEST = 10_000


def _within_limit(length: int) -> int:
    if length > _LONGEST:
        raise ValueError(f"a drawn list of {quoted(length)} elements is over the limit of {_LONGEST:,}")
    return length


def _words(*key: object) -> Iterator[int]:
    """Endless random 64-bit words, which depend on the key only."""
    for block in count():
        yield from reversed(random_words(_WORDS, *key, block).tolist())


def random_functions(*key: object) -> Mapping[str, Callable[..., Value]]:
    """The functions that an expression of `random` may call."""
    words = _words(*key)

    def below(bound: int) -> int:
        if not isinstance(bound, int):
            raise TypeError("the bounds of a draw must be integers")
        if not 0 < bound <= 1 << 64:
            raise ValueError(f"the range of a draw must have 1 to 2**64 values, not {quoted(bound)}")
        usable = (1 << 64) // bound * bound  # so that every value is equally likely
        return next(word for word in words if word < usable) % bound

    def random_integer(low: int, high: int) -> int:
        return low + below(high - low + 1)

    def random_choice(items: Sequence[Value]) -> Value:
        return items[below(len(items))]

    def random_shape(low_rank: int, high_rank: int, low: int, high: int) -> list[int]:
        return [random_integer(low, high) for _ in range(_within_limit(random_integer(low_rank, high_rank)))]

    def random_partition(total: int, parts: int) -> list[int]:
        if parts < 1:
            raise ValueError(f"a total cannot be divided into {quoted(parts)} parts")
        cuts = sorted(random_integer(0, total) for _ in range(_within_limit(parts) - 1))
        return [end - start for start, end in zip([0, *cuts], [*cuts, total], strict=True)]

    def random_shuffle(items: Sequence[Value]) -> list[Value]:
        left = list(items)
        _within_limit(len(left))
        return [left.pop(below(len(left))) for _ in range(len(left))]

    return {
        **FUNCTIONS,
        "random_integer": random_integer,
        "random_choice": random_choice,
        "random_shape": random_shape,
        "random_partition": random_partition,
        "random_shuffle": random_shuffle,
    }


def draws_of(group: Group, combination: Combination, seed: int, meter: Meter) -> Iterator[Combination | None]:
    """Endless random draws of a group for one combination of its matrix; None for a draw that the filter excludes.

    Each draw depends only on the seeds, the group's name, the combination and its own number.
    """
    random, wanted = group.settings.random, where_of(group)
    if random is None:
        return
    key = (seed, random.seed, group.op, group.id, canonical_json(combination))
    for number in count():
        drawn, functions = dict(combination), random_functions(*key, number)
        for name, value in random.draw.items():
            try:
                drawn[name] = expression_of(value).value(drawn, meter, functions) if is_expression(value) else value
            except ExpressionError as error:
                raise KeyMistake("random", f"{name}: {failure(error, drawn)}", ("draw", name)) from error
        yield drawn if wanted is None or holds(wanted, drawn, meter) else None
