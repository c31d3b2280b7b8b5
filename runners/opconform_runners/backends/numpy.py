"""The `numpy` backend: executes a case directly, written from the specification pages without the generator's code."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

import numpy as np

from opconform.suite.case import Attribute, Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected
from opconform_runners.backends.direct import Function, outputs_of, padded

_INDICES = ("start", "stop", "step", "axes")
_INTEGERS = frozenset({"i4", "i8", "i16", "i32", "i64", "u1", "u2", "u3", "u4", "u6", "u8", "u16", "u32", "u64"})


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
    data = _data(given)
    along = _axis(axis, data, one_element=False)
    return _parts(given, _even_ends(attributes, data.shape[along]), along)


def _variadic_split(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, axis, lengths = padded(inputs, 3)
    data = _data(given)
    along = _axis(axis, data, one_element=True)
    return _parts(given, _given_ends(lengths, data.shape[along]), along)


def _concat(inputs: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    arrays, axis = [each.array for each in inputs], attributes.get("axis")
    if not arrays:
        raise _refuse("inputs.required", "there are no inputs")
    if axis is None:
        raise _refuse("axis.required", "axis is missing")
    if type(axis) is not int:
        raise _refuse("axis.type", f"axis is {axis!r}, which is not an integer")
    if any(each.element_type != inputs[0].element_type for each in inputs):
        raise _refuse("inputs.element-type", "the inputs have different element types")
    if any(each.ndim == 0 for each in arrays):
        raise _refuse("inputs.positive-rank", "an input of rank 0 has no axis")
    if any(each.ndim != arrays[0].ndim for each in arrays):
        raise _refuse("inputs.rank", "the inputs have different ranks")
    if axis >= arrays[0].ndim or axis < -arrays[0].ndim:
        raise _refuse("axis.range", f"axis {axis} is out of range for rank {arrays[0].ndim}")
    if len({np.delete(each.shape, axis).tobytes() for each in arrays}) > 1:
        raise _refuse("inputs.shape", "the inputs have different sizes beside the axis")
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
    given, places, axis = padded(inputs, 3)
    data, batch = _data(given), attributes.get("batch_dims", 0)
    if places is None:
        raise _refuse("indices.required", "indices is missing")
    if places.element_type not in _INTEGERS:
        raise _refuse("indices.element-type", f"indices is of type {places.element_type}")
    along, least = _axis(axis, data, one_element=True), min(data.ndim, len(places.shape))
    if type(batch) is not int:
        raise _refuse("batch_dims.type", f"batch_dims is {batch!r}, which is not an integer")
    if batch > least or batch < -least:
        raise _refuse("batch_dims.range", f"batch_dims {batch} is out of range for ranks of at least {least}")
    batch += len(places.shape) if batch < 0 else 0
    if batch > along % data.ndim:
        raise _refuse("batch_dims.axis", f"batch_dims {batch} is after the axis {along}")
    if data.shape[:batch] != places.shape[:batch]:
        raise _refuse("batch_dims.equal", "data and indices differ in their batch dimensions")
    return [Tensor(element_type=given.element_type, array=_taken(data, places, along % data.ndim, batch))]


def _taken(data: Array, indices: Tensor, axis: int, batch: int) -> Array:
    """`np.take` in each batch, from data with one more slice of zeros for the indices that are out of range."""
    size = data.shape[axis]
    zeros = np.zeros((*data.shape[:axis], 1, *data.shape[axis + 1 :]), data.dtype)
    extended = np.concatenate([data, zeros], axis)
    places = [each if -size <= each < 0 or 0 <= each < size else size for each in indices.integers()]
    rows = np.array([each - (each < 0) for each in places], np.int64).reshape(indices.shape)
    output = np.empty((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)
    for number in np.ndindex(*data.shape[:batch]):
        output[number] = np.take(extended[number], rows[number], axis - batch)
    return output


def _integers(element_type: str, array: Array) -> Tensor:
    return Tensor(element_type=element_type, array=array.astype(ELEMENT_TYPES[element_type].storage))


def _reshape(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    data, given = padded(inputs, 2)
    if data is None:
        raise _refuse("data.required", "data is missing")
    sizes, copies = _list("shape", given), attributes.get("special_zero")
    if sizes is None:
        raise _refuse("shape.required", "shape is missing")
    if copies is None:
        raise _refuse("special_zero.required", "special_zero is missing")
    if copies is not True and copies is not False:
        spelled = str(copies).lower() in {"0", "1", "false", "true"}
        raise _refuse(f"special_zero.{'spelling' if spelled else 'type'}", f"special_zero is {copies!r}")
    if copies:
        for index in [index for index, size in enumerate(sizes) if not size]:
            if index >= data.array.ndim:
                name = "zero-index" if index > data.array.ndim else "zero-after-last"
                raise _refuse(f"shape.{name}", f"data has no dimension {index} to copy")
            sizes[index] = data.array.shape[index]
    return [Tensor(element_type=data.element_type, array=data.array.reshape(_inferred(sizes, data.array.size)))]


def _inferred(sizes: list[int], volume: int) -> list[int]:
    """The sizes with one in place of -1, for so many elements."""
    if sizes and min(sizes) < -1:
        raise _refuse("shape.negative", f"shape holds {min(sizes)}")
    if sizes.count(-1) > 1:
        raise _refuse("shape.single-inferred", f"shape holds -1 {sizes.count(-1)} times")
    others = prod(size for size in sizes if size >= 0)
    if -1 not in sizes:
        if others != volume:
            raise _refuse("shape.volume", f"shape has {others} elements, and data has {volume}")
        return sizes
    if others == volume == 0:
        raise _refuse("shape.inferred-undetermined", "every size in place of -1 gives 0 elements")
    if others == 0 or volume % others:
        raise _refuse("shape.inferred-divides", f"no size in place of -1 gives {volume} elements")
    return [volume // others if size < 0 else size for size in sizes]


def _slice(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    given, *indices = padded(inputs, 5)
    data = _data(given)
    start, stop, step, axes = (_list(name, each) for name, each in zip(_INDICES, indices, strict=True))
    if start is None or stop is None or step is None:
        missing = next(name for name, each in zip(_INDICES, indices, strict=True) if each is None)
        raise _refuse(f"{missing}.required", f"{missing} is missing")
    along = range(len(start)) if axes is None else axes
    if len({len(each) for each in (start, stop, step, along)}) > 1:
        raise _refuse("indices.count", "start, stop, step and axes differ in their number of elements")
    if any(axis >= data.ndim or axis < -data.ndim for axis in along):
        raise _refuse("axes.range", f"the axes {list(along)} are out of range for rank {data.ndim}")
    if len({axis % data.ndim for axis in along}) < len(along):
        raise _refuse("axes.unique", f"the axes {list(along)} name a dimension twice")
    if 0 in step:
        raise _refuse("step.zero", "a step is 0")
    array = data
    for axis, first, end, by in zip(along, start, stop, step, strict=True):
        array = np.moveaxis(np.moveaxis(array, axis, 0)[first:end:by], 0, axis)
    return [Tensor(element_type=given.element_type, array=np.ascontiguousarray(array))]


def _transpose(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Attribute]) -> list[Tensor]:
    arg, order = padded(inputs, 2)
    if arg is None:
        raise _refuse("arg.required", "arg is missing")
    if order is None:
        raise _refuse("order.required", "input_order is missing")
    if order.element_type not in _INTEGERS:
        raise _refuse("order.element-type", f"input_order is of type {order.element_type}")
    if order.array.ndim != 1:
        raise _refuse("order.rank", f"input_order has the shape {list(order.shape)}")
    axes, rank = order.integers(), arg.array.ndim
    if axes and len(axes) != rank:
        raise _refuse("order.length", f"input_order has {len(axes)} elements, and arg has rank {rank}")
    for axis in axes:
        if axis < 0:
            raise _refuse("order.negative", f"input_order holds {axis}")
        if axis >= rank:
            raise _refuse("order.range", f"input_order holds {axis}, and arg has rank {rank}")
        if axes.count(axis) > 1:
            raise _refuse("order.unique", f"input_order holds {axis} twice")
    array = np.transpose(arg.array, axes or None)
    return [Tensor(element_type=arg.element_type, array=np.array(array, order="C"))]


#: The operations that are implemented here; the ones that compute control inputs are for integers in whole bytes.
FUNCTIONS: Mapping[str, Function] = {
    "Concat-1": _concat,
    "Constant-1": _constant,
    "Convert-1": _convert,
    "Gather-8": _gather,
    "Reshape-1": _reshape,
    "ShapeOf-3": _shape_of,
    "Slice-8": _slice,
    "Split-1": _split,
    "Transpose-1": _transpose,
    "VariadicSplit-1": _variadic_split,
}


def _parts(data: Tensor, ends: Sequence[int], axis: int) -> list[Tensor]:
    return [Tensor(element_type=data.element_type, array=each) for each in np.split(data.array, ends, axis=axis)]


def _refuse(requirement: str, message: str) -> Rejected:
    return Rejected("build", message, requirement)


def _data(given: Tensor | None) -> Array:
    if given is None:
        raise _refuse("data.required", "data is missing")
    if given.array.ndim == 0:
        raise _refuse("data.rank", "data of rank 0 has no axis")
    return given.array


def _list(name: str, given: Tensor | None) -> list[int] | None:
    """The elements of an input that is a list of integers; None if it is omitted."""
    if given is None:
        return None
    if given.element_type not in _INTEGERS:
        raise _refuse(f"{name}.element-type", f"{name} is of type {given.element_type}")
    if given.array.ndim != 1:
        raise _refuse(f"{name}.rank", f"{name} has the shape {list(given.shape)}")
    return given.integers()


def _axis(axis: Tensor | None, data: Array, *, one_element: bool) -> int:
    if axis is None:
        raise _refuse("axis.required", "axis is missing")
    if axis.element_type not in _INTEGERS:
        raise _refuse("axis.element-type", f"axis is of type {axis.element_type}, which is not an integer type")
    if axis.array.ndim > 1 or axis.array.size != 1 or (axis.array.ndim == 1 and not one_element):
        raise _refuse("axis.shape", f"axis has the shape {list(axis.shape)}")
    value = axis.integers()[0]
    if value >= data.ndim or value < -data.ndim:
        raise _refuse("axis.range", f"axis {value} is out of range for rank {data.ndim}")
    return value


def _even_ends(attributes: Mapping[str, Attribute], size: int) -> list[int]:
    if "num_splits" not in attributes:
        raise _refuse("num_splits.required", "num_splits is missing")
    count = attributes["num_splits"]
    if type(count) is not int:
        raise _refuse("num_splits.type", f"num_splits is {count!r}, which is not an integer")
    if count <= 0:
        raise _refuse("num_splits.positive", f"num_splits is {count}")
    if size == 0:
        raise _refuse("num_splits.zero-dimension", "a dimension of 0 cannot be split")
    if count > size:
        raise _refuse("num_splits.at-most-dimension", f"num_splits is {count}, and the dimension has {size}")
    length, rest = divmod(size, count)
    if rest:
        raise _refuse("num_splits.divides", f"{count} does not divide {size}")
    return [length * each for each in range(1, count)]


def _given_ends(given: Tensor | None, size: int) -> list[int]:
    if given is None:
        raise _refuse("lengths.required", "split_lengths is missing")
    if given.element_type not in _INTEGERS:
        raise _refuse("lengths.element-type", f"split_lengths is of type {given.element_type}")
    if given.array.ndim != 1:
        raise _refuse("lengths.rank", f"split_lengths has the shape {list(given.shape)}")
    lengths = given.integers()
    if not lengths:
        raise _refuse("lengths.empty", "split_lengths is empty")
    if min(lengths) < -1:
        raise _refuse("lengths.negative", f"split_lengths contains {min(lengths)}")
    open_ones = [place for place, length in enumerate(lengths) if length == -1]
    if len(open_ones) > 1:
        raise _refuse("lengths.single-remainder", f"split_lengths contains -1 {len(open_ones)} times")
    known = sum(length for length in lengths if length >= 0)
    for place in open_ones:
        if known > size:
            raise _refuse("lengths.remainder-sum", f"the lengths take {known}, and the dimension has {size}")
        lengths[place] = size - known
    if sum(lengths) != size:
        raise _refuse("lengths.sum", f"the lengths take {known}, and the dimension has {size}")
    return list(accumulate(lengths[:-1]))
