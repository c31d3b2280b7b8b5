"""Runs of a suite on a backend that is a function, and answers as a test says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Rejected
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.plan import RunOptions, RunPlan
from opconform_runners.execution.run import Run
from opconform_runners.execution.runner import judged
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.harness.outcome import Outcome, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from tests.declared import declared

IMPLEMENTATION = replace(Numpy().describe(), name="fake", version="1")


@dataclass
class FakeBackend:
    """An executor without a process: right, but for what `odd` says; Ctrl-C comes before execution number `until`."""

    suite: Suite
    until: int | None = None
    odd: Callable[[Entry, int], Outcome | None] = lambda _entry, _time: None
    fault: BaseException = field(default_factory=KeyboardInterrupt)
    implementation: Implementation = IMPLEMENTATION
    executed: list[str] = field(default_factory=list)

    def __call__(
        self,
        entries: Sequence[Entry],
        attempt: Attempt,
        on_outcome: Callable[[Entry, Case, Outcome], None],
        on_ready: Callable[[Implementation], None],
    ) -> None:
        """Execute the cases one after the other."""
        on_ready(self.implementation)
        for entry in entries:
            if len(self.executed) == self.until:
                raise self.fault
            self.executed.append(f"{entry.id} {attempt}")
            case = self.suite.case(entry)
            odd = self.odd(entry, sum(case.startswith(entry.id) for case in self.executed))
            on_outcome(entry, case, odd or self._right(entry, case))

    def _right(self, entry: Entry, case: Case) -> Outcome:
        arrays = self.suite.arrays(entry, inputs_name(0))
        feed = {
            input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs
        }
        try:
            [outputs] = Numpy().run(declared(case), None, [feed])
        except Rejected as answer:
            return Refused(seq=0, stage="build", message=answer.message)
        return Returned(outputs=(tuple(output.array for output in outputs),), element_types=None, seconds=0.5)


def plan_of(out: Path, **changes: Any) -> RunPlan:
    """A plan of a run on the fake backend, with other options or another identity."""
    options = {name: changes.pop(name) for name in RunOptions.__dataclass_fields__ if name in changes}
    plan = RunPlan(
        out=out,
        options=replace(RunOptions(timeout=20.0), **options),
        started="--backend fake",
        environment_of=lambda _: UNKNOWN,
    )
    return replace(plan, **changes)


def ran(suite: Suite, backend: FakeBackend, plan: RunPlan, some: Sequence[Entry] | None = None) -> Run:
    """A run of the suite, or of some of its cases."""
    return judged(suite, suite.entries if some is None else some, backend, plan)


def zeros(suite: Suite, entry: Entry) -> Outcome:
    """Outputs of the right shapes, and of zeros."""
    right = FakeBackend(suite)._right(entry, suite.case(entry))
    assert isinstance(right, Returned)
    return replace(right, outputs=(tuple(np.zeros_like(output) for output in right.outputs[0]),))


def odd_ways(suite: Suite) -> Callable[[Entry, int], Outcome | None]:
    """One case fails always, one the first time, one hangs, one is unsupported."""
    first, second, third, fourth = [entry for entry in suite.entries if entry.expect == "accept"][:4]

    def odd(entry: Entry, time: int) -> Outcome | None:
        if entry.id == first.id or (entry.id == second.id and time == 1):
            return zeros(suite, entry)
        if entry.id == third.id:
            return TimedOut(seconds=20.0)
        return NotSupported(seq=0, message="not today") if entry.id == fourth.id else None

    return odd
