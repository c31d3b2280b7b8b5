"""How versions of OpenVINO pack types narrower than a byte."""

import re
from collections.abc import Mapping

from opconform.tensors.bit_layouts import LOW_FIRST, OPENVINO_IR, Layouts, high_first

#: The layouts by the first version that has them, the newest first; all of them keep u1 highest first.
_LAYOUTS: Mapping[tuple[int, int], Layouts] = {
    (2026, 5): {**LOW_FIRST, "u1": high_first(1)},
    (2025, 3): OPENVINO_IR,
    (0, 0): {**OPENVINO_IR, "u2": high_first(2)},
}
_VERSION = re.compile(r"(\d+)\.(\d+)")


def openvino_layouts(version: str) -> Layouts:
    """The layouts of a version, as in `2026.4.1-22982-e213a147257`.

    u2 changed from high first to low first in 2025.3, and u3 and u6 became a stream of bits after 2026.4.
    """
    match = _VERSION.match(version)
    known = (int(match[1]), int(match[2])) if match else max(_LAYOUTS)
    return next(layouts for first, layouts in _LAYOUTS.items() if first <= known)
