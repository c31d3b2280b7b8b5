"""Systematic mutations of a Python module: one small change of one expression each."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
_CALLS = {"any": "all", "all": "any", "sum": "max", "max": "min", "min": "max"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """One change of a module.

    Attributes:
        module: The module's name, as in `split`.
        function: The function that is changed.
        line: Its line in the source.
        before: The expression before the change.
        after: The expression after it.
        names: The strings beside the change, which include the requirements concerned.
        tree: The whole module with the change.
    """

    module: str
    function: str
    line: int
    before: str
    after: str
    names: tuple[str, ...]
    tree: ast.Module


def mutations_of(source: str, module: str) -> Iterator[Mutation]:
    """Every mutation of the functions of a module, given its source and its name."""
    tree = ast.parse(source)
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    owner = {id(node): each for each in functions for node in _inside(each)}
    for node in [each for each in ast.walk(tree) if id(each) in owner]:
        function = owner[id(node)]
        for field, place, replacement in _changes(node):
            mutant = copy.deepcopy(tree, {})
            twin = _same_place(tree, mutant, node)
            before = getattr(node, field) if place is None else getattr(node, field)[place]
            if place is None:
                setattr(twin, field, replacement)
            else:
                getattr(twin, field)[place] = replacement
            yield Mutation(
                module=module,
                function=function.name,
                line=getattr(node, "lineno", function.lineno),
                before=_text(node),
                after=_text(twin) if not isinstance(before, list) else "()",
                names=_names(node, function),
                tree=ast.fix_missing_locations(mutant),
            )


Change = tuple[str, int | None, object]


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes of one node: a field, an index if the field is a list, and the replacement."""
    for kind, change in _KINDS:
        if isinstance(node, kind):
            yield from change(node)


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARISONS.get(type(operator), ()):
            yield "ops", place, other()


def _arithmetic(node: ast.BinOp) -> Iterator[Change]:
    for other in _ARITHMETIC.get(type(node.op), ()):
        yield "op", None, other()


def _boolean(node: ast.BoolOp) -> Iterator[Change]:
    yield "op", None, ast.Or() if isinstance(node.op, ast.And) else ast.And()
    neutral = isinstance(node.op, ast.And)
    for place in range(len(node.values)):
        yield "values", place, ast.Constant(neutral)  # the condition is dropped


def _conditions(node: ast.If | ast.IfExp | ast.While) -> Iterator[Change]:
    yield from ((("test", None, each)) for each in _forced(node.test))


def _filters(node: ast.comprehension) -> Iterator[Change]:
    for place, each in enumerate(node.ifs):
        yield from (("ifs", place, other) for other in _forced(each))


def _forced(test: ast.expr) -> Iterator[ast.expr]:
    """A condition negated, and forced to be true or false."""
    yield ast.UnaryOp(ast.Not(), copy.deepcopy(test))
    yield ast.Constant(True)
    yield ast.Constant(False)


def _constants(node: ast.Constant) -> Iterator[Change]:
    if type(node.value) is int:
        yield "value", None, node.value + 1
        yield "value", None, node.value - 1


def _calls(node: ast.Call) -> Iterator[Change]:
    if isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield "func", None, ast.Name(_CALLS[node.func.id], ast.Load())


def _returns(node: ast.Return) -> Iterator[Change]:
    if isinstance(node.value, ast.ListComp) or (isinstance(node.value, ast.List) and node.value.elts):
        yield "value", None, ast.List([], ast.Load())
    elif isinstance(node.value, ast.Tuple) and node.value.elts:
        yield "value", None, ast.Tuple([], ast.Load())


_KINDS: tuple[tuple[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., Iterator[Change]]], ...] = (
    (ast.Compare, _comparisons),
    (ast.BinOp, _arithmetic),
    (ast.BoolOp, _boolean),
    ((ast.If, ast.IfExp, ast.While), _conditions),
    (ast.comprehension, _filters),
    (ast.Constant, _constants),
    (ast.Call, _calls),
    (ast.Return, _returns),
)


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body, without annotations, docstrings and inner functions."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        yield node
        skipped = {node.annotation} if isinstance(node, ast.AnnAssign) else set()
        waiting.extend(each for each in ast.iter_child_nodes(node) if each not in skipped)


def _same_place(tree: ast.AST, twin: ast.AST, node: ast.AST) -> ast.AST:
    """The node of a copied tree that corresponds to a node of the original."""
    return next(b for a, b in zip(ast.walk(tree), ast.walk(twin), strict=True) if a is node)


def _names(node: ast.AST, function: ast.FunctionDef) -> tuple[str, ...]:
    """The strings in a node, or else in its function."""
    for within in (node, function):
        found = [each.value for each in ast.walk(within) if isinstance(each, ast.Constant)]
        texts = [each for each in found if isinstance(each, str) and "." in each and " " not in each]
        if texts:
            return tuple(dict.fromkeys(texts))
    return ()


def _text(node: ast.AST) -> str:
    """A node as source, on one line."""
    if isinstance(node, ast.comprehension):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)} if " + " if ".join(
            map(ast.unparse, node.ifs)
        )
    if isinstance(node, ast.If | ast.While):
        return f"if {ast.unparse(node.test)}"
    return " ".join(ast.unparse(node).split())
