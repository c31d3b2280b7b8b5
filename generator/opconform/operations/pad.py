"""Pad-12, from its specification page: data with elements added or removed at both ends of each dimension."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operand, Operation, Port, Rejection, TensorType
from opconform.tensors.tensor import Array, Tensor

#: The pads, of which each has one element per dimension (Inputs, 2 and 3).
_PADS = ("pads_begin", "pads_end")
_MODES = ("constant", "edge", "reflect", "symmetric")
#: The bits of a zero that are not all zeros.
_ZEROS = {"nf4": 7}
#: The numeric types without a zero.
_WITHOUT_ZERO = frozenset({"f8e8m0"})


class Padding(NamedTuple):
    """The number of elements that are added at both ends of each dimension, and the mode that decides on them."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    mode: str


def _pads_violations(arguments: Arguments, name: str) -> list[str]:
    """The violated requirements on the pads of one end, apart from their values (Inputs, 2 and 3; Types, T_INT)."""
    given, data = arguments.inputs.get(name), arguments.inputs.get("data")
    if given is None:
        return [f"{name}.required"]
    element_type = [] if given.is_integer else [f"{name}.element-type"]
    if len(given.shape) != 1:
        return [f"{name}.rank", *element_type]
    count = [f"{name}.count"] if data is not None and given.shape != (len(data.shape),) else []
    return [*element_type, *count]


def _mode_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `pad_mode` (Attributes; Types, T)."""
    if "pad_mode" not in arguments.attributes:
        return ["pad_mode.required"]
    mode, data = arguments.attributes["pad_mode"], arguments.inputs.get("data")
    if mode not in _MODES:
        return ["pad_mode.spelling" if str(mode).lower() in _MODES else "pad_mode.values"]
    is_string = data is not None and data.element_type == "string"
    return ["data.string-mode"] if is_string and mode != "constant" else []


def _value_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `pad_value` (Inputs, 4)."""
    value, data = arguments.inputs.get("pad_value"), arguments.inputs.get("data")
    if value is None:
        return []
    other_type = data is not None and value.element_type != data.element_type
    return [*(["pad_value.scalar"] if value.shape else []), *(["pad_value.element-type"] if other_type else [])]


def _limit_violations(sizes: Sequence[int], padding: Padding) -> list[str]:
    """The violated requirements on the values of the pads in one mode (Attributes)."""
    pads = [(size, max(ends)) for size, *ends in zip(sizes, padding.begin, padding.end, strict=True)]
    match padding.mode:
        case "edge":
            return ["edge.empty"] if any(size == 0 < most for size, most in pads) else []
        case "reflect":
            return ["reflect.limit"] if any(most > max(size - 1, 0) for size, most in pads) else []
        case "symmetric":
            return ["symmetric.limit"] if any(most > size for size, most in pads) else []
    return []


def _padding(arguments: Arguments) -> Padding:
    """The pads and the mode, of pads that are lists of integers."""
    begin, end = (arguments.inputs[name].integers or () for name in _PADS)
    return Padding(begin, end, str(arguments.attributes.get("pad_mode")))


def _added_violations(arguments: Arguments, data: Operand) -> list[str]:
    """The violated requirements on the elements that are added (Attributes; Inputs, 4)."""
    padding = _padding(arguments)
    is_added = any(each > 0 for each in (*padding.begin, *padding.end))
    no_zero = padding.mode == "constant" and is_added and data.element_type in _WITHOUT_ZERO
    missing = ["pad_value.no-zero"] if no_zero and "pad_value" not in arguments.inputs else []
    return [*_limit_violations(data.shape, padding), *missing]


def padding_of(arguments: Arguments) -> Padding:
    """The pads and the mode; `Rejection` for invalid arguments."""
    data = arguments.inputs.get("data")
    violated = [each for name in _PADS for each in _pads_violations(arguments, name)]
    if data is None:
        violated.append("data.required")
    elif not violated:
        violated += _added_violations(arguments, data)
    violated += [*_mode_violations(arguments), *_value_violations(arguments)]
    if violated:
        raise Rejection(tuple(violated))
    return _padding(arguments)


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    padding, data = padding_of(arguments), arguments.inputs["data"]
    sizes = (max(sum(each), 0) for each in zip(padding.begin, data.shape, padding.end, strict=True))
    return (TensorType(element_type=data.element_type, shape=tuple(sizes)),)


def _source(place: int, size: int, mode: str) -> int:
    """The index in a dimension of data that gives the element at a place, which may be outside it; -1 for none."""
    if 0 <= place < size:
        return place
    last = size - 1
    match mode:
        case "edge":
            return 0 if place < 0 else last
        case "reflect":
            return -place if place < 0 else 2 * last - place
        case "symmetric":
            return -1 - place if place < 0 else 2 * last + 1 - place
    return -1


def _fill(arguments: Arguments) -> Array:
    """The element that padding in the mode `constant` consists of, as a scalar (Inputs, 4)."""
    data = arguments.tensor("data")
    if "pad_value" in arguments.inputs:
        return arguments.tensor("pad_value").array
    zero = "" if data.element_type == "string" else _ZEROS.get(data.element_type, 0)
    return np.array(zero, data.array.dtype)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    """The elements of data, or of its extension beyond the ends, that the output's dimensions cover."""
    padding, data = padding_of(arguments), arguments.tensor("data")
    [result] = _infer(arguments)
    fill = _fill(arguments)
    output = np.full(result.shape, fill, np.result_type(data.array, fill))
    if output.size:
        sources = [
            np.array([_source(place - begin, size, padding.mode) for place in range(length)], np.int64)
            for length, begin, size in zip(result.shape, padding.begin, data.shape, strict=True)
        ]
        inside = [each >= 0 for each in sources]
        output[np.ix_(*inside)] = data.array[np.ix_(*(one[each] for one, each in zip(sources, inside, strict=True)))]
    return (Tensor(element_type=data.element_type, array=output),)


PAD = Operation(
    name="Pad-12",
    inputs=(
        Port("data", role="tensor"),
        *(Port(each, role="control") for each in _PADS),
        Port("pad_value", role="tensor", optional=True),
    ),
    attributes=(AttributeSpec("pad_mode", type="enum", values=_MODES),),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "pads_end"),
    },
)
