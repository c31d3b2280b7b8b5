"""A recording: one zip file with the log of every case and all its outputs, to be judged elsewhere.

```
outcomes.jsonl      the log, without verdicts: each case was executed twice
<case id>/          outputs.npz, outputs.1.npz of a second feed; again.npz, … where the second outputs differ
```
"""

import hashlib
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opconform.errors import MissingError, SuiteError
from opconform.suite.case import Case
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, entry_line
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import Suite
from opconform.system.files import open_regular
from opconform.tensors.npz import ZIP_ERRORS, arrays_of
from opconform.tensors.tensor import Array
from opconform_runners.execution.log.logged_outcome import (
    Attempt,
    LoggedOutcome,
    Saved,
    kept_names,
    output_files,
    outputs_name,
)
from opconform_runners.execution.log.outcomes import read_log
from opconform_runners.execution.log.outputs import PLENTY, in_order, member_content, output_limit
from opconform_runners.execution.log.outputs_zip import MARK
from opconform_runners.harness.outcome import Outcome, Returned
from opconform_runners.verdicts.results import OUTCOMES
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
    except ZIP_ERRORS as error:
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
        is_foreign = logged.execution in ("packed", "neighbour-check") or logged.own is not None
        if is_foreign or logged.execution in runs[logged.case]:
            raise SuiteError(f"{path}: {OUTCOMES} has a line of {logged.case} that no recording has.")
        runs[logged.case][logged.execution] = logged
    both = {
        case: (logged.get("first"), logged.get("alone", logged.get("again"))) for case, logged in sorted(runs.items())
    }
    whole = {case: (first, second) for case, (first, second) in both.items() if first and second}
    if len(whole) != header.cases or len(runs) != header.cases:
        raise SuiteError(f"{path} is not complete: {OUTCOMES} does not have two executions of each case.")
    return whole
