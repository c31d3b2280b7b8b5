"""Updates that are combined with the elements that they go to. Results are exact, so that their bits are compared."""

import math
from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import Keep, clamped
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

Number = int | float
Numbers = Sequence[Number]
#: The result of combining an element with the updates that go to it.
Combine = Callable[[Number, Numbers], Number]

#: The reductions that every operation with reductions has.
COMBINED: Mapping[str, Combine] = {
    "sum": lambda first, updates: sum(updates, first),
    "prod": lambda first, updates: prod(updates, start=first),
    "min": lambda first, updates: _extreme(min, [first, *updates]),
    "max": lambda first, updates: _extreme(max, [first, *updates]),
}


def _extreme(of: Callable[[Numbers], Number], numbers: Numbers) -> Number:
    """The least or the largest number; NaN if there is one."""
    return next((number for number in numbers if number != number), None) or of(numbers)  # noqa: PLR0124 - a NaN


def _without_nan(of: Callable[[Numbers], Number]) -> Combine:
    """The least or the largest of the numbers that are not NaN, as of those that a comparison finds."""
    return lambda first, updates: of([x for x in (first, *updates) if not math.isnan(x)] or [math.nan])


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


def lacks_order(arguments: Arguments) -> bool:
    """Whether strings are moved, or booleans are compared: the pages define booleans, but no order of them."""
    is_compared = reduction_of(arguments) in ("min", "max")
    return has_kind(arguments.operand("data"), "string", *(["boolean"] if is_compared else []))


#: The reading of the types that the pages with reductions do not mention.
TYPES_READING: Mapping[str, Reading] = {"data.other-types": Reading(rejects=lacks_order)}
#: The check of what a reduction has no meaning for.
REDUCTION_CHECKS: Mapping[str, Predicate] = {
    "reduction.types": lambda a: combines(a) and has_kind(a.operand("data"), "string", "lookup"),
}


def reduction_readings(
    positions: Callable[[Arguments], Array], combine: Callable[[Arguments], Combine]
) -> Mapping[str, Reading]:
    """The readings of sums and products beyond an integer type, and of NaNs in the least and the largest of numbers.

    `positions` and `combine` give what `computed` takes.
    """

    def saturated(arguments: Arguments) -> tuple[Tensor, ...]:
        if reduction_of(arguments) not in ("sum", "sub", "prod") or not arguments.operand("data").is_integer:
            raise Unknown
        return computed(arguments, positions(arguments), combine(arguments), clamped)

    def without_nan(arguments: Arguments) -> tuple[Tensor, ...]:
        of = {"min": min, "max": max}.get(reduction_of(arguments))
        if of is None or not has_kind(arguments.operand("data"), "float"):
            raise Unknown
        is_first_used = arguments.attributes.get("use_init_val", True)
        whole = _without_nan(of)
        alone: Combine = lambda _, updates: whole(updates[0], updates[1:])  # noqa: E731 - as `_combine` has it
        return computed(arguments, positions(arguments), whole if is_first_used else alone)

    return {
        "reduction.wrap": Reading(computes=(saturated,), by_element=True),
        "reduction.nan": Reading(computes=(without_nan,), by_element=True),
    }


def computed(arguments: Arguments, positions: Array, combine: Combine, keep: Keep = low_bits) -> tuple[Tensor, ...]:
    """The output, in which each element is combined with all updates that go to it.

    `positions` has the number of the element of data that each element of the updates goes to, in row-major order, and
    `keep` gives the integers of the type for those beyond its range.
    """
    data, updates = arguments.tensor("data"), arguments.tensor("updates")
    first, groups = summands_of(data), dict[int, list[Number]]()
    for position, update in zip(positions.tolist(), summands_of(updates), strict=True):
        groups.setdefault(position, []).append(update)
    results = [combine(first[position], numbers) for position, numbers in groups.items()]
    array = np.array(data.array, order="C")
    np.put(array, [*groups], stored(data.element_type, results, keep))
    return (Tensor(element_type=data.element_type, array=array),)


def means_in_turn(arguments: Arguments, positions: Array) -> Tensor | None:
    """Data after the mean with one update after the other, or None while types are inferred."""
    data, updates = arguments.operand("data").tensor, arguments.operand("updates").tensor
    if data is None or updates is None:
        return None
    numbers, is_first_used = summands_of(data), arguments.attributes.get("use_init_val", True)
    started = {*range(len(numbers))} if is_first_used else set[int]()
    for position, update in zip(positions.tolist(), summands_of(updates), strict=True):
        numbers[position] = mean([numbers[position], update]) if position in started else update
        started.add(position)
    return Tensor(element_type=data.element_type, array=stored(data.element_type, numbers).reshape(data.shape))


def summands_of(tensor: Tensor) -> list[Number]:
    """The elements as Python's numbers, so that sums of integers are exact."""
    if tensor.type.is_integer:
        return [*tensor.integers()]
    numbers: list[Number] = tensor.array.view(tensor.type.arithmetic).astype(np.float64).ravel().tolist()
    return numbers


def stored(element_type: str, numbers: Numbers, keep: Keep = low_bits) -> Array:
    """Numbers in the storage dtype; integers that are too large lose their upper bits, or what `keep` gives."""
    kind = ELEMENT_TYPES[element_type]
    if not kind.is_integer:
        return np.array(numbers, np.float64).astype(kind.arithmetic).view(kind.storage)
    patterns = [keep(kind, int(number)) % (1 << kind.bits) for number in numbers]
    width = np.dtype(f"u{kind.storage.itemsize}")
    return np.array(patterns, object).astype(width).view(kind.storage)
