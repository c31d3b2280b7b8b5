"""Updates that are combined with the elements that they go to. Results are exact, so that their bits are compared."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import has_kind
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor

Numbers = Sequence[int | float]


def _mean(numbers: Numbers) -> int | float:
    """The mean, which for integers is rounded down."""
    total = sum(numbers)
    return total // len(numbers) if isinstance(total, int) else total / len(numbers)


def _difference(numbers: Numbers) -> int | float:
    return numbers[0] - sum(numbers[1:])


_OF_NUMBERS: Mapping[str, Callable[[Numbers], int | float]] = {
    "sum": sum,
    "sub": _difference,
    "prod": prod,
    "min": min,
    "max": max,
    "mean": _mean,
}
#: The reductions of booleans, of which every number but 0 is true (Types).
_OF_BOOLEANS = {**_OF_NUMBERS, "sub": lambda numbers: sum(numbers) % 2}


def reduction(*names: str) -> AttributeSpec:
    """The attribute that names the reduction (Attributes)."""
    return AttributeSpec("reduction", type="enum", values=("none", *names), default="none")


def reduction_of(arguments: Arguments) -> str:
    """The name of the reduction, also of an operation that has none."""
    return str(arguments.attributes.get("reduction", "none"))


def combines(arguments: Arguments) -> bool:
    """Whether updates are combined with elements, and do not replace them."""
    return reduction_of(arguments) != "none"


#: The check of what a reduction has no meaning for.
REDUCTION_CHECKS: Mapping[str, Predicate] = {
    "reduction.types": lambda a: combines(a) and has_kind(a.operand("data"), "string", "lookup"),
}


def computed(arguments: Arguments, positions: Array) -> tuple[Tensor, ...]:
    """The output, in which each element is combined with all updates that go to it.

    `positions` has the number of the element of data that each element of the updates goes to, in row-major order.
    """
    data, updates = arguments.tensor("data"), arguments.tensor("updates")
    first, is_first_used = numbers_of(data), arguments.attributes.get("use_init_val", True)
    groups: dict[int, list[int | float]] = {}
    for position, update in zip(positions.tolist(), numbers_of(updates), strict=True):
        groups.setdefault(position, [first[position]] if is_first_used else []).append(update)
    table = _OF_BOOLEANS if data.type.kind == "boolean" else _OF_NUMBERS
    results = [table[reduction_of(arguments)](numbers) for numbers in groups.values()]
    array = np.array(data.array, order="C")
    np.put(array, [*groups], stored(data.element_type, results))
    return (Tensor(element_type=data.element_type, array=array),)


def means_in_turn(arguments: Arguments, positions: Array) -> Tensor | None:
    """Data after the mean with one update after the other, or None while types are inferred."""
    data, updates = arguments.operand("data").tensor, arguments.operand("updates").tensor
    if data is None or updates is None:
        return None
    numbers, is_first_used = numbers_of(data), arguments.attributes.get("use_init_val", True)
    started = {*range(len(numbers))} if is_first_used else set[int]()
    for position, update in zip(positions.tolist(), numbers_of(updates), strict=True):
        numbers[position] = _mean([numbers[position], update]) if position in started else update
        started.add(position)
    return Tensor(element_type=data.element_type, array=stored(data.element_type, numbers).reshape(data.shape))


def numbers_of(tensor: Tensor) -> list[int | float]:
    """The elements as Python's numbers, of which sums are exact for integers."""
    if tensor.type.is_integer:
        return [*tensor.integers()]
    numbers: list[int | float] = tensor.array.view(tensor.type.arithmetic).astype(np.float64).ravel().tolist()
    return numbers


def stored(element_type: str, numbers: Numbers) -> Array:
    """Numbers in the storage dtype; integers that are too large lose their upper bits."""
    kind = ELEMENT_TYPES[element_type]
    if not kind.is_integer:
        return np.array(numbers, np.float64).astype(kind.arithmetic).view(kind.storage)
    patterns = [int(number) % (1 << kind.bits) for number in numbers]
    width = np.dtype(f"u{kind.storage.itemsize}")
    return np.array(patterns, object).astype(width).view(kind.storage)
