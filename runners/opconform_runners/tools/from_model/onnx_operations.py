"""The operations of ONNX that have a counterpart here, as models of every opset call them: one row each.

What the dialect `onnx` renders is read back by its row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.node import Call, Known, NoCounterpart, integers

#: The element types by ONNX's names.
OF_ONNX = {kind.onnx: name for name, kind in ELEMENT_TYPES.items() if kind.onnx is not None}
_REDUCTIONS = {"add": "sum", "mul": "prod"}
_MODES = {"DCR": "blocks_first", "CRD": "depth_first"}


@dataclass(frozen=True, kw_only=True, slots=True)
class OnnxCall:
    """A node of ONNX: its inputs in order, None for an omitted one, its attributes, and its number of outputs."""

    inputs: Sequence[Known | None]
    attributes: Mapping[str, Any]
    outputs: int

    def named(self, *ports: str) -> dict[str, Known]:
        """The inputs by the names of the ports."""
        return {port: known for port, known in zip(ports, self.inputs, strict=False) if known is not None}

    def listed(self, name: str, place: int) -> Known | None:
        """The values of a setting: an input or, in older opsets, an attribute."""
        if place < len(self.inputs):
            return self.inputs[place]
        return integers(self.attributes[name]) if name in self.attributes else None

    def axis(self, default: int = 0) -> Known:
        """The attribute `axis` as an input."""
        return integers(self.attributes.get("axis", default))

    @property
    def rank(self) -> int:
        """The rank of the first input."""
        data = self.inputs[0] if self.inputs else None
        if data is None or data.dimensions is None:
            raise NoCounterpart("the rank of its data is unknown")
        return len(data.dimensions)


def _cast(call: OnnxCall) -> Call:
    from onnx import TensorProto

    target = OF_ONNX.get(TensorProto.DataType.Name(call.attributes["to"]))
    if target is None or target == "string":
        raise NoCounterpart("to a type that Convert-1 does not return")
    return Call(op="Convert-1", inputs=call.named("data"), attributes={"destination_type": target})


def _col2im(call: OnnxCall) -> Call:
    attributes = {name: tuple(call.attributes[name]) for name in ("strides", "dilations") if name in call.attributes}
    if pads := call.attributes.get("pads"):
        attributes |= {"pads_begin": tuple(pads[: len(pads) // 2]), "pads_end": tuple(pads[len(pads) // 2 :])}
    return Call(op="Col2Im-15", inputs=call.named("data", "output_size", "kernel_size"), attributes=attributes)


def _concat(call: OnnxCall) -> Call:
    inputs = {f"inputs_{number}": known for number, known in enumerate(call.inputs) if known is not None}
    return Call(op="Concat-1", inputs=inputs, attributes={"axis": call.attributes.get("axis", 1)})


def _blocks(op: str) -> Callable[[OnnxCall], Call]:
    def read(call: OnnxCall) -> Call:
        mode = _MODES[call.attributes.get("mode", "DCR")]
        attributes = {"block_size": call.attributes["blocksize"], "mode": mode}
        return Call(op=op, inputs=call.named("data"), attributes=attributes)

    return read


def _expand(call: OnnxCall) -> Call:
    return Call(op="Broadcast-3", inputs=call.named("data", "target_shape"), attributes={"mode": "bidirectional"})


def _gather(call: OnnxCall) -> Call:
    return Call(op="Gather-8", inputs={**call.named("data", "indices"), "axis": call.axis()})


def _gather_elements(call: OnnxCall) -> Call:
    attributes = {"axis": call.attributes.get("axis", 0)}
    return Call(op="GatherElements-6", inputs=call.named("data", "indices"), attributes=attributes)


def _gather_nd(call: OnnxCall) -> Call:
    attributes = {"batch_dims": call.attributes.get("batch_dims", 0)}
    return Call(op="GatherND-8", inputs=call.named("data", "indices"), attributes=attributes)


def _pad(call: OnnxCall) -> Call:
    pads, mode = call.listed("pads", 1), call.attributes.get("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise NoCounterpart(f"the mode {mode}")
    if pads is None or any(known is not None for known in call.inputs[3:]):
        raise NoCounterpart("with pads of some axes only")
    if pads.elements is None:
        both: tuple[Known, Known] = (Known(element_type=pads.element_type, dimensions=(call.rank,)),) * 2
    else:
        half = len(pads.elements) // 2
        both = (_part(pads.elements[:half]), _part(pads.elements[half:]))
    inputs = {**call.named("data"), "pads_begin": both[0], "pads_end": both[1]}
    if len(call.inputs) > 2 and call.inputs[2] is not None:  # noqa: PLR2004 - the value
        inputs["pad_value"] = call.inputs[2]
    return Call(op="Pad-12", inputs=inputs, attributes={"pad_mode": mode})


def _part(elements: Sequence[Any]) -> Known:
    return integers([int(element) for element in elements])


def _reshape(call: OnnxCall) -> Call:
    inputs = call.named("data")
    if (shape := call.listed("shape", 1)) is not None:
        inputs["shape"] = shape
    return Call(op="Reshape-1", inputs=inputs, attributes={"special_zero": not call.attributes.get("allowzero", 0)})


def _reverse_sequence(call: OnnxCall) -> Call:
    axes = {"batch_axis": call.attributes.get("batch_axis", 1), "seq_axis": call.attributes.get("time_axis", 0)}
    return Call(op="ReverseSequence-1", inputs=call.named("data", "seq_lengths"), attributes=axes)


def _reduction(call: OnnxCall) -> str:
    name = str(call.attributes.get("reduction", "none"))
    return _REDUCTIONS.get(name, name)


def _scatter_elements(call: OnnxCall) -> Call:
    inputs = {**call.named("data", "indices", "updates"), "axis": call.axis()}
    return Call(op="ScatterElementsUpdate-12", inputs=inputs, attributes={"reduction": _reduction(call)})


def _scatter_nd(call: OnnxCall) -> Call:
    inputs = call.named("data", "indices", "updates")
    return Call(op="ScatterNDUpdate-15", inputs=inputs, attributes={"reduction": _reduction(call)})


def _shape(call: OnnxCall) -> Call:
    if call.attributes.get("start", 0) or "end" in call.attributes:
        raise NoCounterpart("of some dimensions only")
    return Call(op="ShapeOf-3", inputs=call.named("data"), attributes={"output_type": "i64"})


def _slice(call: OnnxCall) -> Call:
    names = (("start", "starts", 1), ("stop", "ends", 2), ("axes", "axes", 3), ("step", "steps", 4))
    given = {port: known for port, name, place in names if (known := call.listed(name, place)) is not None}
    if "start" in given and "step" not in given:
        start = given["start"]
        [length] = start.dimensions if start.dimensions is not None and len(start.dimensions) == 1 else [call.rank]
        ones = None if isinstance(length, str) else (1,) * length
        given["step"] = Known(element_type=start.element_type, dimensions=(length,), is_constant=True, elements=ones)
    order = ("start", "stop", "step", "axes")
    return Call(op="Slice-8", inputs=call.named("data") | {port: given[port] for port in order if port in given})


def _split(call: OnnxCall) -> Call:
    inputs, lengths = {**call.named("data"), "axis": call.axis()}, call.listed("split", 1)
    if lengths is None and call.inputs and (data := call.inputs[0]) is not None and data.dimensions is not None:
        size = data.dimensions[call.attributes.get("axis", 0)]
        if isinstance(size, int) and call.outputs and size % call.outputs:  # the last output is smaller
            part = -(-size // call.outputs)
            lengths = integers([*[part] * (call.outputs - 1), size - part * (call.outputs - 1)])
    if lengths is not None:
        return Call(op="VariadicSplit-1", inputs={**inputs, "split_lengths": lengths})
    return Call(op="Split-1", inputs=inputs, attributes={"num_splits": call.outputs})


def _axes(op: str) -> Callable[[OnnxCall], Call]:
    def read(call: OnnxCall) -> Call:
        axes = call.listed("axes", 1)
        return Call(op=op, inputs=call.named("data") | ({} if axes is None else {"axes": axes}))

    return read


def _tile(call: OnnxCall) -> Call:
    return Call(op="Tile-1", inputs=call.named("data", "repeats"))


def _transpose(call: OnnxCall) -> Call:
    order = integers(list(call.attributes.get("perm", ())))
    return Call(op="Transpose-1", inputs={**call.named("arg"), "input_order": order})


def _unique(call: OnnxCall) -> Call:
    axis = {"axis": call.axis()} if "axis" in call.attributes else {}
    attributes = {"sorted": bool(call.attributes.get("sorted", 1))}
    return Call(op="Unique-10", inputs=call.named("data") | axis, attributes=attributes)


#: What a node of ONNX's own domain calls, by its type; it may raise `NoCounterpart`.
READINGS: Mapping[str, Callable[[OnnxCall], Call]] = {
    "Cast": _cast,
    "Col2Im": _col2im,
    "Concat": _concat,
    "DepthToSpace": _blocks("DepthToSpace-1"),
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Pad": _pad,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Shape": _shape,
    "Slice": _slice,
    "SpaceToDepth": _blocks("SpaceToDepth-1"),
    "Split": _split,
    "Squeeze": _axes("Squeeze-1"),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unique": _unique,
    "Unsqueeze": _axes("Unsqueeze-1"),
}
