"""The kernel: a right implementation in small steps, so that a mutant changes one of them and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NoReturn

import numpy as np

from opconform.case import Attribute, Case, Dynamic
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Implementation, Inputs, Outputs, Rejected

#: What a length of -1 stands for (VariadicSplit-1, Inputs, 3).
REMAINDER = -1
#: What a mutant gets that asks for far too many outputs, or for far too long ones, so that it needs little memory.
_MOST_OUTPUTS = 4_096
_FAR_BEYOND = 1 << 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One execution of an operation: a case, the inputs of one of its feeds, and that feed's number."""

    case: Case
    inputs: Inputs
    feed: int

    @property
    def data(self) -> Array:
        """The elements of data."""
        return self.inputs["data"].array

    @property
    def element_type(self) -> str:
        """The element type of data."""
        return self.inputs["data"].element_type

    @property
    def dynamic(self) -> Dynamic | None:
        """The dimensions of data in the IR, or None where they are its shape."""
        return next((each.dynamic for each in self.case.inputs if each.name == "data"), None)

    @property
    def even(self) -> bool:
        """Whether the operation is Split-1."""
        return self.case.op == "Split-1"

    def comes_at_run_time(self, name: str) -> bool:
        """Whether an input is a parameter of the IR."""
        return any(each.name == name and each.binding == "parameter" for each in self.case.inputs)


def refuse(message: str) -> NoReturn:
    """Refuse a case.

    Raises:
        Rejected: Always.
    """
    raise Rejected("build", message)


def integers(tensor: Tensor) -> list[int]:
    """The elements as integers; what is no integer type is read as a careless runtime reads it."""
    if tensor.type.is_integer:
        return tensor.integers()
    flat = tensor.array.reshape(-1)
    if tensor.type.kind == "float" and tensor.type.native is not None:
        flat = flat.view(tensor.type.native).astype(np.float64)
    return [int(each) for each in flat.tolist()]


