"""Split-1 and VariadicSplit-1 in small steps: a right implementation whose hooks the rows replace."""

from itertools import accumulate
from math import prod
from types import MappingProxyType

import numpy as np

from opconform.suite.case import Attribute, Dynamic
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hook, Hooks, refuse

#: What a length of -1 stands for (VariadicSplit-1, Inputs, 3).
REMAINDER = -1
#: Limits for a mutant that asks for far too many outputs, or for far too long ones, so that it needs little memory.
_MOST_OUTPUTS = 4_096
_FAR_BEYOND = 1 << 8


def data(call: Call) -> Array:
    """The elements of data."""
    return call.inputs["data"].array


def integers(tensor: Tensor) -> list[int]:
    """The elements as integers; other element types are read as a careless runtime reads them."""
    if tensor.type.is_integer:
        return tensor.integers()
    flat = tensor.array.reshape(-1)
    if tensor.type.kind == "float" and tensor.type.native is not None:
        flat = flat.view(tensor.type.native).astype(np.float64)
    return [int(each) for each in flat.tolist()]


def dynamic(call: Call) -> Dynamic | None:
    """The dimensions of data in the model, or None where they are its shape."""
    return next((each.dynamic for each in call.case.inputs if each.name == "data"), None)


def fixed(lengths: list[int]) -> list[int]:
    """The lengths that are not -1."""
    return [each for each in lengths if each != REMAINDER]


def _outputs(call: Call) -> list[Tensor]:
    call.do("required", "data")
    axis: int = call.do("axis")
    sizes: list[int] = call.do("sizes", call.do("dimension", axis))
    starts: list[int] = call.do("offsets", sizes)
    element_type = call.inputs["data"].element_type
    return [
        Tensor(element_type=element_type, array=call.do("output", axis, start, size))
        for start, size in zip(starts, sizes[:_MOST_OUTPUTS], strict=False)
    ]


def _required(call: Call, name: str) -> Tensor:
    """An input that must be there."""
    return call.inputs[name] if name in call.inputs else refuse(f"{name} is missing")


def _dimension(call: Call, axis: int) -> int:
    """The size of the dimension that is split."""
    return int(data(call).shape[axis])


# The axis


def _axis(call: Call) -> int:
    """The axis, counted from the front."""
    tensor: Tensor = call.do("required", "axis")
    call.do("check_axis_type", tensor)
    call.do("check_axis_shape", tensor)
    value, rank = call.do("axis_value", tensor), data(call).ndim
    call.do("check_axis_range", value, rank)
    axis: int = call.do("from_front", value, rank)
    return axis


def _check_axis_type(_call: Call, tensor: Tensor) -> None:
    if not tensor.type.is_integer:
        refuse("the type of the axis is not an integer type")


def _check_axis_shape(call: Call, tensor: Tensor) -> None:
    if tensor.shape not in ([()] if call.op == "Split-1" else [(), (1,)]):
        refuse("the axis is not a scalar")


def _axis_value(_call: Call, tensor: Tensor) -> int:
    """The axis as it is given."""
    return (integers(tensor) or [0])[0]


def _check_axis_range(_call: Call, value: int, rank: int) -> None:
    if not -rank <= value < rank:
        refuse("the axis is out of range")


def _from_front(_call: Call, value: int, rank: int) -> int:
    return value % rank if rank else refuse("data of rank 0 has no axis")


# The sizes of Split-1


def _sizes_of_split(call: Call, size: int) -> list[int]:
    """The sizes of the outputs along the axis."""
    count: int = call.do("num_splits")
    call.do("check_num_splits", count, size)
    sizes: list[int] = call.do("even_sizes", count, size)
    return sizes


def _num_splits(call: Call) -> int:
    """The attribute `num_splits`."""
    given = call.attributes.get("num_splits")
    is_integer = isinstance(given, int) and not isinstance(given, bool)
    hook = "missing_num_splits" if given is None else "num_splits_value" if is_integer else "no_integer"
    count: int = call.do(hook, *([] if given is None else [given]))
    return count


def _missing_num_splits(_call: Call) -> int:
    refuse("num_splits is missing")


def _num_splits_value(_call: Call, given: int) -> int:
    return given


def _no_integer(_call: Call, _given: Attribute) -> int:
    refuse("num_splits is not an integer")


def _check_num_splits(call: Call, count: int, size: int) -> None:
    call.do("check_positive", count)
    call.do("check_zero_dimension", size)
    call.do("check_at_most_dimension", count, size)
    call.do("check_divides", count, size)


def _check_positive(_call: Call, count: int) -> None:
    if count < 1:
        refuse("num_splits is not positive")


def _check_zero_dimension(_call: Call, size: int) -> None:
    if size == 0:
        refuse("the dimension is 0")


def _check_at_most_dimension(_call: Call, count: int, size: int) -> None:
    if count > size:
        refuse("num_splits is over the dimension")


def _check_divides(_call: Call, count: int, size: int) -> None:
    if count <= size and size % count:
        refuse("num_splits does not divide the dimension")


