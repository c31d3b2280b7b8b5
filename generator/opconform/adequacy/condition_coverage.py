"""Modified condition/decision coverage of the reference semantics, in its masking form.

For each condition it finds two cases between which only the condition and its decision change. A condition that was not
evaluated matches any value.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from opconform.adequacy.trials import Trial, answer_of, loaded, modules_of

_RECORDER = "__decided__"
#: The values of a decision's conditions, None if not evaluated, and of the decision.
Vector = tuple[tuple[bool | None, ...], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """One condition of a decision as source, the decision's line, and two cases that show the effect, or None."""

    module: str
    line: int
    decision: str
    condition: str
    pair: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decision:
    module: str
    line: int
    text: str
    conditions: tuple[str, ...]
    seen: dict[Vector, list[int]] = field(default_factory=dict)


def conditions_of(ops: tuple[str, ...], trials: Sequence[Trial]) -> list[Condition]:
    """Every condition of the semantics of some operations, with the two cases that show its effect."""
    decisions: list[_Decision] = []
    trees = {name: _instrumented(name, path.read_text(), decisions) for name, path in modules_of(ops).items()}
    now = [0]

    def decided(number: int, conditions: Sequence[Callable[[], object]], conjunction: bool) -> object:
        values: list[bool | None] = [None] * len(conditions)
        result: object = conjunction
        for place, condition in enumerate(conditions):
            result = condition()
            values[place] = bool(result)
            if bool(result) is not conjunction:
                break
        decisions[number].seen.setdefault((tuple(values), bool(result)), []).append(now[0])
        return result

    operations = loaded(ops, trees, {_RECORDER: decided})
    for number, each in enumerate(trials):
        now[0] = number
        answer_of(operations[each.op], each.arguments, filled=each.filled)
    return [
        Condition(
            module=each.module, line=each.line, decision=each.text, condition=text, pair=_pair(each.seen, place, trials)
        )
        for each in decisions
        for place, text in enumerate(each.conditions)
    ]


def _instrumented(module: str, source: str, decisions: list[_Decision]) -> ast.Module:
    """A module that records each of its decisions: `a and b` becomes `__decided__(0, [lambda: a, lambda: b], True)`."""
    tree = ast.parse(source)
    numbers: dict[int, int] = {}
    for node in ast.walk(tree):
        test = node.test if isinstance(node, ast.If | ast.IfExp) else node
        if (not isinstance(test, ast.BoolOp) and test is node) or id(test) in numbers:
            continue
        conditions = test.values if isinstance(test, ast.BoolOp) else [test]
        numbers[id(test)] = len(decisions)
        texts = tuple(ast.unparse(each) for each in conditions)
        line = getattr(test, "lineno", 0)
        decisions.append(_Decision(module=module, line=line, text=ast.unparse(test), conditions=texts))
    _Recorder(numbers).visit(tree)
    return ast.fix_missing_locations(tree)


class _Recorder(ast.NodeTransformer):
    """Wraps the numbered decisions in calls of the recorder."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._numbers = numbers

    def visit(self, node: ast.AST) -> ast.AST:
        number = self._numbers.get(id(node))
        changed: ast.AST = self.generic_visit(node)
        if number is None or not isinstance(changed, ast.expr):
            return changed
        conditions = changed.values if isinstance(changed, ast.BoolOp) else [changed]
        conjunction = not (isinstance(changed, ast.BoolOp) and isinstance(changed.op, ast.Or))
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        lazily: list[ast.expr] = [ast.Lambda(nothing, each) for each in conditions]
        arguments: list[ast.expr] = [ast.Constant(number), ast.List(lazily, ast.Load()), ast.Constant(conjunction)]
        return ast.copy_location(ast.Call(ast.Name(_RECORDER, ast.Load()), arguments, []), changed)


def _pair(seen: Mapping[Vector, list[int]], place: int, trials: Sequence[Trial]) -> tuple[str, str] | None:
    """Two cases that differ in one condition and the decision, preferably an invalid case and its twin."""
    found = None
    for (values, decision), numbers in seen.items():
        for (others, other), rest in seen.items():
            if not decision or other or not _differ_only_at(place, values, others):
                continue
            found = found or (trials[numbers[0]].case, trials[rest[0]].case)
            for ones, near in ((numbers, rest), (rest, numbers)):
                cases = {trials[each].case for each in near}
                for one in (trials[each] for each in ones):
                    if one.twin is not None and one.twin in cases:
                        return one.case, one.twin
    return found


def _differ_only_at(place: int, values: Sequence[bool | None], others: Sequence[bool | None]) -> bool:
    if values[place] is None or others[place] is None or values[place] == others[place]:
        return False
    return all(
        one == other or one is None or other is None
        for number, (one, other) in enumerate(zip(values, others, strict=True))
        if number != place
    )
