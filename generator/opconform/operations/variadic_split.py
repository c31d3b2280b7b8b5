"""VariadicSplit-1, from its specification pages: outputs of given lengths along an axis."""

from dataclasses import replace

from opconform.operations.axis import axis_violations, data_violations, dimension, splitting
from opconform.operations.operation import Arguments, Port, Rejection

#: The length that means "the remaining elements" (Inputs, 3).
REMAINDER = -1


def lengths_of(arguments: Arguments) -> tuple[int, ...] | None:
    """`split_lengths`, or None if they are missing or not a list of integers."""
    lengths = arguments.inputs.get("split_lengths")
    return lengths.integers if lengths is not None and len(lengths.shape) == 1 else None


def _lengths_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `split_lengths` (Inputs, 3; Detailed Description; Types, T2)."""
    given = arguments.inputs.get("split_lengths")
    if given is None:
        return ["lengths.required"]
    wrong_type = [] if given.is_integer else ["lengths.element-type"]
    wrong_rank = [] if len(given.shape) == 1 else ["lengths.rank"]
    empty = ["lengths.empty"] if given.shape == (0,) else []
    return [*wrong_type, *wrong_rank, *empty, *_value_violations(lengths_of(arguments), dimension(arguments))]


def _value_violations(lengths: tuple[int, ...] | None, size: int | None) -> list[str]:
    if lengths is None:
        return []
    negative = ["lengths.negative"] if any(each < REMAINDER for each in lengths) else []
    repeated = ["lengths.single-remainder"] if lengths.count(REMAINDER) > 1 else []
    if size is None:
        return [*negative, *repeated]
    fixed = sum(each for each in lengths if each != REMAINDER)
    if REMAINDER in lengths:
        return [*negative, *repeated, *(["lengths.remainder-sum"] if fixed > size else [])]
    return [*negative, *(["lengths.sum"] if fixed != size else [])]


def _sizes(arguments: Arguments) -> tuple[int, ...]:
    violated = (
        *data_violations(arguments),
        *axis_violations(arguments, allowed=[(), (1,)]),
        *_lengths_violations(arguments),
    )
    lengths, size = lengths_of(arguments), dimension(arguments)
    if violated or lengths is None or size is None:
        raise Rejection(violated)
    remainder = size - sum(each for each in lengths if each != REMAINDER)
    return tuple(remainder if each == REMAINDER else each for each in lengths)


def _requested_outputs(arguments: Arguments) -> int | None:
    lengths = arguments.inputs.get("split_lengths")
    return lengths.shape[0] if lengths is not None and len(lengths.shape) == 1 else None


VARIADIC_SPLIT = replace(
    splitting(
        name="VariadicSplit-1",
        controls=(Port("split_lengths", role="control"),),
        sizes=_sizes,
        requested_outputs=_requested_outputs,
    ),
)
