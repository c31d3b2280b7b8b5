"""Killing: every implementation of the catalogue runs a suite behind the protocol, and what catches it is counted."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from opconform.case import Case
from opconform.selecting import Selection
from opconform.suite import Entry, Header, Suite, open_suite
from opconform.tensors import Array
from opconform_runners.commands import backend_command
from opconform_runners.executing import Outcome, execute
from opconform_runners.judging import broken_requirements, final_verdict, first_verdict
from opconform_runners.mutants.catalogue import mutants
from opconform_runners.mutants.variants import VARIANTS
from opconform_runners.running import selected
from opconform_runners.verdicts import Error, Fail, Pass, Verdict

#: The profile that must kill every normative mutant by itself.
CORE = "core"

#: A requirement of an operation.
Place = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kill:
    """What a suite found in one implementation.

    Attributes:
        name: The implementation.
        core: The ids of the cases that fail when the profile `core` is run by itself.
        others: The ids of the cases of the other profiles that fail.
        caught: By requirement, the number of cases that fail and speak against it.
        caught_by_core: The same for the profile `core` alone.
        refusals: How many rejected cases passed: the credit that it earned for refusing.
        errors: What went wrong with its harness; nothing should.
    """

    name: str
    core: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    caught: Mapping[Place, int] = field(default_factory=dict)
    caught_by_core: Mapping[Place, int] = field(default_factory=dict)
    refusals: int = 0
    errors: tuple[str, ...] = ()


def kill_all(
    suite: Path,
    names: Sequence[str],
    selection: Selection,
    *,
    jobs: int,
    timeout: float,
    tell: Callable[[float, int], None] = lambda *_: None,
) -> Iterator[Kill]:
    """Run implementations, and give what was found in each as it is found.

    Args:
        suite: The suite's folder.
        names: The implementations.
        selection: The cases.
        jobs: How many implementations run at a time.
        timeout: How long a case may take, in seconds.
        tell: Told the share of the implementations that are done, and how many that are.
    """
    # A worker of a forked process would inherit what this one has open; a spawned one begins clean.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (suite, selection, timeout)) as pool:
        done = as_completed([pool.submit(_kill, each) for each in names])
        for number, each in enumerate(done, 1):
            tell(number / len(names), number)
            yield each.result()


def implementations() -> list[str]:
    """The names of all implementations: the right variants, then the mutants."""
    return [*VARIANTS, *mutants()]


@dataclass(frozen=True, kw_only=True)
class _Remembered(Suite):
    """A suite whose files are read once, since every implementation needs them all."""

    _read: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _cases: dict[str, Case] = field(default_factory=dict)
    _arrays: dict[tuple[str, str], dict[str, Array]] = field(default_factory=dict)

    def read(self, entry: Entry, name: str) -> bytes:
        key = (entry.id, name)
        return self._read[key] if key in self._read else self._read.setdefault(key, super().read(entry, name))

    def case(self, entry: Entry) -> Case:
        known = self._cases.get(entry.id)
        return known or self._cases.setdefault(entry.id, super().case(entry))

    def arrays(self, entry: Entry, name: str) -> dict[str, Array]:
        key = (entry.id, name)
        return self._arrays[key] if key in self._arrays else self._arrays.setdefault(key, super().arrays(entry, name))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Worker:
    """What a worker process has: the suite, the lines of its cases in the order in which they run, and the timeout."""

    suite: Suite
    entries: tuple[Entry, ...]
    timeout: float


#: The one worker of this process, once it has started.
_WORKERS: list[_Worker] = []


def _start(path: Path, selection: Selection, timeout: float) -> None:
    suite = open_suite(path)
    remembered = _Remembered(store=suite.store, header=suite.header, entries=suite.entries)
    # The profile `core` comes first, so that nothing that it finds can be owed to a case of another profile.
    entries = tuple(sorted(selected(suite, selection), key=lambda each: each.profile != CORE))
    _WORKERS.append(_Worker(suite=remembered, entries=entries, timeout=timeout))


def _kill(name: str) -> Kill:
    [worker] = _WORKERS
    verdicts = _verdicts(worker, name)
    failing = [(entry, verdict) for entry, verdict in verdicts if isinstance(verdict, Fail)]
    return Kill(
        name=name,
        core=tuple(sorted(entry.id for entry, _ in failing if entry.profile == CORE)),
        others=tuple(sorted(entry.id for entry, _ in failing if entry.profile != CORE)),
        caught=_caught(failing, worker.suite.header),
        caught_by_core=_caught([each for each in failing if each[0].profile == CORE], worker.suite.header),
        refusals=sum(isinstance(verdict, Pass) and entry.expect != "accept" for entry, verdict in verdicts),
        errors=tuple(verdict.sentence for _, verdict in verdicts if isinstance(verdict, Error)),
    )


def _verdicts(worker: _Worker, name: str) -> list[tuple[Entry, Verdict]]:
    """The verdicts of the cases on one implementation."""
    own: dict[str, Verdict] = {}

    def tell(entry: Entry, case: Case, outcome: Outcome) -> None:
        own[entry.id] = first_verdict(worker.suite, entry, case, outcome)

    command = backend_command(f"mutant:{name}")
    execute(worker.suite, worker.entries, command, jobs=1, timeout=worker.timeout, tell=tell)
    return [(each, final_verdict(each, own)) for each in worker.entries if each.id in own]


def _caught(failing: Sequence[tuple[Entry, Verdict]], header: Header) -> Mapping[Place, int]:
    return Counter(
        (entry.op, name) for entry, verdict in failing for name in broken_requirements(entry, verdict, header)
    )
