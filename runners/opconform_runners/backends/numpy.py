"""The `numpy` backend: executes a case directly, written from the specification pages without the generator's code."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

import numpy as np

from opconform.errors import counted
from opconform.suite.case import Attribute, Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs
from opconform_runners.backends.direct import Function, check_given, outputs_of, padded
from opconform_runners.backends.direct_gather import batches_of
from opconform_runners.backends.direct_reshape import copied, zeros_copy
from opconform_runners.backends.direct_slice import INDICES, bits_of, dimensions_of, index_of
from opconform_runners.backends.numpy_arguments import axis_of, data_of, integers_of, list_of, refused
from opconform_runners.backends.numpy_gather_nd import gather_nd
from opconform_runners.backends.numpy_pad import pad


class Numpy:
    """numpy's slices, after checks of everything that the specification requires."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="numpy",
            version=np.__version__,
            element_types=tuple(ELEMENT_TYPES),
            operations=tuple(FUNCTIONS),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed."""
        return [outputs_of(case, feed, FUNCTIONS) for feed in feeds]


def _split(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, axis = padded(inputs, 2)
    data = data_of(given)
    along = axis_of(axis, data, one_element=False)
    return _parts(given, _even_ends(attributes, data.shape[along]), along)


def _variadic_split(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, axis, lengths = padded(inputs, 3)
    data = data_of(given)
    along = axis_of(axis, data, one_element=True)
    return _parts(given, _given_ends(lengths, data.shape[along]), along)


def _concat(inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    arrays, axis = [each.array for each in inputs], attributes.get("axis")
    if not arrays:
        raise refused("inputs.required", "the operation has no inputs")
    if axis is None:
        raise refused("axis.required", "axis is missing")
    if type(axis) is not int:
        raise refused("axis.type", f"axis is {axis!r}, which is not an integer")
    if any(each.element_type != inputs[0].element_type for each in inputs):
        raise refused("inputs.element-type", "the inputs have different element types")
    if any(each.ndim == 0 for each in arrays):
        raise refused("inputs.positive-rank", "an input of rank 0 has no axis")
    if any(each.ndim != arrays[0].ndim for each in arrays):
        raise refused("inputs.rank", "the inputs have different ranks")
    if axis >= arrays[0].ndim or axis < -arrays[0].ndim:
        raise refused("axis.range", f"axis {axis} is out of range for rank {arrays[0].ndim}")
    if len({np.delete(each.shape, axis).tobytes() for each in arrays}) > 1:
        raise refused("inputs.shape", "the inputs have different sizes beside the axis")
    return [Tensor(element_type=inputs[0].element_type, array=np.concatenate(arrays, axis))]


def _constant(_inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    element_type, shape, value = (attributes[name] for name in ("element_type", "shape", "value"))
    return [_integers(str(element_type), np.array(value).reshape(shape))]


def _convert(inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    [given] = inputs
    return [_integers(str(attributes["destination_type"]), np.array(given.integers()).reshape(given.shape))]


def _shape_of(inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    return [_integers(str(attributes["output_type"]), np.array(inputs[0].shape))]


def _gather(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, indices, axis = padded(inputs, 3)
    data, places = data_of(given), integers_of("indices", indices)
    along = axis_of(axis, data, one_element=True) % data.ndim
    batches = batches_of(attributes.get("batch_dims", 0), (data.shape, places.shape), along, "build")
    return [Tensor(element_type=given.element_type, array=_taken(data, places, along, batches))]


def _taken(data: Array, indices: Tensor, axis: int, batch: int) -> Array:
    """`np.take` in each batch, from data with one more slice of zeros for the indices that are out of range."""
    output = np.empty((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)
    if not output.size:  # one slice of zeros can be too large for the memory
        return output
    size = data.shape[axis]
    zeros = np.zeros((*data.shape[:axis], 1, *data.shape[axis + 1 :]), data.dtype)
    extended = np.concatenate([data, zeros], axis)
    places = [each if -size <= each < 0 or 0 <= each < size else size for each in indices.integers()]
    rows = np.array([each - (each < 0) for each in places], np.int64).reshape(indices.shape)
    for number in np.ndindex(*data.shape[:batch]):
        output[number] = np.take(extended[number], rows[number], axis - batch)
    return output


def _integers(element_type: str, array: Array) -> Tensor:
    return Tensor(element_type=element_type, array=array.astype(ELEMENT_TYPES[element_type].storage))


def _reshape(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    data, given = padded(inputs, 2)
    check_given("build", data=data)
    sizes = list_of("shape", given)
    if zeros_copy(attributes, "build"):
        sizes = copied(data.shape, sizes, "build")
    return [Tensor(element_type=data.element_type, array=data.array.reshape(_inferred(sizes, data.array.size)))]


def _inferred(sizes: list[int], volume: int) -> list[int]:
    """The sizes with one in place of -1, for so many elements."""
    if sizes and min(sizes) < -1:
        raise refused("shape.negative", f"shape holds {min(sizes)}")
    if sizes.count(-1) > 1:
        raise refused("shape.single-inferred", f"shape holds -1 {sizes.count(-1)} times")
    others = prod(size for size in sizes if size >= 0)
    if -1 not in sizes:
        if others != volume:
            raise refused("shape.volume", f"shape has {counted(others, 'element')}, and data has {volume}")
        return sizes
    if others == volume == 0:
        raise refused("shape.inferred-undetermined", "every size in place of -1 gives 0 elements")
    if others == 0 or volume % others:
        raise refused("shape.inferred-divides", f"no size in place of -1 gives {counted(volume, 'element')}")
    return [volume // others if size < 0 else size for size in sizes]


def _slice(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, *indices, axes = padded(inputs, 5)
    data = data_of(given)
    start, stop, step = (list_of(*each) for each in zip(("start", "stop", "step"), indices, strict=True))
    along = range(len(start)) if axes is None else list_of("axes", axes)
    if len({len(each) for each in (start, stop, step, along)}) > 1:
        raise refused("indices.count", "start, stop, step and axes differ in their number of elements")
    along = dimensions_of(along, data.ndim, "build")
    if 0 in step:
        raise refused("step.zero", "a step is 0")
    array = data
    for axis, first, end, by in zip(along, start, stop, step, strict=True):
        array = np.moveaxis(np.moveaxis(array, axis, 0)[first:end:by], 0, axis)
    return [Tensor(element_type=given.element_type, array=np.ascontiguousarray(array))]


def _strided_slice(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    data, *indices = padded(inputs, 4)
    check_given("build", data=data)
    begin, end = (list_of(*each) for each in zip(INDICES[:2], indices[:2], strict=True))
    stride = [1] * len(begin) if indices[2] is None else list_of("stride", indices[2])
    if len({len(each) for each in (begin, end, stride)}) > 1:
        raise refused("indices.count", "begin, end and stride differ in their number of elements")
    index = index_of(data.shape, (begin, end, stride), bits_of(attributes, len(begin), "build"))
    if any(isinstance(each, slice) and each.step == 0 for each in index):
        raise refused("stride.zero", "a stride is 0")
    if index.count(...) > 1:
        raise refused("ellipsis.single", "there are two ellipses")
    if sum(isinstance(each, slice | int) for each in index) > len(data.shape):
        raise refused("indices.rank", f"there are more slicing steps than the {counted(len(data.shape), 'dimension')}")
    try:
        array = data.array[index]
    except IndexError as fault:
        raise refused("shrink.range", str(fault)) from fault
    return [Tensor(element_type=data.element_type, array=np.array(array, data.array.dtype, order="C"))]


def _transpose(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    arg, order = padded(inputs, 2)
    check_given("build", arg=arg)
    axes, rank = list_of("order", order), arg.array.ndim
    if axes and len(axes) != rank:
        raise refused("order.length", f"input_order has {counted(len(axes), 'element')}, and arg has rank {rank}")
    for axis in axes:
        if axis < 0:
            raise refused("order.negative", f"input_order holds {axis}")
        if axis >= rank:
            raise refused("order.range", f"input_order holds {axis}, and arg has rank {rank}")
        if axes.count(axis) > 1:
            raise refused("order.unique", f"input_order holds {axis} twice")
    array = np.transpose(arg.array, axes or None)
    return [Tensor(element_type=arg.element_type, array=np.array(array, order="C"))]


#: The operations that are implemented here; the ones that compute control inputs are for integers in whole bytes.
FUNCTIONS: Mapping[str, Function] = {
    "Concat-1": _concat,
    "Constant-1": _constant,
    "Convert-1": _convert,
    "Gather-8": _gather,
    "GatherND-8": gather_nd,
    "Pad-12": pad,
    "Reshape-1": _reshape,
    "ShapeOf-3": _shape_of,
    "Slice-8": _slice,
    "Split-1": _split,
    "StridedSlice-1": _strided_slice,
    "Transpose-1": _transpose,
    "VariadicSplit-1": _variadic_split,
}


def _parts(data: Tensor, ends: Sequence[int], axis: int) -> list[Tensor]:
    return [Tensor(element_type=data.element_type, array=each) for each in np.split(data.array, ends, axis=axis)]


def _even_ends(attributes: Mapping[str, Attribute], size: int) -> list[int]:
    if "num_splits" not in attributes:
        raise refused("num_splits.required", "num_splits is missing")
    count = attributes["num_splits"]
    if type(count) is not int:
        raise refused("num_splits.type", f"num_splits is {count!r}, which is not an integer")
    if count <= 0:
        raise refused("num_splits.positive", f"num_splits is {count}")
    if size == 0:
        raise refused("num_splits.zero-dimension", "a dimension of 0 cannot be split")
    if count > size:
        raise refused("num_splits.at-most-dimension", f"num_splits is {count}, and the dimension has {size}")
    length, rest = divmod(size, count)
    if rest:
        raise refused("num_splits.divides", f"{count} does not divide {size}")
    return [length * each for each in range(1, count)]


def _given_ends(given: Tensor | None, size: int) -> list[int]:
    lengths = list_of("lengths", given)
    if not lengths:
        raise refused("lengths.empty", "split_lengths is empty")
    if min(lengths) < -1:
        raise refused("lengths.negative", f"split_lengths contains {min(lengths)}")
    open_ones = [place for place, length in enumerate(lengths) if length == -1]
    if len(open_ones) > 1:
        raise refused("lengths.single-remainder", f"split_lengths contains -1 {len(open_ones)} times")
    known = sum(length for length in lengths if length >= 0)
    for place in open_ones:
        if known > size:
            raise refused("lengths.remainder-sum", f"the lengths take {known}, and the dimension has {size}")
        lengths[place] = size - known
    if sum(lengths) != size:
        raise refused("lengths.sum", f"the lengths take {known}, and the dimension has {size}")
    return list(accumulate(lengths[:-1]))