class Kernel:
    """Checks everything, and copies rows."""

    def describe(self) -> Implementation:
        """What it is and can do: everything."""
        return Implementation(
            name="kernel",
            version="1",
            element_types=tuple(ELEMENT_TYPES),
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:
        """The outputs of each feed."""
        return [
            [Tensor(element_type=self.element_type(call), array=each) for each in self.outputs(call)]
            for call in (Call(case=case, inputs=feed, feed=number) for number, feed in enumerate(feeds))
        ]

    # The graph around the operation

    def outputs(self, call: Call) -> list[Array]:
        """The outputs of the model."""
        match call.case.context:
            case "folded":
                return self.folded(call)
            case "concat":
                return [self.rejoined(call)]
            case "chain":
                return self.chained(call)
            case "partial":
                return self.used(self.split(call))
            case "shared":
                return self.shared(call)
            case _:
                return self.split(call)

    def folded(self, call: Call) -> list[Array]:
        """The outputs where all inputs are constants."""
        return self.split(call)

    def rejoined(self, call: Call) -> Array:
        """All outputs joined along the axis."""
        return np.concatenate(self.split(call), self.axis(call))

    def chained(self, call: Call) -> list[Array]:
        """The outputs, the last one split again."""
        *pieces, last = self.split(call)
        return [*pieces, *self.split(self.second_link(call, last))]

    def second_link(self, call: Call, last: Array) -> Call:
        """The call that splits the last output again."""
        inputs = {**call.inputs, "data": Tensor(element_type=call.element_type, array=last)}
        return Call(case=call.case, inputs=inputs, feed=call.feed)

    def used(self, pieces: list[Array]) -> list[Array]:
        """The outputs that a model uses which does not use all."""
        return pieces[1::2]

    def shared(self, call: Call) -> list[Array]:
        """The outputs, and those of the last one's shape joined along the next axis."""
        pieces = self.split(call)
        alike = [each for each in pieces if each.shape == pieces[-1].shape]
        return [*pieces, np.concatenate(alike, (self.axis(call) + 1) % call.data.ndim)]

    # The operation

    def split(self, call: Call) -> list[Array]:
        """The outputs of the operation."""
        self.required(call, "data")
        axis = self.axis(call)
        sizes = self.sizes(call, self.dimension(call, axis))
        pieces = [
            self.piece(call, axis, start, size)
            for start, size in zip(self.offsets(call, sizes), sizes[:_MOST_OUTPUTS], strict=False)
        ]
        return self.delivered(call, axis, pieces)

    def required(self, call: Call, name: str) -> Tensor:
        """An input that must be there."""
        if name not in call.inputs:
            return self.missing(call, name)
        return call.inputs[name]

    def missing(self, call: Call, name: str) -> Tensor:
        """What is taken for an input that is left out."""
        refuse(f"{name} is missing")

    def dimension(self, call: Call, axis: int) -> int:
        """The size of the dimension that is split."""
        return int(call.data.shape[axis])

    # The axis

    def axis(self, call: Call) -> int:
        """The axis, counted from the front."""
        tensor = self.required(call, "axis")
        self.check_axis_type(call, tensor)
        self.check_axis_shape(call, tensor)
        value = self.axis_value(call, tensor)
        self.check_axis_range(call, value, call.data.ndim)
        return self.from_front(value, call.data.ndim)

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        """Refuse an axis of a type that is no integer type."""
        if not tensor.type.is_integer:
            refuse("the axis is no integer")

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        """Refuse an axis of a shape that the pages do not allow."""
        if tensor.shape not in ([()] if call.even else [(), (1,)]):
            refuse("the axis is no scalar")

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        """The axis as it is given."""
        return (integers(tensor) or [0])[0]

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        """Refuse an axis that is out of range."""
        if not -rank <= value < rank:
            refuse("the axis is out of range")

    def from_front(self, value: int, rank: int) -> int:
        """An axis counted from the front."""
        return value % rank if rank else refuse("data of rank 0 has no axis")

    # The sizes

    def sizes(self, call: Call, size: int) -> list[int]:
        """The sizes of the outputs along the axis."""
        if call.even:
            count = self.num_splits(call)
            self.check_num_splits(call, count, size)
            return self.even_sizes(call, count, size)
        lengths = self.lengths(call)
        self.check_lengths(call, lengths, size)
        return self.resolved(call, lengths, size)

    def num_splits(self, call: Call) -> int:
        """The attribute `num_splits`."""
        if "num_splits" not in call.case.attributes:
            return self.missing_num_splits(call)
        given = call.case.attributes["num_splits"]
        if isinstance(given, int) and not isinstance(given, bool):
            return self.num_splits_value(given)
        return self.no_integer(given)

    def missing_num_splits(self, call: Call) -> int:
        """What is taken for an attribute that is left out."""
        refuse("num_splits is missing")

    def num_splits_value(self, given: int) -> int:
        """An integer attribute as the kernel reads it."""
        return given

    def no_integer(self, given: Attribute) -> int:
        """What is taken for an attribute that is no integer."""
        refuse("num_splits is no integer")

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        """Refuse a number of pieces that the dimension cannot be split into."""
        self.check_positive(count)
        self.check_zero_dimension(size)
        self.check_at_most_dimension(count, size)
        self.check_divides(count, size)

    def check_positive(self, count: int) -> None:
        """Refuse no pieces, and a negative number of them."""
        if count < 1:
            refuse("num_splits is not positive")

    def check_zero_dimension(self, size: int) -> None:
        """Refuse to split a dimension of 0."""
        if size == 0:
            refuse("the dimension is 0")

    def check_at_most_dimension(self, count: int, size: int) -> None:
        """Refuse more pieces than the dimension has elements."""
        if count > size:
            refuse("num_splits is over the dimension")

    def check_divides(self, count: int, size: int) -> None:
        """Refuse a number that does not divide the dimension."""
        if count <= size and size % count:
            refuse("num_splits does not divide the dimension")

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        """The sizes of a number of equal pieces."""
        return [size // count] * min(count, _MOST_OUTPUTS) if count > 0 else [size]

    def lengths(self, call: Call) -> list[int]:
        """The input `split_lengths`."""
        tensor = self.required(call, "split_lengths")
        self.check_lengths_type(call, tensor)
        self.check_lengths_rank(tensor)
        return self.lengths_values(call, tensor)

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        """Refuse lengths of a type that is no integer type."""
        if not tensor.type.is_integer:
            refuse("the lengths are no integers")

    def check_lengths_rank(self, tensor: Tensor) -> None:
        """Refuse lengths that are no 1D tensor."""
        if len(tensor.shape) != 1:
            refuse("the lengths are no list")

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        """The lengths as they are given."""
        return integers(tensor)

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        """Refuse lengths that the dimension cannot be split into."""
        self.check_empty(lengths)
        self.check_negative(lengths)
        self.check_single(lengths)
        self.check_sum(call, lengths, size)

    def check_empty(self, lengths: list[int]) -> None:
        """Refuse an empty list of lengths."""
        if not lengths:
            refuse("there are no lengths")

    def check_negative(self, lengths: list[int]) -> None:
        """Refuse a length under -1."""
        if any(each < REMAINDER for each in lengths):
            refuse("a length is negative")

    def check_single(self, lengths: list[int]) -> None:
        """Refuse a second -1."""
        if lengths.count(REMAINDER) > 1:
            refuse("there are two -1")

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        """Refuse lengths that are too many together, or too few."""
        total = self.total(call, [each for each in lengths if each != REMAINDER])
        if REMAINDER in lengths:
            self.check_remainder(total, size)
        elif total != size:
            self.wrong_sum(call, total, size)

    def total(self, call: Call, lengths: list[int]) -> int:
        """The sum of the lengths that are given."""
        return sum(lengths)

    def check_remainder(self, total: int, size: int) -> None:
        """Refuse lengths that leave less than nothing to -1."""
        if total > size:
            refuse("nothing is left for -1")

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        """What is done about a wrong sum."""
        refuse("the lengths are not the dimension")

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        """The lengths with -1 replaced by what the others leave."""
        if REMAINDER not in lengths:
            return lengths
        left = self.remainder(call, lengths, size)
        return [left if each == REMAINDER else each for each in lengths]

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        """What the other lengths leave to -1."""
        return size - sum(each for each in lengths if each != REMAINDER)

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        """Where each output begins along the axis."""
        return list(accumulate(sizes, initial=0))[:-1]

    # The elements

    def piece(self, call: Call, axis: int, start: int, size: int) -> Array:
        """One output."""
        rows = self.rows(call, axis)
        length = min(max(size, 0), rows.shape[1] + _FAR_BEYOND)
        copied = self.copied(call, rows, start, length)
        return self.bits(call, copied.reshape(self.shape(call, axis, length)))

    def rows(self, call: Call, axis: int) -> Array:
        """Data as a tensor of rank 3: what is before the axis, the axis, and what is after it."""
        shape = call.data.shape
        outer, inner = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
        return call.data.reshape(outer, shape[axis], inner)

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        """A run of rows; beyond the end of data are zeros, as they may well be in memory."""
        inside = rows[:, max(start, 0) : max(start, 0) + size]
        if inside.shape[1] == size:
            return np.ascontiguousarray(inside)
        beyond = np.zeros((rows.shape[0], size - inside.shape[1], rows.shape[2]), rows.dtype)
        return np.concatenate([inside, beyond], 1)

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        """The shape of an output."""
        return (*call.data.shape[:axis], size, *call.data.shape[axis + 1 :])

    def bits(self, call: Call, piece: Array) -> Array:
        """The elements of an output as they are handed out."""
        return piece

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        """The outputs in the order in which they are handed out."""
        return pieces

    def element_type(self, call: Call) -> str:
        """The element type of the outputs."""
        return call.element_type
