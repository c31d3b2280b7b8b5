"""Right implementations of the other readings that operations declare for their interpretations."""

from collections.abc import Callable, Iterator
from typing import Any

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Rejection, Unknown
from opconform.operations.checks import never
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Operation
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.tensors.tensor import Tensor
from tests.mutants.row import Call, Hook, MutantRow, accepts, derived, refuse

#: Where the readings are described; no report calls them faults.
_SEEN = "docs/verdicts.md#interpretations"


def _rejecting(reading: Reading) -> Hook:
    def hook(call: Call) -> Any:
        outputs = call.right()
        return refuse("another reading rejects it") if reading.rejects(call.arguments) else outputs

    return hook


def _rewriting(operation: Operation, rewrite: Callable[[Arguments], Arguments]) -> Hook:
    def hook(call: Call) -> Any:
        call.right()
        try:
            return list(operation.evaluate(rewrite(call.arguments)))
        except Rejection as answer:
            return refuse(str(answer))

    return hook


def computing(compute: Callable[[Arguments], tuple[Tensor, ...]]) -> Hook:
    """The step with other outputs, where they can be computed."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        try:
            return list(compute(call.arguments))
        except (NoGolden, Unknown):
            return outputs

    return hook


def _accepting(operation: Operation, requirement: str) -> Hook:
    """The step that accepts arguments that violate the requirement and no other one."""
    return accepts(requirement, when=lambda call: operation.judged(call.arguments)[1] == (requirement,))


def _rows(op: str) -> Iterator[MutantRow]:
    operation, known = OPERATIONS[op], requirements_of(op)
    for name, reading in operation.readings.items():
        level = known.by_id[name].level
        # What a reading with other outputs rejects can be what another reading rejects, too.
        if reading.rejects is not never and not reading.rewrites:
            what = f"Another reading of {op}:{name} rejects."
            yield derived(f"readings/{op}/{name}/rejects", op, what, _SEEN, _rejecting(reading), level)
        for number, rewrite in enumerate(reading.rewrites):
            what = f"Another reading of {op}:{name} gives other outputs."
            hook = _rewriting(operation, rewrite)
            yield derived(f"readings/{op}/{name}/gives-{number}", op, what, _SEEN, hook, level)
        for number, compute in enumerate(reading.computes):
            what = f"Another reading of {op}:{name} computes other outputs."
            hook = computing(compute)
            yield derived(f"readings/{op}/{name}/computes-{number}", op, what, _SEEN, hook, level)
    for requirement in known.requirements:
        if requirement.level == "interpretation" and requirement.violable:
            what = f"Another reading of {op}:{requirement.id} accepts what ours rejects."
            hook = _accepting(operation, requirement.id)
            yield derived(f"readings/{op}/{requirement.id}/accepts", op, what, _SEEN, hook, "interpretation")


ROWS = tuple(row for op in shipped_operations() for row in _rows(op))
