"""What nodes of ONNX with windows call here: convolutions and pools."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opconform_runners.tools.from_model.models.node import Call, NoCounterpart
from opconform_runners.tools.from_model.models.onnx_call import OnnxCall


def convolution(node: OnnxCall) -> Call:
    """A convolution without its bias, which another operation adds; groups are a dimension of the filters."""
    dimensions = node.inputs[1].dimensions if len(node.inputs) > 1 and node.inputs[1] else None
    if dimensions is None:
        raise NoCounterpart("with filters of unknown rank")
    windows = windows_of(node, len(dimensions) - 2)
    groups, [data, filters] = node.attributes.get("group", 1), node.inputs[:2]
    if groups == 1 or filters is None:
        return node.call("Convolution-1", **windows)
    outputs = dimensions[0] // groups if isinstance(dimensions[0], int) else "outputs"
    whole = node.with_inputs(data, replace(filters, dimensions=(groups, outputs, *dimensions[1:])))
    return whole.call("GroupConvolution-1", **windows)


def windows_of(node: OnnxCall, spatial: int) -> dict[str, Any]:
    """The attributes of windows that slide over some spatial dimensions."""
    pads, mode = node.attributes.get("pads", [0] * 2 * spatial), str(node.attributes.get("auto_pad", "NOTSET"))
    lists = {name: tuple(node.attributes.get(name, [1] * spatial)) for name in ("strides", "dilations")}
    auto_pad = {"NOTSET": "explicit"}.get(mode, mode.lower())
    return {**lists, "pads_begin": tuple(pads[:spatial]), "pads_end": tuple(pads[spatial:]), "auto_pad": auto_pad}


def max_pool(node: OnnxCall) -> Call:
    """A MaxPool, whose indices are those in row-major order."""
    kernel = tuple(node.attributes.get("kernel_shape", ()))
    if node.attributes.get("storage_order", 0):
        raise NoCounterpart("with indices in column-major order")
    windows = windows_of(node, len(kernel))
    return node.call("MaxPool-14", **windows, kernel=kernel, rounding_type=_rounding(node, windows))


def avg_pool(node: OnnxCall) -> Call:
    """An AveragePool, whose zeros do not count by default."""
    kernel = tuple(node.attributes.get("kernel_shape", ()))
    windows = windows_of(node, len(kernel))
    if {*windows.pop("dilations")} - {1}:
        raise NoCounterpart("with dilations")
    excludes = not node.attributes.get("count_include_pad", 0)
    rounding = _rounding(node, windows)
    return node.call("AvgPool-14", **windows, kernel=kernel, exclude_pad=excludes, rounding_type=rounding)


def _rounding(node: OnnxCall, windows: Mapping[str, Any]) -> str:
    """How the number of windows is rounded; the mode VALID has whole windows alone."""
    return "ceil" if node.attributes.get("ceil_mode", 0) and windows["auto_pad"] == "explicit" else "floor"
