"""Trials: cases evaluated by an operation, or by its semantics reloaded from changed source, to detect mutants."""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import resolve_name
from math import prod
from pathlib import Path
from types import ModuleType

import opconform.operations
from opconform.model.draft import Draft
from opconform.model.golden import inputs_of
from opconform.operations import module_of
from opconform.operations.arguments import Operand, Rejection
from opconform.operations.operation import Operation
from opconform.suite.case import Attribute

#: Larger tensors are not filled: only their types are inferred.
_MOST_ELEMENTS = 1 << 12
#: Outputs with a larger dimension or more elements, which a mutant can have, are not evaluated.
_MOST_OUTPUT_ELEMENTS = 1 << 22


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One feed of a case: its operands, with or without elements, its attributes, and the result in use."""

    case: str
    op: str
    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute]
    filled: bool
    expected: object = None


def trials_of(cases: Iterable[Draft]) -> list[Trial]:
    """The trials of some cases."""
    return [_trial(draft, feed) for draft in cases for feed in range(len(draft.feeds))]


def answer_of(operation: Operation, trial: Trial) -> object:
    """The result of an operation in a comparable form; omitted attributes have the operation's own defaults."""
    arguments = operation.arguments(trial.inputs, trial.attributes)
    requested = operation.requested_outputs(arguments)
    try:
        types = operation.infer(arguments)
    except Rejection as rejection:
        return requested, rejection.requirements
    shapes = tuple((each.element_type, each.shape) for each in types)
    if not trial.filled or any(max(prod(each.shape), *each.shape, 0) > _MOST_OUTPUT_ELEMENTS for each in types):
        return requested, shapes
    outputs, values = operation.evaluate(arguments), operation.values(arguments)
    return requested, shapes, values, tuple((each.element_type, each.shape, each.array.tobytes()) for each in outputs)


def _trial(draft: Draft, feed: int) -> Trial:
    operands, tensors = draft.arguments[feed].inputs, draft.feeds[feed]
    filled = sum(prod(each.shape) for each in tensors.values()) <= _MOST_ELEMENTS
    if filled:
        given = inputs_of(draft, 0)[feed]
        operands = {name: replace(each, tensor=given[name]) for name, each in operands.items()}
    trial = Trial(case=draft.id, op=draft.op, inputs=operands, attributes=draft.attributes, filled=filled)
    return replace(trial, expected=answer_of(draft.operation, trial))


_PACKAGE = "opconform.operations"
#: The modules that all operations share; their mutants are not specific to an operation's cases.
_SHARED = frozenset({"arguments", "checks", "contexts", "operation", "places", "reading"})


@cache
def modules_of(ops: tuple[str, ...]) -> Mapping[str, Path]:
    """The modules with the reference semantics of operations, by name, in the order of their imports."""
    homes = {op: name for name in _own() for op in _declared(importlib.import_module(_full(name)))}
    found: dict[str, Path] = {}
    for op in ops:
        _collect(homes.get(op) or str(module_of(op)), found)
    return found


def loaded(ops: tuple[str, ...], changed: Mapping[str, ast.Module]) -> dict[str, Operation]:
    """Operations whose modules are loaded again, with changed syntax trees."""
    files = modules_of(ops)
    names = [_full(each) for each in files]
    in_use = {each: sys.modules.pop(each) for each in names if each in sys.modules}
    operations: dict[str, Operation] = {}
    try:
        for name, path in files.items():
            module = ModuleType(_full(name))
            module.__file__ = str(path)
            sys.modules[module.__name__] = module
            tree = changed.get(name) or ast.parse(path.read_text())
            exec(compile(tree, str(path), "exec"), vars(module))  # noqa: S102 - modules in use, one expression changed
            operations |= _declared(module)
        return operations
    finally:
        sys.modules.update(in_use)


def _declared(module: ModuleType) -> dict[str, Operation]:
    return {each.name: each for each in vars(module).values() if isinstance(each, Operation)}


@cache
def _own() -> frozenset[str]:
    """The names of opconform's modules of operations, without their package."""
    return frozenset(each.name for each in pkgutil.iter_modules(opconform.operations.__path__))


def _full(name: str) -> str:
    """A module's full name; those of installed distributions are always called by it."""
    return f"{_PACKAGE}.{name}" if name in _own() else name


def _collect(name: str, found: dict[str, Path], entered: tuple[str, ...] = ()) -> None:
    """Add a module, after the modules of operations, and of its own package, that it imports."""
    module = importlib.import_module(_full(name))
    path, package = Path(module.__file__ or ""), module.__package__ or _full(name)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            imported = resolve_name(f"{'.' * node.level}{node.module}", package)
            inner = imported.removeprefix(f"{_PACKAGE}.")
            is_theirs = package != _PACKAGE and imported.startswith(f"{package}.")
            if (is_theirs or (inner in _own() - _SHARED and inner != imported)) and inner not in (*found, *entered):
                _collect(inner, found, (*entered, name))
    found[name] = path
