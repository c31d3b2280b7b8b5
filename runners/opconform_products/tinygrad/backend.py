"""The `tinygrad` backend: tinygrad's own operations on one of its devices, `tinygrad:CPU` by default."""

import os
import re
import shutil
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from operator import eq, ge, getitem, gt, le, lt, ne
from subprocess import CalledProcessError
from typing import Any

import numpy as np
from tinygrad import Tensor as Tiny
from tinygrad import dtypes
from tinygrad.helpers import DEV

from opconform.errors import UsageError
from opconform.suite.case import Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.adapters.attention import ATTENTION
from opconform_products.frameworks.adapters.axes import AXES, ONE_REPEAT_EACH, SHIFTS, TARGET
from opconform_products.frameworks.adapters.binary import PAIR, SELECTION
from opconform_products.frameworks.adapters.convert import destination
from opconform_products.frameworks.adapters.gather import (
    ALONG,
    ALONG_WHOLE,
    ELEMENTS,
    INDEXED,
    TUPLES,
    TUPLES_JOINED,
    indexed,
    indexed_nd,
    joined,
)
from opconform_products.frameworks.adapters.layout import ORDER, SIZES
from opconform_products.frameworks.adapters.pads import added, pairs
from opconform_products.frameworks.adapters.pools import AVERAGED, SELECTED
from opconform_products.frameworks.adapters.products import (
    CONVOLVED,
    GROUPS_CONVOLVED,
    MATRICES,
    NORMALIZED,
    NORMALIZED_BY_CHANNELS,
)
from opconform_products.frameworks.adapters.ranges import of_type
from opconform_products.frameworks.adapters.reductions import (
    LARGEST,
    REDUCED,
    SUMMED,
    Order,
    along_axes,
    reversible,
)
from opconform_products.frameworks.adapters.scatters import (
    REGION_OF_SHAPE,
    SLICES_AT,
    elements_at,
    places_at,
    scattered,
    slices_at,
    tuples_at,
)
from opconform_products.frameworks.adapters.slices import SLICES, STRIDED
from opconform_products.frameworks.adapters.split import CONCAT, DIVIDED, SIZED_BY_LIST
from opconform_products.frameworks.adapters.squeeze import NEW_ONE_BY_ONE, REMOVED_ONE_BY_ONE, one_by_one
from opconform_products.frameworks.adapters.unary import unary_rows, without_beta
from opconform_products.frameworks.framework import BYTE_TYPES, Framework, Row
from opconform_products.frameworks.settings import plain
from opconform_products.tinygrad.pools import avg_pool, max_pool
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.exceptions import Translation

_FLOAT8 = {"f8e4m3": dtypes.fp8e4m3, "f8e5m2": dtypes.fp8e5m2}
#: The types through which the bits of its tensors are read, by size in bytes.
_BITS = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def _pad(data: Any, pads: list[tuple[int, int]], mode: str, value: Any = None) -> Any:
    """The method `pad` of tinygrad, whose value is a Python number."""
    number = 0 if value is None or mode != "constant" else value.item()
    return data.pad(pads, mode={"edge": "replicate"}.get(mode, mode), value=number)


def _divide(a: Any, b: Any, is_floor: bool) -> Any:
    if dtypes.is_float(a.dtype):
        return a.div(b)
    return a.div(b, rounding_mode="floor" if is_floor else "trunc")


_TYPES = {
    byte_type.name: _FLOAT8.get(byte_type.name) or getattr(dtypes, str(byte_type.native))
    for byte_type in BYTE_TYPES
    if byte_type.name != "f8e8m0"
}


def _written(data: Any, index: tuple[Any, ...], updates: Any) -> Any:
    """An assignment at an index, to a copy."""
    output = data.clone()
    output[index] = updates
    return output


