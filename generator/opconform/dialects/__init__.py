"""The dialects that cases are rendered into, each with a module and a folder of templates."""

from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec

from opconform.dialects import onnx, openvino, stablehlo
from opconform.dialects.dialect import Dialect, Inexpressible
from opconform.dialects.onnx_model import VERSIONS
from opconform.errors import UsageError, nearest

#: Every dialect by its name.
DIALECTS: Mapping[str, Dialect] = {
    "openvino": Dialect(model=openvino.MODEL, files_of=openvino.files_of),
    **{
        name: Dialect(model=f"{name}/{onnx.MODEL}", files_of=partial(onnx.files_of, name), package="onnx")
        for name in VERSIONS
    },
    "stablehlo": Dialect(model=stablehlo.MODEL, files_of=stablehlo.files_of),
}
#: The dialects that are rendered by default: the one that can express every case.
DEFAULT = ("openvino",)


def check_renderable(names: Iterable[str]) -> None:
    """Check that dialects exist and can be rendered here."""
    for each in names:
        if each not in DIALECTS:
            raise UsageError(f"{each!r} is not a dialect. {nearest(each, DIALECTS)}Allowed: {', '.join(DIALECTS)}.")
        package = DIALECTS[each].package
        if package is not None and find_spec(package) is None:
            raise UsageError(f'The dialect {each} needs the package {package}: pip install "opconform[{package}]".')


__all__ = ["DEFAULT", "DIALECTS", "Dialect", "Inexpressible", "check_renderable"]
