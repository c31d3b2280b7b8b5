"""OpenVINO's runtime, imported without its model converter. Each crash of a backend costs two imports.

The converter is a third of the time of `import openvino`, which passes over an `ImportError` of it.
"""

import sys

_CONVERTER = "openvino.tools.ovc"
_loaded = sys.modules.get(_CONVERTER)
sys.modules[_CONVERTER] = None  # type: ignore[assignment] # Python's way to refuse an import
try:
    import openvino as ov
finally:
    del sys.modules[_CONVERTER]
    if _loaded is not None:
        sys.modules[_CONVERTER] = _loaded

__all__ = ["ov"]
