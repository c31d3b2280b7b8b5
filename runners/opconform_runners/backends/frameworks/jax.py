"""The `jax` backend: the whole graph in JAX's own operations, compiled once by `jax.jit`."""

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
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.exceptions import PYTHON_ERRORS, Translation
from opconform_runners.backends.frameworks.adapters.axes import AXES, REPEATS, SHIFTS, TARGET
from opconform_runners.backends.frameworks.adapters.dimensions import NEW, REMOVED_ONES
from opconform_runners.backends.frameworks.adapters.elements import destination
from opconform_runners.backends.frameworks.adapters.gather import (
    ALONG,
    ALONG_WHOLE,
    ELEMENTS,
    INDEXED,
    TUPLES,
    TUPLES_JOINED,
    indexed_nd,
    joined,
)
from opconform_runners.backends.frameworks.adapters.layout import ORDER, SIZES
from opconform_runners.backends.frameworks.adapters.pads import added, pairs
from opconform_runners.backends.frameworks.adapters.patches import WINDOWS, channels_of_patches
from opconform_runners.backends.frameworks.adapters.scatter import (
    REGION_OF_SHAPE,
    SLICES_AT,
    elements_at,
    places_at,
    slices_at,
    tuples_at,
)
from opconform_runners.backends.frameworks.adapters.slices import SLICES, STRIDED
from opconform_runners.backends.frameworks.adapters.split import CONCAT, EVEN, SIZED
from opconform_runners.backends.frameworks.framework import Framework, Row
from opconform_runners.backends.frameworks.settings import plain


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
    """An index of one array per dimension, of which that of the axis has the indices."""
    if reduction == "mean" or (reduction != "none" and not use_init_val):
        raise Unsupported("an index in JAX has no mean, and no reduction without the elements of data")
    places = jnp.indices(indices.shape, sparse=True)
    return _written(data, (*places[:axis], indices, *places[axis + 1 :]), updates, reduction)


def _put(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
    return _written(data, places_at(indices), updates, reduction)


def _region(data: Any, updates: Any, entries: tuple[slice, ...]) -> Any:
    return _written(data, entries, updates)


def _patches(data: Any, mode: str, sizes: list[int], strides: list[int], rates: list[int]) -> Any:
    """`jax.lax.conv_general_dilated_patches`, whose channels count those of data slowest."""
    padding = {"valid": "VALID", "same_upper": "SAME", "same_lower": "SAME_LOWER"}[mode]
    patches = jax.lax.conv_general_dilated_patches(data, sizes, strides, padding, rhs_dilation=rates)
    return channels_of_patches(patches, data.shape, sizes, patches.shape[2:])


def _collapse(output: Any, batches: int) -> Any:
    return jax.lax.collapse(output, 0, batches)


def _shape_of(data: Any, output_type: str = "i64") -> Any:
    return jnp.array(jnp.shape(data), {"i64": jnp.int64, "i32": jnp.int32}[output_type])


_GATHER = Row(_take, ALONG, tensors=("indices",))
_GATHER_ND = Row(partial(indexed_nd, jnp.arange, jnp.broadcast_to), TUPLES, INDEXED, tensors=("indices",))
_CHECKED = ("updates.element-type", "indices.rank", "updates.shape", "updates.size")
_PUT = Row(_put, tuples_at("updates.element-type", "updates.rank", "updates.shape"), tensors=("indices",))
_JAX = Framework(
    name="jax",
    version=jax.__version__,
    types=_TYPES,
    rows={
        "Broadcast-1": Row(jnp.broadcast_to, TARGET),
        "Broadcast-3": Row(jnp.broadcast_to, TARGET),
        "Concat-1": Row(lambda axis, tensors: jnp.concatenate(tensors, axis=axis), CONCAT),
        "Convert-1": Row(lambda data, kind: data.astype(kind), destination(_TYPES)),
        "ExtractImagePatches-3": Row(_patches, WINDOWS),
        "Gather-1": _GATHER._replace(adapter=ALONG_WHOLE),
        "Gather-7": _GATHER,
        "Gather-8": _GATHER,
        "GatherElements-6": Row(jnp.take_along_axis, ELEMENTS, tensors=("indices",)),
        "GatherND-5": _GATHER_ND._replace(call=partial(joined, _GATHER_ND.call, _collapse), adapter=TUPLES_JOINED),
        "GatherND-8": _GATHER_ND,
        "Pad-1": Row(_pad, added()),
        "Pad-12": Row(_pad, pairs(crops=("constant",))),
        "Reshape-1": Row(jnp.reshape, SIZES),
        "Reverse-1": Row(jnp.flip, AXES),
        "Roll-7": Row(jnp.roll, SHIFTS),
        "ScatterElementsUpdate-3": Row(_elements, elements_at(*_CHECKED, reaches_beyond=False), tensors=("indices",)),
        "ScatterElementsUpdate-12": Row(_elements, elements_at(*_CHECKED), tensors=("indices",)),
        "ScatterNDUpdate-3": _PUT,
        "ScatterNDUpdate-15": _PUT,
        "ScatterUpdate-3": Row(_update, SLICES_AT, tensors=("indices",)),
        "ShapeOf-1": Row(_shape_of),
        "ShapeOf-3": Row(_shape_of),
        "Slice-8": Row(getitem, SLICES),
        "SliceScatter-15": Row(_region, REGION_OF_SHAPE),
        "Split-1": Row(lambda axis, data, number: jnp.split(data, number, axis=axis), EVEN),
        "Squeeze-1": Row(jnp.squeeze, REMOVED_ONES),
        "Squeeze-15": Row(jnp.squeeze, REMOVED_ONES),
        "StridedSlice-1": Row(getitem, STRIDED),
        "Tile-1": Row(jnp.tile, REPEATS),
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
        return replace(_JAX.implementation("CPU"), dynamic=False, bindings=("constant",))

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


def _argument(case: Case, port: Input, tensor: Tensor) -> Any:
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
