"""How PyTorch executes each operation. PyTorch is an argument, so that scripts can be written where it is missing."""

import re
from functools import partial
from operator import getitem
from typing import Any

from opconform_products.frameworks.adapters.axes import AXES, REPEATS, SHIFTS, TARGET
from opconform_products.frameworks.adapters.binary import PAIR, SELECTION
from opconform_products.frameworks.adapters.blocks import CHANNELS, images
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
from opconform_products.frameworks.adapters.patches import BLOCKS, WINDOWS, channels_of_patches, same_pads
from opconform_products.frameworks.adapters.ranges import SETTINGS, of_type
from opconform_products.frameworks.adapters.slices import SLICES, STRIDED
from opconform_products.frameworks.adapters.split import CONCAT, DIVIDED, SIZED
from opconform_products.frameworks.adapters.squeeze import NEW_ONE_BY_ONE, REMOVED, one_by_one
from opconform_products.frameworks.adapters.unary import SLOPES, infinities, unary_rows, without_beta
from opconform_products.frameworks.adapters.unique import SORTED
from opconform_products.frameworks.framework import BYTE_TYPES, Framework, Row
from opconform_products.torch.rows.products import product_rows
from opconform_products.torch.rows.reductions import is_real, reduction_rows
from opconform_products.torch.rows.scatters import scatter_rows
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.exceptions import Translation


def _divided(torch: Any, a: Any, b: Any, is_floor: bool) -> Any:
    if is_real(torch, a.dtype):
        return torch.div(a, b)
    return torch.div(a, b, rounding_mode="floor" if is_floor else "trunc")


