"""The operations that ONNX expresses: one row each, and functions for what a row cannot say."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx.translation import TYPES, VARIABLE, Call, Rendering, attribute_text
from opconform.model.graph import MOST_DECLARED
from opconform.operations.movement.axis import dimension, given_axis
from opconform.operations.movement.broadcast import BROADCAST
from opconform.operations.movement.pad import pads_of
from opconform.operations.movement.slices.slice import slices_of
from opconform.operations.shape.squeeze import indices_of, is_any_kept
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

_I64 = ("i64",)
_INDICES = ("i32", "i64")
_FLOATS = ("f16", "f32", "f64")
#: The element types whose literals in ONNX's text format are values.
_LITERALS = frozenset({"f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
_PADS = ("pads_begin", "pads_end")
#: The modes that ONNX's `Pad` has in later opsets.
_LATER_MODES = frozenset({"wrap"})

#: The reductions that ONNX has under another name, and those that it lacks.
_REDUCTIONS = {"sum": "add", "prod": "mul"}
_NO_REDUCTIONS = frozenset({"mean", "sub"})

_NO_BATCHES = "ONNX's Gather has no batch dimensions"
_WITHOUT_BATCHES = dict.fromkeys(("batch_dims", "batch_dims.range"), _NO_BATCHES)
_NO_MODE = "in ONNX, the mode has other values, and may be omitted"
_OF_BLOCKS = {"mode": _NO_MODE, "block_size.type": "in ONNX, blocksize is an integer by its syntax"}
#: The rank of a batch of images.
_IMAGE = 4
_NO_LIMIT = "ONNX does not limit the pads of its modes"
_SMALLER = "since opset 18, the last of ONNX's `num_outputs` outputs may be smaller"


def _expand(node: KnownNode) -> Call:
    """ONNX's Expand is the mode bidirectional, which allows what the mode numpy does not."""
    if node.attributes["mode"] == "explicit":
        raise Inexpressible("ONNX's Expand has no axes")
    for arguments in node.arguments if node.violated in ("numpy.rank", "numpy.dimensions") else ():
        operation, attributes = BROADCAST, {**arguments.attributes, "mode": "bidirectional"}
        if not operation.judged(replace(arguments, attributes=attributes))[1]:
            raise Inexpressible("ONNX's Expand broadcasts in both directions")
    return Call(node.node.inputs[:2])


def _unchanged(node: KnownNode) -> Call:
    return Call(node.node.inputs, {name: attribute_text(value) for name, value in node.node.attributes.items()})


def _constant(node: KnownNode) -> Call:
    kind = str(node.attributes["element_type"])
    if kind not in _LITERALS:
        raise Inexpressible(f"ONNX's text format has no literals of {kind}")
    shape, elements = (attribute_text(node.attributes[name]) for name in ("shape", "value"))
    sizes = shape.replace("[]", "")
    return Call((), {"value": f"{ELEMENT_TYPES[kind].onnx}{sizes} {{{elements.strip('[]')}}}".lower()})


def _cast(node: KnownNode) -> Call:
    from onnx import TensorProto

    target = str(node.attributes["destination_type"])
    if target not in TYPES:
        raise Inexpressible(f"ONNX's Cast does not return {target}")
    return Call(node.node.inputs, {"to": str(TensorProto.DataType.Value(ELEMENT_TYPES[target].onnx or ""))})


def _shape(node: KnownNode) -> Call:
    if node.attributes.get("output_type", "i64") != "i64":
        raise Inexpressible("ONNX's Shape returns i64")
    return Call(node.node.inputs)


def _convolution(node: KnownNode) -> Call:
    strides, dilations, begin, end = (
        attribute_text(node.attributes[name]) for name in ("strides", "dilations", *_PADS)
    )
    return Call(node.node.inputs, {"strides": strides, "dilations": dilations, "pads": f"{begin[:-1]}, {end[1:]}"})


def _transpose(node: KnownNode) -> Call:
    """An omitted `perm` inverts the dimensions, as an empty order does."""
    order = node.arguments[0].integers("input_order")
    return Call(node.without("input_order"), {"perm": attribute_text(order)} if order else {})


def _gather(node: KnownNode) -> Call:
    indices = node.types.get("indices")
    if node.attributes.get("batch_dims", 0) not in (0, -len(indices.dimensions) if indices else 0):
        raise Inexpressible(_NO_BATCHES)
    _check_sign(node)
    for arguments in node.accepted:
        size, array = dimension(arguments), arguments.tensor("indices").array
        if np.any((array < -size) | (array >= size)):
            raise Inexpressible("in ONNX, an index that is out of range is an error")
    return Call(node.without("axis"), {"axis": attribute_text(given_axis(node.arguments[0]))})


