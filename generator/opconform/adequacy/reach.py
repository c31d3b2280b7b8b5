"""What decides the results of operations: the parts of a program that they reach."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opconform.adequacy.modules import Program

#: The parts of a declaration that decide what an operation does.
_DECIDING = frozenset({"inputs", "attributes", "checks", "moved", "shapes", "types", "compute", "requested"})

#: An expression from which the parts that decide are reached: its module, the name of its definition, and itself.
Root = tuple[str, str, ast.AST]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReachedPart:
    """A definition that some operations reach; `owner` is its name, empty for a part of a declaration."""

    owner: str
    node: ast.AST
    ops: tuple[str, ...]


def reached(program: Program, roots: Mapping[str, Iterable[Root]]) -> dict[str, list[ReachedPart]]:
    """The parts of each module that some operations reach from their roots.

    Every name is followed to its definition, also through the imports of one module from another.
    """
    homes = {name: _definitions(tree) for name, tree in program.trees.items()}
    parts_by_module: dict[str, dict[int, ReachedPart]] = {name: {} for name in program.trees}
    for op, starts in roots.items():
        waiting = list(starts)
        while waiting:
            module, owner, node = waiting.pop()
            known = parts_by_module[module].get(id(node), ReachedPart(owner=owner, node=node, ops=()))
            if op in known.ops:
                continue
            parts_by_module[module][id(node)] = ReachedPart(owner=owner, node=node, ops=(*known.ops, op))
            for path in ast.walk(node):
                if isinstance(path, ast.Name):
                    home, name = program.imports[module].get(path.id, (module, path.id))
                    if name in homes[home]:
                        waiting.append((home, name, homes[home][name]))
    return {module: list(parts.values()) for module, parts in parts_by_module.items()}


def declarations(program: Program, ops: Collection[str]) -> dict[str, list[Root]]:
    """The roots of operations that are declared by calls of `Operation`: the parts that decide what they do.

    A version that replaces parts of another declaration has the other parts too if that operation is among them. What
    only facts and contexts use is left out. A check belongs to the definition of its requirement.
    """
    roots: dict[str, list[Root]] = {}
    for module, tree in program.trees.items():
        declared: dict[str, list[Root]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_declaration(node.value):
                call = node.value
                parts = {keyword.arg: keyword.value for keyword in call.keywords}
                name = parts.get("name")
                reaching = [x for base in call.args if isinstance(base, ast.Name) for x in declared.get(base.id, ())]
                declared[ast.unparse(node.targets[0])] = reaching
                if isinstance(name, ast.Constant) and name.value in ops:
                    reaching.extend((module, owner, part) for owner, part in _deciding(parts))
                    roots[str(name.value)] = reaching
    return roots


def _is_declaration(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Operation", "replace")


def functions(program: Program, table: Mapping[str, Any]) -> dict[str, list[Root]]:
    """The roots of operations that a function of the program executes, given these functions by operation."""
    roots: dict[str, list[Root]] = {}
    for op, function in table.items():
        module, name = function.__module__, function.__qualname__
        if module in program.trees and (node := _definitions(program.trees[module]).get(name)) is not None:
            roots[op] = [(module, name, node)]
    return roots


def _deciding(parts: Mapping[str | None, ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    for part, value in parts.items():
        if part == "checks" and isinstance(value, ast.Dict):
            for key, check in zip(value.keys, value.values, strict=True):
                yield str(key.value) if isinstance(key, ast.Constant) else "", check
        elif part in _DECIDING:
            yield "", value


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """The functions, classes and constants of a module, by name; not the declarations."""
    definitions: dict[str, ast.AST] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                definitions[name] = node
            case ast.Assign(value=value) if _is_declaration(value):
                continue
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                names = [path.id for path in ast.walk(target) if isinstance(path, ast.Name)]
                definitions |= dict.fromkeys(names, value)
    return definitions
