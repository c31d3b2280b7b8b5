"""ONNX's `Pad`, which takes the pads of both ends as one list of `i64`, and has no mode `symmetric`."""

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.onnx_model import Line, Model, attribute_text, check_known, check_tested
from opconform.model.graph import declared
from opconform.suite.case import Node
from opconform.tensors.tensor import Tensor

_ONE_LIST = "ONNX's pads of both ends are one list"
_NO_LIMIT = "ONNX does not limit the pads of its modes"
#: The violations that are valid in ONNX, or that it cannot express, with the reason.
_NO_FAULT = {
    **{
        f"{name}.{each}": _ONE_LIST
        for name in ("pads_begin", "pads_end")
        for each in ("required", "rank", "element-type")
    },
    "pad_mode.required": "in ONNX, an omitted mode defaults to constant",
    "data.string-mode": "ONNX pads strings in every mode",
    "edge.empty": _NO_LIMIT,
    "reflect.limit": _NO_LIMIT,
    "symmetric.limit": "ONNX has no mode symmetric",
}
#: Modes that later opsets have.
_LATER_MODES = frozenset({"wrap"})


def padded(model: Model, node: Node) -> Line:
    """The line of Pad-12, or `Inexpressible`."""
    draft, refused = model.draft, model.draft.rejected_for
    check_tested(draft, "Pad", ("data",), _NO_FAULT)
    mode = node.attributes["pad_mode"]
    if mode == "symmetric":
        raise Inexpressible("ONNX has no mode symmetric")
    if mode in _LATER_MODES:
        raise Inexpressible(f"ONNX has the mode {mode} in later opsets")
    data, begin, end, *value = node.inputs
    _check_pads(model, (begin, end))
    given = draft.tensors.get("pad_value")
    if given is not None:
        check_known(given.element_type)
    if refused is None:
        _check_sizes(model, str(mode))
    pads = f"{node.name}_pads"
    constants = [model.constant(each) for each in (begin, end)]
    joined = [each for each in constants if each is not None]
    inputs = (data, pads, *value)
    attributes = (("mode", attribute_text(mode)),)
    if len(joined) == len(constants):
        array = np.concatenate([each.array for each in joined])
        initializers = {pads: Tensor(element_type="i64", array=array)}
        return Line("Pad", attributes, inputs, node.outputs, initializers)
    join = Line("Concat", (("axis", "0"),), (begin, end), (pads,))
    return Line("Pad", attributes, inputs, node.outputs, before=(join,))


def _check_pads(model: Model, names: tuple[str | None, ...]) -> None:
    types = declared(model.draft, model.golden.graph)
    for each in names:
        element_type = types[str(each)].element_type
        if element_type != "i64":
            raise Inexpressible(f"ONNX's pads are i64, and cannot be {element_type}")


def _check_sizes(model: Model, mode: str) -> None:
    """Refuse a valid case whose output depends on when elements are removed, or on how many too many."""
    for feed in model.draft.feeds:
        begin, end = ([int(each) for each in feed[name].elements] for name in ("pads_begin", "pads_end"))
        for before, size, after in zip(begin, feed["data"].shape, end, strict=True):
            if before + size + after < 0:
                raise Inexpressible("in ONNX, an output cannot have a negative size")
            left, added = size + min(before, 0) + min(after, 0), max(before, after)
            if min(before, after) < 0 < added and left < {"edge": 1, "reflect": added + 1}.get(mode, left):
                raise Inexpressible("ONNX does not define whether elements are removed before others are copied")
