"""The scheduler starts as many harnesses as a run may have, and lets each execute cases until none is left."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from opconform.errors import OpconformError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.system.interrupts import run_loop
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.jobs import default_jobs
from opconform_runners.execution.packs.eligibility import Eligibility
from opconform_runners.execution.packs.sample import PackHistory
from opconform_runners.execution.packs.schedule import OnPacked, Schedule
from opconform_runners.execution.packs.size import Limits
from opconform_runners.execution.waiting import InOrder
from opconform_runners.execution.worker import IN_FLIGHT, Execution, HarnessWorker, OnOutcome
from opconform_runners.harness.command import Launch

#: Called with what is tested, once a harness has started and reads the suite, before the first outcome.
OnReady = Callable[[Implementation], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """How the cases of a run are packed.

    Attributes:
        history: What was seen before an interruption.
        unpacked: The ids of cases that are executed alone; they are read when the first case is executed.
        on_packed: Called with what is seen of each case in a pack.
    """

    history: PackHistory
    unpacked: Collection[str] = ()
    on_packed: OnPacked


def execute(
    suite: Suite,
    entries: Sequence[Entry],
    launch: Launch,
    on_outcome: OnOutcome,
    *,
    alone: bool = False,
    on_ready: OnReady = lambda _: None,
) -> tuple[Implementation, str | None]:
    """Execute cases of a suite in order; `alone` gives each a harness process that no other case has touched.

    Returns what was tested, and why the rest of the cases were not executed, or None.
    """
    execution = Execution(suite, launch, on_outcome, InOrder(entries), ahead=1 if alone else IN_FLIGHT)
    return run_loop(_executed(execution, len(entries), on_ready))


def execute_packed(
    suite: Suite,
    entries: Sequence[Entry],
    launch: Launch,
    packing: Packing,
    on_outcome: OnOutcome,
    on_ready: OnReady,
) -> tuple[Implementation, str | None]:
    """Execute cases of a suite, valid ones in packs where the backend takes them.

    Returns what was tested, and why the rest of the cases were not executed, or None.
    """
    execution = Execution(suite, launch, on_outcome, InOrder(entries))

    def on_started(implementation: Implementation) -> None:
        on_ready(implementation)
        if implementation.packs > 1:
            limits = Limits(packs=implementation.packs, timeout=launch.timeout)
            unpacked = {*packing.unpacked, *packing.history.unchecked}
            eligibility = Eligibility(suite=suite, implementation=implementation, unpacked=unpacked)
            execution.waiting = execution.schedule = Schedule(entries, eligibility, limits, packing.on_packed)
            execution.schedule.resume(packing.history)

    return run_loop(_executed(execution, len(entries), on_started))


async def _executed(execution: Execution, cases: int, on_ready: OnReady) -> tuple[Implementation, str | None]:
    first = HarnessWorker(execution)
    implementation = await first.begin()
    try:
        on_ready(implementation)
    except OpconformError:
        await first.end()
        raise
    jobs = execution.launch.jobs or default_jobs(implementation.device, cases, alone=execution.ahead == 1)
    workers = [first, *(HarnessWorker(execution) for _ in range(1, min(jobs, cases)))]
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return implementation, execution.gave_up
