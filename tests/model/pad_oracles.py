"""The oracles of Pad-12: `numpy.pad`, and ONNX's reference evaluator, which add elements; the rest is cropped here."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from opconform.suite.case import Case
from opconform.tensors.tensor import Array, patterns

#: Adds elements to data at the begin and the end of each dimension, in a mode, with a value for the mode constant.
Pad = Callable[[Array, Sequence[int], Sequence[int], str, Array], Array]


def numpys_pad(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, value: Array) -> Array:
    """`np.pad`."""
    extra = {"constant_values": value} if mode == "constant" else {}
    return np.asarray(np.pad(data, list(zip(begin, end, strict=True)), mode, **extra))  # type: ignore[call-overload]


def onnxs_pad(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, value: Array) -> Array:
    """ONNX's `Pad`, as its own reference evaluator executes it, and without its mode symmetric."""
    if mode == "symmetric":
        return _symmetric(data, begin, end)
    pads = np.array([*begin, *end], np.int64)
    [output] = padder(mode).run(None, {"data": data, "pads": pads, "value": np.array(value, data.dtype)})
    return np.asarray(output)


def _symmetric(data: Array, begin: Sequence[int], end: Sequence[int]) -> Array:
    """The mode symmetric as the mode reflect of data whose ends occur twice, without the elements in the mirrors."""
    for axis, ends in enumerate(zip(begin, end, strict=True)):
        for at_end, count in enumerate(ends):
            if not count:
                continue
            widths = [[0] * data.ndim, [0] * data.ndim]
            widths[at_end][axis] = 1
            twice = onnxs_pad(data, widths[0], widths[1], "edge", np.zeros(()))
            widths[at_end][axis] = count
            whole = onnxs_pad(twice, widths[0], widths[1], "reflect", np.zeros(()))
            data = np.delete(whole, -1 - count if at_end else count, axis)
    return data


@lru_cache
def padder(mode: str) -> ReferenceEvaluator:
    """The evaluator of a model of one `Pad`."""
    names = ["data", "pads", "value"]
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in (*names, "output")]
    node = onnx.helper.make_node("Pad", names, ["output"], mode=mode)
    graph = onnx.helper.make_graph([node], "pad", values[:-1], values[-1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))


def padded(
    case: Case, tensors: dict[str, Array], values_of: Callable[[Case, dict[str, Array], str], list[int]], pad: Pad
) -> list[Array]:
    """What the graph of a pad's context gives, with an oracle in the operation's place."""
    begin, end = (values_of(case, tensors, str(name)) for name in case.node.inputs[1:3])
    mode, [kind] = str(case.attributes["pad_mode"]), {each.element_type for each in case.inputs if each.name == "data"}
    zero = np.array("" if kind == "string" else 7 if kind == "nf4" else 0, tensors["data"].dtype)
    value = tensors["pad_value"] if "pad_value" in tensors and mode == "constant" else zero

    def windowed(data: Array) -> Array:
        return _window(data, begin, end, mode, value, pad)

    output = windowed(tensors["data"])
    match case.context:
        case "chain":
            return [windowed(output)]
        case "doubled":
            return [output, np.concatenate([output, output], 1 % output.ndim)]
        case _:
            return [output]


def _window(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, value: Array, pad: Pad) -> Array:
    """The bits that an oracle adds, cropped; far outside data and the output, pads of any size give the same elements."""
    if not data.ndim:
        return data  # neither oracle takes pads without elements
    kind = np.result_type(data, value)
    sizes = [max(0, sum(each)) for each in zip(begin, data.shape, end, strict=True)]
    most = max(512, *sizes)
    if 0 in sizes:
        return np.empty(sizes, kind)  # another dimension may be longer than any memory
    before, after = ([max(0, min(each, most)) for each in pads] for pads in (begin, end))
    whole = pad(patterns(data.astype(kind)), before, after, mode, patterns(value.astype(kind)))
    firsts = [min(max(0, -left), size + most) for left, size in zip(begin, data.shape, strict=True)]
    index = tuple(
        slice(full - size, full) if right > most else slice(first, first + size)
        for first, size, right, full in zip(firsts, sizes, end, whole.shape, strict=True)
    )
    return np.array(whole[index], order="C").view(kind)
