"""What nodes of ONNX call here, in every opset: the rows of the dialect `onnx`, read the other way round."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from opconform.dialects.onnx.operations import RENDERINGS
from opconform.operations import OPERATIONS
from opconform.specs.operation_names import tested_operations
from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.node import Call, Known, NoCounterpart, constant, integers
from opconform_runners.tools.from_model.models.onnx_call import OnnxCall
from opconform_runners.tools.from_model.models.onnx_windows import avg_pool, convolution, max_pool

#: The element types by ONNX's names.
OF_ONNX = {kind.onnx: name for name, kind in ELEMENT_TYPES.items() if kind.onnx is not None}
#: The names and values of attributes where ONNX has others, and its defaults.
_NAMES = {"block_size": "blocksize", "seq_axis": "time_axis"}
_VALUES: Mapping[str, Mapping[Any, Attribute]] = {
    "mode": {"DCR": "blocks_first", "CRD": "depth_first", None: "blocks_first"},
    "reduction": {"add": "sum", "mul": "prod"},
    "sorted": {0: False, 1: True},
}
#: The modes of Gelu by ONNX's names.
_GELU = {"none": "erf", "tanh": "tanh"}
#: The largest number of f32, in place of a limit that is missing.
_LARGEST = 3.4028234663852886e38
_DEFAULTS = {
    ("Concat", "axis"): 1,
    ("Elu", "alpha"): 1.0,
    ("LogSoftmax", "axis"): -1,
    ("ReverseSequence", "batch_axis"): 1,
    ("ReverseSequence", "seq_axis"): 0,
}


@cache
def counterparts() -> Mapping[str, str]:
    """The counterpart of each operation that has cases: the newest one, but of `Squeeze` the first.

    ONNX renamed `Scatter`, and has `Gelu` and `GroupNormalization` in later opsets than the dialect's opset.
    """
    named = {rendering.op: op for op, rendering in RENDERINGS.items() if op in tested_operations()}
    later = {"Gelu": "Gelu-7", "GroupNormalization": "GroupNormalization-12"}
    return {**named, **later, "Scatter": named["ScatterElements"], "Squeeze": "Squeeze-1"}


def called(node: OnnxCall) -> Call:
    """What a node with a counterpart calls; `NoCounterpart` if the counterpart cannot express it."""
    if node.type in _READINGS:
        return _READINGS[node.type](node)
    operation = OPERATIONS[counterparts()[node.type]]
    attributes = {}
    for spec in operation.attributes:
        value = node.attributes.get(_NAMES.get(spec.name, spec.name), _DEFAULTS.get((node.type, spec.name)))
        value = _VALUES.get(spec.name, {}).get(value, value)
        if value is not None:
            attributes[spec.name] = tuple(value) if isinstance(value, list) else value
    return node.call(operation.name, **attributes)


def _clip(node: OnnxCall) -> Call:
    limits = {}
    for place, (name, default) in enumerate({"min": -math.inf, "max": math.inf}.items(), 1):
        known = node.inputs[place] if place < len(node.inputs) else None
        elements = (node.attributes.get(name, default),) if known is None else known.elements
        if elements is None:
            raise NoCounterpart("with limits that are known at run time only")
        limits[name] = max(min(float(elements[0]), _LARGEST), -_LARGEST)
    return node.with_inputs(node.inputs[0]).call("Clamp-1", **limits)


def _cast(node: OnnxCall) -> Call:
    from onnx import TensorProto

    target = OF_ONNX.get(TensorProto.DataType.Name(node.attributes["to"]), "string")
    if target == "string":
        raise NoCounterpart("to a type that Convert-1 does not return")
    return node.call("Convert-1", destination_type=target)


def _col2im(node: OnnxCall) -> Call:
    given = {name: tuple(node.attributes[name]) for name in ("strides", "dilations") if name in node.attributes}
    if pads := node.attributes.get("pads"):
        given |= {"pads_begin": tuple(pads[: len(pads) // 2]), "pads_end": tuple(pads[len(pads) // 2 :])}
    return node.call("Col2Im-15", **given)


def _mod(node: OnnxCall) -> Call:
    return node.call("Mod-1" if node.attributes.get("fmod", 0) else "FloorMod-1")


def _bit_shift(node: OnnxCall) -> Call:
    return node.call("BitwiseLeftShift-15" if node.attributes["direction"] == "LEFT" else "BitwiseRightShift-15")


def _attention(node: OnnxCall) -> Call:
    """An Attention without a cache, with as many keys' heads as queries'."""
    query, key, value, mask = (*node.inputs, None, None, None, None)[:4]
    if query is None or key is None or value is None or any(node.inputs[4:]) or node.outputs > 1:
        raise NoCounterpart("with a cache")
    if len({x.dimensions and (len(x.dimensions), x.dimensions[:-2]) for x in (query, key, value)} | {None}) > 2:  # noqa: PLR2004
        raise NoCounterpart("with other heads of keys than of queries")
    others = ("softcap", "softmax_precision", "qk_matmul_output_mode")
    if any(node.attributes.get(name) for name in others) or node.attributes.get("q_num_heads", 1) > 1:
        raise NoCounterpart("with a limit of scores, a precision, or heads beside each other")
    is_causal = bool(node.attributes.get("is_causal", 0))
    is_of_heads = query.dimensions is None or len(query.dimensions) == 3  # noqa: PLR2004 - a batch alone
    if mask is not None and (is_causal or (is_of_heads and len(mask.dimensions or (0,) * 3) > 2)):  # noqa: PLR2004
        raise NoCounterpart("with a mask beside a causal one, or one of heads")
    scale = None
    if "scale" in node.attributes:
        scale = constant(query.element_type, (), [float(node.attributes["scale"])])
        mask = mask or constant(query.element_type, (), [0.0])
    return node.with_inputs(query, key, value, mask, scale).call("ScaledDotProductAttention-13", causal=is_causal)


def _group_normalization(node: OnnxCall) -> Call:
    """A GroupNormalization, whose scale and bias had a number for each group before opset 21."""
    groups, known = int(node.attributes.get("num_groups", 1)), [*node.inputs[:2]]
    if len(known) > 1 and known[1] is not None and known[1].dimensions == (groups,) != (node.dimension(1),):
        raise NoCounterpart("with a scale and a bias per group")
    return node.call("GroupNormalization-12", num_groups=groups, epsilon=float(node.attributes.get("epsilon", 1e-5)))


def _hard_sigmoid(node: OnnxCall) -> Call:
    """A HardSigmoid, whose numbers are attributes of ONNX, and inputs of the type of data here."""
    call = node.call("HardSigmoid-1")
    kind = call.inputs["data"].element_type
    numbers = {name: node.attributes.get(name, default) for name, default in (("alpha", 0.2), ("beta", 0.5))}
    return replace(call, inputs={**call.inputs, **{name: constant(kind, (), [x]) for name, x in numbers.items()}})


def _listed(node: OnnxCall) -> Call:
    return node.with_inputs(node.inputs[0], node.setting("axes", 1)).call(counterparts()[node.type])


def _pad(node: OnnxCall) -> Call:
    pads, mode = node.setting("pads", 1), node.attributes.get("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise NoCounterpart(f"the mode {mode}")
    if pads is None or any(node.inputs[3:]):
        raise NoCounterpart("with pads of some axes only")
    begin = end = Known(element_type=pads.element_type, dimensions=("rank",))
    if pads.elements is not None:
        numbers, half = [int(x) for x in pads.elements], len(pads.elements) // 2
        begin, end = integers(numbers[:half]), integers(numbers[half:])
    return node.with_inputs(node.inputs[0], begin, end, *node.inputs[2:3]).call("Pad-12", pad_mode=mode)


def _range(node: OnnxCall) -> Call:
    """A Range, whose output has the type of its inputs."""
    start = node.inputs[0] if node.inputs else None
    if start is None:
        raise NoCounterpart("without a start")
    return node.call("Range-4", output_type=start.element_type)


def _reshape(node: OnnxCall) -> Call:
    whole = node.with_inputs(node.inputs[0], node.setting("shape", 1))
    return whole.call("Reshape-1", special_zero=not node.attributes.get("allowzero", 0))


def _shape(node: OnnxCall) -> Call:
    if node.attributes.get("start", 0) or "end" in node.attributes:
        raise NoCounterpart("of some dimensions only")
    return node.call("ShapeOf-3", output_type="i64")


def _non_zero(node: OnnxCall) -> Call:
    return node.call("NonZero-3", output_type="i64")


def _slice(node: OnnxCall) -> Call:
    start, stop, axes, step = (node.setting(x, n) for n, x in enumerate(("starts", "ends", "axes", "steps"), 1))
    if start is not None and step is None:
        [length] = start.dimensions or ["rank"]
        ones = (1,) * length if isinstance(length, int) else None
        step = Known(element_type=start.element_type, dimensions=(length,), is_constant=True, elements=ones)
    return node.with_inputs(node.inputs[0], start, stop, step, axes).call("Slice-8")


def _split(node: OnnxCall) -> Call:
    lengths, size, parts = node.setting("split", 1), node.dimension(node.attributes.get("axis", 0)), node.outputs
    if lengths is None and isinstance(size, int) and parts and size % parts:  # the last output is smaller
        lengths = integers([*[-(-size // parts)] * (parts - 1), size - -(-size // parts) * (parts - 1)])
    whole = node.with_inputs(node.inputs[0], lengths)
    return whole.call("Split-1", num_splits=parts) if lengths is None else whole.call("VariadicSplit-1")


def _reduced(node: OnnxCall) -> Call:
    """A reduction; omitted axes are all dimensions, and so is an empty list without an attribute."""
    axes, data = node.setting("axes", 1), node.inputs[0]
    is_empty = axes is None or axes.dimensions == (0,)
    if is_empty and not node.attributes.get("noop_with_empty_axes", 0):
        if data is None or data.dimensions is None:
            raise NoCounterpart("of all dimensions of data of unknown rank")
        axes = integers([*range(len(data.dimensions))])
    keep_dims = bool(node.attributes.get("keepdims", 1))
    return node.with_inputs(data, axes or integers([])).call(counterparts()[node.type], keep_dims=keep_dims)


def _cum_sum(node: OnnxCall) -> Call:
    return node.call("CumSum-3", **{name: bool(node.attributes.get(name, 0)) for name in ("exclusive", "reverse")})


def _top_k(node: OnnxCall) -> Call:
    """A TopK whose list K has one element, and which keeps the order of equal elements."""
    k = node.setting("k", 1)
    scalar = None if k is None else replace(k, dimensions=())
    return node.with_inputs(node.inputs[0], scalar).call(
        "TopK-11",
        axis=node.attributes.get("axis", -1),
        mode="max" if node.attributes.get("largest", 1) else "min",
        sort="value" if node.attributes.get("sorted", 1) else "none",
        stable=True,
        index_element_type="i64",
    )


#: The readings of what no row alone says.
_READINGS: Mapping[str, Callable[[OnnxCall], Call]] = {
    "Attention": _attention,
    "AveragePool": avg_pool,
    "BitShift": _bit_shift,
    "Cast": _cast,
    "Clip": _clip,
    "Col2Im": _col2im,
    "Gelu": lambda node: node.call("Gelu-7", approximation_mode=_GELU[node.attributes.get("approximate", "none")]),
    "Div": lambda node: node.call("Divide-1", m_pythondiv=False),
    "CumSum": _cum_sum,
    "GroupNormalization": _group_normalization,
    "HardSigmoid": _hard_sigmoid,
    "Expand": lambda node: node.call("Broadcast-3", mode="bidirectional"),
    "Mod": _mod,
    "Conv": convolution,
    "MaxPool": max_pool,
    "Pad": _pad,
    "Range": _range,
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"), _reduced
    ),
    "Reshape": _reshape,
    "NonZero": _non_zero,
    "Shape": _shape,
    "Slice": _slice,
    "Softmax": lambda node: node.call("SoftMax-8", axis=node.attributes.get("axis", -1)),
    "Split": _split,
    "Squeeze": _listed,
    "TopK": _top_k,
    "Unsqueeze": _listed,
}