def _even_sizes(_call: Call, count: int, size: int) -> list[int]:
    return [size // count] * min(count, _MOST_OUTPUTS) if count > 0 else [size]


# The sizes of VariadicSplit-1


def _sizes_of_variadic_split(call: Call, size: int) -> list[int]:
    """The sizes of the outputs along the axis."""
    lengths: list[int] = call.do("lengths")
    call.do("check_lengths", lengths, size)
    sizes: list[int] = call.do("resolved", lengths, size)
    return sizes


def _lengths(call: Call) -> list[int]:
    """The input `split_lengths`."""
    tensor: Tensor = call.do("required", "split_lengths")
    call.do("check_lengths_type", tensor)
    call.do("check_lengths_rank", tensor)
    lengths: list[int] = call.do("lengths_values", tensor)
    return lengths


def _check_lengths_type(_call: Call, tensor: Tensor) -> None:
    if not tensor.type.is_integer:
        refuse("the type of the lengths is not an integer type")


def _check_lengths_rank(_call: Call, tensor: Tensor) -> None:
    if len(tensor.shape) != 1:
        refuse("the lengths are not a 1D tensor")


def _lengths_values(_call: Call, tensor: Tensor) -> list[int]:
    """The lengths as they are given."""
    return integers(tensor)


def _check_lengths(call: Call, lengths: list[int], size: int) -> None:
    call.do("check_empty", lengths)
    call.do("check_negative", lengths)
    call.do("check_single", lengths)
    call.do("check_sum", lengths, size)


def _check_empty(_call: Call, lengths: list[int]) -> None:
    if not lengths:
        refuse("there are no lengths")


def _check_negative(_call: Call, lengths: list[int]) -> None:
    if any(each < REMAINDER for each in lengths):
        refuse("a length is negative")


def _check_single(_call: Call, lengths: list[int]) -> None:
    if lengths.count(REMAINDER) > 1:
        refuse("there are two -1")


def _check_sum(call: Call, lengths: list[int], size: int) -> None:
    total: int = call.do("total", fixed(lengths))
    if REMAINDER in lengths:
        call.do("check_remainder", total, size)
    elif total != size:
        call.do("wrong_sum", total, size)


def _total(_call: Call, lengths: list[int]) -> int:
    """The sum of the lengths that are not -1."""
    return sum(lengths)


def _check_remainder(_call: Call, total: int, size: int) -> None:
    if total > size:
        refuse("nothing is left for -1")


def _wrong_sum(_call: Call, _total: int, _size: int) -> None:
    refuse("the sum of the lengths is not the dimension")


def _resolved(call: Call, lengths: list[int], size: int) -> list[int]:
    """The lengths with -1 replaced by what the others leave."""
    if REMAINDER not in lengths:
        return lengths
    left: int = call.do("remainder", lengths, size)
    return [left if each == REMAINDER else each for each in lengths]


def _remainder(_call: Call, lengths: list[int], size: int) -> int:
    """What the other lengths leave to -1."""
    return size - sum(fixed(lengths))


# The elements


def _offsets(_call: Call, sizes: list[int]) -> list[int]:
    """Where each output begins along the axis."""
    return list(accumulate(sizes, initial=0))[:-1]


def _output(call: Call, axis: int, start: int, size: int) -> Array:
    """The elements of one output."""
    rows: Array = call.do("rows", axis)
    length = min(max(size, 0), rows.shape[1] + _FAR_BEYOND)
    copied: Array = call.do("copied", rows, start, length)
    return copied.reshape(call.do("shape", axis, length))


def _rows(call: Call, axis: int) -> Array:
    """Data as a tensor of rank 3: what is before the axis, the axis, and what is after it."""
    shape = data(call).shape
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    return data(call).reshape(outer, shape[axis], inner)


def _copied(_call: Call, rows: Array, start: int, size: int) -> Array:
    """A run of rows; beyond the end of data are zeros, as they may well be in memory."""
    inside = rows[:, max(start, 0) : max(start, 0) + size]
    if inside.shape[1] == size:
        return np.ascontiguousarray(inside)
    beyond = np.zeros((rows.shape[0], size - inside.shape[1], rows.shape[2]), rows.dtype)
    return np.concatenate([inside, beyond], 1)


def _shape(call: Call, axis: int, size: int) -> tuple[int, ...]:
    """The shape of an output."""
    shape = data(call).shape
    return (*shape[:axis], size, *shape[axis + 1 :])


def _named(*hooks: Hook) -> Hooks:
    return {each.__name__.removeprefix("_"): each for each in hooks}


_SHARED = {
    **_named(_required, _dimension, _axis, _check_axis_type, _check_axis_shape, _axis_value, _check_axis_range),
    **_named(_from_front, _offsets, _output, _rows, _copied, _shape),
}
#: The hooks of Split-1.
SPLIT: Hooks = MappingProxyType(
    {
        "Split-1": _outputs,
        "sizes": _sizes_of_split,
        **_SHARED,
        **_named(_num_splits, _missing_num_splits, _num_splits_value, _no_integer, _check_num_splits, _check_positive),
        **_named(_check_zero_dimension, _check_at_most_dimension, _check_divides, _even_sizes),
    }
)
#: The hooks of VariadicSplit-1.
VARIADIC_SPLIT: Hooks = MappingProxyType(
    {
        "VariadicSplit-1": _outputs,
        "sizes": _sizes_of_variadic_split,
        **_SHARED,
        **_named(_lengths, _check_lengths_type, _check_lengths_rank, _lengths_values, _check_lengths, _check_empty),
        **_named(_check_negative, _check_single, _check_sum, _total, _check_remainder, _wrong_sum),
        **_named(_resolved, _remainder),
    }
)
