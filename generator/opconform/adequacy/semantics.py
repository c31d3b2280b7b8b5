"""Reference semantics reloaded from changed source, without replacing those in use."""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import opconform.operations
from opconform.operations.operation import Operation

_PACKAGE = "opconform.operations"
#: The modules that all operations share; their mutants are not specific to an operation's cases.
_SHARED = frozenset({"operation", "contexts"})


@cache
def modules_of(ops: tuple[str, ...]) -> Mapping[str, Path]:
    """The modules with the reference semantics of operations, by name, in the order of their imports."""
    names = [each.name for each in pkgutil.iter_modules(opconform.operations.__path__)]
    homes = {op: name for name in names for op in _declared(importlib.import_module(f"{_PACKAGE}.{name}"))}
    found: dict[str, Path] = {}
    for op in ops:
        _collect(homes[op], found)
    return found


def loaded(
    ops: tuple[str, ...], changed: Mapping[str, ast.Module], known: Mapping[str, object] | None = None
) -> dict[str, Operation]:
    """Operations whose modules are loaded again, with changed syntax trees and with additional global names."""
    files = modules_of(ops)
    names = [f"{_PACKAGE}.{each}" for each in files]
    in_use = {each: sys.modules.pop(each) for each in names if each in sys.modules}
    operations: dict[str, Operation] = {}
    try:
        for name, path in files.items():
            module = ModuleType(f"{_PACKAGE}.{name}")
            module.__file__ = str(path)
            vars(module).update(known or {})
            sys.modules[module.__name__] = module
            tree = changed.get(name) or ast.parse(path.read_text())
            exec(compile(tree, str(path), "exec"), vars(module))  # noqa: S102 - our own modules, one expression changed
            operations |= _declared(module)
        return operations
    finally:
        sys.modules.update(in_use)


def _declared(module: ModuleType) -> dict[str, Operation]:
    return {each.name: each for each in vars(module).values() if isinstance(each, Operation)}


def _collect(name: str, found: dict[str, Path]) -> None:
    path = Path(importlib.import_module(f"{_PACKAGE}.{name}").__file__ or "")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{_PACKAGE}."):
            inner = node.module.removeprefix(f"{_PACKAGE}.")
            if inner not in _SHARED and inner not in found:
                _collect(inner, found)
    found[name] = path
