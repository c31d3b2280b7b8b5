"""The other readings of the interpretations of StridedSlice-1."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import NamedTuple

from opconform.operations.arguments import Arguments
from opconform.operations.interpretation import Reading, is_empty, types_differ
from opconform.operations.movement.slices.steps import INDICES, kinds_of, mask_of, parts_of, taken_by, values_of

#: The masks of which only one can apply to a step, in the order in which one precedes another by our reading.
_KINDS = ("ellipsis", "new_axis", "shrink_axis")
#: All other orders of these masks.
_ORDERS = [*permutations(_KINDS)][1:]


class _Step(NamedTuple):
    """A slicing step on a dimension of data: what it does and selects, its indices, and its bits for begin and end."""

    number: int
    kind: str
    size: int
    part: range | int | None
    begin: int
    end: int
    stride: int
    begin_bit: int
    end_bit: int

    @property
    def is_reversed(self) -> bool:
        """Whether it slices backwards."""
        return self.kind == "slice" and self.stride < 0

    @property
    def is_before_first(self) -> bool:
        """Whether it slices backwards from before the first element."""
        return self.is_reversed and not self.begin_bit and self.begin + self.size < 0 < self.size

    @property
    def equal(self) -> int | None:
        """The place where its slice begins and ends, if these are the same in a dimension that has elements."""
        if not isinstance(self.part, range) or not self.size:
            return None
        ends_after_last = self.is_reversed and not self.end_bit and self.end >= self.size
        return self.part.start if self.part.start == self.part.stop and not ends_after_last else None


def _others(arguments: Arguments) -> int:
    """The number of dimensions that no slicing step uses."""
    return len(arguments.shape("data")) - taken_by(arguments)


def _steps(arguments: Arguments) -> Iterator[_Step]:
    """The slicing steps that slice or remove a dimension."""
    values = [values_of(arguments, index) for index in INDICES]
    begin_bits, end_bits = mask_of(arguments, "begin_mask"), mask_of(arguments, "end_mask")
    parts, sizes = iter(parts_of(arguments)), iter(arguments.shape("data"))
    for number, kind in enumerate(kinds_of(arguments)):
        if kind == "ellipsis":
            for _ in range(_others(arguments)):
                next(parts), next(sizes)
        elif kind == "new":
            next(parts)
        else:
            begin, end, stride = (value[number] for value in values)
            bits = (begin_bits[number], end_bits[number])
            yield _Step(number, kind, next(sizes), next(parts), begin, end, stride, *bits)


def _changed(
    arguments: Arguments, step: _Step, *, masks: Sequence[str] = ("begin", "end"), **indices: int
) -> Arguments:
    """The arguments with other indices of one step, and without its bits in some masks."""
    inputs, attributes = dict(arguments.inputs), dict(arguments.attributes)
    for name, value in indices.items():
        if (operand := inputs.get(name)) is not None:  # a missing stride is 1
            known = operand.integers or ()
            inputs[name] = replace(operand, integers=(*known[: step.number], value, *known[step.number + 1 :]))
    for name in masks:
        bits = mask_of(arguments, f"{name}_mask")
        attributes[f"{name}_mask"] = (*bits[: step.number], 0, *bits[step.number + 1 :])
    return replace(arguments, inputs=inputs, attributes=attributes)


def _keeps_one(arguments: Arguments) -> Arguments:
    """A slice that ends where it begins has one element."""
    for step in list(_steps(arguments)):
        if step.equal is not None:
            first = min(step.equal, step.size - 1)
            arguments = _changed(arguments, step, begin=first, end=first + 1, stride=1)
    return arguments


def _excludes_first(arguments: Arguments) -> Arguments:
    """With its bit in end_mask, a backward slice ends before the first element."""
    for step in list(_steps(arguments)):
        if step.is_reversed and step.end_bit:
            arguments = _changed(arguments, step, masks=("end",), end=0)
    return arguments


def _selects_nothing(arguments: Arguments) -> Arguments:
    """A backward slice from before the first element is empty."""
    for step in list(_steps(arguments)):
        if step.is_before_first:
            arguments = _changed(arguments, step, begin=0, end=step.size)
    return arguments


def _without_begin_mask(arguments: Arguments) -> Arguments:
    """A removed dimension ignores begin_mask."""
    for step in list(_steps(arguments)):
        if step.kind == "shrink" and step.begin_bit:
            arguments = _changed(arguments, step, masks=("begin",))
    return arguments


def _is_ambiguous(arguments: Arguments) -> bool:
    """Whether a step has bits in several masks of which only one can apply."""
    return any(sum(bits) > 1 for bits in zip(*(mask_of(arguments, f"{kind}_mask") for kind in _KINDS), strict=True))


def _in_order(order: Sequence[str], arguments: Arguments) -> Arguments:
    """Only the bit of the first mask in an order applies to a step."""
    if not _is_ambiguous(arguments):
        return arguments
    kept: dict[str, tuple[int, ...]] = {}
    for name in order:
        bits = zip(mask_of(arguments, f"{name}_mask"), *kept.values(), strict=True)
        kept[name] = tuple(int(own and not any(before)) for own, *before in bits)
    return replace(arguments, attributes={**arguments.attributes, **{f"{name}_mask": kept[name] for name in order}})


def _has_other_end(arguments: Arguments) -> bool:
    """Whether the end of a removed dimension is not its begin, or is set to the size by end_mask."""
    return any(step.kind == "shrink" and (step.end_bit or step.begin != step.end) for step in _steps(arguments))


def _lacks_steps(arguments: Arguments) -> bool:
    return "ellipsis" not in kinds_of(arguments) and _others(arguments) > 0


def _has_zero_stride(arguments: Arguments) -> bool:
    return 0 in values_of(arguments, "stride")


#: The other readings by requirement; where several rewrite the same arguments, they do it in this order.
STRIDED_SLICE_READINGS: Mapping[str, Reading] = {
    "masks.precedence": Reading(
        rejects=_is_ambiguous,
        rewrites=tuple(partial(_in_order, order) for order in _ORDERS),
    ),
    "end_mask.backwards": Reading(rewrites=(_excludes_first,)),
    "shrink.begin-mask": Reading(rewrites=(_without_begin_mask,)),
    "bounds.before-first": Reading(rewrites=(_selects_nothing,)),
    "bounds.equal": Reading(
        rejects=lambda a: any(step.equal == step.size for step in _steps(a)),  # such an element does not exist
        rewrites=(_keeps_one,),
    ),
    "stride.zero-ignored": Reading(rejects=_has_zero_stride),
    "indices.fewer": Reading(rejects=_lacks_steps),
    "indices.empty": Reading(rejects=lambda a: is_empty(a.operand("begin"))),
    "types.independent": Reading(rejects=lambda a: types_differ(a, *INDICES)),
    "masks.omitted": Reading(rejects=lambda a: not a.omitted.isdisjoint(("begin_mask", "end_mask"))),
    "shrink.ignores-end": Reading(rejects=_has_other_end),
}
