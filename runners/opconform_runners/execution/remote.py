"""Execution on other machines: batches of cases travel with their files to the workers of an executor.

A worker starts a harness for each batch, and ends it with the batch. It needs the backend and the same opconform, but
neither the suite nor a disk that it shares with this machine.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from opconform import tasks
from opconform.errors import ClusterError, KilledWorkersError, counted
from opconform.interrupts import run_loop
from opconform.suite.case import Case
from opconform.suite.manifest import CASE, Entry, Header
from opconform.suite.reader import Suite
from opconform.suite.store import Zip
from opconform.tensors.npz import member
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.request import check_dialects
from opconform_runners.execution.scheduler import OnOutcome, OnReady, execute
from opconform_runners.harness.command import Command, Launch, backend_command, memory_limit
from opconform_runners.harness.connection import described
from opconform_runners.harness.environment import Environment, environment_of
from opconform_runners.harness.outcome import Error, Incident, Outcome

#: The least and the most cases of a batch, and how many batches a run has if their sizes allow it.
SMALLEST, LARGEST, _BATCHES = 100, 500, 16
#: How many cases a batch has if each of them needs a harness of its own.
_ALONE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What a worker executes cases with: the backend, the environment, and the SHA-256 of the backend's own file."""

    implementation: Implementation
    environment: Environment
    program: str | None

    @property
    def facts(self) -> Mapping[str, object]:
        """What may differ between two machines, by name."""
        names = ("system", "machine", "processor", "cores", "hardware", "driver", "runner", "python")
        environment = {each: getattr(self.environment, each) for each in names}
        backend = {"backend": self.implementation.title, "backend's file": self.program}
        return backend | environment | dict(self.environment.packages)


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Cases with all that a machine without their suite needs: `files` is a zip file of them and of their twins."""

    root: Path
    header: Header
    entries: tuple[Entry, ...]
    twins: tuple[Entry, ...]
    files: bytes
    launch: Launch
    alone: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """The outcomes of a batch by case id with their incidents, and why its other cases were not executed, or None."""

    machine: Machine
    outcomes: tuple[tuple[str, Outcome, *tuple[Incident, ...]], ...]
    gave_up: str | None


def machine_of(command: Command) -> Machine:
    """What executes cases on this machine; starts and stops the harness. Raises `HarnessError` if it cannot start."""
    command = _placed(command)
    return _machine(command, run_loop(described(command)))


def machine_of_worker(executor: Executor, command: Command) -> Machine:
    """What executes cases on a worker."""
    [(_, future)] = tasks.in_order(executor, machine_of, [(None, command)])
    return future.result()


def implementation_of(command: Command, executor: Executor | None) -> Implementation:
    """What a harness tests, started here or on a worker. Raises `HarnessError` if it cannot start."""
    return run_loop(described(command)) if executor is None else machine_of_worker(executor, command).implementation


def execute_batch(batch: Batch) -> Executed:
    """Execute the cases of a batch on this machine."""
    with zipfile.ZipFile(io.BytesIO(batch.files)) as archive:
        store = Zip(root=batch.root, archive=archive)
        suite = Suite(store=store, header=batch.header, entries=(*batch.entries, *batch.twins))
        launch = replace(batch.launch, command=_placed(batch.launch.command), jobs=1)
        outcomes: list[tuple[str, Outcome, *tuple[Incident, ...]]] = []

        def on_outcome(entry: Entry, _case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
            outcomes.append((entry.id, outcome, *incidents))

        implementation, gave_up = execute(suite, batch.entries, launch, on_outcome, alone=batch.alone)
    machine = _machine(launch.command, implementation)
    return Executed(machine=machine, outcomes=tuple(outcomes), gave_up=gave_up)


@dataclass(slots=True)
class RemoteExecution:
    """The execution of a suite's cases on the workers of an executor.

    Attributes:
        machine: What the workers execute cases with; all of them must be alike.
        quarantine: Why no more cases are executed after a batch ended its workers, or None.
    """

    executor: Executor
    suite: Suite
    launch: Launch
    machine: Machine
    quarantine: str | None = None

    def execute(self, entries: Sequence[Entry], on_outcome: OnOutcome, on_ready: OnReady, *, alone: bool) -> str | None:
        """Execute cases in order, as `scheduler.execute` does; returns why the rest were not executed, or None."""
        check_dialects(self.suite, self.machine.implementation)
        on_ready(self.machine.implementation)
        if self.quarantine is not None:
            return self.quarantine
        batches = ((each.entries, each) for each in _batches(self.suite, entries, self.launch, alone=alone))
        with closing(tasks.in_order(self.executor, execute_batch, batches)) as finished:
            for batch, future in finished:
                try:
                    executed = future.result()
                except KilledWorkersError as fault:
                    self.quarantine = f"The backend {self.launch.command.name} is quarantined: {fault}"
                    self._condemn(batch, on_outcome)
                    return self.quarantine
                self._check_machine(executed.machine)
                by_id = {each.id: each for each in batch}
                for name, outcome, *incidents in executed.outcomes:
                    on_outcome(by_id[name], self.suite.case(by_id[name]), outcome, *incidents)
                if executed.gave_up is not None:
                    return executed.gave_up
        return None

    def _condemn(self, batch: Sequence[Entry], on_outcome: OnOutcome) -> None:
        """Record the cases of the batch that ended its workers as errors."""
        name = self.launch.command.name
        size = counted(len(batch), "case")
        sentence = f"quarantined: {name} ended the workers that executed a batch of {size} with this one"
        for each in batch:
            on_outcome(each, self.suite.case(each), Error(sentence=sentence))

    def _check_machine(self, machine: Machine) -> None:
        """Check that a worker is like the first one."""
        if machine == self.machine:
            return
        first, second = self.machine.facts, machine.facts
        names = (each for each in {**first, **second} if first.get(each) != second.get(each))
        other = [f"{each} ({first.get(each)}, {second.get(each)})" for each in names]
        raise ClusterError(
            f"Two workers differ in {', '.join(other) or 'what the backend declares'}. "
            f"Use workers that are alike, and run the same command again: it continues."
        )


def _batches(suite: Suite, entries: Sequence[Entry], launch: Launch, *, alone: bool) -> Iterator[Batch]:
    """The cases in batches of about the same number of cases, fewer where their files are large."""
    most = _ALONE if alone else min(LARGEST, max(SMALLEST, len(entries) // _BATCHES))
    batch: dict[str, Entry] = {}
    twins: dict[str, Entry] = {}
    files: dict[str, bytes] = {}
    for entry in entries:
        batch[entry.id] = entry
        if entry.twin is not None and entry.twin in suite.by_id:
            twins[entry.twin] = suite.by_id[entry.twin]
        for each in (entry, *twins.values()):
            if f"{each.id}/{CASE}" not in files:
                files |= {f"{each.id}/{name}": suite.read(each, name) for name in each.files}
        if len(batch) == most or sum(map(len, files.values())) >= tasks.ROOM or entry is entries[-1]:
            yield Batch(
                root=suite.store.root,
                header=suite.header,
                entries=tuple(batch.values()),
                twins=tuple(each for name, each in twins.items() if name not in batch),
                files=_zipped(files),
                launch=launch,
                alone=alone,
            )
            batch, twins, files = {}, {}, {}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, each in files.items():
            archive.writestr(member(name), each)
    return content.getvalue()


def _placed(command: Command) -> Command:
    """The command of a backend on this machine, whose interpreter and memory are not those of the one that asks."""
    if command.python is None:
        return command
    python = Path(command.python) if command.elsewhere else None
    memory = None if command.memory is None else min(command.memory, memory_limit())
    return replace(backend_command(command.name, python), memory=memory)


def _machine(command: Command, implementation: Implementation) -> Machine:
    environment = _environment(command, implementation)
    return Machine(implementation=implementation, environment=environment, program=command.program)


@cache
def _environment(command: Command, implementation: Implementation) -> Environment:
    """The environment of a backend; it is determined once, since that starts a process."""
    return environment_of(command, implementation, ())
