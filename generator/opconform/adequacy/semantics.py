"""Reference semantics loaded again from changed source, without replacing the ones in use."""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import opconform.operations
from opconform.operations.operation import Operation

_PACKAGE = "opconform.operations"
#: The modules that all operations share; their mutants are not specific to an operation's cases.
_SHARED = frozenset({"operation", "contexts"})


def modules_of(ops: Sequence[str]) -> dict[str, Path]:
    """The modules with the reference semantics of operations, by name, in the order of their imports."""
    found: dict[str, Path] = {}
    for op in ops:
        _collect(_home(op), found)
    return found


def loaded(
    ops: Sequence[str], changed: Mapping[str, ast.Module], known: Mapping[str, object] | None = None
) -> dict[str, Operation]:
    """Operations whose modules are loaded again, with changed syntax trees and with additional global names."""
    files = modules_of(ops)
    names = [f"{_PACKAGE}.{each}" for each in files]
    in_use = {each: sys.modules.pop(each) for each in names if each in sys.modules}
    try:
        for name, path in files.items():
            module = ModuleType(f"{_PACKAGE}.{name}")
            module.__file__ = str(path)
            vars(module).update(known or {})
            sys.modules[module.__name__] = module
            tree = changed.get(name) or ast.parse(path.read_text())
            exec(compile(tree, str(path), "exec"), vars(module))  # noqa: S102 - our own modules, one expression changed
        return {op: _declared(sys.modules[f"{_PACKAGE}.{_home(op)}"], op)[0] for op in ops}
    finally:
        sys.modules.update(in_use)


def _home(op: str) -> str:
    """The name of the module that declares an operation."""
    for each in pkgutil.iter_modules(opconform.operations.__path__):
        if _declared(importlib.import_module(f"{_PACKAGE}.{each.name}"), op):
            return each.name
    raise LookupError(f"no module of {_PACKAGE} declares {op}")


def _declared(module: ModuleType, op: str) -> list[Operation]:
    return [each for each in vars(module).values() if isinstance(each, Operation) and each.name == op]


def _collect(name: str, found: dict[str, Path]) -> None:
    path = Path(importlib.import_module(f"{_PACKAGE}.{name}").__file__ or "")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{_PACKAGE}."):
            inner = node.module.removeprefix(f"{_PACKAGE}.")
            if inner not in _SHARED and inner not in found:
                _collect(inner, found)
    found[name] = path
