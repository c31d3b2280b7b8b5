"""Execution on other machines: batches of cases travel with their files to the workers of an executor.

A worker runs each batch as any other run, and returns its log. It needs the backend and the same opconform, but neither
the suite nor a disk that it shares with this machine.

A batch is not a shard, although a shard is run in the same way: consecutive cases include their twins. Shards, cut by
the hash of the id, separate most invalid cases from their twins, and would execute a fifth of the core twice.
"""

import io
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from opconform.errors import ClusterError, KilledWorkersError, counted
from opconform.suite.file_names import CASE
from opconform.suite.manifest import Entry, Header
from opconform.suite.reader import Suite
from opconform.suite.storage.store import Zip
from opconform.system.interrupts import run_loop
from opconform.system.tasks import ROOM, Workers, result_of
from opconform.system.temporary import TemporaryFolder
from opconform.tensors.npz import member
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.log.logged_outcome import LoggedOutcome, kept_names
from opconform_runners.execution.log.outcomes import read_log
from opconform_runners.harness.command import Command, Launch, backend_command, memory_limit
from opconform_runners.harness.connection import described
from opconform_runners.harness.environment import Environment, environment_of
from opconform_runners.harness.outcome import Error
from opconform_runners.verdicts.results import OUTCOMES, OUTPUTS_ZIP
from opconform_runners.verdicts.run_header import RunHeader

#: The least and the most cases of a batch, and how many batches a run has if their sizes allow it.
SMALLEST, LARGEST, _BATCHES = 100, 500, 16


#: A line of a log, and the files of the outputs that are kept with it.
Logged = tuple[LoggedOutcome, list[bytes]]


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
        environment = {name: getattr(self.environment, name) for name in names}
        backend = {"backend": self.implementation.title, "backend's file": self.program}
        return backend | environment | dict(self.environment.packages)


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteBatch:
    """Cases with all that a machine without their suite needs: `files` is a zip file of them and of their twins.

    `known` has the executions of these cases before an interruption.
    """

    root: Path
    header: Header
    entries: tuple[Entry, ...]
    twins: tuple[Entry, ...]
    files: bytes
    launch: Launch
    known: tuple[LoggedOutcome, ...]

    @contextmanager
    def opened(self) -> Iterator[tuple[Suite, Path]]:
        """Its suite, and the folder for the results of its run, which is removed afterwards."""
        with zipfile.ZipFile(io.BytesIO(self.files)) as archive, TemporaryFolder() as folder:
            store = Zip(root=self.root, archive=archive)
            suite = Suite(store=store, header=self.header, entries=(*self.entries, *self.twins))
            yield suite, Path(folder) / "out"


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """The log and the kept outputs of a run of a batch, and why it was given up, or None."""

    log: bytes
    outputs: bytes | None
    gave_up: str | None

    @property
    def lines(self) -> list[Logged]:
        """The executions, each with the files of its outputs that are kept."""
        content = io.BytesIO() if self.outputs is None else io.BytesIO(self.outputs)
        with zipfile.ZipFile(content, "r" if self.outputs else "w") as archive:
            lines = read_log(self.log, "The log of a worker").lines
            return [(logged, [archive.read(name) for name in kept_names(logged)]) for logged in lines]


def machine_of(command: Command) -> Machine:
    """What executes cases on this machine; starts and stops the harness. Raises `HarnessError` if it cannot start."""
    command = placed(command)
    return _machine(command, run_loop(described(command)))


def machine_of_worker(executor: Workers, command: Command) -> Machine:
    """What executes cases on a worker."""
    [(_, outcome)] = executor.in_order(machine_of, [(None, command)])
    return result_of(outcome)


def implementation_of(command: Command, executor: Workers | None) -> Implementation:
    """What a harness tests, started here or on a worker. Raises `HarnessError` if it cannot start."""
    return run_loop(described(command)) if executor is None else machine_of_worker(executor, command).implementation


def executed_in(out: Path, gave_up: str | None) -> Executed:
    """What the run of a batch left in its folder."""
    outputs = out / OUTPUTS_ZIP
    return Executed(
        log=(out / OUTCOMES).read_bytes(),
        outputs=outputs.read_bytes() if outputs.exists() else None,
        gave_up=gave_up,
    )