def _gather_nd(node: KnownNode) -> Call:
    for arguments in node.accepted:
        batches = arguments.number("batch_dims")
        if arguments.shape("data")[:batches] != arguments.shape("indices")[:batches]:
            raise Inexpressible("in ONNX, batch dimensions are equal, and not broadcast")
    for arguments in node.arguments:
        if "indices" in arguments.inputs and 0 in arguments.shape("indices")[-1:]:
            raise Inexpressible("in ONNX, a tuple has at least one index")
    return _unchanged(node)


def _blocks(node: KnownNode) -> Call:
    """`DCR` is blocks_first, the only mode of `SpaceToDepth`."""
    block_size, mode = node.attributes["block_size"], node.attributes["mode"]
    if any(len(arguments.shape("data")) != _IMAGE for arguments in node.accepted):
        raise Inexpressible("ONNX moves blocks of images only")
    if node.operation.type == "SpaceToDepth" and mode != "blocks_first":
        raise Inexpressible("ONNX's SpaceToDepth has no mode")
    modes = {"mode": '"DCR"' if mode == "blocks_first" else '"CRD"'} if node.operation.type == "DepthToSpace" else {}
    return Call(node.node.inputs, {"blocksize": attribute_text(block_size), **modes})


def _check_sign(node: KnownNode) -> None:
    """Refuse negative indices, which are out of range in older versions of the operations alone."""
    if node.violated == "indices.range" and any(min(a.integers("indices")) < 0 for a in node.arguments):
        raise Inexpressible("in ONNX, a negative index counts from the end")


def _gather_nd_5(node: KnownNode) -> Call:
    _check_sign(node)
    if any(arguments.number("batch_dims") > 1 for arguments in node.accepted):
        raise Inexpressible("in ONNX, batch dimensions are not joined")
    return _gather_nd(node)


def _pad(node: KnownNode) -> Call:
    mode = node.attributes["pad_mode"]
    if mode == "symmetric":
        raise Inexpressible("ONNX has no mode symmetric")
    if mode in _LATER_MODES:
        raise Inexpressible(f"ONNX has the mode {mode} in later opsets")
    _check_sizes(node, str(mode))
    pads, joined = f"{node.node.name}_pads", [node.inputs[port] for port in _PADS]
    data, *value = node.without(*_PADS)
    call = Call((data, pads, *value), {"mode": attribute_text(mode)})
    constants = [tensor.array for port in _PADS if (tensor := node.constant(port)) is not None]
    if len(constants) < len(_PADS):
        return replace(call, before=[Call(joined, {"axis": "0"}, op="Concat", outputs=[pads])])
    return replace(call, initializers={pads: Tensor(element_type="i64", array=np.concatenate(constants))})


def _check_sizes(node: KnownNode, mode: str) -> None:
    """Refuse an output that depends on when elements are removed, or on how many too many."""
    for arguments in node.accepted:
        for size, begin, end in pads_of(arguments):
            if begin + size + end < 0:
                raise Inexpressible("in ONNX, an output cannot have a negative size")
            left, added = size + min(begin, 0) + min(end, 0), max(begin, end)
            if min(begin, end) < 0 < added and left < {"edge": 1, "reflect": added + 1}.get(mode, left):
                raise Inexpressible("ONNX does not define whether elements are removed before others are copied")


def _reshape(node: KnownNode) -> Call:
    """`allowzero` is the opposite of `special_zero`."""
    return Call(node.node.inputs, {"allowzero": str(int(not node.attributes["special_zero"]))})


def _scatter_elements(node: KnownNode) -> Call:
    """Updates and axis in ONNX's order; `use_init_val` is always true."""
    name = _reduction(node)
    if name != '"none"' and not node.attributes.get("use_init_val", True):
        raise Inexpressible("ONNX's reductions use the elements of data")
    if node.accepted and any(0 in arguments.shape("updates") for arguments in node.accepted):
        raise Inexpressible("ONNX does not define updates without elements")
    return Call(node.without("axis"), {"axis": attribute_text(given_axis(node.arguments[0])), "reduction": name})


def _scatter_nd(node: KnownNode) -> Call:
    """The tuples have at least one index, and the updates the shape that the others give."""
    for arguments in node.accepted:
        *tuples, length = arguments.shape("indices")
        if not length or 0 in arguments.shape("updates"):
            raise Inexpressible("in ONNX, a tuple has at least one index, and there are updates")
        if arguments.shape("updates") != (*tuples, *arguments.shape("data")[length:]):
            raise Inexpressible("in ONNX, a single update is no exception to the rank of the updates")
    return Call(node.node.inputs, {"reduction": _reduction(node)})