def torch_framework(torch: Any, version: str) -> Framework:
    """PyTorch's operations, by PyTorch or by what records its calls."""
    # those that carry every bit of an element; int1 to int7 and uint1 to uint7 have no kernels
    types = {kind.name: getattr(torch, str(kind.native)) for kind in BYTE_TYPES}

    def index(indices: Any) -> Any:
        """Indices of one of the two types that indexing with tensors takes; indices of other types are converted."""
        long = indices if indices.dtype in (torch.int32, torch.int64) else indices.long()
        return torch.where(long < 0, torch.iinfo(torch.int64).max, long) if indices.dtype == torch.uint64 else long

    def item(data: Any, entries: tuple[Any, ...]) -> Any:
        if any(isinstance(entry, slice) and (entry.step or 1) < 0 for entry in entries):
            raise Unsupported("the framework has no slices with a negative step")
        return getitem(data, entries)

    def pad(data: Any, pads: list[tuple[int, int]], mode: str, value: Any = None) -> Any:
        """PyTorch's function, whose modes other than constant take up to three dimensions after the first two."""
        flat = [number for pair in reversed(pads) for number in pair]
        if mode == "constant":
            return torch.nn.functional.pad(data, flat, "constant", 0 if value is None else value.item())
        if len(pads) > 3:  # noqa: PLR2004 - see above
            raise Unsupported(f"the mode {mode} pads three dimensions at most")
        return torch.nn.functional.pad(data[None, None], flat, {"edge": "replicate"}.get(mode, mode))[0, 0]

    def patches(data: Any, mode: str, sizes: list[int], strides: list[int], rates: list[int]) -> Any:
        """`unfold`, whose patches are in one dimension, and whose channels vary slowest along the channels of data."""
        pads = [0, 0] if mode == "valid" else same_pads(data.shape, sizes, strides, rates)
        columns = torch.nn.functional.unfold(data, sizes, rates, pads, strides)
        counts = [
            (length + 2 * pad - rate * (size - 1) - 1) // max(stride, 1) + 1  # `unfold` refuses a stride of 0
            for length, pad, size, stride, rate in zip(data.shape[2:], pads, sizes, strides, rates, strict=True)
        ]
        return channels_of_patches(columns, data.shape, sizes, counts)

    def unique(data: Any, axes: list[int], index_type: str, count_type: str) -> list[Any]:
        """`torch.unique`, and the least index of each unique slice, which it does not return."""
        dim = axes[0] if axes else None
        results = torch.unique(data, return_inverse=True, return_counts=True, dim=dim)
        kept, places, counts = results[0], results[1].reshape(-1), results[2]  # by index, as a script does it
        indices = torch.arange(places.numel())
        firsts = torch.full_like(counts, places.numel()).scatter_reduce(0, places, indices, "amin")
        return [kept, *(x.to(types[index_type]) for x in (firsts, places)), counts.to(types[count_type])]

    def collapse(output: Any, batches: int) -> Any:
        return torch.flatten(output, 0, batches - 1)

    def shape_of(data: Any, output_type: str = "i64") -> Any:
        return torch.tensor(list(data.shape), dtype={"i64": torch.int64, "i32": torch.int32}[output_type])

    def gelu(data: Any, is_tanh: bool) -> Any:
        return torch.nn.functional.gelu(data, approximate="tanh" if is_tanh else "none")

    unary = {
        "Abs-1": torch.abs,
        "BitwiseNot-13": torch.bitwise_not,
        "Ceiling-1": torch.ceil,
        "Clamp-1": torch.clamp,
        "Cos-1": torch.cos,
        "Elu-1": torch.nn.functional.elu,
        "Erf-1": torch.erf,
        "Exp-1": torch.exp,
        "Floor-1": torch.floor,
        "Gelu-7": gelu,
        "HSigmoid-5": torch.nn.functional.hardsigmoid,
        "HSwish-4": torch.nn.functional.hardswish,
        "IsFinite-10": torch.isfinite,
        "IsInf-10": infinities(torch.isinf, torch.isneginf, torch.isposinf),
        "IsNaN-10": torch.isnan,
        "Log-1": torch.log,
        "Mish-4": torch.nn.functional.mish,
        "LogicalNot-1": torch.logical_not,
        "Negative-1": torch.neg,
        "ReLU-1": torch.relu,
        "Round-5": torch.round,
        "Sigmoid-1": torch.sigmoid,
        "Sin-1": torch.sin,
        "SoftPlus-4": torch.nn.functional.softplus,
        "SoftSign-9": torch.nn.functional.softsign,
        "Sign-1": torch.sign,
        "Sqrt-1": torch.sqrt,
        "Swish-4": without_beta(torch.nn.functional.silu),
        "Tan-1": torch.tan,
        "Tanh-1": torch.tanh,
    }
    gather = Row(partial(indexed, torch.arange, index=index), ALONG, tensors=("indices",))
    gather_nd = Row(
        partial(indexed_nd, torch.arange, torch.broadcast_to, index=index), TUPLES, INDEXED, tensors=("indices",)
    )
    return Framework(
        name="torch",
        version=version,
        types=types,
        rows={
            **reduction_rows(torch, types),
            **scatter_rows(torch, index),
            **unary_rows(unary, types),
            "Add-1": Row(torch.add, PAIR),
            "BitwiseAnd-13": Row(torch.bitwise_and, PAIR),
            "BitwiseLeftShift-15": Row(torch.bitwise_left_shift, PAIR),
            "BitwiseOr-13": Row(torch.bitwise_or, PAIR),
            "BitwiseRightShift-15": Row(torch.bitwise_right_shift, PAIR),
            "BitwiseXor-13": Row(torch.bitwise_xor, PAIR),
            **product_rows(torch, types),
            "Broadcast-1": Row(torch.broadcast_to, TARGET),
            "Broadcast-3": Row(torch.broadcast_to, TARGET),
            "Col2Im-15": Row(torch.nn.functional.fold, BLOCKS),
            "Concat-1": Row(lambda axis, tensors: torch.cat(tensors, dim=axis), CONCAT),
            "DepthToSpace-1": Row(torch.nn.functional.pixel_shuffle, images("depth_first")),
            "ConvertLike-1": Row(lambda data, like: data.type_as(like), tensors=("like",)),
            "Convert-1": Row(lambda data, kind: data.to(kind), destination(types)),
            "Divide-1": Row(partial(_divided, torch), PAIR),
            "Equal-1": Row(torch.eq, PAIR),
            "ExtractImagePatches-3": Row(patches, WINDOWS),
            "FloorMod-1": Row(torch.remainder, PAIR),
            "Gather-1": gather._replace(adapter=ALONG_WHOLE),
            "Gather-7": gather,
            "Gather-8": gather,
            "GatherElements-6": Row(
                lambda data, indices, axis: torch.gather(data, axis, indices), ELEMENTS, tensors=("indices",)
            ),
            "GatherND-5": gather_nd._replace(call=partial(joined, gather_nd.call, collapse), adapter=TUPLES_JOINED),
            "GatherND-8": gather_nd,
            "Greater-1": Row(torch.gt, PAIR),
            "GreaterEqual-1": Row(torch.ge, PAIR),
            "Less-1": Row(torch.lt, PAIR),
            "LessEqual-1": Row(torch.le, PAIR),
            "LogicalAnd-1": Row(torch.logical_and, PAIR),
            "LogicalOr-1": Row(torch.logical_or, PAIR),
            "LogicalXor-1": Row(torch.logical_xor, PAIR),
            "Maximum-1": Row(torch.maximum, PAIR),
            "Minimum-1": Row(torch.minimum, PAIR),
            "Mod-1": Row(torch.fmod, PAIR),
            "Multiply-1": Row(torch.mul, PAIR),
            "NonZero-3": Row(lambda data, output_type="i64": torch.nonzero(data).T.to(types[output_type])),
            "NotEqual-1": Row(torch.ne, PAIR),
            "PReLU-1": Row(torch.nn.functional.prelu, SLOPES),
            "Pad-1": Row(pad, added(("constant", "edge", "reflect"))),
            "Pad-12": Row(pad, pairs(("constant", "edge", "reflect"))),
            "Power-1": Row(torch.pow, PAIR),
            "Range-4": Row(
                lambda start, stop, step, kind: torch.arange(start, stop, step, dtype=kind),
                of_type(types),
                run_time=SETTINGS,
            ),
            "Reshape-1": Row(torch.reshape, SIZES),
            "Reverse-1": Row(torch.flip, AXES),
            "Roll-7": Row(torch.roll, SHIFTS),
            "Select-1": Row(torch.where, SELECTION),
            "ShuffleChannels-1": Row(torch.nn.functional.channel_shuffle, CHANNELS),
            "ShapeOf-1": Row(shape_of),
            "ShapeOf-3": Row(shape_of),
            "Slice-8": Row(item, SLICES),
            "SpaceToDepth-1": Row(torch.nn.functional.pixel_unshuffle, images("depth_first")),
            "Split-1": Row(lambda axis, *split: [*torch.tensor_split(*split, dim=axis)], DIVIDED),
            "SquaredDifference-1": Row(partial(torch.nn.functional.mse_loss, reduction="none"), PAIR),
            "Squeeze-1": Row(torch.squeeze, REMOVED),
            "Squeeze-15": Row(torch.squeeze, REMOVED),
            "StridedSlice-1": Row(item, STRIDED),
            "Subtract-1": Row(torch.sub, PAIR),
            "Tile-1": Row(torch.tile, REPEATS),
            "Transpose-1": Row(torch.permute, ORDER),
            "Unique-10": Row(unique, SORTED),
            "Unsqueeze-1": Row(one_by_one(torch.unsqueeze), NEW_ONE_BY_ONE),
            "VariadicSplit-1": Row(lambda axis, *split: [*torch.split_with_sizes(*split, dim=axis)], SIZED),
        },
        tensor=lambda value, kind: torch.tensor(value, dtype=kind),
        translation=Translation(
            not_implemented=re.compile(
                r"not implemented for|not supported for|types is not supported|Unsupported dtype|no kernel"
            ),
        ),
    )
