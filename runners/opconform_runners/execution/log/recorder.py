"""The recorder: it executes the cases of a suite, which may be blind, and writes a recording."""

import contextlib
import hashlib
import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opconform.errors import DiskError, HarnessError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import check_named
from opconform.tensors.npz import ZIP_ERRORS, member
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.case_verdicts import execute_again
from opconform_runners.execution.log.logged_outcome import (
    Answer,
    Attempt,
    LoggedOutcome,
    Saved,
    answer_of,
    output_files,
)
from opconform_runners.execution.log.outcomes import OutcomeLog
from opconform_runners.execution.log.record import blind_digest
from opconform_runners.execution.log.results_folder import FILES
from opconform_runners.execution.plan import RunOptions, RunPlan, run_header_of, selected
from opconform_runners.execution.progress import OnProgress
from opconform_runners.execution.scheduler import OnReady, execute
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.environment import environment_of
from opconform_runners.harness.outcome import Incident, Outcome
from opconform_runners.harness.protocol import Refused
from opconform_runners.verdicts.judge import ENDS
from opconform_runners.verdicts.results import OUTCOMES, OUTPUTS_ZIP
from opconform_runners.verdicts.run_header import RunHeader


def record_outputs(
    suite: Suite, command: Command, out: Path, options: RunOptions, on_progress: OnProgress = lambda *_: None
) -> tuple[str, RunHeader, Mapping[str, int]]:
    """Execute cases of a suite and record their outcomes.

    Every case is executed twice, the second time in a fresh harness, since it is not known here which cases fail.
    The suite may be blind. The log grows in a folder beside the file, and the same call continues an interrupted one.

    Returns:
        The SHA-256 of the file, its header, and the number of cases by their first outcome.
    """
    if out.suffix != ".zip":
        raise UsageError(f"--record {out} must be a file whose name ends in .zip.")
    check_named(out)
    if out.exists() and not _is_ours(out):
        raise UsageError(f"opconform did not write {out} and does not overwrite it. Use another --record.")
    work = out.with_name(f"{out.name}.part")
    files = {name: FILES[name] for name in (OUTCOMES, OUTPUTS_ZIP)}
    log = OutcomeLog(work, force=options.force, resume=options.resume, files=files, limit=None)
    with contextlib.closing(log):
        recorder = _Recorder(suite, command, options, log, selected(suite, options.selection), on_progress)
        recorder.run()
    try:
        with zipfile.ZipFile(work / OUTPUTS_ZIP, "a" if (work / OUTPUTS_ZIP).exists() else "w") as archive:
            archive.writestr(member(OUTCOMES), (work / OUTCOMES).read_bytes())
        with (work / OUTPUTS_ZIP).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        (work / OUTPUTS_ZIP).replace(out)
        shutil.rmtree(work)
    except OSError as error:
        raise DiskError(out, error) from error
    return digest, recorder.header, dict(sorted(Counter(x.status for x in recorder.first.values()).items()))


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return OUTCOMES in archive.namelist()
    except ZIP_ERRORS:
        return False


@dataclass(slots=True)
class _Recorder:
    """Executes cases twice. What crashed, timed out or ended differently is executed alone."""

    suite: Suite
    command: Command
    options: RunOptions
    log: OutcomeLog
    entries: Sequence[Entry]
    on_progress: OnProgress
    header: RunHeader = field(init=False)
    first: dict[str, Answer] = field(default_factory=dict)
    second: dict[str, Answer] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Execute all cases, and log their outcomes."""
        for logged in self.log.lines:
            self._take(logged.case, logged.execution, logged.outcome)
        unexecuted = [entry for entry in self.entries if entry.id not in self.first]
        gave_up = self._execute(unexecuted, "first", self._begin) or execute_again(self, self.entries, self._execute)
        if gave_up is not None:
            raise HarnessError(f"{gave_up} The same command continues with the cases that are left.")

    def due(self, entries: Sequence[Entry], attempt: Attempt) -> list[Entry]:
        """The entries to execute again, or alone."""
        if attempt == "again":
            return [entry for entry in entries if entry.id not in self.second and not self._ended(entry)]
        if attempt == "neighbour-check":
            return []
        return [
            entry
            for entry in entries
            if entry.id not in self.alone
            and (self._ended(entry) or _essence(self.first[entry.id]) != _essence(self.second[entry.id]))
        ]

    def _ended(self, entry: Entry) -> bool:
        return self.first[entry.id].status in ENDS

    def _begin(self, implementation: Implementation) -> None:
        plan = RunPlan(
            out=Path(),
            options=self.options,
            environment_of=lambda known: environment_of(self.command, known, ()),
            started=self.command.options,
            memory=self.command.memory,
            program=self.command.program,
        )
        header = run_header_of(self.suite, self.entries, plan, implementation)
        self.header = replace(header, suite=replace(header.suite, digest=blind_digest(self.suite)))
        self.log.begin(self.header)

    def _execute(self, entries: Sequence[Entry], attempt: Attempt, on_ready: OnReady = lambda _: None) -> str | None:
        def on_outcome(entry: Entry, _case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
            answer, files = answer_of(outcome, keeps=True)
            is_same = attempt != "first" and output_files(answer) == output_files(self.first[entry.id])
            logged = LoggedOutcome(case=entry.id, execution=attempt, outcome=answer, incidents=incidents)
            self.log.add(logged, [] if is_same or attempt == "again" else files)
            self._take(entry.id, attempt, answer)
            done = len(self.first) + len(self.second)
            self.on_progress(done / (2 * len(self.entries)), done)

        launch = Launch(command=self.command, jobs=self.options.jobs, timeout=self.options.timeout)
        _, gave_up = execute(self.suite, entries, launch, on_outcome, alone=attempt == "alone", on_ready=on_ready)
        return gave_up

    def _take(self, case: str, attempt: Attempt, answer: Answer) -> None:
        (self.first if attempt == "first" else self.second)[case] = answer
        if attempt == "alone":
            self.alone.add(case)


def _essence(answer: Answer) -> tuple[object, ...]:
    """What a verdict depends on; where it differs the second time, the case is executed alone."""
    match answer:
        case Saved(files=files, element_types=element_types):
            return ("returned", files, element_types)
        case Refused(stage=stage, requirement=requirement):
            return ("rejected", stage, requirement)
        case _:
            return (answer.status,)