def _reduction(node: KnownNode) -> str:
    """The reduction by ONNX's name, as text of an attribute."""
    name = str(node.attributes.get("reduction", "none"))
    if name in _NO_REDUCTIONS:
        raise Inexpressible(f"ONNX has no reduction {name}")
    return attribute_text(_REDUCTIONS.get(name, name))


def _slice(node: KnownNode) -> Call:
    if len({declared.element_type for port, declared in node.types.items() if port != "data"}) > 1:
        addition = "" if node.violated is None else ", so the case would violate a different rule"
        raise Inexpressible(f"ONNX's indices have the same type{addition}")
    for arguments in node.arguments if "axes" not in node.inputs and {"data", "start"} <= node.inputs.keys() else ():
        if arguments.shape("start") != (len(arguments.shape("data")),):
            raise Inexpressible("ONNX's default axes are all dimensions")
    for arguments in node.accepted:
        for part, size in zip(slices_of(arguments), arguments.shape("data"), strict=True):
            is_backward = part.step is not None and part.step < 0
            if is_backward and part.start < -size and part.stop < -size:  # with a later stop, both select nothing
                raise Inexpressible("ONNX clamps a start before the first element to it, and Python selects nothing")
    return Call([node.inputs.get(port) for port in ("data", "start", "stop", "axes", "step")])


def _split(node: KnownNode) -> Call:
    """Lengths of -1, which ONNX does not have, are replaced by the lengths that they stand for."""
    axis, index = node.types["axis"], given_axis(node.arguments[0])
    is_input = node.origin("axis") in node.graph.golden.inputs[0]  # and not a constant of a context
    if is_input and (axis.element_type != "i64" or axis.dimensions):
        raise Inexpressible("ONNX's axis is an attribute, and has neither element type nor shape")
    _check_lengths(node, index)
    if node.violated is not None and (node.operation.requested_outputs(node.arguments[0]) or 0) > MOST_DECLARED:
        raise Inexpressible(
            f"an ONNX node declares every requested output, and opconform declares at most {MOST_DECLARED}"
        )
    attributes = {"axis": attribute_text(index)}
    if "num_splits" in node.attributes:
        attributes["num_outputs"] = attribute_text(node.attributes["num_splits"])
    lengths = node.constant("split_lengths")
    if lengths is None:
        return Call(node.without("axis"), attributes)
    if node.accepted:
        sizes = [output.shape[index] for output in node.outputs]
        lengths = Tensor(element_type="i64", array=np.array(sizes, np.int64))
    name = f"{node.node.name}_lengths"
    return Call((node.inputs.get("data"), name), attributes, {name: lengths})


def _check_lengths(node: KnownNode, axis: int) -> None:
    """Refuse lengths of -1 that have no lengths to stand for when the model is built."""
    feeds = node.arguments if "split_lengths" in node.inputs else ()
    if not any(-1 in arguments.tensor("split_lengths").array.ravel().tolist() for arguments in feeds):
        return
    if node.violated is not None:
        raise Inexpressible("ONNX has no -1, so the case would violate a different rule")
    if (source := node.source("split_lengths")) != "constant":
        raise Inexpressible(f"ONNX has no -1, so it {VARIABLE[source]}")
    if node.types["data"].dimensions[axis] is None:
        raise Inexpressible("ONNX has no -1, and its value is not known when the model is built")


def _tile(node: KnownNode) -> Call:
    if any(arguments.shape("repeats") != (len(arguments.shape("data")),) for arguments in node.accepted):
        raise Inexpressible("ONNX's Tile has one repeat per dimension")
    return _unchanged(node)


def _listed(node: KnownNode) -> Call:
    """The axes are a list, so that a violation of their rank is one of more dimensions."""
    axes = node.types.get("axes")
    if axes is not None and not axes.dimensions:
        raise Inexpressible(f"ONNX's {node.operation.type} takes a list of axes")
    return Call(node.node.inputs)


def _squeeze(node: KnownNode) -> Call:
    call = _listed(node)
    for arguments in node.accepted:
        indices, shape = indices_of(arguments), arguments.shape("data")
        if "axes" in node.inputs and not indices:
            raise Inexpressible("ONNX does not define what an empty list of axes does")
        if is_any_kept(arguments):
            raise Inexpressible("in ONNX, an axis of a dimension other than 1 is an error")
        if len({axis % len(shape) for axis in indices}) < len(indices):
            raise Inexpressible("ONNX does not define what repeated axes do")
    return call


