"""OpenVINO's runtime, imported without its model converter. Each crash of a backend costs two imports.

The converter is a third of the time of `import openvino`, which passes over an `ImportError` of it.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from opconform.tensors.bit_layouts import OPENVINO_IR, Layouts, pack, unpack
from opconform_products.openvino.layouts import openvino_layouts

_CONVERTER = "openvino.tools.ovc"
_loaded = sys.modules.get(_CONVERTER)
sys.modules[_CONVERTER] = None  # type: ignore[assignment] # Python's way to refuse an import
try:
    import openvino as ov

    if not hasattr(ov, "Coordinate"):  # before 2025.0
        import openvino.runtime as ov
finally:
    del sys.modules[_CONVERTER]
    if _loaded is not None:
        sys.modules[_CONVERTER] = _loaded

__all__ = ["ov"]

#: The packing of types narrower than a byte in the installed version.
LAYOUTS: Layouts = openvino_layouts(ov.get_version())
#: The types that it packs differently from a suite's `model.bin`.
REPACKED = frozenset(name for name, layout in OPENVINO_IR.items() if LAYOUTS[name] != layout)


def read_model(core: ov.Core, path: Path | None) -> ov.Model:
    """The model of a file, with its constants packed for the installed version."""
    if path is None or not REPACKED or path.suffix != ".xml":
        return core.read_model(path)
    xml, weights = path.read_bytes(), path.with_suffix(".bin").read_bytes()
    if not weights:
        return core.read_model(path)  # 2023.0 takes no empty tensor
    return core.read_model(xml, ov.Tensor(np.frombuffer(repacked(xml, weights, LAYOUTS), np.uint8)))


def repacked(xml: bytes, weights: bytes, layouts: Layouts) -> bytes:
    """The weights of a suite's model, every constant repacked in place; none takes more bytes in the new layouts."""
    changed = bytearray(weights)
    for data in ET.fromstring(xml).iter("data"):  # noqa: S314 - OpenVINO parses the same file
        element_type, offset = data.get("element_type", ""), data.get("offset")
        if offset is None or layouts.get(element_type) == OPENVINO_IR.get(element_type):
            continue
        size = int(data.get("size", ""))
        shape = tuple(int(word) for word in data.get("shape", "").split(",") if word)
        place = slice(int(offset), int(offset) + size)
        packed = pack(unpack(weights[place], element_type, shape, OPENVINO_IR), layouts)
        changed[place] = packed.ljust(size, b"\0")
    return bytes(changed)
