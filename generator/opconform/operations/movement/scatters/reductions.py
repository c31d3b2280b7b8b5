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

Number = int | float
Numbers = Sequence[Number]
#: The result of combining an element with the updates that go to it.
Combine = Callable[[Number, Numbers], Number]

#: The reductions that every operation with reductions has.
COMBINED: Mapping[str, Combine] = {
    "sum": lambda first, updates: sum(updates, first),
    "prod": lambda first, updates: prod(updates, start=first),
    "min": lambda first, updates: min([first, *updates]),
    "max": lambda first, updates: max([first, *updates]),
}


def mean(numbers: Numbers) -> Number:
    """The mean, which for integers is rounded down."""
    total = sum(numbers)
    return total // len(numbers) if isinstance(total, int) else total / len(numbers)


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


def computed(arguments: Arguments, positions: Array, combine: Combine) -> tuple[Tensor, ...]:
    """The output, in which each element is combined with all updates that go to it.

    `positions` has the number of the element of data that each element of the updates goes to, in row-major order.
    """
    data, updates = arguments.tensor("data"), arguments.tensor("updates")
    first, groups = numbers_of(data), dict[int, list[Number]]()
    for position, update in zip(positions.tolist(), numbers_of(updates), strict=True):
        groups.setdefault(position, []).append(update)
    results = [combine(first[position], numbers) for position, numbers in groups.items()]
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
        numbers[position] = mean([numbers[position], update]) if position in started else update
        started.add(position)
    return Tensor(element_type=data.element_type, array=stored(data.element_type, numbers).reshape(data.shape))


def numbers_of(tensor: Tensor) -> list[Number]:
    """The elements as Python's numbers, of which sums are exact for integers."""
    if tensor.type.is_integer:
        return [*tensor.integers()]
    numbers: list[Number] = tensor.array.view(tensor.type.arithmetic).astype(np.float64).ravel().tolist()
    return numbers


def stored(element_type: str, numbers: Numbers) -> Array:
    """Numbers in the storage dtype; integers that are too large lose their upper bits."""
    kind = ELEMENT_TYPES[element_type]
    if not kind.is_integer:
        return np.array(numbers, np.float64).astype(kind.arithmetic).view(kind.storage)
    patterns = [int(number) % (1 << kind.bits) for number in numbers]
    width = np.dtype(f"u{kind.storage.itemsize}")
    return np.array(patterns, object).astype(width).view(kind.storage)