def _update(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    return _written(data, slices_at(axis, indices), updates)


def _put(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
    if reduction != "none":
        raise Unsupported(f"an assignment has no reduction {reduction}")
    return _written(data, places_at(indices), updates)


def _region(data: Any, updates: Any, entries: tuple[slice, ...]) -> Any:
    return _written(data, entries, updates)


def _elements_from_both_ends(data: Any, indices: Any, updates: Any, axis: int, *rest: Any) -> Any:
    """The methods `scatter` and `scatter_reduce`, which count indices from the front."""
    long = indices.cast(dtypes.int64) if indices.dtype in dtypes.sints else indices
    return _ELEMENTS(data, (long < 0).where(long + data.shape[axis], long), updates, axis, *rest)


def _mean(data: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    if not dtypes.is_float(data.dtype):
        raise Unsupported("a mean of integers in tinygrad has a floating-point type")
    return data.mean(axes, keep_dims).cast(data.dtype)


def _top_k(data: Any, k: int, axis: int, order: Order, kind: str) -> list[Any]:
    """The method `topk`, which keeps the order of equal elements."""
    values, indices = data.topk(k, axis, order.largest, order.is_sorted)
    return [values, indices.cast(_TYPES[kind])]


def _collapse(output: Any, batches: int) -> Any:
    return output.flatten(0, batches - 1)


def _non_zero(data: Any, output_type: str = "i64") -> Any:
    """`Tensor.nonzero`, which has a row for each element."""
    return data.nonzero().T.cast({"i64": dtypes.int64, "i32": dtypes.int32}[output_type])


def _shape_of(data: Any, output_type: str = "i64") -> Any:
    return Tiny([*data.shape], dtype={"i64": dtypes.int64, "i32": dtypes.int32}[output_type])


def _normalized_by_channels(data: Any, *channels_and_epsilon: Any) -> Any:
    """`Tensor.batchnorm`, which takes the reciprocal of the standard deviation."""
    gamma, beta, mean, variance, epsilon = channels_and_epsilon
    return data.batchnorm(gamma, beta, mean, (variance + epsilon).rsqrt())


def _matmul(a: Any, b: Any, of_a: bool, of_b: bool) -> Any:
    return (a.transpose(-1, -2) if of_a else a).matmul(b.transpose(-1, -2) if of_b else b)


def _attention(query: Any, key: Any, value: Any, is_causal: bool, masks: list[Any], *scales: Any) -> Any:
    """`Tensor.scaled_dot_product_attention`, which has no scale."""
    if scales:
        raise Unsupported("the framework's function has no scale")
    return query.scaled_dot_product_attention(key, value, attn_mask=next(iter(masks), None), is_causal=is_causal)


def _convolution(
    data: Any, filters: Any, strides: list[int], pads: list[tuple[int, int]], rates: list[int], groups: int = 1
) -> Any:
    padded = data.pad([(0, 0), (0, 0), *pads])
    of_any_rank = padded.conv2d
    output = of_any_rank(filters, groups=groups, stride=tuple(strides), dilation=tuple(rates))
    return output.cast(data.dtype)  # sums of integers are wider


def _group_convolution(data: Any, filters: Any, *arguments: Any) -> Any:
    return _convolution(data, filters.flatten(0, 1), *arguments)


def _gelu(data: Any, is_tanh: bool) -> Any:
    if not is_tanh:
        raise Unsupported("the method `gelu` of tinygrad is that of the mode tanh")
    return data.gelu()


_UNARY = {
    "Abs-1": Tiny.abs,
    "BitwiseNot-13": Tiny.bitwise_not,
    "Ceiling-1": Tiny.ceil,
    "Clamp-1": Tiny.clamp,
    "Cos-1": Tiny.cos,
    "Elu-1": Tiny.elu,
    "Erf-1": Tiny.erf,
    "Exp-1": Tiny.exp,
    "Floor-1": Tiny.floor,
    "Gelu-7": _gelu,
    "HSigmoid-5": Tiny.hardsigmoid,
    "HSwish-4": Tiny.hardswish,
    "IsFinite-10": Tiny.isfinite,
    "IsInf-10": Tiny.isinf,
    "IsNaN-10": Tiny.isnan,
    "Log-1": Tiny.log,
    "Mish-4": Tiny.mish,
    "LogicalNot-1": Tiny.logical_not,
    "Negative-1": Tiny.neg,
    "ReLU-1": Tiny.relu,
    "Round-5": Tiny.round,
    "Sigmoid-1": Tiny.sigmoid,
    "Sin-1": Tiny.sin,
    "SoftPlus-4": Tiny.softplus,
    "SoftSign-9": Tiny.softsign,
    "Sign-1": Tiny.sign,
    "Sqrt-1": Tiny.sqrt,
    "Swish-4": without_beta(Tiny.swish),
    "Tan-1": Tiny.tan,
    "Tanh-1": Tiny.tanh,
}
_ELEMENTS = partial(scattered, Tiny.scatter, Tiny.scatter_reduce)
_GATHER = Row(partial(indexed, Tiny.arange), ALONG, tensors=("indices",))
_GATHER_ND = Row(partial(indexed_nd, Tiny.arange, Tiny.expand), TUPLES, INDEXED, tensors=("indices",))
_PUT = Row(_put, tuples_at("updates.rank", "updates.shape"), tensors=("indices",))
_TINYGRAD = Framework(
    name="tinygrad",
    version=version("tinygrad"),
    types=_TYPES,
    rows={
        **unary_rows(_UNARY, _TYPES),
        "Add-1": Row(Tiny.add, PAIR),
        "BitwiseAnd-13": Row(Tiny.bitwise_and, PAIR),
        "BitwiseLeftShift-15": Row(Tiny.lshift, PAIR),
        "BitwiseOr-13": Row(Tiny.bitwise_or, PAIR),
        "BitwiseRightShift-15": Row(Tiny.rshift, PAIR),
        "BitwiseXor-13": Row(Tiny.bitwise_xor, PAIR),
        "Broadcast-1": Row(Tiny.expand, TARGET),
        "Broadcast-3": Row(Tiny.expand, TARGET),
        **dict.fromkeys(("AvgPool-1", "AvgPool-14"), Row(avg_pool, AVERAGED)),
        "BatchNormInference-5": Row(_normalized_by_channels, NORMALIZED_BY_CHANNELS),
        "Concat-1": Row(lambda axis, tensors: Tiny.cat(*tensors, dim=axis), CONCAT),
        "Convert-1": Row(Tiny.cast, destination(_TYPES)),
        "ConvertLike-1": Row(lambda data, like: data.cast(like.dtype), tensors=("like",)),
        "Divide-1": Row(_divide, PAIR),
        "Equal-1": Row(eq, PAIR),
        "FloorMod-1": Row(Tiny.mod, PAIR),
        "Convolution-1": Row(_convolution, CONVOLVED),
        "GroupConvolution-1": Row(_group_convolution, GROUPS_CONVOLVED),
        "CumSum-3": Row(reversible(lambda data, axis: data.cumsum(axis).cast(data.dtype), Tiny.flip), SUMMED),
        "Gather-1": _GATHER._replace(adapter=ALONG_WHOLE),
        "Gather-7": _GATHER,
        "Gather-8": _GATHER,
        "GatherElements-6": Row(lambda data, indices, axis: data.gather(axis, indices), ELEMENTS, tensors=("indices",)),
        "GatherND-5": _GATHER_ND._replace(call=partial(joined, _GATHER_ND.call, _collapse), adapter=TUPLES_JOINED),
        "GatherND-8": _GATHER_ND,
        "Greater-1": Row(gt, PAIR),
        "GreaterEqual-1": Row(ge, PAIR),
        "Less-1": Row(lt, PAIR),
        "LessEqual-1": Row(le, PAIR),
        "LogSoftmax-5": Row(lambda data, axis: data.log_softmax(axis)),
        "LogicalAnd-1": Row(Tiny.bitwise_and, PAIR),
        "LogicalOr-1": Row(Tiny.bitwise_or, PAIR),
        "LogicalXor-1": Row(Tiny.bitwise_xor, PAIR),
        "Maximum-1": Row(Tiny.maximum, PAIR),
        "Minimum-1": Row(Tiny.minimum, PAIR),
        "Mod-1": Row(Tiny.fmod, PAIR),
        "Multiply-1": Row(Tiny.mul, PAIR),
        "NotEqual-1": Row(ne, PAIR),
        "MVN-6": Row(lambda data, axes, eps: data.layernorm(axes, eps), NORMALIZED),
        "MatMul-1": Row(_matmul, MATRICES),
        **dict.fromkeys(
            ("MaxPool-8", "MaxPool-14"),
            Row(lambda data, pool, axis, kind: max_pool(data, pool, axis, _TYPES[kind]), SELECTED),
        ),
        "NonZero-3": Row(_non_zero),
        "Pad-1": Row(_pad, added(("constant", "edge", "reflect"))),
        "Pad-12": Row(_pad, pairs(("constant", "edge", "reflect"))),
        "Power-1": Row(Tiny.pow, PAIR),
        "ReduceLogicalAnd-1": Row(along_axes(Tiny.all), REDUCED),
        "ReduceLogicalOr-1": Row(along_axes(Tiny.any), REDUCED),
        "ReduceMax-1": Row(along_axes(Tiny.max), REDUCED),
        "ReduceMean-1": Row(along_axes(_mean), REDUCED),
        "ReduceMin-1": Row(along_axes(Tiny.min), REDUCED),
        "ReduceProd-1": Row(along_axes(lambda *reduced: Tiny.prod(*reduced).cast(reduced[0].dtype)), REDUCED),
        "ReduceSum-1": Row(along_axes(lambda *reduced: Tiny.sum(*reduced).cast(reduced[0].dtype)), REDUCED),
        "Range-4": Row(lambda start, stop, step, kind: Tiny.arange(start, stop, step, dtype=kind), of_type(_TYPES)),
        "Reshape-1": Row(Tiny.reshape, SIZES),
        "Reverse-1": Row(Tiny.flip, AXES),
        "Roll-7": Row(Tiny.roll, SHIFTS),
        "ScatterElementsUpdate-3": Row(
            _ELEMENTS, elements_at("updates.shape", "updates.size", reaches_beyond=False), tensors=("indices",)
        ),
        "ScatterElementsUpdate-12": Row(
            _elements_from_both_ends, elements_at("updates.shape"), ("indices.negative",), tensors=("indices",)
        ),
        "ScatterNDUpdate-3": _PUT,
        "ScatterNDUpdate-15": _PUT,
        "ScatterUpdate-3": Row(_update, SLICES_AT, tensors=("indices",)),
        "Select-1": Row(Tiny.where, SELECTION),
        "ShapeOf-1": Row(_shape_of),
        "ShapeOf-3": Row(_shape_of),
        "Slice-8": Row(getitem, SLICES),
        "SliceScatter-15": Row(_region, REGION_OF_SHAPE),
        "ScaledDotProductAttention-13": Row(_attention, ATTENTION),
        "SoftMax-8": Row(lambda data, axis: data.softmax(axis)),
        "Split-1": Row(lambda axis, *split: Tiny.chunk(*split, dim=axis), DIVIDED),
        "Squeeze-1": Row(one_by_one(Tiny.squeeze), REMOVED_ONE_BY_ONE),
        "Squeeze-15": Row(one_by_one(Tiny.squeeze), REMOVED_ONE_BY_ONE),
        "StridedSlice-1": Row(getitem, STRIDED),
        "Subtract-1": Row(Tiny.sub, PAIR),
        "Tile-1": Row(Tiny.repeat, ONE_REPEAT_EACH),
        "TopK-11": Row(_top_k, LARGEST),
        "Transpose-1": Row(Tiny.permute, ORDER),
        "Unsqueeze-1": Row(one_by_one(Tiny.unsqueeze), NEW_ONE_BY_ONE),
        "VariadicSplit-1": Row(lambda axis, *split: Tiny.split(*split, dim=axis), SIZED_BY_LIST),
    },
    tensor=lambda value, kind: Tiny(value, dtype=kind),
    translation=Translation(
        not_implemented=re.compile(r"not implemented"),  # a phrase of tinygrad's messages
        missing=(NotImplementedError, CalledProcessError),  # the C compiler rejects a kernel that tinygrad generated
    ),
)


class Tinygrad:
    """tinygrad on one device."""

    def __init__(self, device: str = "CPU") -> None:
        compiler = os.environ.get("CC", "clang")
        if device.partition(":")[0] == "CPU" and shutil.which(compiler) is None:
            raise UsageError(
                f"tinygrad's CPU device compiles with {compiler}, which was not found. "
                "Install clang, name a compiler in CC, or use tinygrad:PYTHON, which interprets."
            )
        self._device = DEV.value = device  # the default device, on which tinygrad puts the value of a pad

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return _TINYGRAD.implementation(self._device)

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed; tinygrad builds each of them again."""
        return [self._executed(case, feed) for feed in feeds]

    def _executed(self, case: DeclaredCase, feed: Inputs) -> Outputs:
        arguments = {input_.name: _argument(case, input_, feed[input_.name], self._device) for input_ in case.inputs}
        build = _TINYGRAD.translation.caller("build")
        outputs = [output.contiguous() for output in _TINYGRAD.outputs(case, arguments, build)]
        shapes = [build(getattr, output, "shape") for output in outputs]  # computed late, when operations are checked
        if filled := [output for output, shape in zip(outputs, shapes, strict=True) if 0 not in shape]:
            _TINYGRAD.translation.caller("run")(Tiny.realize, *filled)
        return [_tensor(output) for output in outputs]


def _argument(case: DeclaredCase, port: Input, tensor: Tensor, device: str) -> Any:
    if not _TINYGRAD.takes_tensor(case, port):
        return plain(tensor, _TINYGRAD.types)
    kind = _TINYGRAD.type_of(tensor)
    if tensor.array.size == 0:
        return Tiny.empty(*tensor.shape, dtype=kind, device=device)
    return Tiny(tensor.array.tobytes(), dtype=kind, device=device).reshape(tensor.shape)


def _tensor(tensor: Any) -> Tensor:
    """A realized tensor, whose bits are read as integers from a copy: reading a bitcast view fails in tinygrad 0.14."""
    name = _TINYGRAD.name_of(tensor.dtype)
    storage = ELEMENT_TYPES[name].storage
    if 0 in tensor.shape:
        return Tensor(element_type=name, array=np.empty(tensor.shape, storage))
    bits = tensor if name == "boolean" else tensor.bitcast(_BITS[tensor.dtype.itemsize]).clone()
    return Tensor(element_type=name, array=np.asarray(bits.numpy()).view(storage).reshape(tensor.shape))
