"""The dialects that a case is rendered into, a module and a folder of templates each."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from opconform.dialects import onnx, openvino, stablehlo
from opconform.dialects.dialect import Dialect, Inexpressible

#: Every dialect by its name.
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "openvino": Dialect(model=openvino.MODEL, files_of=openvino.files_of),
        **{
            name: Dialect(model=f"{name}/{onnx.MODEL}", files_of=partial(onnx.files_of, name), package="onnx")
            for name in onnx.VERSIONS
        },
        "stablehlo": Dialect(model=stablehlo.MODEL, files_of=stablehlo.files_of),
    }
)
#: The dialects that are rendered unless others are asked for: the one that can say all that a case says.
DEFAULT = ("openvino",)

__all__ = ["DEFAULT", "DIALECTS", "Dialect", "Inexpressible"]
