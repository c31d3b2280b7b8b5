"""Split-1, from its specification page: outputs of the same size along an axis."""

from opconform.operations.axis import axis_violations, data_violations, dimension, splitting
from opconform.operations.operation import Arguments, AttributeSpec, Rejection


def _num_splits(arguments: Arguments) -> int | None:
    """`num_splits`, or None if it is missing or not an integer."""
    given = arguments.attributes.get("num_splits")
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _num_splits_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `num_splits` (Attributes; Detailed Description, first sentence)."""
    if "num_splits" not in arguments.attributes:
        return ["num_splits.required"]
    count, size = _num_splits(arguments), dimension(arguments)
    if count is None:
        return ["num_splits.type"]
    if count < 1:
        return ["num_splits.positive"]
    if size is None:
        return []
    if size == 0:
        return ["num_splits.zero-dimension"]
    if count > size:
        return ["num_splits.at-most-dimension"]
    return ["num_splits.divides"] if size % count else []


def _sizes(arguments: Arguments) -> tuple[int, ...]:
    violated = (
        *data_violations(arguments),
        *axis_violations(arguments, allowed=[()]),
        *_num_splits_violations(arguments),
    )
    count, size = _num_splits(arguments), dimension(arguments)
    if violated or count is None or size is None:
        raise Rejection(violated)
    return (size // count,) * count


SPLIT = splitting(
    name="Split-1",
    attributes=(AttributeSpec("num_splits", type="int"),),
    sizes=_sizes,
    requested_outputs=_num_splits,
)
