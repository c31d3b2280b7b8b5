"""What decides the results of operations: the parts of modules that their declarations reach."""

import ast
from collections.abc import Collection, Iterator, Mapping

#: The parts of a declaration that decide what an operation does.
_DECIDING = frozenset({"inputs", "attributes", "checks", "moved", "shapes", "types", "compute", "requested"})

#: A definition: its module and its name; an empty name for the deciding parts of the declarations themselves.
Definition = tuple[str, str]


def deciding(trees: Mapping[str, ast.Module], ops: Collection[str]) -> dict[str, list[tuple[str, ast.AST]]]:
    """The nodes of each module that decide the results of some operations, each with the name of its definition.

    Declarations are calls of `Operation`. From their deciding parts every name is followed to its definition, also
    through the imports of one module from another. What only facts and contexts use is left out.
    """
    homes = {name: _definitions(tree) for name, tree in trees.items()}
    imports = {name: _imports(tree, trees) for name, tree in trees.items()}
    found: dict[str, dict[int, tuple[str, ast.AST]]] = {name: {} for name in trees}
    waiting: list[tuple[str, str, ast.AST]] = [
        (name, owner, part) for name, tree in trees.items() for owner, part in _declared(tree, ops)
    ]
    while waiting:
        module, owner, node = waiting.pop()
        if id(node) in found[module]:
            continue
        found[module][id(node)] = owner, node
        for each in ast.walk(node):
            if not isinstance(each, ast.Name):
                continue
            home, name = imports[module].get(each.id, (module, each.id))
            if name in homes[home]:
                waiting.append((home, name, homes[home][name]))
    return {module: list(nodes.values()) for module, nodes in found.items()}


def _declared(tree: ast.Module, ops: Collection[str]) -> Iterator[tuple[str, ast.expr]]:
    """The deciding parts of the declarations of some operations; those of a check with its requirement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Operation":
            parts = {each.arg: each.value for each in node.keywords}
            name = parts.get("name")
            if isinstance(name, ast.Constant) and name.value in ops:
                for part, value in parts.items():
                    if part == "checks" and isinstance(value, ast.Dict):
                        yield from (
                            (str(key.value) if isinstance(key, ast.Constant) else "", check)
                            for key, check in zip(value.keys, value.values, strict=True)
                        )
                    elif part in _DECIDING:
                        yield "", value


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """The functions, classes and constants of a module, by name; not the declarations."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                found |= dict.fromkeys(names, value)
    return found


def _imports(tree: ast.Module, trees: Mapping[str, ast.Module]) -> dict[str, Definition]:
    """The names that a module imports from another of the modules."""
    return {
        each.asname or each.name: (home, each.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (home := (node.module or "").rpartition(".")[2]) in trees
        for each in node.names
    }