@dataclass(slots=True)
class RemoteExecution:
    """The execution of a suite's cases on the workers of an executor.

    Attributes:
        machine: What the workers execute cases with; all of them must be alike.
    """

    executor: Workers
    launch: Launch
    machine: Machine
    suite: Suite

    def execute(
        self,
        entries: Sequence[Entry],
        known: Sequence[LoggedOutcome],
        execute_batch: Callable[[RemoteBatch], Executed],
    ) -> Iterator[tuple[Sequence[Logged], str | None]]:
        """Execute cases in order, and yield of each batch the executions, and why the rest was given up, or None.

        `execute_batch` is called on the workers.
        """
        batches = ((batch.entries, batch) for batch in _batches(self.suite, entries, self.launch, known))
        with closing(self.executor.in_order(execute_batch, batches)) as finished:
            for batch, executed in finished:
                if isinstance(executed, KilledWorkersError):
                    why = f"The backend {self.launch.command.name} is quarantined: {executed}"
                    yield self._condemned(batch, {logged.case for logged in known}), why
                    return
                self._check_machine(read_log(executed.log, "The log of a worker").header)
                yield executed.lines, executed.gave_up
                if executed.gave_up is not None:
                    return

    def _condemned(self, batch: Sequence[Entry], known: Collection[str]) -> list[Logged]:
        """The cases of the batch that ended its workers, as errors."""
        name = self.launch.command.name
        size = counted(len(batch), "case")
        sentence = f"quarantined: {name} ended the workers that executed a batch of {size} with this one"
        new = [entry.id for entry in batch if entry.id not in known]
        return [(LoggedOutcome(case=case, execution="first", outcome=Error(sentence=sentence)), []) for case in new]

    def _check_machine(self, header: RunHeader) -> None:
        """Check that a worker is like the first one."""
        machine = Machine(implementation=header.implementation, environment=header.environment, program=header.program)
        known = resolved(self.machine.implementation, self.suite.header.declarations)
        expected = replace(self.machine, implementation=replace(known, hardware=None, driver=None))
        if machine == expected:
            return
        first, second = expected.facts, machine.facts
        names = (name for name in {**first, **second} if first.get(name) != second.get(name))
        differing = [f"{name} ({first.get(name)}, {second.get(name)})" for name in names]
        raise ClusterError(
            f"Two workers differ in {', '.join(differing) or 'what the backend declares'}. "
            f"Use workers that are alike, and run the same command again: it continues."
        )


def _batches(
    suite: Suite, entries: Sequence[Entry], launch: Launch, known: Sequence[LoggedOutcome]
) -> Iterator[RemoteBatch]:
    """The cases in batches of about the same number of cases, fewer where their files are large."""
    size = min(LARGEST, max(SMALLEST, len(entries) // _BATCHES))
    batch: dict[str, Entry] = {}
    twins: dict[str, Entry] = {}
    files: dict[str, bytes] = {}
    for entry in entries:
        batch[entry.id] = entry
        if entry.twin is not None and entry.twin in suite.by_id:
            twins[entry.twin] = suite.by_id[entry.twin]
        for item in (entry, *twins.values()):
            if f"{item.id}/{CASE}" not in files:
                files |= {f"{item.id}/{name}": suite.read(item, name) for name in item.files}
        if len(batch) == size or sum(map(len, files.values())) >= ROOM or entry is entries[-1]:
            yield RemoteBatch(
                root=suite.store.root,
                header=suite.header,
                entries=tuple(batch.values()),
                twins=tuple(twin for name, twin in twins.items() if name not in batch),
                files=_zipped(files),
                launch=launch,
                known=tuple(logged for logged in known if logged.case in batch),
            )
            batch, twins, files = {}, {}, {}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, file in files.items():
            archive.writestr(member(name), file)
    return content.getvalue()


def placed(command: Command) -> Command:
    """The command of a backend on this machine, whose interpreter and memory differ from the machine that asks."""
    if command.python is None:
        return command
    python = Path(command.python) if command.elsewhere else None
    memory = None if command.memory is None else min(command.memory, memory_limit())
    return replace(backend_command(command.name, python), memory=memory)


def _machine(command: Command, implementation: Implementation) -> Machine:
    environment = environment_on_machine(command, implementation)
    return Machine(implementation=implementation, environment=environment, program=command.program)


@cache
def environment_on_machine(command: Command, implementation: Implementation) -> Environment:
    """The environment of a backend; it is determined once, since that starts a process."""
    return environment_of(command, implementation, ())
