"""The recorder executes a suite without judging it, and writes the outcomes to one file to be judged elsewhere."""

import contextlib
import hashlib
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opconform.errors import HarnessError, SuiteError, UsageError
from opconform.files import replacement
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.ownership import check_named
from opconform.suite.reader import Suite
from opconform.tensors.npz import member, npz_bytes
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.journal import Attempt
from opconform_runners.execution.outputs_archive import (
    ANSWERS,
    HEADER,
    Answer,
    Line,
    Origin,
    SavedOutputs,
    blind_digest,
    files_of,
    origin_text,
    outputs_name,
)
from opconform_runners.execution.runner import OnProgress, RunOptions, selected
from opconform_runners.execution.scheduler import execute
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.environment import environment_of
from opconform_runners.harness.outcome import Incident, Outcome, Returned
from opconform_runners.harness.protocol import Refused
from opconform_runners.verdicts.judge import ENDS


def record(
    suite: Suite, command: Command, out: Path, options: RunOptions, on_progress: OnProgress = lambda *_: None
) -> tuple[str, Origin]:
    """Execute cases of a suite and record their outcomes.

    Every case is executed twice, the second time in a fresh harness, since it is not known here which cases fail.
    The suite may be blind. The file appears whole or not at all. `on_progress` is called with the number of executions.

    Returns:
        The SHA-256 of the file, and its origin.
    """
    entries = selected(suite, options.selection)
    with _archive(out) as archive:
        launch = Launch(command=command, jobs=options.jobs, timeout=options.timeout)
        recorder = _Recorder(suite, launch, entries, archive, on_progress)
        implementation = recorder.run()
        first = recorder.first
        lines = b"".join(recorder.line(each.id).text for each in entries)
        placements = (each.placement for each in first.values() if isinstance(each, SavedOutputs))
        origin = Origin(
            suite=blind_digest(suite),
            implementation=implementation,
            environment=environment_of(command, implementation, filter(None, placements)),
            timeout=options.timeout,
            counts=dict(sorted(Counter(each.status for each in first.values()).items())),
            digest=hashlib.sha256(lines).hexdigest(),
        )
        archive.writestr(member(ANSWERS), lines)
        archive.writestr(member(HEADER), origin_text(origin))
    with out.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), origin


@contextlib.contextmanager
def _archive(out: Path) -> Iterator[zipfile.ZipFile]:
    """The file that is being written, under a temporary name until it is whole."""
    if out.suffix != ".zip":
        raise UsageError(f"--record {out} must be a file whose name ends in .zip.")
    check_named(out)
    if out.exists() and not _is_ours(out):
        raise UsageError(f"opconform did not write {out} and does not overwrite it. Use another --record.")
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


@dataclass(slots=True)
class _Recorder:
    suite: Suite
    launch: Launch
    entries: Sequence[Entry]
    archive: zipfile.ZipFile
    on_progress: OnProgress
    first: dict[str, Answer] = field(default_factory=dict)
    again: dict[str, Answer] = field(default_factory=dict)
    incidents: dict[str, list[Incident]] = field(default_factory=dict)

    def run(self) -> Implementation:
        """Execute every case twice. What crashed, timed out or ended differently is executed alone."""
        implementation = self._execute(self.entries, "first")
        repeatable = [each for each in self.entries if self.first[each.id].status not in ENDS]
        if repeatable:
            self._execute(repeatable, "again")
        if left := [each for each in self.entries if each.id not in self.again]:
            self._execute(left, "alone")
        return implementation

    def _execute(self, entries: Sequence[Entry], attempt: Attempt) -> Implementation:
        def on_outcome(entry: Entry, _case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
            self._note(entry.id, attempt, outcome)
            self.incidents.setdefault(entry.id, []).extend(incidents)
            done = len(self.first) + len(self.again)
            self.on_progress(done / (2 * len(self.entries)), done)

        implementation, gave_up = execute(self.suite, entries, self.launch, on_outcome, alone=attempt == "alone")
        if gave_up is not None:
            raise HarnessError(f"{gave_up} The outputs are not complete, and none are written.")
        return implementation

    def line(self, identity: str) -> Line:
        """The line of a case that was executed twice."""
        first, again, incidents = self.first[identity], self.again[identity], self.incidents[identity]
        return Line(id=identity, first=first, again=again, incidents=tuple(incidents))

    def _note(self, identity: str, attempt: Attempt, outcome: Outcome) -> None:
        answer, contents = _answer(outcome)
        first = self.first.setdefault(identity, answer)
        if attempt == "alone" or (attempt == "again" and _essence(answer) == _essence(first)):
            self.again[identity] = answer
        if attempt == "first" or (attempt == "alone" and files_of(answer) != files_of(first)):
            for feed, content in enumerate(contents):
                self.archive.writestr(member(outputs_name(identity, feed, again=attempt == "alone")), content)


def _answer(outcome: Outcome) -> tuple[Answer, list[bytes]]:
    """An outcome as it is recorded, and the contents of its output files."""
    if not isinstance(outcome, Returned):
        return outcome, []
    contents = [npz_bytes({f"output_{i}": each for i, each in enumerate(feed)}) for feed in outcome.outputs]
    files = tuple(hashlib.sha256(each).hexdigest() for each in contents)
    answer = SavedOutputs(
        files=files,
        element_types=outcome.element_types or None,
        seconds=outcome.seconds,
        placement=outcome.placement,
    )
    return answer, contents


def _essence(answer: Answer) -> tuple[object, ...]:
    """What a verdict depends on; where it differs the second time, the case is executed alone."""
    match answer:
        case SavedOutputs(files=files, element_types=element_types):
            return ("returned", files, element_types)
        case Refused(stage=stage, requirement=requirement):
            return ("rejected", stage, requirement)
        case _:
            return (answer.status,)
