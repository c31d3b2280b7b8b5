"""A recording: one zip file with the log of every case and all its outputs, to be judged elsewhere.

```
outcomes.jsonl      the log, without verdicts: each case was executed twice
<case id>/          outputs.npz, outputs.1.npz of a second feed; again.npz, … where the second outputs differ
```
"""

import contextlib
import hashlib
import shutil
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opconform.errors import DiskError, HarnessError, MissingError, SuiteError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, entry_line
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import check_named
from opconform.system.files import open_regular
from opconform.tensors.npz import arrays_of, member
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.case_verdicts import execute_again
from opconform_runners.execution.log.logged_outcome import (
    Answer,
    Attempt,
    LoggedOutcome,
    Saved,
    answer_of,
    kept_names,
    output_files,
    outputs_name,
)
from opconform_runners.execution.log.outcomes import OutcomeLog, read_log
from opconform_runners.execution.log.outputs import PLENTY, in_order, member_content, output_limit
from opconform_runners.execution.log.outputs_zip import MARK
from opconform_runners.execution.log.results_folder import FILES
from opconform_runners.execution.plan import RunOptions, RunPlan, run_header_of, selected
from opconform_runners.execution.runner import OnProgress
from opconform_runners.execution.scheduler import OnReady, execute
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.environment import environment_of
from opconform_runners.harness.outcome import Incident, Outcome, Returned
from opconform_runners.harness.protocol import Refused
from opconform_runners.verdicts.judge import ENDS
from opconform_runners.verdicts.results import OUTCOMES, OUTPUTS_ZIP
from opconform_runners.verdicts.run_header import RunHeader

#: The most bytes of the log of a recording.
_LIMIT = 1 << 30
#: The files that a blind suite does not have: expected outputs, and neighbour checks, whose inputs would reveal them.
_NOT_BLIND = ("expected.", f"{NEIGHBOUR_CHECK}/")


def blind_digest(suite: Suite) -> str:
    """The digest that a suite has when it is blind, so without expected outputs and neighbour checks."""
    manifest = hashlib.sha256()
    for entry in suite.entries:
        files = {name: digest for name, digest in entry.files.items() if not name.startswith(_NOT_BLIND)}
        manifest.update(entry_line(replace(entry, files=files)).encode())
    return manifest.hexdigest()


def record(
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
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return OUTCOMES in archive.namelist()


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
        left = [entry for entry in self.entries if entry.id not in self.first]
        gave_up = self._execute(left, "first", self._begin) or execute_again(self, self.entries, self._execute)
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


@dataclass(frozen=True, kw_only=True)
class Record:
    """A recording that has been checked: for each case its first and its second execution."""

    path: Path
    header: RunHeader
    digest: str
    lines: Mapping[str, tuple[LoggedOutcome, LoggedOutcome]]
    archive: zipfile.ZipFile

    def outcome(self, suite: Suite, entry: Entry, case: Case, logged: LoggedOutcome) -> Outcome:
        """The outcome of one of the executions of a case, with its outputs."""
        answer, first = logged.outcome, self.lines[entry.id][0].outcome
        if not isinstance(answer, Saved):
            return answer
        if len(answer.files) != case.feeds or len(answer.element_types or answer.files) != case.feeds:
            raise SuiteError(f"{self.path}: the outputs of {case.id} do not match its number of feeds.")
        attempt: Attempt = "first" if answer.files == output_files(first) else "again"
        names = [outputs_name(case.id, feed, attempt) for feed in range(case.feeds)]
        size = max(self.archive.getinfo(name).file_size for name in names)
        limit = PLENTY if size <= PLENTY else output_limit(suite, entry, case)
        return Returned(
            outputs=tuple(self._outputs(*named, limit) for named in zip(names, answer.files, strict=True)),
            element_types=answer.element_types,
            seconds=answer.seconds,
            placement=answer.placement,
        )

    def _outputs(self, name: str, digest: str, limit: int) -> tuple[Array, ...]:
        content = member_content(self.archive, self.path, name, limit)
        if hashlib.sha256(content).hexdigest() != digest:
            raise SuiteError(f"{self.path}: {name} was changed after the run.")
        outputs = in_order(arrays_of(content, f"{self.path}: {name}", limit=limit))
        if outputs is None:
            raise SuiteError(f"{self.path}: the arrays in {name} are not called output_0, output_1, ….")
        return outputs


def open_record(path: Path) -> Record:
    """The recording in a file."""
    check_kind(path, "record")
    try:
        open_regular(path, follow_links=True).close()
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise MissingError(f"Recorded outputs not found: {path}. Name a file that `run --record` wrote.") from error
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}. Name a file that `run --record` wrote.") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise SuiteError(f"{path} is not a complete file of outputs, as `run --record` writes it: {error}.") from error
    log = read_log(member_content(archive, path, OUTCOMES, _LIMIT), f"{path}: {OUTCOMES}")
    lines = _executions(log.lines, log.header, path)
    names = {name for both in lines.values() for name in _held_names(*both)}
    members = sorted(archive.namelist())
    if members != sorted([OUTCOMES, *names, *([MARK] if names else [])]):
        odd = min(set(members) ^ {OUTCOMES, MARK, *names}, default="a repeated file")
        raise SuiteError(f"{path} does not contain exactly the files that it lists: {odd}.")
    with open_regular(path, follow_links=True) as file:  # only now, since a huge file would take long
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Record(path=path, header=log.header, digest=digest, lines=lines, archive=archive)


def _held_names(first: LoggedOutcome, second: LoggedOutcome) -> list[str]:
    is_same = output_files(first.outcome) == output_files(second.outcome)
    return [*kept_names(first), *(() if is_same else kept_names(second))]


def _executions(
    lines: Sequence[LoggedOutcome], header: RunHeader, path: Path
) -> dict[str, tuple[LoggedOutcome, LoggedOutcome]]:
    """The first and the second execution of each case; that alone counts more than that in a fresh harness."""
    runs: dict[str, dict[Attempt, LoggedOutcome]] = defaultdict(dict)
    for logged in lines:
        if logged.execution in runs[logged.case] or logged.execution == "neighbour-check" or logged.own is not None:
            raise SuiteError(f"{path}: {OUTCOMES} has a line of {logged.case} that no recording has.")
        runs[logged.case][logged.execution] = logged
    both = {
        case: (logged.get("first"), logged.get("alone", logged.get("again"))) for case, logged in sorted(runs.items())
    }
    whole = {case: (first, second) for case, (first, second) in both.items() if first and second}
    if len(whole) != header.cases or len(runs) != header.cases:
        raise SuiteError(f"{path} is not complete: {OUTCOMES} does not have two executions of each case.")
    return whole
