"""The dialects that cases are rendered into: the shipped ones, and the dialects of installed distributions."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from opconform.dialects import onnx, openvino, stablehlo
from opconform.dialects.dialect import Dialect, Inexpressible
from opconform.errors import UsageError, nearest
from opconform.suite.names import FILE, KEBAB
from opconform.system.entry_points import Registry, Unusable

#: The dialects that opconform ships, each with a module and a folder of templates.
SHIPPED: Mapping[str, Dialect] = {
    "openvino": Dialect(model=openvino.MODEL, files_of=openvino.files_of),
    "onnx": Dialect(model=onnx.MODEL, files_of=onnx.files_of, package="onnx"),
    **{
        name: Dialect(
            model=f"{name}/model.onnx",
            files_of=partial(onnx.files_of, opset=opset, file=f"{name}/model.onnx"),
            package="onnx",
        )
        for name, opset in {"onnx-13": 13, "onnx-17": 17}.items()
    },
    "stablehlo": Dialect(model=stablehlo.MODEL, files_of=stablehlo.files_of),
}


def _check(name: str, dialect: Dialect, _module: Path) -> None:
    if not dialect.model.startswith(f"{name}/"):
        raise Unusable(f"its model is {dialect.model!r}, which is not in the folder {name}/. Rename one of them.")
    if re.fullmatch(KEBAB, name) is None or re.fullmatch(FILE, dialect.model) is None:
        what = "a dialect's name has lower-case letters, digits and hyphens, and its model also dots and underscores"
        raise Unusable(f"{what}, but its model is {dialect.model!r}. Rename it.")


_REGISTRY = Registry("opconform.dialects", (Dialect,), SHIPPED, _check)
#: Every dialect by its name.
DIALECTS: Mapping[str, Dialect] = _REGISTRY
#: The files that decide what a dialect of an installed distribution renders.
sources_of = _REGISTRY.sources_of


def check_renderable(names: Iterable[str]) -> None:
    """Check that dialects exist and can be rendered here."""
    for name in names:
        if name not in DIALECTS:
            raise UsageError(f"{name!r} is not a dialect. {nearest(name, DIALECTS)}Allowed: {', '.join(DIALECTS)}.")
        package = DIALECTS[name].package
        if package is not None and find_spec(package) is None:
            raise UsageError(f'The dialect {name} needs the package {package}: pip install "opconform[{package}]".')


__all__ = ["DIALECTS", "SHIPPED", "Dialect", "Inexpressible", "check_renderable", "sources_of"]
