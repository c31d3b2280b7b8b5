"""The `numpy` backend as a target of adequacy: an implementation that shares no code with the reference semantics."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from opconform.adequacy.memory import bounded_memory
from opconform.adequacy.modules import Program, program_of
from opconform.adequacy.reach import PartPlace, Root, functions, users_of
from opconform.errors import HarnessError, counted
from opconform.generation.case_files import case_document
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations import OPERATIONS
from opconform.specs.operation_names import tested_operations
from opconform.suite.case import Case, Reject
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected, Unsupported
from opconform_runners.backends.constraints import check_constants, with_constraints
from opconform_runners.backends.graph import Function, outputs_of
from opconform_runners.backends.numpy.backend import FUNCTIONS, Numpy
from opconform_runners.verdicts.comparison import mismatch_of

#: The variable of the backend's module that has a function per operation.
_TABLE = "FUNCTIONS"
_PACKAGE = Numpy.__module__.rpartition(".")[0]
#: The verdict on a case that fails, for whatever reason.
_FAILS = (False, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseTrial:
    """A case with the inputs and the golden outputs of its feeds, and the verdict on the backend in use.

    A verdict is whether the case passes, and the requirement that a rejection names, or "unsupported".
    """

    case: Case
    feeds: tuple[Mapping[str, Tensor], ...]
    outputs: tuple[tuple[Tensor, ...], ...]
    verdict: tuple[bool, str | None] = (True, None)

    @property
    def op(self) -> str:
        """The operation under test."""
        return self.case.op


class NumpyTarget:
    """The functions of the backend, and what they reach in the package of frameworks."""

    @cached_property
    def program(self) -> Program:
        """The modules."""
        return program_of(
            [Numpy.__module__],
            lambda _, imported: imported.startswith(f"{_PACKAGE}."),
        )

    def roots(self) -> Mapping[str, Iterable[Root]]:
        """The functions by operation."""
        return functions(self.program, FUNCTIONS)

    def users(self) -> Mapping[PartPlace, frozenset[str]]:
        """The operations that reach each part of the modules, of all that have specs."""
        tested = tested_operations()
        return users_of(self.program, {op: roots for op, roots in self.roots().items() if op in tested})

    def shown(self, module: str) -> str:
        """The name of a module below the package of the runners."""
        return module.partition(".")[2]

    def trials(self, cases: Sequence[Draft]) -> list[CaseTrial]:
        """The cases of the operations that the backend has, without those that it does not support.

        Raises `HarnessError` if it fails a case: then nothing can be said of its mutants.
        """
        trials = (_trial(case) for case in cases if case.op in FUNCTIONS)
        right = _checked(FUNCTIONS)
        judged = [replace(trial, verdict=_verdict(trial, right)) for trial in trials]
        failing = [trial.case.id for trial in judged if trial.verdict == _FAILS]
        if failing:
            number = counted(len(failing), "case")
            raise HarnessError(f"The unchanged numpy backend fails {number}, such as {failing[0]}. Mend it first.")
        return [trial for trial in judged if trial.verdict[0]]

    def killers(self, module: str, tree: ast.Module, trials: Sequence[CaseTrial]) -> Iterator[int]:
        """The indices of the trials that have another verdict if a module is changed, each once it is known."""
        with bounded_memory(), np.errstate(all="ignore"):
            try:
                changed = _checked(vars(self.program.loaded(module, tree)[Numpy.__module__])[_TABLE])
            except Exception:  # noqa: BLE001 - a mutant that does not load is detected
                yield from range(len(trials))
                return
            for place, trial in enumerate(trials):
                if _differs(trial, changed):
                    yield place


def _checked(table: Mapping[str, Function]) -> Mapping[str, Function]:
    """The functions, which refuse what violates the declarations first."""
    return with_constraints(table, (operation.declaration for operation in OPERATIONS.values()))


def _trial(draft: Draft) -> CaseTrial:
    golden = golden_of(draft, 0)
    outputs = golden.outputs
    case = case_document(draft, golden.graph, draft.id, outputs[0] if outputs else ())
    return CaseTrial(case=case, feeds=golden.inputs, outputs=outputs)


def _differs(trial: CaseTrial, table: Mapping[str, Function]) -> bool:
    """Whether functions have another verdict than those in use, or fail outside them."""
    try:
        return _verdict(trial, table) != trial.verdict
    except Exception:  # noqa: BLE001 - a mutant that fails is detected
        return True


def _verdict(trial: CaseTrial, table: Mapping[str, Function]) -> tuple[bool, str | None]:
    """Whether a case passes, and the requirement that a rejection names."""
    try:
        check_constants(trial.case, [OPERATIONS[trial.case.op].declaration])
        actual = [outputs_of(trial.case, feed, table) for feed in trial.feeds]
    except Rejected as answer:
        return (True, answer.requirement) if isinstance(trial.case.expect, Reject) else _FAILS
    except Unsupported:
        return False, "unsupported"
    except Exception:  # noqa: BLE001 - an error in the function
        return _FAILS
    if isinstance(trial.case.expect, Reject):
        return _FAILS
    return (True, None) if all(map(_are_equal, trial.outputs, actual)) else _FAILS


def _are_equal(golden: Sequence[Tensor], actual: Sequence[Tensor]) -> bool:
    """Whether outputs are right: also within their bounds, and with another NaN where it was computed."""
    expected, got = ([output.array for output in outputs] for outputs in (golden, actual))
    types, stated = ([output.element_type for output in outputs] for outputs in (golden, actual))
    bounds = [x.bounds or ((x.array,) * 2 if x.is_computed and x.type.kind == "float" else None) for x in golden]
    return mismatch_of(expected, got, types, bounds=bounds, stated=stated) is None
