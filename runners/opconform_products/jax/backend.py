"""The `jax` backend: the whole graph in JAX's own operations, compiled once by `jax.jit`."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import getitem
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib.mlir.ir import MLIRError

from opconform.suite.case import Case, Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.adapters.attention import ATTENTION
from opconform_products.frameworks.adapters.axes import AXES, REPEATS, SHIFTS, TARGET
from opconform_products.frameworks.adapters.binary import PAIR, SELECTION
from opconform_products.frameworks.adapters.convert import destination
from opconform_products.frameworks.adapters.gather import (
    ALONG,
    ALONG_WHOLE,
    ELEMENTS,
    INDEXED,
    TUPLES,
    TUPLES_JOINED,
    indexed_nd,
    joined,
)
from opconform_products.frameworks.adapters.layout import ORDER, SIZES
from opconform_products.frameworks.adapters.pads import added, pairs
from opconform_products.frameworks.adapters.patches import WINDOWS, channels_of_patches
from opconform_products.frameworks.adapters.pools import AVERAGED, Pool
from opconform_products.frameworks.adapters.products import CONVOLVED, GROUPS_CONVOLVED, MATRICES, NORMALIZED
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
    slices_at,
    tuples_at,
)
from opconform_products.frameworks.adapters.slices import SLICES, STRIDED
from opconform_products.frameworks.adapters.split import CONCAT, EVEN, SIZED
from opconform_products.frameworks.adapters.squeeze import NEW, REMOVED_ONES
from opconform_products.frameworks.adapters.unary import infinities, unary_rows, without_beta
from opconform_products.frameworks.framework import Framework, Row
from opconform_products.frameworks.settings import plain
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.exceptions import PYTHON_ERRORS, Translation


def _take(data: Any, indices: Any, axis: int, batches: int) -> Any:
    """`jax.numpy.take`, which is told to fill with zeros, in each batch."""
    if batches:
        return jax.vmap(partial(_take, axis=axis - 1, batches=batches - 1))(data, indices)
    return jnp.take(data, indices, axis=axis, mode="fill", fill_value=0)


def _pad(data: Any, pads: list[tuple[int, int]], mode: str, value: Any = None) -> Any:
    """`jax.lax.pad` for the mode constant, whose pads can be negative, and `jax.numpy.pad` for the others."""
    if mode != "constant":
        return jnp.pad(data, pads, mode)
    return jax.lax.pad(data, jnp.zeros((), data.dtype) if value is None else value, [(*pad, 0) for pad in pads])


_TYPES = {
    element_type.name: element_type.native
    for element_type in ELEMENT_TYPES.values()
    if element_type.native is not None and element_type.kind != "string"
}


def _update(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """An assignment at an index, which leaves out updates whose index is out of range."""
    return data.at[slices_at(axis, indices)].set(updates)


def _written(data: Any, index: tuple[Any, ...], updates: Any, reduction: str = "none") -> Any:
    """The method for a reduction of the elements at an index."""
    methods = {"none": "set", "sum": "add", "sub": "subtract", "prod": "multiply"}
    return getattr(data.at[index], methods.get(reduction, reduction))(updates)


def _elements(data: Any, indices: Any, updates: Any, axis: int, reduction: str, use_init_val: bool) -> Any:
    """An index of one array per dimension; the array of the axis has the indices."""
    if reduction == "mean" or (reduction != "none" and not use_init_val):
        raise Unsupported("an index in JAX has no mean, and no reduction without the elements of data")
    places = jnp.indices(indices.shape, sparse=True)
    return _written(data, (*places[:axis], indices, *places[axis + 1 :]), updates, reduction)


def _put(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
    return _written(data, places_at(indices), updates, reduction)


def _region(data: Any, updates: Any, entries: tuple[slice, ...]) -> Any:
    return _written(data, entries, updates)


def _patches(data: Any, mode: str, sizes: list[int], strides: list[int], rates: list[int]) -> Any:
    """`jax.lax.conv_general_dilated_patches`, whose channels vary slowest along the channels of data."""
    padding = {"valid": "VALID", "same_upper": "SAME", "same_lower": "SAME_LOWER"}[mode]
    patches = jax.lax.conv_general_dilated_patches(data, sizes, strides, padding, rhs_dilation=rates)
    return channels_of_patches(patches, data.shape, sizes, patches.shape[2:])


def _mean(data: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    if not jnp.issubdtype(data.dtype, jnp.floating):
        raise Unsupported("a mean of integers in JAX has a floating-point type")
    return jnp.mean(data, axes, keepdims=keep_dims)


def _avg_pool(data: Any, pool: Pool, excludes: bool) -> Any:
    """The quotient of two `jax.lax.reduce_window`: the sums, and the numbers of elements that count."""
    if not jnp.issubdtype(data.dtype, jnp.floating):
        raise Unsupported("a mean of integers in JAX has a floating-point type")
    if pool.is_ceil:
        raise Unsupported("JAX's windows do not reach beyond the padding")
    sizes, strides = (1, 1, *pool.kernel), (1, 1, *pool.strides)
    pads = ((0, 0), (0, 0), *pool.pads)

    def sums(array: Any) -> Any:
        return jax.lax.reduce_window(array, np.zeros((), array.dtype), jax.lax.add, sizes, strides, pads)

    return jnp.divide(sums(data), sums(jnp.ones_like(data)) if excludes else math.prod(pool.kernel))


def _top_k(data: Any, k: int, axis: int, order: Order, kind: str) -> list[Any]:
    """`jax.lax.top_k`, of the last dimension, which has the first one of equal elements first."""
    if not order.largest:
        raise Unsupported("JAX has no smallest elements")
    values, indices = (jnp.moveaxis(x, -1, axis) for x in jax.lax.top_k(jnp.moveaxis(data, axis, -1), k))
    return [values, indices.astype(_TYPES[kind])]


def _collapse(output: Any, batches: int) -> Any:
    return jax.lax.collapse(output, 0, batches)


def _shape_of(data: Any, output_type: str = "i64") -> Any:
    return jnp.array(jnp.shape(data), {"i64": jnp.int64, "i32": jnp.int32}[output_type])


def _matmul(a: Any, b: Any, of_a: bool, of_b: bool) -> Any:
    return jnp.matmul(jnp.swapaxes(a, -1, -2) if of_a else a, jnp.swapaxes(b, -1, -2) if of_b else b)


def _attention(query: Any, key: Any, value: Any, is_causal: bool, masks: list[Any], *scales: Any) -> Any:
    """`jax.nn.dot_product_attention`, in whose layout the heads are behind the queries."""
    shapes = {query.shape[:-2], key.shape[:-2], value.shape[:-2]}
    if len(shapes) > 1 or query.ndim > 4 or key.shape != value.shape:  # noqa: PLR2004 - a batch and heads
        raise Unsupported("the framework's function takes one batch, heads, and keys and values of one shape")
    has_heads = query.ndim == 4  # noqa: PLR2004
    matrices = [jnp.swapaxes(x if has_heads else x[:, None], 1, 2) for x in (query, key, value)]
    aligned = [x if has_heads or x.ndim < 3 else x[:, None] for x in masks]  # noqa: PLR2004
    named = {"mask" if x.dtype == bool else "bias": x for x in aligned} | dict(zip(("scale",), scales, strict=False))
    output = jnp.swapaxes(jax.nn.dot_product_attention(*matrices, is_causal=is_causal, **named), 1, 2)
    return output if has_heads else output[:, 0]


def _convolution(data: Any, filters: Any, strides: list[int], pads: list[tuple[int, int]], rates: list[int]) -> Any:
    return jax.lax.conv_general_dilated(data, filters, strides, pads, rhs_dilation=rates)


def _group_convolution(
    data: Any, filters: Any, strides: list[int], pads: list[tuple[int, int]], rates: list[int], groups: int
) -> Any:
    whole = jax.lax.collapse(filters, 0, 2)
    return jax.lax.conv_general_dilated(data, whole, strides, pads, rhs_dilation=rates, feature_group_count=groups)


def _gelu(data: Any, is_tanh: bool) -> Any:
    return jax.nn.gelu(data, approximate=is_tanh)


_UNARY = {
    "Abs-1": jnp.abs,
    "BitwiseNot-13": jnp.bitwise_not,
    "Ceiling-1": jnp.ceil,
    "Clamp-1": lambda data, *limits: jnp.clip(data, *(jnp.asarray(x, data.dtype) for x in limits)),
    "Cos-1": jnp.cos,
    "Elu-1": jax.nn.elu,
    "Erf-1": jax.lax.erf,
    "Exp-1": jnp.exp,
    "Floor-1": jnp.floor,
    "Gelu-7": _gelu,
    "HSigmoid-5": jax.nn.hard_sigmoid,
    "HSwish-4": jax.nn.hard_swish,
    "IsFinite-10": jnp.isfinite,
    "IsInf-10": infinities(jnp.isinf, jnp.isneginf, jnp.isposinf),
    "IsNaN-10": jnp.isnan,
    "Log-1": jnp.log,
    "Mish-4": jax.nn.mish,
    "LogicalNot-1": jnp.logical_not,
    "Negative-1": jnp.negative,
    "ReLU-1": jax.nn.relu,
    "Round-5": jnp.round,
    "Sigmoid-1": jax.nn.sigmoid,
    "Sin-1": jnp.sin,
    "SoftPlus-4": jax.nn.softplus,
    "SoftSign-9": jax.nn.soft_sign,
    "Sign-1": jnp.sign,
    "Sqrt-1": jnp.sqrt,
    "Swish-4": without_beta(jax.nn.silu),
    "Tan-1": jnp.tan,
    "Tanh-1": jnp.tanh,
}
_GATHER = Row(_take, ALONG, tensors=("indices",))
_GATHER_ND = Row(partial(indexed_nd, jnp.arange, jnp.broadcast_to), TUPLES, INDEXED, tensors=("indices",))
_CHECKED = ("updates.element-type", "indices.rank", "updates.shape", "updates.size")
_PUT = Row(_put, tuples_at("updates.element-type", "updates.rank", "updates.shape"), tensors=("indices",))


def _divide(a: Any, b: Any, is_floor: bool) -> Any:
    if jnp.issubdtype(a.dtype, jnp.floating):
        return jnp.divide(a, b)
    return jnp.floor_divide(a, b) if is_floor else jax.lax.div(*jnp.broadcast_arrays(a, b))


def _norm(order: int, data: Any, axes: tuple[int, ...], keep: bool) -> Any:
    if not jnp.issubdtype(data.dtype, jnp.floating):
        raise Unsupported("the framework has no norm of integers")
    return jnp.linalg.vector_norm(data, axis=axes, keepdims=keep, ord=order)


def _eye(rows: Any, columns: Any, diagonal: Any, batch: Any = None, *, output_type: str) -> Any:
    if batch or output_type not in _TYPES:
        raise Unsupported(f"JAX's eye has no batch, or no type {output_type}")
    rows, columns, diagonal = (x[0] if isinstance(x, list) else x for x in (rows, columns, diagonal))
    return jnp.eye(rows, columns, diagonal, _TYPES[output_type])


_JAX = Framework(
    name="jax",
    version=jax.__version__,
    types=_TYPES,
    rows={
        **unary_rows(_UNARY, _TYPES),
        "Add-1": Row(jnp.add, PAIR),
        **dict.fromkeys(("AvgPool-1", "AvgPool-14"), Row(_avg_pool, AVERAGED)),
        "BitwiseAnd-13": Row(jnp.bitwise_and, PAIR),
        "BitwiseLeftShift-15": Row(jnp.left_shift, PAIR),
        "BitwiseOr-13": Row(jnp.bitwise_or, PAIR),
        "BitwiseRightShift-15": Row(jnp.right_shift, PAIR),
        "BitwiseXor-13": Row(jnp.bitwise_xor, PAIR),
        "Broadcast-1": Row(jnp.broadcast_to, TARGET),
        "Broadcast-3": Row(jnp.broadcast_to, TARGET),
        "Concat-1": Row(lambda axis, tensors: jnp.concatenate(tensors, axis=axis), CONCAT),
        "Convert-1": Row(lambda data, kind: data.astype(kind), destination(_TYPES)),
        "ConvertLike-1": Row(lambda data, like: data.astype(like.dtype), tensors=("like",)),
        "Divide-1": Row(_divide, PAIR),
        "Equal-1": Row(jnp.equal, PAIR),
        "Convolution-1": Row(_convolution, CONVOLVED),
        "GroupConvolution-1": Row(_group_convolution, GROUPS_CONVOLVED),
        "CumSum-3": Row(reversible(lambda data, axis: jnp.cumsum(data, axis, dtype=data.dtype), jnp.flip), SUMMED),
        "Eye-9": Row(_eye),
        "ExtractImagePatches-3": Row(_patches, WINDOWS),
        "FloorMod-1": Row(jnp.remainder, PAIR),
        "Gather-1": _GATHER._replace(adapter=ALONG_WHOLE),
        "Gather-7": _GATHER,
        "Gather-8": _GATHER,
        "GatherElements-6": Row(jnp.take_along_axis, ELEMENTS, tensors=("indices",)),
        "GatherND-5": _GATHER_ND._replace(call=partial(joined, _GATHER_ND.call, _collapse), adapter=TUPLES_JOINED),
        "GatherND-8": _GATHER_ND,
        "Greater-1": Row(jnp.greater, PAIR),
        "GreaterEqual-1": Row(jnp.greater_equal, PAIR),
        "Less-1": Row(jnp.less, PAIR),
        "LessEqual-1": Row(jnp.less_equal, PAIR),
        "LogSoftmax-5": Row(jax.nn.log_softmax),
        "LogicalAnd-1": Row(jnp.logical_and, PAIR),
        "LogicalOr-1": Row(jnp.logical_or, PAIR),
        "LogicalXor-1": Row(jnp.logical_xor, PAIR),
        "Maximum-1": Row(jnp.maximum, PAIR),
        "Minimum-1": Row(jnp.minimum, PAIR),
        "Mod-1": Row(jnp.fmod, PAIR),
        "Multiply-1": Row(jnp.multiply, PAIR),
        "NotEqual-1": Row(jnp.not_equal, PAIR),
        "MVN-6": Row(lambda data, axes, eps: jax.nn.standardize(data, axis=axes, epsilon=eps), NORMALIZED),
        "MatMul-1": Row(_matmul, MATRICES),
        "Pad-1": Row(_pad, added()),
        "Pad-12": Row(_pad, pairs(crops=("constant",))),
        "Power-1": Row(jnp.power, PAIR),
        "ReduceL1-4": Row(along_axes(partial(_norm, 1)), REDUCED),
        "ReduceL2-4": Row(along_axes(partial(_norm, 2)), REDUCED),
        "ReduceLogicalAnd-1": Row(along_axes(lambda data, axes, keep: jnp.all(data, axes, keepdims=keep)), REDUCED),
        "ReduceLogicalOr-1": Row(along_axes(lambda data, axes, keep: jnp.any(data, axes, keepdims=keep)), REDUCED),
        "ReduceMax-1": Row(along_axes(lambda data, axes, keep: jnp.max(data, axes, keepdims=keep)), REDUCED),
        "ReduceMean-1": Row(along_axes(_mean), REDUCED),
        "ReduceMin-1": Row(along_axes(lambda data, axes, keep: jnp.min(data, axes, keepdims=keep)), REDUCED),
        "ReduceProd-1": Row(
            along_axes(lambda data, axes, keep: jnp.prod(data, axes, data.dtype, keepdims=keep)), REDUCED
        ),
        "ReduceSum-1": Row(
            along_axes(lambda data, axes, keep: jnp.sum(data, axes, data.dtype, keepdims=keep)), REDUCED
        ),
        "Range-4": Row(jnp.arange, of_type(_TYPES)),
        "Reshape-1": Row(jnp.reshape, SIZES),
        "Reverse-1": Row(jnp.flip, AXES),
        "Roll-7": Row(jnp.roll, SHIFTS),
        "ScatterElementsUpdate-3": Row(_elements, elements_at(*_CHECKED, reaches_beyond=False), tensors=("indices",)),
        "ScatterElementsUpdate-12": Row(_elements, elements_at(*_CHECKED), tensors=("indices",)),
        "ScatterNDUpdate-3": _PUT,
        "ScatterNDUpdate-15": _PUT,
        "ScatterUpdate-3": Row(_update, SLICES_AT, tensors=("indices",)),
        "Select-1": Row(jnp.where, SELECTION),
        "ShapeOf-1": Row(_shape_of),
        "ShapeOf-3": Row(_shape_of),
        "Slice-8": Row(getitem, SLICES),
        "SliceScatter-15": Row(_region, REGION_OF_SHAPE),
        "ScaledDotProductAttention-13": Row(_attention, ATTENTION),
        "SoftMax-8": Row(jax.nn.softmax),
        "Split-1": Row(lambda axis, data, number: jnp.split(data, number, axis=axis), EVEN),
        "Squeeze-1": Row(jnp.squeeze, REMOVED_ONES),
        "Squeeze-15": Row(jnp.squeeze, REMOVED_ONES),
        "StridedSlice-1": Row(getitem, STRIDED),
        "Subtract-1": Row(jnp.subtract, PAIR),
        "Tile-1": Row(jnp.tile, REPEATS),
        "TopK-11": Row(_top_k, LARGEST),
        "Transpose-1": Row(jnp.transpose, ORDER),
        "Unsqueeze-1": Row(jnp.expand_dims, NEW),
        "VariadicSplit-1": Row(lambda axis, *split: jax.lax.split(*split, axis=axis), SIZED),
    },
    tensor=jnp.asarray,
    translation=Translation(
        not_implemented=re.compile(r"UNIMPLEMENTED|[Nn]ot implemented|[Uu]nsupported element type"),
        errors=(*PYTHON_ERRORS, MLIRError),
    ),
)


class Jax:
    """JAX on the CPU, with 64-bit types."""

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        # "Sharp bits" of JAX's documentation: operations on the CPU flush denormal numbers to zero
        said = _JAX.implementation("CPU")
        return replace(said, dynamic=False, bindings=("constant",), flushes_denormals=True)

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed, all from one compiled function."""
        _check(case, feeds)
        inputs = [{input_.name: _argument(case, input_, feed[input_.name]) for input_ in case.inputs} for feed in feeds]
        constants = {input_.name: inputs[0][input_.name] for input_ in case.inputs if input_.binding == "constant"}
        fed = [{name: value for name, value in x.items() if name not in constants} for x in inputs]
        build = _JAX.translation.caller("build")
        traced = jax.jit(lambda parameters: _JAX.outputs(case, {**constants, **parameters}, build)).trace(fed[0])
        compiled = build(lambda: traced.lower().compile())
        call = _JAX.translation.caller("run")
        return [[_tensor(x) for x in call(compiled, parameters)] for parameters in fed]


