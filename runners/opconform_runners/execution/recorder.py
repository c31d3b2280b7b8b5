"""Recording: a suite executed without a verdict, and all that came of it in one file for somebody else to judge."""

import contextlib
import hashlib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opconform.errors import HarnessError, SuiteError, UsageError
from opconform.files import check_no_link, replacement
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.npz import member, npz_bytes
from opconform_runners.backends.backend import Placement
from opconform_runners.execution.outputs_archive import (
    ANSWERS,
    HEADER,
    Answer,
    Kept,
    Origin,
    answer_line,
    blind_digest,
    kind_of,
    origin_text,
    outputs_name,
)
from opconform_runners.execution.runner import RunOptions, selected
from opconform_runners.execution.scheduler import Executed, execute
from opconform_runners.harness.command import Command
from opconform_runners.harness.environment import environment_of
from opconform_runners.harness.outcome import Outcome, Returned
from opconform_runners.harness.protocol import NotSupported, Refused

#: After these a harness process is not what it was, so the second time is one that no other case has touched.
_ALONE = ("crash", "timeout")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What was recorded: the SHA-256 of the file, and what was run, on what."""

    digest: str
    origin: Origin


def record(
    suite: Suite, command: Command, out: Path, options: RunOptions, tell: Callable[[float, int], None] = lambda *_: None
) -> Recording:
    """Execute cases of a suite and write down what came of them.

    Every case is executed twice, the second time in a fresh harness, since only who judges knows which of them fail.

    Args:
        suite: The suite, blind or not.
        command: How the harness is started.
        out: The file, whose name ends in `.zip`. It appears whole or not at all.
        options: How to run.
        tell: Told the share of the work that is done, of 1, and how many executions that are.

    Raises:
        HarnessError: The harness cannot be started, or not again.
        SuiteError: A file of the suite is not what it says, or the disk refuses.
        UsageError: No case is selected, or the outputs have no place.
    """
    entries = selected(suite, options.selection)
    with _archive(out) as archive:
        recorder = _Recorder(suite, command, options, archive, tell)
        executed = recorder.run(entries)
        lines = b"".join(answer_line(each.id, recorder.first[each.id], recorder.again[each.id]) for each in entries)
        origin = Origin(
            suite=blind_digest(suite),
            implementation=executed.implementation,
            environment=environment_of(command, executed.implementation, recorder.placements()),
            timeout=options.timeout,
            counts=dict(sorted(Counter(kind_of(each) for each in recorder.first.values()).items())),
            digest=hashlib.sha256(lines).hexdigest(),
        )
        archive.writestr(member(ANSWERS), lines)
        archive.writestr(member(HEADER), origin_text(origin))
    with out.open("rb") as file:
        return Recording(digest=hashlib.file_digest(file, "sha256").hexdigest(), origin=origin)


@contextlib.contextmanager
def _archive(out: Path) -> Iterator[zipfile.ZipFile]:
    """The file that is being written, beside its place until it is whole."""
    if out.suffix != ".zip":
        raise UsageError(f"--outputs {out} must be a file whose name ends in .zip.")
    check_no_link(out)
    if out.exists() and not _is_ours(out):
        raise UsageError(f"{out} was not written by opconform, and nothing is overwritten. Name another --outputs.")
    try:
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with replacement(out) as file, zipfile.ZipFile(file, "w") as archive:
            yield archive
    except OSError as fault:
        raise SuiteError(f"{out} cannot be written: {fault.strerror}.") from fault


def _is_ours(path: Path) -> bool:
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return {HEADER, ANSWERS} <= set(archive.namelist())


class _Recorder:
    """One recording, from its first execution to its last."""

    def __init__(
        self,
        suite: Suite,
        command: Command,
        options: RunOptions,
        archive: zipfile.ZipFile,
        tell: Callable[[float, int], None],
    ) -> None:
        self._suite = suite
        self._command = command
        self._options = options
        self._archive = archive
        self._tell = tell
        self.first: dict[str, Answer] = {}
        self.again: dict[str, Answer] = {}

    def run(self, entries: Sequence[Entry]) -> Executed:
        def told(keep: Callable[[str, Outcome], None]) -> Callable[[Entry, Case, Outcome], None]:
            def tell(entry: Entry, case: Case, outcome: Outcome) -> None:  # noqa: ARG001 - an execution says all
                keep(entry.id, outcome)
                done = len(self.first) + len(self.again)
                self._tell(done / (2 * len(entries)), done)

            return tell

        executed = self._execute(entries, told(self._keep_first))
        together = [each for each in entries if kind_of(self.first[each.id]) not in _ALONE]
        if together:
            self._execute(together, told(self._keep_same))
        alone = [each for each in entries if each.id not in self.again]
        if alone:
            self._execute(alone, told(self._keep_again), alone=True)
        return executed

    def placements(self) -> Iterator[Placement]:
        """What executed each case that returned outputs, the first time."""
        for each in self.first.values():
            if isinstance(each, Kept) and each.placement is not None:
                yield each.placement

    def _execute(
        self, entries: Sequence[Entry], tell: Callable[[Entry, Case, Outcome], None], *, alone: bool = False
    ) -> Executed:
        jobs, timeout = self._options.jobs, self._options.timeout
        executed = execute(self._suite, entries, self._command, jobs=jobs, timeout=timeout, tell=tell, alone=alone)
        if executed.gave_up is not None:
            raise HarnessError(f"{executed.gave_up} The outputs are not complete, and none are written.")
        return executed

    def _keep_first(self, identity: str, outcome: Outcome) -> None:
        self.first[identity], contents = _kept(outcome)
        self._write(identity, contents, again=False)

    def _keep_same(self, identity: str, outcome: Outcome) -> None:
        answer, _ = _kept(outcome)
        if _essence(answer) == _essence(self.first[identity]):
            self.again[identity] = answer

    def _keep_again(self, identity: str, outcome: Outcome) -> None:
        self.again[identity], contents = _kept(outcome)
        if _files(self.again[identity]) != _files(self.first[identity]):
            self._write(identity, contents, again=True)

    def _write(self, identity: str, contents: Sequence[bytes], *, again: bool) -> None:
        for feed, content in enumerate(contents):
            self._archive.writestr(member(f"{identity}/{outputs_name(feed, again=again)}"), content)


def _kept(outcome: Outcome) -> tuple[Answer, list[bytes]]:
    """What is written down of an outcome, and the files of its outputs."""
    match outcome:
        case Returned(outputs=outputs, element_types=element_types, seconds=seconds, placement=placement):
            contents = [npz_bytes({f"output_{i}": each for i, each in enumerate(feed)}) for feed in outputs]
            files = tuple(hashlib.sha256(each).hexdigest() for each in contents)
            kept = Kept(files=files, element_types=element_types or None, seconds=seconds, placement=placement)
            return kept, contents
        case Refused() | NotSupported():
            return replace(outcome, seq=0), []
        case _:
            return outcome, []


def _files(answer: Answer) -> tuple[str, ...]:
    return answer.files if isinstance(answer, Kept) else ()


def _essence(answer: Answer) -> tuple[object, ...]:
    """What of an answer a verdict depends on, so that another is worth an execution on its own."""
    match answer:
        case Kept(files=files, element_types=element_types):
            return ("returned", files, element_types)
        case Refused(stage=stage, requirement=requirement):
            return ("rejected", stage, requirement)
        case _:
            return (kind_of(answer),)
