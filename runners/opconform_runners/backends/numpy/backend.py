"""The `numpy` backend: executes a case directly, written from the specification pages without the generator's code."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, count, takewhile
from math import prod
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from opconform.suite.declarations import DeclaredCase
from opconform.system.entry_points import Registry, Unusable
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import numbers_of
from opconform.tensors.tensor import Array, Tensor, patterns
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected
from opconform_runners.backends.constraints import check_constants, refuse_if, with_constraints
from opconform_runners.backends.graph import Function, outputs_of, padded
from opconform_runners.backends.indexing import copied, sliced, strided
from opconform_runners.backends.numpy.arithmetic import ARITHMETIC, result_of
from opconform_runners.backends.numpy.axes import (
    broadcast,
    reverse,
    reverse_sequence,
    roll,
    tile,
)
from opconform_runners.backends.numpy.binary import BINARY
from opconform_runners.backends.numpy.blocks import (
    batch_to_space,
    depth_to_space,
    shuffle_channels,
    space_to_batch,
    space_to_depth,
)
from opconform_runners.backends.numpy.convert import convert, convert_like
from opconform_runners.backends.numpy.gather import (
    axis_of,
    check_axis,
    gather,
    gather_1,
    gather_7,
    gather_elements,
    gather_nd,
    gather_nd_5,
    gather_tree,
    zero_of,
)
from opconform_runners.backends.numpy.patches import col2im, extract_image_patches
from opconform_runners.backends.numpy.pools import POOLS
from opconform_runners.backends.numpy.products import PRODUCTS
from opconform_runners.backends.numpy.quantization import QUANTIZATION
from opconform_runners.backends.numpy.reductions import REDUCTIONS
from opconform_runners.backends.numpy.scatters import SCATTERS
from opconform_runners.backends.numpy.shape import shape_of, shape_of_1, squeeze, unsqueeze
from opconform_runners.backends.numpy.strings import string_tensor_pack, string_tensor_unpack
from opconform_runners.backends.numpy.unary import UNARY
from opconform_runners.backends.numpy.unique import non_zero, unique


class Numpy:
    """numpy's slices, after checks of everything that the specification requires."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="numpy",
            version=np.__version__,
            element_types=tuple(ELEMENT_TYPES),
            operations=tuple(_functions()),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
        )

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed."""
        check_constants(case, case.declarations)
        functions = with_constraints(_functions(), case.declarations)
        return [outputs_of(case, feed, functions) for feed in feeds]


def _split(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    data, axis = inputs
    along = axis_of(axis, data)
    return _parts(data, _even_ends(attributes["num_splits"], data.shape[along]), along)


def _variadic_split(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    data, axis, lengths = inputs
    along = axis_of(axis, data)
    return _parts(data, _given_ends(lengths.integers(), data.shape[along]), along)


def _parts(data: Tensor, ends: Sequence[int], axis: int) -> list[Tensor]:
    return [Tensor(element_type=data.element_type, array=word) for word in np.split(data.array, ends, axis=axis)]


def _even_ends(count: int, size: int) -> list[int]:
    refuse_if(count <= 0, "num_splits.positive")
    refuse_if(size == 0, "num_splits.zero-dimension")
    refuse_if(count > size, "num_splits.at-most-dimension")
    length, rest = divmod(size, count)
    refuse_if(rest, "num_splits.divides")
    return [length * index for index in range(1, count)]


def _given_ends(lengths: list[int], size: int) -> list[int]:
    refuse_if(not lengths, "lengths.empty")
    refuse_if(min(lengths) < -1, "lengths.negative")
    open_ones = [place for place, length in enumerate(lengths) if length == -1]
    refuse_if(len(open_ones) > 1, "lengths.single-remainder")
    known = sum(length for length in lengths if length >= 0)
    for place in open_ones:
        refuse_if(known > size, "lengths.remainder-sum")
        lengths[place] = size - known
    refuse_if(sum(lengths) != size, "lengths.sum")
    return list(accumulate(lengths[:-1]))


def _concat(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    arrays, axis = [input_.array for input_ in inputs], attributes["axis"]
    refuse_if(any(input_.element_type != inputs[0].element_type for input_ in inputs), "inputs.element-type")
    refuse_if(any(array.ndim == 0 for array in arrays), "inputs.positive-rank")
    refuse_if(any(array.ndim != arrays[0].ndim for array in arrays), "inputs.rank")
    check_axis(axis, arrays[0].ndim)
    refuse_if(len({np.delete(array.shape, axis).tobytes() for array in arrays}) > 1, "inputs.shape")
    return [Tensor(element_type=inputs[0].element_type, array=np.concatenate(arrays, axis))]


def _constant(_inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    array = encoded(attributes["element_type"], attributes["value"]).reshape(attributes["shape"])
    return [Tensor(element_type=attributes["element_type"], array=array)]


def _reshape(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    data, shape = inputs
    sizes = copied(data.shape, shape.integers()) if attributes["special_zero"] else shape.integers()
    return [Tensor(element_type=data.element_type, array=data.array.reshape(_inferred(sizes, data.array.size)))]


def _inferred(sizes: list[int], volume: int) -> list[int]:
    """The sizes with one in place of -1, for so many elements."""
    refuse_if(sizes and min(sizes) < -1, "shape.negative")
    refuse_if(sizes.count(-1) > 1, "shape.single-inferred")
    others = prod(size for size in sizes if size >= 0)
    if -1 not in sizes:
        refuse_if(others != volume, "shape.volume")
        return sizes
    refuse_if(others == volume == 0, "shape.inferred-undetermined")
    refuse_if(others == 0 or volume % others, "shape.inferred-divides")
    return [volume // others if size < 0 else size for size in sizes]


def _slice(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Any]) -> list[Tensor]:
    data, *lists = padded(inputs, 5)
    _, index = sliced(data, *(list_ and list_.integers() for list_ in lists))
    refuse_if(any(x.step == 0 for x in index), "step.zero")
    return [Tensor(element_type=data.element_type, array=np.ascontiguousarray(data.array[index]))]


def _strided_slice(inputs: Sequence[Tensor | None], attributes: Mapping[str, Any]) -> list[Tensor]:
    data, *lists = padded(inputs, 4)
    _, index = strided(data, *(list_ and list_.integers() for list_ in lists), **attributes)
    refuse_if(any(isinstance(x, slice) and x.step == 0 for x in index), "stride.zero")
    refuse_if(index.count(...) > 1, "ellipsis.single")
    refuse_if(sum(isinstance(x, slice | int) for x in index) > len(data.shape), "indices.rank")
    try:
        array = data.array[index]
    except IndexError as error:
        raise Rejected("build", str(error), "shrink.range") from error
    return [Tensor(element_type=data.element_type, array=np.array(array, data.array.dtype, order="C"))]


def _transpose(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    arg, order = inputs
    axes, rank = order.integers(), arg.array.ndim
    refuse_if(axes and len(axes) != rank, "order.length")
    for axis in axes:
        refuse_if(axis < 0, "order.negative")
        refuse_if(axis >= rank, "order.range")
        refuse_if(axes.count(axis) > 1, "order.unique")
    array = np.transpose(arg.array, axes or None)
    return [Tensor(element_type=arg.element_type, array=np.array(array, order="C"))]


def _pad(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    mode, data = attributes["pad_mode"], inputs[0]
    refuse_if(data.element_type == "string" and mode != "constant", "data.string-mode")
    array = _padded(data.array, *_pads(inputs, mode), mode, _added(inputs))
    return [Tensor(element_type=data.element_type, array=array)]


def _pad_1(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    mode, data = attributes["pad_mode"], inputs[0]
    refuse_if(any(pad < 0 for pads in inputs[1:3] for pad in pads.integers()), "pads.negative")
    array = _extended(data.array, [*zip(*_pads(inputs, mode), strict=True)], mode, _added(inputs))
    return [Tensor(element_type=data.element_type, array=array)]


def _pads(inputs: Sequence[Any], mode: str) -> tuple[list[int], list[int]]:
    """The numbers of elements that are added at the beginnings and ends, after checks of all arguments."""
    data, begin, end, value = padded(inputs, 4)
    before, after = begin.integers(), end.integers()
    refuse_if(len(before) != data.array.ndim, "pads_begin.count")
    refuse_if(len(after) != data.array.ndim, "pads_end.count")
    if value is not None:
        refuse_if(value.shape, "pad_value.scalar")
        refuse_if(value.element_type != data.element_type, "pad_value.element-type")
    largest = [max(pair) for pair in zip(before, after, strict=True)]
    _check_limits(mode, data.shape, largest)
    is_zero_added = mode == "constant" and value is None and any(x > 0 for x in largest)
    refuse_if(is_zero_added and data.element_type == "f8e8m0", "pad_value.no-zero")
    return before, after


def _check_limits(mode: str, shape: Sequence[int], largest: Sequence[int]) -> None:
    for size, most in zip(shape, largest, strict=True):
        if most > 0:
            refuse_if(mode == "edge" and not size, "edge.empty")
            refuse_if(mode == "reflect" and most >= size, "reflect.limit")
            refuse_if(mode == "symmetric" and most > size, "symmetric.limit")


def _added(inputs: Sequence[Any]) -> Array:
    """The element that is added in the mode constant, as a scalar."""
    data, _, _, value = padded(inputs, 4)
    return zero_of(data) if value is None else value.array


def _padded(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, value: Array) -> Array:
    """Data extended along one dimension after the other, and the rest cropped."""
    lengths = [max(sum(x), 0) for x in zip(begin, data.shape, end, strict=True)]
    if 0 in lengths:  # the other dimensions may be too long to be padded
        return np.empty(lengths, np.result_type(data, value))
    for axis, (before, size, after, length) in enumerate(zip(begin, data.shape, end, lengths, strict=True)):
        most = length if mode in ("constant", "edge") else size  # far outside data, all elements are the same
        widths = [(0, 0)] * data.ndim
        widths[axis] = min(max(before, 0), most), min(max(after, 0), most)
        data = _extended(data, widths, mode, value)
        first = data.shape[axis] - length if after > most else max(-before, 0)
        data = data[(*[slice(None)] * axis, slice(first, first + length))]
    return np.array(data, order="C")


def _extended(data: Array, widths: Sequence[tuple[int, int]], mode: str, value: Array) -> Array:
    """`numpy.pad` of bit patterns, since it converts a NaN to a Python number."""
    kind = np.result_type(data, value)
    extra = {"constant_values": patterns(value.astype(kind))} if mode == "constant" else {}
    array = patterns(data.astype(kind))
    if widths:  # a scalar has no ends
        array = np.pad(array, widths, mode, **extra)  # type: ignore[call-overload]
    return array.view(kind)


def _eye(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """`numpy.eye`, repeated."""
    [rows], [columns], [diagonal] = (tensor.integers() for tensor in inputs[:3])
    batch = [size for tensor in inputs[3:] for size in tensor.integers()]
    refuse_if(rows < 0, "num_rows.negative")
    refuse_if(columns < 0, "num_columns.negative")
    refuse_if(any(size < 0 for size in batch), "batch_shape.negative")
    matrix = np.eye(rows, columns, min(max(diagonal, -rows), columns))
    return result_of(attributes["output_type"], np.tile(matrix, (*batch, 1, 1)))


def _one_hot(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The value of each index and place, chosen by number from a list of both values."""
    indices, depth, on_value, off_value = inputs
    rank, axis = indices.array.ndim + 1, attributes["axis"]
    refuse_if(bool(depth.array <= 0), "depth.positive")
    refuse_if(on_value.element_type != off_value.element_type, "off_value.same-type")
    refuse_if(not -rank <= axis < rank, "axis.range")
    is_on = np.equal.outer(indices.array, np.arange(int(depth.array))).astype(int)
    rows = np.stack([off_value.array, on_value.array])[np.moveaxis(is_on, -1, axis)]
    return [Tensor(element_type=on_value.element_type, array=rows)]


