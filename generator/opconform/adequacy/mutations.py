"""Systematic mutations of what decides the results of operations: one small change of one expression each."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from opconform.adequacy.reach import PartPlace, ReachedPart, deciding, place_of_part

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
}
#: The constraints of ports and attributes, each of which is left out.
_CONSTRAINTS = frozenset({"types", "ranks", "shapes", "optional", "values", "default"})
#: The most requirements that a mutation names.
_MOST_NAMES = 3
_CALLS = {"any": "all", "all": "any", "sum": "max", "max": "min", "min": "max"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """One change of an expression in a module.

    Attributes:
        module: The full name of the module.
        names: The strings beside the change, which include the requirements concerned.
        ops: The operations that the change concerns.
        part: Where the definition is that has the expression.
        tree: The whole module with the change.
    """

    module: str
    function: str
    line: int
    before: str
    after: str
    names: tuple[str, ...]
    ops: tuple[str, ...]
    part: PartPlace
    tree: ast.Module


def mutations_of(trees: Mapping[str, ast.Module], parts: Mapping[str, Sequence[ReachedPart]]) -> Iterator[Mutation]:
    """Every mutation of some parts of modules."""
    for module, reached in parts.items():
        owners = {id(node): part for part in reached for node in deciding(part.node)}
        body = trees[module].body
        for place, statement in enumerate(body):
            nodes, places = _placed(statement)
            for number, shown in enumerate(_shown(nodes, places)):
                node = nodes[number]
                if id(node) not in owners:
                    continue
                part = owners[id(node)]
                for change in _changes(node):
                    twins = _twins(nodes, places, number, change)
                    statements = [*body[:place], cast("ast.stmt", twins[0]), *body[place + 1 :]]
                    yield Mutation(
                        module=module,
                        function=part.owner,
                        line=getattr(node, "lineno", getattr(part.node, "lineno", 0)),
                        before=_text(nodes[shown]),
                        after=_text(twins[shown]),
                        names=(part.owner,) if "." in part.owner else _names(node, part.node),
                        ops=part.ops,
                        part=place_of_part(module, part),
                        tree=ast.Module(statements, type_ignores=[]),
                    )


#: Where a node is: the number of the node that has it, the field, and an index if the field is a list.
Place = tuple[int, str, int | None]


def _placed(statement: ast.AST) -> tuple[list[ast.AST], list[Place]]:
    """The nodes of a statement, in the order of `ast.walk`, and where each of them is; the first one is nowhere."""
    nodes: list[ast.AST] = [statement]
    places: list[Place] = [(-1, "", None)]
    for number, node in enumerate(nodes):  # which grows meanwhile
        for field, value in ast.iter_fields(node):
            for index, child in enumerate(value if isinstance(value, list) else (value,)):
                if isinstance(child, ast.AST):
                    nodes.append(child)
                    places.append((number, field, index if isinstance(value, list) else None))
    return nodes, places


def _shown(nodes: Sequence[ast.AST], places: Sequence[Place]) -> list[int]:
    """For each node of a statement, the number of the one that shows a change of it: of a number, what it is used in.

    Without that, the text of a mutant would not tell two numbers of one function apart.
    """
    shown: list[int] = []
    for number, (node, (parent, *_)) in enumerate(zip(nodes, places, strict=True)):
        if number and isinstance(node, ast.Constant | ast.UnaryOp | ast.Slice):
            user = nodes[parent]
            is_used = isinstance(user, ast.expr) and not isinstance(user, ast.Constant | ast.UnaryOp | ast.Slice)
            shown.append(parent if is_used else shown[parent])
        else:
            shown.append(number)
    return shown


Change = tuple[str, int | None, object]


def _twins(nodes: Sequence[ast.AST], places: Sequence[Place], number: int, change: Change) -> dict[int, ast.AST]:
    """A changed node and those around it, by their numbers; all others are shared with the original."""
    twins = {number: ast.fix_missing_locations(_with(nodes[number], *change))}
    while number:
        parent, field, index = places[number]
        twins[parent] = _with(nodes[parent], field, index, twins[number])
        number = parent
    return twins


def _with(node: ast.AST, field: str, index: int | None, value: object) -> ast.AST:
    """A node with another value of a field, or of an element of it, which None removes."""
    fields = dict(ast.iter_fields(node))
    if index is not None:
        fields[field] = [*fields[field][:index], *([] if value is None else [value]), *fields[field][index + 1 :]]
    else:
        fields[field] = value
    return ast.copy_location(type(node)(**fields), node)


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes of one node: a field, an index if the field is a list, and the replacement."""
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                yield from (("ops", place, comparison()) for comparison in _COMPARISONS.get(type(operator), ()))
        case ast.BinOp(op=operation):
            yield from (("op", None, operator()) for operator in _ARITHMETIC.get(type(operation), ()))
        case ast.BoolOp(op=operation, values=values):
            is_and = isinstance(operation, ast.And)
            yield "op", None, ast.Or() if is_and else ast.And()
            yield from (("values", place, ast.Constant(is_and)) for place in range(len(values)))  # drop a condition
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from (("test", None, forced) for forced in _forced(test))
        case ast.match_case(guard=ast.expr() as guard):
            yield from (("guard", None, forced) for forced in _forced(guard))
        case ast.comprehension(ifs=filters):
            yield from (("ifs", place, forced) for place, filter_ in enumerate(filters) for forced in _forced(filter_))
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield from (("value", None, number) for number in (value + 1, value - 1))
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield "func", None, ast.Name(_CALLS[name], ast.Load())
        case ast.Return(value=ast.ListComp() | ast.List(elts=[_, *_])):
            yield "value", None, ast.List([], ast.Load())
        case ast.Return(value=ast.Tuple(elts=[_, *_])):
            yield "value", None, ast.Tuple([], ast.Load())
    yield from _declared_changes(node)


def _declared_changes(node: ast.AST) -> Iterator[Change]:
    """The changes of a predicate, and of the constraints of a port or an attribute."""
    match node:
        case ast.Lambda(body=body):
            yield from (
                ("body", None, ast.Constant(result)) for result in (False, True) if not _is_constant(body, result)
            )
        case ast.Call(func=ast.Name(id="Port" | "AttributeSpec" | "replace"), keywords=keywords):
            for place, keyword in enumerate(keywords):
                yield from (("keywords", place, None),) if keyword.arg in _CONSTRAINTS else ()


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _forced(test: ast.expr) -> Iterator[ast.expr]:
    """A condition negated, and forced to be true or false."""
    yield ast.UnaryOp(ast.Not(), test)
    yield from (ast.Constant(True), ast.Constant(False))


def _names(node: ast.AST, part: ast.AST) -> tuple[str, ...]:
    """The requirements named in a node, or else in the definition around it."""
    for within in (node, part):
        constants = [path.value for path in ast.walk(within) if isinstance(path, ast.Constant)]
        texts = [text for text in constants if isinstance(text, str) and "." in text and " " not in text]
        if texts:
            return tuple(dict.fromkeys(texts))[:_MOST_NAMES]
    return ()


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        filters = "".join(f" if {ast.unparse(if_)}" for if_ in node.ifs)
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}{filters}"
    if isinstance(node, ast.If | ast.While):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.Lambda):
        return ast.unparse(node.body)
    if isinstance(node, ast.match_case):
        guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
        return f"case {ast.unparse(node.pattern)}{guard}"
    return " ".join(ast.unparse(node).split())
