"""The element types and mapped requirements of all backends that read the ONNX dialects."""

from collections.abc import Mapping

from opconform.tensors.element_types import ELEMENT_TYPES

#: The element types that ONNX's operators take: of whole bytes, and not the floating-point types of one byte.
CARRIED = tuple(
    element_type.name
    for element_type in ELEMENT_TYPES.values()
    if element_type.onnx is not None
    and element_type.bits % 8 == 0
    and (element_type.kind != "float" or element_type.bits > 8)  # noqa: PLR2004
)

_AXIS = ("axis.shape", "axis.element-type")
_REMAINDER = ("lengths.remainder", "lengths.remainder-sum", "lengths.remainder-zero", "lengths.single-remainder")
#: The requirements that the rendering of each operation fulfils (docs/dialects.md): the axis of ONNX's `Split` is an
#: attribute, and its lengths cannot be -1.
MAPPED: Mapping[str, tuple[str, ...]] = {
    "Split-1": _AXIS,
    "VariadicSplit-1": (*_AXIS, *_REMAINDER, "types.independent"),
}
