"""What executes the cases of a run, once for each attempt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.plan import RunOptions, RunPlan, local_plan
from opconform_runners.execution.scale.remote import RemoteExecution, machine_of_worker
from opconform_runners.execution.scheduler import OnReady, Packing, execute, execute_packed
from opconform_runners.execution.worker import OnOutcome
from opconform_runners.harness.command import Command, Launch

#: Executes cases for an attempt, in a harness or from recorded outputs: calls back with the implementation, then with
#: each outcome. Returns why the rest of the cases were not executed, or None.
Executor = Callable[[Sequence[Entry], Attempt, OnOutcome, OnReady], str | None]


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Executes cases on this machine."""

    suite: Suite
    launch: Launch

    def __call__(
        self, entries: Sequence[Entry], attempt: Attempt, on_outcome: OnOutcome, on_ready: OnReady
    ) -> str | None:
        """Execute cases one at a time."""
        alone = attempt in ("alone", "neighbour-check")
        _, gave_up = execute(self.suite, entries, self.launch, on_outcome, alone=alone, on_ready=on_ready)
        return gave_up

    def execute_first(
        self, entries: Sequence[Entry], packing: Packing, on_outcome: OnOutcome, on_ready: OnReady
    ) -> str | None:
        """Execute cases for the first time, in packs where the backend takes them."""
        if self.launch.alone:
            return self(entries, "first", on_outcome, on_ready)
        _, gave_up = execute_packed(self.suite, entries, self.launch, packing, on_outcome, on_ready)
        return gave_up


#: What executes cases, here or on workers.
AnyExecutor = Executor | RemoteExecution


def planned(command: Command, out: Path, options: RunOptions) -> tuple[RunPlan, Callable[[Suite], AnyExecutor]]:
    """The plan of a run, and what executes the cases of a suite, here or on workers."""
    alone = options.alone or options.stops is not None
    launch = Launch(command=command, jobs=options.jobs, timeout=options.timeout, alone=alone)
    plan = local_plan(command, out, options)
    if options.executor is None:
        return plan, lambda suite: LocalExecutor(suite, launch)
    machine = machine_of_worker(options.executor, command)
    plan = replace(plan, program=machine.program, environment_of=lambda _: machine.environment)
    return plan, partial(RemoteExecution, options.executor, launch, machine)