def _range(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The start, and sums with the step while they are before the stop, which are rounded at the end."""
    kind = attributes["output_type"]
    cast = int if ELEMENT_TYPES[kind].is_integer else Fraction
    settings: list[Any] = [cast(number) for tensor in inputs for number in numbers_of(tensor)]
    start, stop, step = settings
    sums = takewhile(lambda x: (stop - x) * step > 0, count(start, step))
    return result_of(kind, np.array([*sums], object))


#: Per operation a function for arguments that the declaration allows. Settings are computed in whole bytes.
FUNCTIONS: Mapping[str, Function] = {
    "BatchToSpace-2": batch_to_space,
    "Broadcast-1": broadcast,
    "Broadcast-3": broadcast,
    "Col2Im-15": col2im,
    "Concat-1": _concat,
    "Constant-1": _constant,
    "Convert-1": convert,
    "ConvertLike-1": convert_like,
    "DepthToSpace-1": depth_to_space,
    "Eye-9": _eye,
    "ExtractImagePatches-3": extract_image_patches,
    "Gather-1": gather_1,
    "Gather-7": gather_7,
    "Gather-8": gather,
    "GatherElements-6": gather_elements,
    "GatherND-5": gather_nd_5,
    "GatherND-8": gather_nd,
    "GatherTree-1": gather_tree,
    "NonZero-3": non_zero,
    "OneHot-1": _one_hot,
    "Pad-1": _pad_1,
    "Pad-12": _pad,
    "Range-4": _range,
    "Reshape-1": _reshape,
    "Reverse-1": reverse,
    "ReverseSequence-1": reverse_sequence,
    "Roll-7": roll,
    **ARITHMETIC,
    **BINARY,
    **POOLS,
    **PRODUCTS,
    **QUANTIZATION,
    **REDUCTIONS,
    **SCATTERS,
    **UNARY,
    "ShapeOf-1": shape_of_1,
    "ShapeOf-3": shape_of,
    "ShuffleChannels-1": shuffle_channels,
    "Slice-8": _slice,
    "SpaceToBatch-2": space_to_batch,
    "SpaceToDepth-1": space_to_depth,
    "Split-1": _split,
    "Squeeze-1": squeeze,
    "Squeeze-15": squeeze,
    "StridedSlice-1": _strided_slice,
    "StringTensorPack-15": string_tensor_pack,
    "StringTensorUnpack-15": string_tensor_unpack,
    "Tile-1": tile,
    "Transpose-1": _transpose,
    "Unique-10": unique,
    "Unsqueeze-1": unsqueeze,
    "VariadicSplit-1": _variadic_split,
}


def _check_name(name: str, _function: FunctionType, _module: Path) -> None:
    if name in FUNCTIONS:
        raise Unusable("the numpy backend has a function of that name. Rename it.")


#: The functions of installed distributions for the operations that they add.
_INSTALLED = Registry("opconform.numpy", (FunctionType,), {}, _check_name)


def _functions() -> Mapping[str, Function]:
    """The functions of all operations, installed ones included."""
    return {**_INSTALLED, **FUNCTIONS}
