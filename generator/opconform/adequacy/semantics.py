"""The reference semantics as a target: declarations, and the parts of modules that they reach."""

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from types import ModuleType

import opconform.operations
from opconform.adequacy.memory import bounded_memory
from opconform.adequacy.modules import Program, program_of
from opconform.adequacy.reach import PartPlace, Root, declarations, users_of
from opconform.model.draft import Draft
from opconform.model.golden import inputs_of
from opconform.operations import module_of
from opconform.operations.arguments import Operand, Rejection
from opconform.operations.operation import Computation, Operation
from opconform.specs.operation_names import tested_operations
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor, with_one_nan

#: Larger tensors are not filled: only their types are inferred.
_MOST_ELEMENTS = 1 << 12
#: Nor are those whose results take more work, in exact products.
_MOST_WORK = 1 << 14
#: Outputs with a larger dimension or more elements, which a mutant can have, are not evaluated.
_MOST_OUTPUT_ELEMENTS = 1 << 22

_PACKAGE = "opconform.operations"
#: The modules that all operations share; their mutants are not specific to an operation's cases.
_SHARED = frozenset({"arguments", "checks", "contexts", "contract", "interpretation", "operation", "places"})
#: The modules of bounds, which unit tests compare with another implementation: a backend has no bounds to get wrong.
_BOUNDS = frozenset({"composites", "composition", "propagation", "reduced"})


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedTrial:
    """One feed of a case: its operands, with or without elements, its attributes, and the result in use."""

    op: str
    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute]
    filled: bool
    expected: object = None


@dataclass(frozen=True)
class Semantics:
    """The declarations of some operations: the modules with them, and those that these import.

    The modules of an operation of an installed distribution are the modules of its own package.
    """

    ops: tuple[str, ...]

    @cached_property
    def program(self) -> Program:
        """The modules."""
        names = [module.name for module in pkgutil.walk_packages(opconform.operations.__path__, f"{_PACKAGE}.")]
        homes = {op: name for name in names for op in _declared(importlib.import_module(name))}
        return program_of([homes.get(op) or str(module_of(op)) for op in self.ops], _follows)

    def roots(self) -> Mapping[str, Iterable[Root]]:
        """The parts of the declarations that decide results, by operation."""
        return declarations(self.program, self.ops)

    def users(self) -> Mapping[PartPlace, frozenset[str]]:
        """The operations that reach each part of the modules, of all that have specs."""
        everyone = Semantics(tuple(dict.fromkeys((*self.ops, *tested_operations()))))
        return users_of(everyone.program, everyone.roots())

    def shown(self, module: str) -> str:
        """The name of a module below `opconform.operations`; the full name of a module of an installed distribution."""
        return module.removeprefix(f"{_PACKAGE}.")

    def trials(self, cases: Sequence[Draft]) -> list[FeedTrial]:
        """The feeds of some cases."""
        return [_trial(draft, feed) for draft in cases for feed in range(len(draft.feeds))]

    def killers(self, module: str, tree: ast.Module, trials: Sequence[FeedTrial]) -> Iterator[int]:
        """The indices of the trials that have another result if a module is changed, each once it is known."""
        with bounded_memory():
            try:
                operations = self.changed(module, tree)
            except Exception:  # noqa: BLE001 - a mutant that does not load is detected
                operations = {}
            for place, trial in enumerate(trials):
                if _differs(operations.get(trial.op), trial):
                    yield place

    def changed(self, module: str, tree: ast.Module) -> dict[str, Operation]:
        """The operations if a module is changed."""
        operations: dict[str, Operation] = {}
        for item in self.program.loaded(module, tree).values():
            operations |= _declared(item)
        return operations


def _declared(module: ModuleType) -> dict[str, Operation]:
    return {variable.name: variable for variable in vars(module).values() if isinstance(variable, Operation)}


def _follows(module: str, imported: str) -> bool:
    """Whether an imported module holds semantics: one of the operations, or of the same foreign package."""
    if module.startswith(f"{_PACKAGE}."):
        return imported.startswith(f"{_PACKAGE}.") and (_SHARED | _BOUNDS).isdisjoint(imported.split("."))
    package = module.rpartition(".")[0]
    return bool(package) and imported.startswith(f"{package}.")


def _differs(operation: Operation | None, trial: FeedTrial) -> bool:
    """Whether an operation gives another result than the one in use, or fails; None could not be loaded."""
    try:
        return operation is None or _result(operation, trial) != trial.expected
    except Exception:  # noqa: BLE001 - a mutant that fails is detected
        return True


def _result(operation: Operation, trial: FeedTrial) -> object:
    """The result of an operation in a comparable form; omitted attributes have the operation's own defaults."""
    arguments = operation.arguments(trial.inputs, trial.attributes)
    requested = operation.requested_outputs(arguments)
    try:
        types = operation.infer(arguments)
    except Rejection as rejection:
        return requested, rejection.requirements
    shapes = tuple((type_.element_type, type_.shape) for type_ in types)
    if not trial.filled or any(max(prod(type_.shape), *type_.shape, 0) > _MOST_OUTPUT_ELEMENTS for type_ in types):
        return requested, shapes
    outputs, values = operation.evaluate(arguments), operation.values(arguments)
    return (
        requested,
        shapes,
        values,
        tuple((output.element_type, output.shape, _bytes(output)) for output in outputs),
    )


def _bytes(output: Tensor) -> tuple[bytes, ...]:
    """The bytes of an output and of its bounds; every NaN is alike where it was computed."""
    arrays = (output.array, *(output.bounds or ()), *(output.reduced or ()))
    return tuple((with_one_nan(x, output.type) if output.is_computed else x).tobytes() for x in arrays)


def _trial(draft: Draft, feed: int) -> FeedTrial:
    operands, tensors = draft.arguments[feed].inputs, draft.feeds[feed]
    operation, is_accepted = draft.operation, not draft.inferences[feed].violated
    work = operation.products(draft.arguments[feed]) if is_accepted and isinstance(operation, Computation) else 0
    filled = sum(prod(tensor.shape) for tensor in tensors.values()) <= _MOST_ELEMENTS and work <= _MOST_WORK
    if filled:
        feed_tensors = inputs_of(draft, 0)[feed]
        operands = {name: replace(operand, tensor=feed_tensors[name]) for name, operand in operands.items()}
    trial = FeedTrial(op=draft.op, inputs=operands, attributes=draft.attributes, filled=filled)
    return replace(trial, expected=_result(draft.operation, trial))
