"""What the cases of a suite find in each implementation."""

import resource
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from opconform.suite.case import Case
from opconform.suite.declarations import DeclaredCase
from opconform.suite.manifest import Entry, Header, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Backend, Inputs, PlacedOutputs, Rejected, Unsupported
from opconform_runners.execution.log.outputs import PLENTY, output_limit
from opconform_runners.execution.plan import selected
from opconform_runners.execution.scheduler import execute
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.harness.outcome import Error, Incident, Outcome, Oversized, Returned
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.judge import broken_by, final_verdict, first_verdict
from opconform_runners.verdicts.verdict import Fail, Own, Pass, Verdict
from tests.declared import declared
from tests.mutants.backend import Mutant
from tests.mutants.catalogue import concerns, row_of

#: The profile that must kill every normative mutant by itself.
CORE = "core"
#: The module of the backends that run behind a harness.
HARNESS = Path(__file__).with_name("harness.py")
#: The classes of mutants that end or block their process, and so need one of their own.
ISOLATED = ("crash", "hang")
#: The memory that a worker process may address, in bytes.
MEMORY = 4 << 30

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
        refusals: How many invalid cases passed: the credit that it earned for refusing.
        errors: What went wrong with its harness; nothing should.
    """

    name: str
    core: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    caught: Mapping[Place, int] = field(default_factory=dict)
    caught_by_core: Mapping[Place, int] = field(default_factory=dict)
    refusals: int = 0
    errors: tuple[str, ...] = ()

    @property
    def alone(self) -> str | None:
        """The id of the case that fails, where it is the only one."""
        failing = (*self.core, *self.others)
        return failing[0] if len(failing) == 1 else None


def kills_of(
    suite: Path,
    names: Sequence[str],
    selection: Selection,
    *,
    jobs: int,
    timeout: float,
    on_progress: Callable[[float, int], None] = lambda *_: None,
) -> Iterator[Kill]:
    """Run implementations, and give what was found in each as it is found.

    Args:
        suite: The suite's folder.
        names: The implementations.
        selection: The cases.
        jobs: How many implementations run at a time.
        timeout: How long a case of an isolated implementation may take, in seconds.
        on_progress: Called with the completed fraction (0 to 1) and the number of completed implementations.
    """
    # A worker of a forked process would inherit what this one has open; a spawned one begins clean.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (suite, selection, timeout)) as pool:
        # What waits for processes begins first, so that the other workers compute meanwhile.
        ordered = sorted(names, key=lambda x: not x.startswith(ISOLATED))
        for number, item in enumerate(as_completed([pool.submit(_kill, name) for name in ordered]), 1):
            on_progress(number / len(names), number)
            yield item.result()


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


class _Killed(Exception):  # noqa: N818 - not an error
    """A case failed, and the others do not matter."""


class Workbench:
    """A suite and the lines of its selected cases, on which one implementation after the other is run."""

    def __init__(self, path: Path, selection: Selection, timeout: float) -> None:
        suite = open_suite(path)
        self._suite = _Remembered(store=suite.store, header=suite.header, entries=suite.entries)
        # The profile `core` comes first, so that nothing that it finds depends on a case of another profile.
        self.entries = sorted(selected(suite, selection), key=lambda x: x.profile != CORE)
        self._timeout = timeout
        self._known: dict[str, tuple[Case, DeclaredCase, list[Inputs]]] = {}

    def kill(self, name: str) -> Kill:
        """What the cases find in an implementation."""
        verdicts = self.verdicts(name, isolated=name.startswith(ISOLATED))
        failing = [(entry, verdict) for entry, verdict in verdicts if isinstance(verdict, Fail)]
        header = self._suite.header
        return Kill(
            name=name,
            core=tuple(sorted(entry.id for entry, _ in failing if entry.profile == CORE)),
            others=tuple(sorted(entry.id for entry, _ in failing if entry.profile != CORE)),
            caught=_caught(failing, header),
            caught_by_core=_caught([case for case in failing if case[0].profile == CORE], header),
            refusals=sum(isinstance(verdict, Pass) and entry.expect != "accept" for entry, verdict in verdicts),
            errors=tuple(verdict.sentence for _, verdict in verdicts if isinstance(verdict, Error)),
        )

    def is_killed(self, name: str) -> bool:
        """Whether a case fails in an implementation; no further case is executed."""

        def end_at_failure(own: Own) -> None:
            if isinstance(own, Fail):
                raise _Killed

        try:
            self.verdicts(name, isolated=name.startswith(ISOLATED), on_verdict=end_at_failure)
        except _Killed:
            return True
        return False

    def verdicts(
        self, name: str, *, isolated: bool, on_verdict: Callable[[Own], None] = lambda _: None
    ) -> list[tuple[Entry, Verdict]]:
        """The verdict of each case that a mutant can fail, run behind a harness where it is to be isolated.

        `on_verdict` is called with the verdict of each case on its own, and may end the execution by an exception.
        """
        concerned = [entry for entry in self.entries if concerns(row_of(name), entry.op)]
        if not isolated:
            return self.verdicts_of(Mutant(name), concerned, on_verdict)
        own: dict[str, Verdict] = {}

        def judge(entry: Entry, case: Case, outcome: Outcome, /, *_: Incident) -> None:
            own[entry.id] = verdict = first_verdict(self._suite, entry, case, outcome)
            on_verdict(verdict)

        launch = Launch(command=backend_command(f"{HARNESS}:Mutant:{name}"), timeout=self._timeout)
        execute(self._suite, concerned, launch, judge)
        return [(x, final_verdict(self._suite, x, own)) for x in concerned if x.id in own]

    def verdicts_of(
        self,
        backend: Backend,
        entries: Sequence[Entry] | None = None,
        on_verdict: Callable[[Own], None] = lambda _: None,
    ) -> list[tuple[Entry, Verdict]]:
        """The verdict of some cases, or of all, on a backend without a dialect in this process."""
        own: dict[str, Verdict] = {}
        chosen = self.entries if entries is None else entries
        for entry in chosen:
            case, given, feeds = self._known.get(entry.id) or self._known.setdefault(entry.id, self._given(entry))
            outcome = self._bounded(entry, case, _outcome(backend, given, feeds))
            own[entry.id] = verdict = first_verdict(self._suite, entry, case, outcome)
            on_verdict(verdict)
        return [(x, final_verdict(self._suite, x, own)) for x in chosen]

    def _bounded(self, entry: Entry, case: Case, outcome: Outcome) -> Outcome:
        """The outcome, unless its outputs are larger than those of a harness may be."""
        feeds = outcome.outputs if isinstance(outcome, Returned) else ()
        size = max((sum(output.nbytes for output in outputs) for outputs in feeds), default=0)
        is_oversized = size > PLENTY and size > output_limit(self._suite, entry, case)
        return Oversized(size=size) if is_oversized else outcome

    def _given(self, entry: Entry) -> tuple[Case, DeclaredCase, list[Inputs]]:
        """A case, the same case as a backend is given it, and the inputs of its feeds."""
        case = self._suite.case(entry)
        feeds = [self._inputs(entry, case, n) for n in range(case.feeds)]
        return case, declared(replace(case, expect=None, twin=None)), feeds

    def _inputs(self, entry: Entry, case: Case, feed: int) -> Inputs:
        types = {input_.name: input_.element_type for input_ in case.inputs}
        arrays = self._suite.arrays(entry, inputs_name(feed))
        return {name: Tensor(element_type=types[name], array=array) for name, array in arrays.items()}


def _outcome(backend: Backend, case: DeclaredCase, feeds: Sequence[Inputs]) -> Outcome:
    """What a harness would make of a case."""
    try:
        given = backend.run(case, None, feeds)
    except Rejected as answer:
        return Refused(seq=0, stage=answer.stage, message=answer.message, requirement=answer.requirement)
    except Unsupported as answer:
        return NotSupported(seq=0, message=str(answer))
    outputs = given.outputs if isinstance(given, PlacedOutputs) else given
    for tensor in (tensor for feed in outputs for tensor in feed):
        if tensor.array.dtype.kind != "U" and tensor.array.dtype != tensor.type.storage:
            return Error(sentence=f"an output of {tensor.element_type} is stored as {tensor.array.dtype}")
    return Returned(
        outputs=tuple(tuple(tensor.array for tensor in feed) for feed in outputs),
        element_types=tuple(tuple(tensor.element_type for tensor in feed) for feed in outputs),
        seconds=None,
    )


def _caught(failing: Sequence[tuple[Entry, Fail]], header: Header) -> Mapping[Place, int]:
    broken = ((entry, broken_by(entry, x.reason, x.mismatch, header)) for entry, x in failing)
    return Counter((entry.op, name) for entry, names in broken for name in names)


#: The one workbench of a worker process, once it has started.
_WORKBENCHES: list[Workbench] = []


def _start(path: Path, selection: Selection, timeout: float) -> None:
    # As behind a harness: a mutant that makes outputs of 20 GiB is refused them, and the machine survives.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    _WORKBENCHES.append(Workbench(path, selection, timeout))


def _kill(name: str) -> Kill:
    [workbench] = _WORKBENCHES
    return workbench.kill(name)