def _check(case: Case, feeds: Sequence[Inputs]) -> None:
    for input_ in case.inputs:
        if input_.role == "setting" and input_.binding == "parameter":
            raise Unsupported(f"{input_.name} is static in a compiled JAX function, which takes no other value")
        if input_.dynamic is not None or len({feed[input_.name].shape for feed in feeds}) > 1:
            raise Unsupported("JAX compiles for static shapes")


def _argument(case: DeclaredCase, port: Input, tensor: Tensor) -> Any:
    """Setting integers as Python's own; other setting values as an array of their type, as JAX users write them."""
    if _JAX.takes_tensor(case, port):
        return jnp.asarray(tensor.array.view(_JAX.type_of(tensor)))
    native = tensor.type.native
    if tensor.type.is_integer or native is None:
        return plain(tensor, _JAX.types)
    return tensor.array if tensor.type.kind == "string" else tensor.array.view(native)


def _tensor(array: Any) -> Tensor:
    name = _JAX.name_of(np.dtype(array.dtype))
    kind = ELEMENT_TYPES[name]
    stored = np.asarray(array).view(kind.storage)
    if kind.bits < 8:  # noqa: PLR2004 - narrower than a byte
        stored = stored & np.uint8((1 << kind.bits) - 1)
    return Tensor(element_type=name, array=stored)
