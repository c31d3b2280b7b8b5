"""How ONNX calls an operation where a row of the table cannot say it."""

from dataclasses import replace
from functools import partial

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx.translation import TYPES, VARIABLE, Call, attribute_text
from opconform.model.graph import MOST_DECLARED
from opconform.operations.arithmetic.prelu import has_slope_per_channel
from opconform.operations.arithmetic.unary import limits_of
from opconform.operations.movement.axis import dimension, given_axis
from opconform.operations.movement.broadcast import BROADCAST
from opconform.operations.movement.gathers.gather_elements import size_of
from opconform.operations.movement.pad import pads_of
from opconform.operations.movement.slices.slice import slices_of
from opconform.operations.shape.squeeze import indices_of, is_any_kept
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers as exact_numbers
from opconform.tensors.tensor import Tensor

#: The element types whose literals in ONNX's text format are values.
_LITERALS = frozenset({"f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
#: The inputs with pads.
PADS = ("pads_begin", "pads_end")
#: The modes that ONNX's `Pad` has in later opsets.
_LATER_MODES = frozenset({"wrap"})
#: The reductions that ONNX has under another name, and those that it lacks.
_REDUCTIONS = {"sum": "add", "prod": "mul"}
_NO_REDUCTIONS = frozenset({"mean", "sub"})
#: Why batch dimensions are inexpressible.
NO_BATCHES = "ONNX's Gather has no batch dimensions"
#: The rank of a batch of images.
_IMAGE = 4
#: The rank of a batch of lists.
_MATRIX = 2
#: The rank of batches of blocks.
_FOLDED = 3


def folded(node: KnownNode) -> Call:
    """A Col2Im with the pads of both ends in one list."""
    if any(len(arguments.shape("data")) != _FOLDED for arguments in node.accepted):
        raise Inexpressible("ONNX's Col2Im takes batches")
    return Call(node.node.inputs, _windows(node))


def expand(node: KnownNode) -> Call:
    """ONNX's Expand is the mode bidirectional, which allows what the mode numpy does not."""
    if node.attributes["mode"] == "explicit":
        raise Inexpressible("ONNX's Expand has no axes")
    for arguments in node.arguments if node.violated in ("numpy.rank", "numpy.dimensions") else ():
        operation, attributes = BROADCAST, {**arguments.attributes, "mode": "bidirectional"}
        if not operation.judged(replace(arguments, attributes=attributes))[1]:
            raise Inexpressible("ONNX's Expand broadcasts in both directions")
    return Call(node.node.inputs[:2])


def broadcast(node: KnownNode) -> Call:
    """The inputs alone: of valid ones, every rule of broadcasting does what ONNX's does."""
    return Call(node.node.inputs)


def divided(node: KnownNode) -> Call:
    """ONNX's division of integers loses the fraction."""
    if (
        node.violated is None
        and node.attributes["m_pythondiv"]
        and ELEMENT_TYPES[node.types["a"].element_type].is_integer
    ):
        raise Inexpressible("ONNX's Div rounds quotients towards zero")
    return broadcast(node)


def remainder(node: KnownNode) -> Call:
    """ONNX's remainder of integers has the sign of the divisor, and of other numbers the sign of the dividend."""
    if node.violated is None and not ELEMENT_TYPES[node.types["a"].element_type].is_integer:
        raise Inexpressible("ONNX's Mod of floating-point numbers has the sign of the dividend")
    return broadcast(node)


def truncated_remainder(node: KnownNode) -> Call:
    """A Mod whose result has the sign of the dividend."""
    return replace(broadcast(node), attributes={"fmod": "1"})


def shifted(direction: str, node: KnownNode) -> Call:
    """A BitShift in a direction."""
    return replace(broadcast(node), attributes={"direction": attribute_text(direction)})


def unchanged(node: KnownNode) -> Call:
    """The same inputs and attributes."""
    return Call(node.node.inputs, {name: attribute_text(value) for name, value in node.node.attributes.items()})


def attributes(node: KnownNode) -> Call:
    """The same inputs, and the attributes, whose names and meanings are those of ONNX; numbers have a fraction."""
    return Call(node.node.inputs, {name: repr(float(str(value))) for name, value in node.attributes.items()})


def flag(node: KnownNode, name: str) -> str:
    """A boolean attribute as an integer."""
    return str(int(node.attributes[name] is True))


def with_flags(node: KnownNode) -> Call:
    """The same inputs, and booleans as integers."""
    return Call(node.node.inputs, {spec.name: flag(node, spec.name) for spec in node.operation.attributes})


def hard_sigmoid(node: KnownNode) -> Call:
    """A HardSigmoid, whose alpha and beta are attributes of f32."""
    numbers: dict[str, str] = {}
    for name in ("alpha", "beta"):
        if (source := node.source(name)) != "constant":
            raise Inexpressible(f"ONNX's {name} is an attribute, and {VARIABLE[source]}")
        number = float(exact_numbers(node.tensor(name)))
        if number != float(np.float32(number)):
            raise Inexpressible(f"ONNX's {name} is an f32")
        numbers[name] = repr(number)
    return Call((node.inputs.get("data"),), numbers)


def prelu(node: KnownNode) -> Call:
    """A PRelu, which aligns the last dimensions, so that a list of slopes of channels gets others behind."""
    kinds = {(has_slope_per_channel(x), len(x.shape("data"))) for x in node.accepted}
    if len(kinds) > 1 and any(is_per_channel for is_per_channel, _ in kinds):
        raise Inexpressible("ONNX's PRelu aligns the last dimensions")
    for is_per_channel, rank in kinds if len(kinds) == 1 else ():
        if is_per_channel and rank > _MATRIX:
            slope, axes = (f"{node.node.name}_{name}" for name in ("slope", "axes"))
            places = Tensor(element_type="i64", array=np.arange(1, rank - 1))
            before = Call((node.inputs["slope"], axes), initializers={axes: places}, op="Unsqueeze", outputs=(slope,))
            return Call((node.inputs["data"], slope), before=[before])
    return Call(node.node.inputs)


def clip(node: KnownNode) -> Call:
    """A Clip, whose limits are tensors of the type of data; without limits if that is no type of numbers."""
    if node.violated in ("data.required", "data.element-type"):
        return Call(node.node.inputs)
    names = [node.added(name) for name in ("min", "max")]
    limits = dict(zip(names, limits_of(node.arguments[0]), strict=True))
    return Call((*node.node.inputs, *names), initializers=limits)


def rounded(node: KnownNode) -> Call:
    """A Round, which takes the even one of two integers that are equally near."""
    if node.attributes["mode"] != "half_to_even":
        raise Inexpressible("ONNX's Round takes the even one of two integers")
    return Call(node.node.inputs)


def constant(node: KnownNode) -> Call:
    """A Constant with its elements as text."""
    kind = str(node.attributes["element_type"])
    if kind not in _LITERALS:
        raise Inexpressible(f"ONNX's text format has no literals of {kind}")
    array = node.graph.constants[node.node.outputs[0]].array
    if not np.isfinite(array).all():
        raise Inexpressible("ONNX's text format has no literals of infinities and NaN")
    elements = attribute_text(tuple(array.ravel().tolist()))
    sizes = attribute_text(node.attributes["shape"]).replace("[]", "")
    return Call((), {"value": f"{ELEMENT_TYPES[kind].onnx}{sizes} {{{elements.strip('[]')}}}".lower()})


def cast(node: KnownNode) -> Call:
    """A Cast to the number of the type."""
    from onnx import TensorProto

    target = str(node.attributes["destination_type"])
    if target not in TYPES:
        raise Inexpressible(f"ONNX's Cast does not return {target}")
    return Call(node.node.inputs, {"to": str(TensorProto.DataType.Value(ELEMENT_TYPES[target].onnx or ""))})


def _of_i64(op: str, node: KnownNode) -> Call:
    if node.attributes.get("output_type", "i64") != "i64":
        raise Inexpressible(f"ONNX's {op} returns i64")
    return Call(node.node.inputs)


#: A Shape or a NonZero, whose output is i64.
shape, non_zero = partial(_of_i64, "Shape"), partial(_of_i64, "NonZero")


def convolution(node: KnownNode) -> Call:
    """A Conv with the pads of both ends in one list."""
    return Call(node.node.inputs, _windows(node))


def _windows(node: KnownNode) -> dict[str, str]:
    strides, dilations, begin, end = (attribute_text(node.attributes[name]) for name in ("strides", "dilations", *PADS))
    return {"strides": strides, "dilations": dilations, "pads": f"{begin[:-1]}, {end[1:]}"}


def transpose(node: KnownNode) -> Call:
    """An omitted `perm` inverts the dimensions, as an empty order does."""
    order = node.arguments[0].integers("input_order")
    return Call(node.without("input_order"), {"perm": attribute_text(order)} if order else {})


def gather(node: KnownNode) -> Call:
    """A Gather without batch dimensions."""
    indices = node.types.get("indices")
    if node.attributes.get("batch_dims", 0) not in (0, -len(indices.dimensions) if indices else 0):
        raise Inexpressible(NO_BATCHES)
    _check_sign(node)
    for arguments in node.accepted:
        size, array = dimension(arguments), arguments.tensor("indices").array
        if np.any((array < -size) | (array >= size)):
            raise Inexpressible("in ONNX, an index that is out of range is an error")
    return Call(node.without("axis"), {"axis": attribute_text(given_axis(node.arguments[0]))})


def gather_elements(node: KnownNode) -> Call:
    """A GatherElements, whose indices may be negative, and have smaller dimensions than data."""
    last = node.arguments[-1]
    if node.violated == "indices.negative" and min(last.integers("indices")) >= -size_of(last):
        raise Inexpressible("in ONNX, a negative index counts from the end")
    if node.violated == "indices.shape":
        beside = list(zip(last.shape("data"), last.shape("indices"), strict=True))
        del beside[last.number("axis")]
        if all(index <= size for size, index in beside):
            raise Inexpressible("in ONNX, the indices can be smaller than data beside the axis")
    return unchanged(node)


def gather_nd(node: KnownNode) -> Call:
    """A GatherND whose batch dimensions are equal."""
    for arguments in node.accepted:
        batches = arguments.number("batch_dims")
        if arguments.shape("data")[:batches] != arguments.shape("indices")[:batches]:
            raise Inexpressible("in ONNX, batch dimensions are equal, and not broadcast")
    for arguments in node.arguments:
        if "indices" in arguments.inputs and 0 in arguments.shape("indices")[-1:]:
            raise Inexpressible("in ONNX, a tuple has at least one index")
    return unchanged(node)


def blocks(node: KnownNode) -> Call:
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


def gather_nd_5(node: KnownNode) -> Call:
    """A GatherND whose output keeps its batch dimensions."""
    _check_sign(node)
    if any(arguments.number("batch_dims") > 1 for arguments in node.accepted):
        raise Inexpressible("in ONNX, batch dimensions are not joined")
    return gather_nd(node)


def pad(node: KnownNode) -> Call:
    """A Pad with the pads of both ends in one list."""
    mode = node.attributes["pad_mode"]
    if mode == "symmetric":
        raise Inexpressible("ONNX has no mode symmetric")
    if mode in _LATER_MODES:
        raise Inexpressible(f"ONNX has the mode {mode} in later opsets")
    _check_sizes(node, str(mode))
    pads, joined = node.added("pads"), [node.inputs[port] for port in PADS]
    data, *value = node.without(*PADS)
    call = Call((data, pads, *value), {"mode": attribute_text(mode)})
    constants = [tensor.array for port in PADS if (tensor := node.constant(port)) is not None]
    if len(constants) < len(PADS):
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


def ranged(node: KnownNode) -> Call:
    """A Range, whose inputs and output have one type."""
    kind = node.attributes["output_type"]
    if node.violated is None and any(declared.element_type != kind for declared in node.types.values()):
        raise Inexpressible("in ONNX, the output has the type of the inputs")
    return Call(node.node.inputs)


def reshape(node: KnownNode) -> Call:
    """`allowzero` is the opposite of `special_zero`."""
    return Call(node.node.inputs, {"allowzero": str(int(not node.attributes["special_zero"]))})


def reverse_sequence(node: KnownNode) -> Call:
    """A ReverseSequence, whose axes are the first two; its defaults are the opposite ones."""
    data, axes = node.arguments[0].inputs.get("data"), dict[str, str]()
    for name, of_onnx in (("batch_axis", "batch_axis"), ("seq_axis", "time_axis")):
        axis, rank = node.attributes[name], len(data.shape) if data else 0
        if type(axis) is int and -rank <= axis < rank:
            axis %= rank
            if axis > 1:
                raise Inexpressible("in ONNX, slices and sequences are the first two dimensions")
        axes[of_onnx] = attribute_text(axis)
    if node.violated == "seq_lengths.range" and 0 in node.arguments[-1].integers("seq_lengths"):
        raise Inexpressible("in ONNX, a length of 0 reverses nothing")
    return Call(node.node.inputs, axes)


def scatter_elements(node: KnownNode) -> Call:
    """Updates and axis in ONNX's order; `use_init_val` is always true."""
    name = _reduction(node)
    if name != '"none"' and not node.attributes.get("use_init_val", True):
        raise Inexpressible("ONNX's reductions use the elements of data")
    if node.accepted and any(0 in arguments.shape("updates") for arguments in node.accepted):
        raise Inexpressible("ONNX does not define updates without elements")
    return Call(node.without("axis"), {"axis": attribute_text(given_axis(node.arguments[0])), "reduction": name})


def scatter_nd(node: KnownNode) -> Call:
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


def sliced(node: KnownNode) -> Call:
    """A Slice, whose lists have one type."""
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


def split(node: KnownNode) -> Call:
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
    name = node.added("lengths")
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


def tile(node: KnownNode) -> Call:
    """A Tile with one repeat per dimension."""
    if any(arguments.shape("repeats") != (len(arguments.shape("data")),) for arguments in node.accepted):
        raise Inexpressible("ONNX's Tile has one repeat per dimension")
    return unchanged(node)


def listed(node: KnownNode) -> Call:
    """The axes are a list, so that a violation of their rank is one of more dimensions."""
    axes = node.types.get("axes")
    if axes is not None and not axes.dimensions:
        raise Inexpressible(f"ONNX's {node.operation.type} takes a list of axes")
    return Call(node.node.inputs)


def squeeze(node: KnownNode) -> Call:
    """A Squeeze of dimensions of 1, each named once."""
    call = listed(node)
    for arguments in node.accepted:
        indices, shape = indices_of(arguments), arguments.shape("data")
        if "axes" in node.inputs and not indices:
            raise Inexpressible("ONNX does not define what an empty list of axes does")
        if is_any_kept(arguments):
            raise Inexpressible("in ONNX, an axis of a dimension other than 1 is an error")
        if len({axis % len(shape) for axis in indices}) < len(indices):
            raise Inexpressible("ONNX does not define what repeated axes do")
    return call


def unique(node: KnownNode) -> Call:
    """A Unique, whose `sorted` is an integer, and whose indices and counts are i64."""
    of_types = [node.attributes.get(f"{name}_element_type", "i64") for name in ("index", "count")]
    if of_types != ["i64", "i64"]:
        raise Inexpressible("ONNX's Unique returns i64")
    call = {"sorted": str(int(bool(node.attributes.get("sorted", True))))}
    if "axis" in node.inputs:
        call["axis"] = attribute_text(given_axis(node.arguments[0]))
    return Call(node.without("axis"), call)
