"""How ONNX calls the pooling operations."""

from collections.abc import Mapping

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx.calls import PADS
from opconform.dialects.onnx.translation import Call, Rendering, attribute_text
from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.pools import windows_of
from opconform.operations.arithmetic.windows import with_attributes

_SYNTAX = "ONNX's attributes are integers by their syntax"
_SILENT = "ONNX does not mention it"
_LISTS = ("strides", *PADS, "kernel", "dilations")


def _max_pool(node: KnownNode) -> Call:
    """A MaxPool, whose indices are those in the whole of data."""
    if node.attributes["index_element_type"] != "i64" or any(_has_other_axis(x) for x in node.accepted):
        raise Inexpressible("ONNX's MaxPool returns indices of i64 in the whole of data")
    if any(_starts_behind(arguments) for arguments in node.accepted):
        raise Inexpressible("ONNX's opset 18 does not say whether a last window can start behind data")
    texts = _windows(node)
    if node.attributes["dilations"] != ():
        texts["dilations"] = attribute_text(node.attributes["dilations"])
    return Call(node.node.inputs, texts | _padding(node))


def _avg_pool(node: KnownNode) -> Call:
    """An AveragePool; the zeros of the padding count or not."""
    if any(_starts_behind(arguments) for arguments in node.accepted):
        raise Inexpressible("ONNX's opset 18 does not say whether a last window can start behind data")
    texts = _windows(node)
    if node.attributes.get("exclude_pad") is False:
        texts["count_include_pad"] = "1"
    return Call(node.node.inputs, texts | _padding(node))


def _windows(node: KnownNode) -> dict[str, str]:
    """The strides and the kernel, and whether the number of windows is rounded up."""
    given, names = node.attributes, {"kernel": "kernel_shape"}
    texts = {names.get(name, name): attribute_text(given[name]) for name in ("strides", "kernel") if name in given}
    return texts | ({} if given["rounding_type"] == "floor" else {"ceil_mode": "1"})


def _padding(node: KnownNode) -> dict[str, str]:
    """The pads of both ends in one list, or one of ONNX's modes; its mode VALID does not round by the attribute."""
    mode = str(node.attributes["auto_pad"])
    if mode.startswith("same"):
        return {"auto_pad": attribute_text(mode.upper())}
    begin, end = (attribute_text(node.attributes[name]) for name in PADS)
    return {"pads": f"{begin[:-1]}, {end[1:]}"} if mode == "explicit" else {}


def _has_other_axis(arguments: Arguments) -> bool:
    return arguments.number("axis") not in (0, -len(arguments.shape("data")))


def _starts_behind(arguments: Arguments) -> bool:
    """Whether ceil has a last window that starts behind data, which ceil_torch has not."""
    ceil, torch = (windows_of(with_attributes(arguments, rounding_type=x)) for x in ("ceil", "ceil_torch"))
    return arguments.attribute("rounding_type") != "floor" and any(
        x.number != y.number for x, y in zip(ceil, torch, strict=True)
    )


#: What ONNX cannot express of windows.
_OF_WINDOWS: Mapping[str, str] = {
    **{f"{name}.required": "in ONNX, the list may be omitted" for name in ("strides", *PADS)},
    **{f"{name}.type": _SYNTAX for name in _LISTS},
    **{f"{name}.count": "ONNX's pads of both ends are one list" for name in PADS},
    **{f"{name}.{word}": _SILENT for name in ("strides", "dilations") for word in ("negative", "zero")},
    **dict.fromkeys(("kernel.positive", "kernel.room", "windows.elements"), _SILENT),
    "auto_pad": "in ONNX, the modes have other names",
    "rounding_type": "ONNX's ceil_mode is an integer",
    "data.rank": "ONNX does not limit the rank",
}
_AVG_POOL = Rendering(
    "AveragePool",
    _avg_pool,
    types={"data": ("f16", "f32", "f64")},
    reasons={**_OF_WINDOWS, "exclude_pad": "ONNX's count_include_pad is an integer, and may be omitted"},
)
_MAX_POOL = Rendering(
    "MaxPool",
    _max_pool,
    types={"data": ("f16", "f32", "f64", "i8", "u8")},
    reasons={
        **_OF_WINDOWS,
        "index_element_type": "ONNX's MaxPool returns indices of i64",
        **dict.fromkeys(("axis", "axis.range"), "ONNX's MaxPool has no axis"),
    },
)
#: The rendering of each operation.
POOLS: Mapping[str, Rendering] = {
    **dict.fromkeys(("AvgPool-1", "AvgPool-14"), _AVG_POOL),
    **dict.fromkeys(("MaxPool-8", "MaxPool-14"), _MAX_POOL),
}
