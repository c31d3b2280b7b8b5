"""What decides the results of operations: the parts of a program that they reach."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform.adequacy.modules import Program

#: The functions that declare an operation, or a version of another one.
_DECLARING = ("Movement", "Computation", "replace")
#: The parts of a declaration that decide what an operation does.
_DECIDING = frozenset(
    {"inputs", "attributes", "checks", "moved", "shapes", "types", "calculate", "calculation", "requested"}
)
#: The arguments of a family's function, and of what it takes, that decide nothing of an operation alone: they explain,
#: tell costs, or are about graphs.
_EXPLAINING = frozenset(
    {"others", "readings", "facts", "contexts", "mistakes", "misread", "undefined", "denormals", "work", "rounded"}
)

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
            for path in deciding(node):
                if isinstance(path, ast.Name):
                    home, name = program.imports[module].get(path.id, (module, path.id))
                    if name in homes[home]:
                        waiting.append((home, name, homes[home][name]))
    return {module: list(parts.values()) for module, parts in parts_by_module.items()}


#: Where a part is: the name of its module, its line and its column.
PartPlace = tuple[str, int, int]


def place_of_part(module: str, part: ReachedPart) -> PartPlace:
    """Where a part is."""
    return module, getattr(part.node, "lineno", 0), getattr(part.node, "col_offset", 0)


def users_of(program: Program, roots: Mapping[str, Iterable[Root]]) -> dict[PartPlace, frozenset[str]]:
    """The operations that reach each part from their roots."""
    parts = reached(program, roots)
    return {place_of_part(module, part): frozenset(part.ops) for module in parts for part in parts[module]}


def deciding(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression or of a definition, without annotations, docstrings and what exceptions say.

    Nor has it the conditions under which there is no golden, since no case shows them.
    """
    waiting: list[ast.AST] = [part]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Raise() | ast.Expr(value=ast.Constant()):
                continue
            case ast.If(body=[ast.Raise(exc=ast.Call(func=ast.Name(id="NoGolden")))], orelse=others):
                waiting.extend(others)
                continue
        yield node
        skipped = {getattr(node, name, None) for name in ("annotation", "returns")}
        waiting.extend(child for child in ast.iter_child_nodes(node) if child not in skipped)


def declarations(program: Program, ops: Collection[str]) -> dict[str, list[Root]]:
    """The roots of operations: the parts of their declarations that decide what they do.

    An operation is declared by a call of `Movement` or `Computation`, or of a function of a family that returns such a
    call. A version that replaces parts of another declaration has the other parts too. What only facts, contexts and
    other readings use is left out. A check belongs to the definition of its requirement.
    """
    roots: dict[str, list[Root]] = {}
    for module, tree in program.trees.items():
        declared: dict[str, list[Root]] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                name = _name_of(node.value)
                reaching = [*_parts(program, module, node.value, declared, {})]
                declared[ast.unparse(node.targets[0])] = reaching
                if name in ops:
                    roots[name] = reaching
    return roots


def _name_of(call: ast.Call) -> str:
    """The operation that a call declares: the keyword `name`, or the first argument of it or of the call in it."""
    words = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
    match (*words, *call.args):
        case (ast.Constant(value=str(name)), *_):
            return name
        case (ast.Call() as inner, *_):
            return _name_of(inner)
    return ""


def _parts(
    program: Program, module: str, call: ast.Call, declared: Mapping[str, Sequence[Root]], local: Mapping[str, ast.AST]
) -> Iterator[Root]:
    """The roots of a call that declares an operation; `local` are the definitions of the function around it."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if _is_declaration(call):
        for base in call.args:
            call_of_base = local.get(base.id) if isinstance(base, ast.Name) else base
            if isinstance(call_of_base, ast.Call):
                yield from _parts(program, module, call_of_base, declared, local)
            elif isinstance(base, ast.Name):
                yield from declared.get(base.id, ())
        parts = [*_deciding(keywords)]
    else:
        yield from _family_parts(program, module, call)
        parts = [("", part) for part in (*call.args, *(x for name, x in keywords.items() if name not in _EXPLAINING))]
    waiting: list[tuple[str, ast.AST]] = [(owner, node) for owner, part in parts for node in _without_others(part)]
    known: set[str] = set()
    while waiting:
        owner, node = waiting.pop()
        yield module, owner, node
        names = {path.id for path in ast.walk(node) if isinstance(path, ast.Name)} & local.keys() - known
        known |= names
        waiting.extend((name, x) for name in sorted(names) for x in _without_others(local[name]))


def _family_parts(program: Program, module: str, call: ast.Call) -> Iterator[Root]:
    """The roots in the function of a family: the roots of the call that it returns."""
    name = ast.unparse(call.func)
    home, name = program.imports[module].get(name, (module, name))
    family = _definitions(program.trees[home]).get(name)
    if isinstance(family, ast.FunctionDef):
        for node in family.body:
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
                yield from _parts(program, home, node.value, {}, _definitions(family))


def _without_others(part: ast.AST) -> Iterator[ast.AST]:
    """A part of a declaration, without the arguments of calls that decide nothing."""
    if isinstance(part, ast.Call) and any(keyword.arg in _EXPLAINING for keyword in part.keywords):
        deciding = (keyword.value for keyword in part.keywords if keyword.arg not in _EXPLAINING)
        for argument in (part.func, *part.args, *deciding):
            yield from _without_others(argument)
    else:
        yield part


def _is_declaration(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _DECLARING


def functions(program: Program, table: Mapping[str, Any]) -> dict[str, list[Root]]:
    """The roots of operations that a function of the program executes, given these functions by operation.

    A function may be made by another one, from functions that it holds.
    """
    return {op: roots for op, function in table.items() if (roots := [*_function_roots(program, function)])}


def _function_roots(program: Program, function: Any) -> Iterator[Root]:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "").partition(".")[0]
    if module not in program.trees:
        return
    if name == "<lambda>":
        line = function.__code__.co_firstlineno
        nodes: list[ast.AST] = [
            x for x in ast.walk(program.trees[module]) if isinstance(x, ast.Lambda) and x.lineno == line
        ]
    else:
        nodes = [x for x in (_definitions(program.trees[module]).get(name),) if x is not None]
    yield from ((module, name, node) for node in nodes)
    for cell in getattr(function, "__closure__", None) or ():
        yield from _function_roots(program, cell.cell_contents)


def _deciding(parts: Mapping[str | None, ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    for part, value in parts.items():
        if part == "checks" and isinstance(value, ast.Dict):
            for key, check in zip(value.keys, value.values, strict=True):
                yield str(key.value) if isinstance(key, ast.Constant) else "", check
        elif part in _DECIDING:
            yield "", value


def _definitions(tree: ast.Module | ast.FunctionDef) -> dict[str, ast.AST]:
    """The functions, classes and constants of a module or a function, by name; not the declarations."""
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