_EXPAND = Rendering(
    "Expand",
    _expand,
    types={"target_shape": _I64, "axes_mapping": _INDICES},
    reasons={
        "axes_mapping": "ONNX's Expand has no axes",
        "axes_mapping.explicit": "ONNX's Expand has no axes",
        "axes_mapping.other-modes": "ONNX's Expand has no axes",
        "mode": "ONNX's Expand has no modes",
    },
)
_SPLIT = Rendering(
    "Split",
    _split,
    attributes={"axis": "axis"},
    types={"split_lengths": _I64},
    reasons={
        "num_splits.zero-dimension": "in ONNX, a dimension of 0 may be split",
        "num_splits.divides": _SMALLER,
        "num_splits.at-most-dimension": _SMALLER,
    },
)
_GATHER = Rendering("Gather", _gather, attributes={"axis": "axis"}, types={"indices": _INDICES})
_PAD = Rendering(
    "Pad",
    _pad,
    types=dict.fromkeys(_PADS, _I64),
    reasons={
        **dict.fromkeys(_PADS, "ONNX's pads of both ends are one list"),
        "pad_mode.required": "in ONNX, an omitted mode defaults to constant",
        "data.string-mode": "ONNX pads strings in every mode",
        "data.element-type": "ONNX pads strings",
        "pads.negative": "ONNX removes elements by negative pads",
        "edge.empty": _NO_LIMIT,
        "reflect.limit": _NO_LIMIT,
    },
)
_SHAPE = Rendering("Shape", _shape, reasons={"output_type": "ONNX's Shape returns i64"})
_SQUEEZE = Rendering(
    "Squeeze",
    _squeeze,
    types={"axes": _I64},
    reasons={"allow_axis_skip": "ONNX's Squeeze has no attributes"},
)
#: The rendering of each operation.
RENDERINGS: Mapping[str, Rendering] = {
    "Broadcast-1": _EXPAND,
    "Broadcast-3": _EXPAND,
    "Concat-1": Rendering("Concat", _unchanged),
    "Constant-1": Rendering("Constant", _constant),
    "Convert-1": Rendering(
        "Cast",
        _cast,
        reasons={"destination_type": "ONNX's to is the number of a type", "data.element-type": "ONNX casts strings"},
    ),
    "Convolution-1": Rendering("Conv", _convolution, types={"data": _FLOATS, "filters": _FLOATS}),
    "DepthToSpace-1": Rendering("DepthToSpace", _blocks, reasons=_OF_BLOCKS),
    "Gather-1": _GATHER,
    "Gather-7": replace(_GATHER, reasons=_WITHOUT_BATCHES),
    "Gather-8": replace(_GATHER, reasons=_WITHOUT_BATCHES),
    "GatherND-5": Rendering("GatherND", _gather_nd_5, types={"indices": _I64}),
    "GatherND-8": Rendering("GatherND", _gather_nd, types={"indices": _I64}),
    "Pad-1": _PAD,
    "Pad-12": _PAD,
    "Reshape-1": Rendering(
        "Reshape",
        _reshape,
        types={"shape": _I64},
        reasons={"special_zero": "ONNX's allowzero is an integer, and may be omitted"},
    ),
    **dict.fromkeys(
        ("ScatterElementsUpdate-3", "ScatterElementsUpdate-12"),
        Rendering(
            "ScatterElements",
            _scatter_elements,
            attributes={"axis": "axis"},
            types={"indices": _INDICES},
            reasons={
                "indices.negative": "in ONNX, negative indices count from the end",
                "reduction.values": "ONNX has other reductions",
                "use_init_val": "ONNX has no such attribute",
            },
        ),
    ),
    **dict.fromkeys(
        ("ScatterNDUpdate-3", "ScatterNDUpdate-15"),
        Rendering(
            "ScatterND",
            _scatter_nd,
            types={"indices": _I64},
            reasons={
                "indices.negative": "in ONNX, negative indices count from the end",
                "indices.unique": "ONNX does not say what equal tuples do",
                "indices.element-type": "ONNX's indices are i64",
                "reduction.values": "ONNX has other reductions",
            },
        ),
    ),
    "ShapeOf-1": _SHAPE,
    "ShapeOf-3": _SHAPE,
    "Slice-8": Rendering(
        "Slice",
        _slice,
        types=dict.fromkeys(("start", "stop", "step", "axes"), _INDICES),
        reasons={
            "step.required": "in ONNX, an omitted step defaults to 1",
            "axes.unique": "ONNX does not define what repeated axes do",
        },
    ),
    "SpaceToDepth-1": Rendering("SpaceToDepth", _blocks, reasons=_OF_BLOCKS),
    "Split-1": _SPLIT,
    "Squeeze-1": _SQUEEZE,
    "Squeeze-15": _SQUEEZE,
    "Tile-1": Rendering("Tile", _tile, types={"repeats": _I64}),
    "Transpose-1": Rendering("Transpose", _transpose, attributes={"input_order": "perm"}),
    "Unsqueeze-1": Rendering("Unsqueeze", _listed, types={"axes": _I64}),
    "VariadicSplit-1": _SPLIT,
}
