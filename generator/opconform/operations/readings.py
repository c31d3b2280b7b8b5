"""The other readings of the interpretations of each operation, and which valid arguments they touch.

An operation is judged without this module, so that its mutants do not have to be caught.
"""

from collections.abc import Mapping
from dataclasses import replace

from opconform.operations.axis import dimension
from opconform.operations.operation import Arguments, Operand
from opconform.operations.pad import padding_of
from opconform.operations.reading import Reading
from opconform.operations.strided_slice_readings import STRIDED_SLICE_READINGS
from opconform.operations.variadic_split import REMAINDER, lengths_of
from opconform.tensors.element_types import ELEMENT_TYPES


def readings_of(op: str) -> Mapping[str, Reading]:
    """The other readings of an operation's interpretations, by requirement."""
    return _READINGS.get(op, {})


def _is_empty(operand: Operand) -> bool:
    return 0 in operand.shape


def _has_kind(operand: Operand, *kinds: str) -> bool:
    return ELEMENT_TYPES[operand.element_type].kind in kinds


def _types_differ(arguments: Arguments, *names: str) -> bool:
    return len({arguments.inputs[each].element_type for each in names if each in arguments.inputs}) > 1


def _removes_more(arguments: Arguments) -> bool:
    """Whether the negative pads of a dimension remove more elements than it has."""
    padding, shape = padding_of(arguments), arguments.inputs["data"].shape
    ends = zip(shape, padding.begin, padding.end, strict=True)
    return any(size + min(begin, 0) + min(end, 0) < 0 for size, begin, end in ends)


def _reflects_nothing(arguments: Arguments) -> bool:
    """Whether a pad of 0 exceeds the limit of the mode reflect, which is -1 for a dimension of 0."""
    padding, shape = padding_of(arguments), arguments.inputs["data"].shape
    ends = zip(shape, padding.begin, padding.end, strict=True)
    return padding.mode == "reflect" and any(size == 0 == max(begin, end) for size, begin, end in ends)


def _has_zero_length(arguments: Arguments) -> bool:
    return dimension(arguments) != 0 and 0 in (lengths_of(arguments) or ())


def _leaves_nothing(arguments: Arguments) -> bool:
    """Whether a -1 remains for no element of a dimension that has some."""
    lengths, size = lengths_of(arguments) or (), dimension(arguments)
    return bool(size) and REMAINDER in lengths and sum(each for each in lengths if each != REMAINDER) == size


def _batches_of_one(arguments: Arguments) -> list[bool]:
    """For each batch dimension, whether only that of the indices is 1."""
    batches = int(str(arguments.attributes["batch_dims"]))
    data, indices = (arguments.inputs[each].shape[:batches] for each in ("data", "indices"))
    return [one == 1 != size for size, one in zip(data, indices, strict=True)]


def _first_batches(arguments: Arguments) -> Arguments:
    """Only the first batches of data, so that the output has the batch dimensions of the indices."""
    data = arguments.inputs["data"]
    alone = _batches_of_one(arguments)
    shape = tuple(min(size, 1) if one else size for size, one in zip(data.shape, alone, strict=False))
    index = tuple(slice(0, size) for size in shape)
    tensor = None if data.tensor is None else replace(data.tensor, array=data.tensor.array[index])
    first = replace(data, shape=(*shape, *data.shape[len(alone) :]), tensor=tensor)
    return replace(arguments, inputs={**arguments.inputs, "data": first}) if any(alone) else arguments


_READINGS: Mapping[str, Mapping[str, Reading]] = {
    "Concat-1": {
        "inputs.zero-size": Reading(rejects=lambda a: any(map(_is_empty, a.inputs.values()))),
        "inputs.other-types": Reading(rejects=lambda a: _has_kind(a.inputs["inputs_0"], "boolean", "string")),
    },
    "Gather-8": {
        "data.zero-size": Reading(rejects=lambda a: _is_empty(a.inputs["data"]) or _is_empty(a.inputs["indices"])),
    },
    "GatherND-8": {
        "data.zero-size": Reading(rejects=lambda a: 0 in (*a.inputs["data"].shape, *a.inputs["indices"].shape[:-1])),
        "indices.empty-tuple": Reading(rejects=lambda a: a.inputs["indices"].shape[-1] == 0),
        "batch_dims.broadcast-indices": Reading(
            rejects=lambda a: any(_batches_of_one(a)),
            rewrites=(_first_batches,),
        ),
    },
    "Pad-12": {
        "data.boolean": Reading(rejects=lambda a: _has_kind(a.inputs["data"], "boolean")),
        "pads.beyond": Reading(rejects=_removes_more),
        "pads.types": Reading(rejects=lambda a: _types_differ(a, "pads_begin", "pads_end")),
        "pad_value.ignored": Reading(
            rejects=lambda a: "pad_value" in a.inputs and a.attributes["pad_mode"] != "constant"
        ),
        "reflect.empty": Reading(rejects=_reflects_nothing),
    },
    "Reshape-1": {
        "data.other-types": Reading(rejects=lambda a: _has_kind(a.inputs["data"], "boolean", "string")),
        "shape.empty": Reading(rejects=lambda a: _is_empty(a.inputs["shape"])),
    },
    "Slice-8": {
        "indices.empty": Reading(rejects=lambda a: _is_empty(a.inputs["start"])),
        "types.independent": Reading(rejects=lambda a: _types_differ(a, "start", "stop", "step")),
    },
    "StridedSlice-1": STRIDED_SLICE_READINGS,
    "VariadicSplit-1": {
        "types.independent": Reading(rejects=lambda a: _types_differ(a, "axis", "split_lengths")),
        "lengths.zero": Reading(rejects=_has_zero_length),
        "lengths.remainder-zero": Reading(rejects=_leaves_nothing),
        "lengths.zero-dimension": Reading(rejects=lambda a: dimension(a) == 0),
    },
}
