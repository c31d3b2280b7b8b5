"""Right variants: independent implementations of the operations, which must pass every case."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType

import numpy as np

from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Case
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Inputs, Outputs, Rejected
from opconform_runners.backends.constraints import checked
from opconform_runners.backends.frameworks.numpy import FUNCTIONS, Numpy
from opconform_runners.backends.graph import Function, outputs_of
from tests.declared import declared
from tests.mutants.gather_nds.right import right_gather_nd
from tests.mutants.pads.right import right_pad
from tests.mutants.strided_slices.right import strided_slice

#: What executes a case: the outputs of each feed.
Execute = Callable[[Case, Sequence[Inputs]], Sequence[Outputs]]
#: One way to split: the outputs for data, the axis, `num_splits` and `split_lengths`, as far as they are given.
_Split = Callable[[Array, Tensor, Attribute | None, Tensor | None], list[Array]]


def _require(holds: object) -> None:
    if not holds:
        raise Rejected("run", "the case is wrong")


def _graphs(split: _Split) -> Execute:
    """The same way to split, in the graph of a case."""

    def even(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
        data, axis = [*inputs, None, None][:2]
        _require(axis is None or not axis.shape)
        return outputs(data, axis, attributes.get("num_splits"), None)

    def variadic(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
        data, axis, lengths = [*inputs, None, None, None][:3]
        _require(lengths is not None)
        return outputs(data, axis, None, lengths)

    def outputs(
        data: Tensor | None, axis: Tensor | None, count: Attribute | None, lengths: Tensor | None
    ) -> list[Tensor]:
        if data is None or axis is None:
            raise Rejected("build", "an input is missing")
        return [Tensor(element_type=data.element_type, array=each) for each in split(data.array, axis, count, lengths)]

    functions: Mapping[str, Function] = {
        **checked(FUNCTIONS, (each.declaration for each in OPERATIONS.values())),
        "Concat-1": _concat,
        "Gather-8": _elements,
        "GatherND-8": right_gather_nd,
        "Reshape-1": _reshape,
        "Pad-12": right_pad,
        "Slice-8": _slice,
        "Split-1": even,
        "StridedSlice-1": strided_slice,
        "Transpose-1": _transpose,
        "VariadicSplit-1": variadic,
    }
    return lambda case, feeds: [outputs_of(case, feed, functions) for feed in feeds]


def _concat(inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Appends the rows of every input to those of the output, one after the other."""
    axis, ranks = attributes.get("axis"), {each.array.ndim for each in inputs}
    _require(type(axis) is int and len(ranks) == 1 and 0 not in ranks)
    [rank], along = ranks, int(str(axis))
    _require(along in range(-rank, rank) and len({each.element_type for each in inputs}) == 1)
    before, after = inputs[0].shape[: along % rank], inputs[0].shape[along % rank + 1 :]
    _require(all((each.shape[: along % rank], each.shape[along % rank + 1 :]) == (before, after) for each in inputs))
    rows = [each.array.reshape(prod(before), prod(each.shape[len(before) :])) for each in inputs]
    filled = [each for row in zip(*rows, strict=True) for each in row] if any(each.size for each in rows) else []
    array = np.concatenate([np.zeros(0, rows[0].dtype), *filled])
    shape = (*before, sum(each.shape[len(before)] for each in inputs), *after)
    return [Tensor(element_type=inputs[0].element_type, array=array.reshape(shape))]


