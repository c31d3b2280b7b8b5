"""The modules of a program as syntax trees, and the same modules loaded again with one of them changed."""

import ast
import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, ModuleType


@dataclass(frozen=True)
class Program:
    """Modules by their full names, in the order of their imports."""

    files: Mapping[str, Path]

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """Their syntax trees."""
        return {name: ast.parse(path.read_text()) for name, path in self.files.items()}

    @cached_property
    def imports(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Per module, the names that it imports from another one of them: that module, and the name there."""
        return {
            name: {
                name.asname or name.name: (home, name.name)
                for home, node in _imported(name, self.files[name], tree)
                if home in self.files
                for name in node.names
            }
            for name, tree in self.trees.items()
        }

    @cached_property
    def _codes(self) -> dict[str, CodeType]:
        return {name: compile(tree, str(self.files[name]), "exec") for name, tree in self.trees.items()}

    def loaded(self, changed: str, tree: ast.Module) -> dict[str, ModuleType]:
        """The modules with one of them changed; it and those that import it are executed again."""
        in_use = {name: importlib.import_module(name) for name in self.files}
        fresh: dict[str, ModuleType] = {}
        try:
            for name, imports in self.imports.items():
                if name != changed and fresh.keys().isdisjoint(home for home, _ in imports.values()):
                    continue
                fresh[name] = sys.modules[name] = module = ModuleType(name)
                module.__file__ = file = str(self.files[name])
                code = compile(tree, file, "exec") if name == changed else self._codes[name]
                exec(code, vars(module))  # noqa: S102 - modules in use, one expression changed
        finally:
            sys.modules.update(in_use)
        return {**in_use, **fresh}


def program_of(roots: Collection[str], follows: Callable[[str, str], bool]) -> Program:
    """The program of some modules and of those that they import.

    `follows` says for a module and the name of one that it imports whether that one belongs to the program.
    """
    files: dict[str, Path] = {}
    for root in roots:
        _collect(root, follows, files, ())
    return Program(files)


def _collect(name: str, follows: Callable[[str, str], bool], files: dict[str, Path], entered: tuple[str, ...]) -> None:
    """Add a module after those that it imports."""
    if name in files or name in entered:
        return
    path = Path(importlib.import_module(name).__file__ or "")
    for home, _ in _imported(name, path, ast.parse(path.read_text())):
        if follows(name, home):
            _collect(home, follows, files, (*entered, name))
    files[name] = path


def _imported(name: str, path: Path, tree: ast.Module) -> Iterator[tuple[str, ast.ImportFrom]]:
    """The modules that a module imports names from, by their full names."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield resolve_name(f"{'.' * node.level}{node.module}", package), node