def _reshape(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Takes the elements one by one from a flat list, into lists of the sizes from the last one on."""
    data, shape = [*inputs, None, None][:2]
    copies = attributes.get("special_zero")
    if data is None or shape is None or copies not in (False, True) or not isinstance(copies, bool):
        raise Rejected("build", "an input is missing, or the attribute")
    _require(shape.type.is_integer and shape.array.ndim == 1)
    sizes, left = shape.integers(), list(data.shape)
    _require(all(each >= -1 for each in sizes) and sizes.count(-1) < 2)
    for index, size in enumerate(sizes):
        if copies and size == 0:
            _require(index < len(left))
            sizes[index] = left[index]
    count, known = prod(left), 1
    for size in sizes:
        known *= 1 if size == -1 else size
    if -1 in sizes:
        _require(known and count % known == 0)
        sizes[sizes.index(-1)] = count // known
    _require(prod(sizes) == count)
    array = np.empty(sizes, data.array.dtype)
    array.reshape(-1)[:] = [*data.array.reshape(-1)] if count else []
    return [Tensor(element_type=data.element_type, array=array)]


def _elements(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Finds the element of data for each element of the output, by the formula of the page."""
    data, indices, axis = [*inputs, None, None, None][:3]
    given = attributes.get("batch_dims", 0)
    if data is None or indices is None or axis is None:
        raise Rejected("build", "an input is missing")
    _require(data.shape and indices.type.is_integer and axis.type.is_integer and axis.shape in {(), (1,)})
    [along] = axis.integers()
    _require(along in range(-len(data.shape), len(data.shape)) and type(given) is int)
    along, batches, rank = along % len(data.shape), int(str(given)), len(indices.shape)
    _require(abs(batches) <= min(rank, len(data.shape)))
    batches += rank * (batches < 0)
    _require(batches <= along and data.shape[:batches] == indices.shape[:batches])
    shape = (*data.shape[:along], *indices.shape[batches:], *data.shape[along + 1 :])
    numbers, size = np.array(indices.integers(), object).reshape(indices.shape), data.shape[along]
    output = np.zeros(shape, data.array.dtype)
    for place in np.ndindex(*shape) if 0 not in shape else ():
        number = numbers[(*place[:batches], *place[along : along + rank - batches])]
        if -size <= number < size:
            output[place] = data.array[(*place[:along], int(number), *place[along + rank - batches :])]
    return [Tensor(element_type=data.element_type, array=output)]


def _slice(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Takes the elements that Python selects from a list."""
    data, *indices = [*inputs, *[None] * 5][:5]
    if data is None or None in indices[:3]:
        raise Rejected("build", "an input is missing")
    given = [each for each in indices if each is not None]
    _require(data.shape and all(each.type.is_integer and each.array.ndim == 1 for each in given))
    start, stop, step, *axes = [each.integers() for each in given]
    along = axes[0] if axes else [*range(len(start))]
    _require(len(start) == len(stop) == len(step) == len(along) and 0 not in step)
    rank = len(data.shape)
    _require(
        all(axis in range(-rank, rank) for axis in along)
        and len({(axis + rank) % rank for axis in along}) == len(along)
    )
    array = data.array
    for axis, first, end, by in zip(along, start, stop, step, strict=True):
        selected = range(array.shape[axis])[first:end:by]
        shape = (*array.shape[: axis % rank], len(selected), *array.shape[axis % rank + 1 :])
        array = np.take(array, np.array(selected, np.int64), axis) if array.size else np.empty(shape, array.dtype)
    return [Tensor(element_type=data.element_type, array=array)]


def _transpose(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Takes the elements one after the other, by the strides of the dimensions."""
    arg, order = [*inputs, None, None][:2]
    if arg is None or order is None:
        raise Rejected("build", "an input is missing")
    rank = len(arg.shape)
    _require(order.type.is_integer and len(order.shape) == 1)
    axes = order.integers() or [*range(rank)][::-1]
    _require(sorted(axes) == [*range(rank)])
    strides = [prod(arg.shape[axis + 1 :]) for axis in axes]
    places = np.zeros((), np.int64)
    for axis, stride in zip(axes, strides, strict=True):
        places = places[..., None] + np.arange(arg.shape[axis] if arg.array.size else 0) * stride
    shape = tuple(arg.shape[axis] for axis in axes)
    array = arg.array.reshape(-1)[places] if arg.array.size else np.empty(shape, arg.array.dtype)
    return [Tensor(element_type=arg.element_type, array=array.reshape(shape))]


def _bytes(data: Array, axis: Tensor, count: Attribute | None, lengths: Tensor | None) -> list[Array]:
    """Copies runs of elements one after the other through a flat array, with strides that it computes itself."""
    _require(data.ndim > 0 and axis.type.kind in ("signed", "unsigned") and axis.shape in ((), (1,)))
    [along] = axis.integers()
    _require(-data.ndim <= along <= data.ndim - 1)
    along += data.ndim * (along < 0)
    stride = 1
    for size in data.shape[along + 1 :]:
        stride *= size
    block = stride * data.shape[along]
    blocks = data.size // block if block else 0
    flat = np.ascontiguousarray(data).reshape(-1)
    outputs, first = [], 0
    for length in _lengths_of_bytes(data.shape[along], count, lengths):
        output = np.empty(blocks * length * stride, data.dtype)
        for number in range(blocks):
            source = number * block + first * stride
            target = number * length * stride
            output[target : target + length * stride] = flat[source : source + length * stride]
        outputs.append(output.reshape(*data.shape[:along], length, *data.shape[along + 1 :]))
        first += length
    return outputs


def _lengths_of_bytes(size: int, count: Attribute | None, given: Tensor | None) -> list[int]:
    if given is None:
        _require(isinstance(count, int) and not isinstance(count, bool) and 0 < count <= size)
        each, over = divmod(size, int(str(count)))
        _require(not over)
        return [each] * int(str(count))
    _require(given.type.kind in ("signed", "unsigned") and given.array.ndim == 1 and given.array.size)
    left, place = size, None
    lengths = given.integers()
    for number, length in enumerate(lengths):
        if length == -1:
            _require(place is None)
            place = number
        else:
            _require(length >= 0)
            left -= length
    _require(left >= 0 if place is not None else left == 0)
    if place is not None:
        lengths[place] = left
    return lengths


def _gather(data: Array, axis: Tensor, count: Attribute | None, lengths: Tensor | None) -> list[Array]:
    """Gathers the elements of each output by their indices."""
    axes = [*range(data.ndim), *range(-data.ndim, 0)]
    _require(axis.type.is_integer and axis.shape in {(), (1,)} and axis.integers()[0] in axes)
    along = axis.integers()[0]
    bounds = list(_bounds(data.shape[along], count, lengths))
    if not data.size:
        shape = data.shape
        return [np.empty((*shape[:along], end - start, *shape[along:][1:]), data.dtype) for start, end in bounds]
    return [np.take(data, np.arange(*each), along) for each in bounds]


def _bounds(size: int, count: Attribute | None, given: Tensor | None) -> Iterator[tuple[int, int]]:
    if given is None:
        _require(type(count) is int and count >= 1 and size > 0 and size % count == 0)
        step = size // int(str(count))
        yield from ((start, start + step) for start in range(0, size, step))
        return
    _require(given.type.is_integer and len(given.shape) == 1 and given.shape[0] > 0)
    lengths = given.integers()
    _require(min(lengths) >= -1 and sum(each == -1 for each in lengths) < 2)
    rest = size - sum(each for each in lengths if each > 0)
    _require(rest >= 0 and (-1 in lengths or rest == 0))
    start = 0
    for each in lengths:
        end = start + (rest if each < 0 else each)
        yield start, end
        start = end


def _peel(data: Array, axis: Tensor, count: Attribute | None, lengths: Tensor | None) -> list[Array]:
    """Takes one output after the other off the end of data, which gets shorter."""
    _require(axis.type.is_integer and data.ndim and axis.array.ndim <= 1 and axis.array.size == 1)
    [along] = axis.integers()
    _require(along in range(-data.ndim, data.ndim))
    rest = np.moveaxis(data, along, 0)
    asked = _asked(len(rest), count, lengths)
    known = [each for each in asked if each != -1]
    _require(all(each >= 0 for each in known) and len(asked) - len(known) <= 1)
    _require(sum(known) == len(rest) or (sum(known) < len(rest) and -1 in asked))
    outputs = []
    while asked:
        last = asked.pop()
        end = sum(asked) if last == -1 else len(rest) - last
        outputs.append(np.ascontiguousarray(np.moveaxis(rest[end:], 0, along)))
        rest = rest[:end]
    return outputs[::-1]


def _asked(size: int, count: Attribute | None, given: Tensor | None) -> list[int]:
    if given is None:
        _require(isinstance(count, int) and count is not True and count is not False)
        number = int(str(count))
        _require(0 < number <= size and size // number * number == size)
        return [size // number] * number
    _require(given.type.is_integer and given.array.ndim == 1 and given.array.size)
    return given.integers()


#: The right variants by name; `right/kernel`, the implementation that mutants change, is one more.
VARIANTS: Mapping[str, Execute] = MappingProxyType(
    {
        "right/numpy": lambda case, feeds: Numpy().run(declared(case), None, feeds),
        "right/bytes": _graphs(_bytes),
        "right/gather": _graphs(_gather),
        "right/peel": _graphs(_peel),
    }
)
