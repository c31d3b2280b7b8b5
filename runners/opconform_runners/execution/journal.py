"""The journal of a run: `results.jsonl` during the run, one line per execution, so that a kill loses nothing."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import DiskError, SuiteError, UsageError
from opconform.files import is_ours
from opconform.suite.manifest import HEADER, MANIFEST
from opconform.suite.selection import Selection
from opconform.tensors.tensor import Array
from opconform_runners.execution.failed_outputs import KEPT, KEPT_BEGINNING, Keeper
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts.results import (
    CERTIFICATE,
    PAGE,
    PAGE_BEGINNING,
    REPORT,
    RESULTS,
    Result,
    Written,
    line_of,
    read_written,
    result_document,
)
from opconform_runners.verdicts.run_header import RunHeader, changes, difference, header_line
from opconform_runners.verdicts.verdict import Own, twin_gap

#: The files of a run, and the possible first bytes of each.
_MARKS: Mapping[str, tuple[bytes, ...]] = {
    RESULTS: (b'{"broken"', b'{"cases"', b'{"expect"'),
    REPORT: (b'{\n "format"',),
    CERTIFICATE: (b'{\n "payload"',),
    PAGE: (PAGE_BEGINNING,),
    KEPT: (KEPT_BEGINNING,),
}
#: An execution of a case: the first, one in a fresh harness, one in a harness that no other case touched, or the one of
#: its control.
Attempt = Literal["first", "again", "alone", "control"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A line of the journal: one execution of a case, its own verdict, and the result so far regardless of the twin.

    `incidents` are what happened to the process in this execution, whether or not it recurs with the case alone.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    execution: Attempt
    own: Own
    result: Result
    twin: str | None = None
    incidents: tuple[Incident, ...] = ()


_STEP = TypeAdapter(Step)


class Journal:
    """A journal that is being written. Until `begin` the folder is as an earlier run left it."""

    def __init__(self, out: Path, *, force: bool, resume: bool) -> None:
        """Check that results may be written to the folder, and read its contents."""
        check_folder(out)
        self._out = out
        self._keeper = Keeper(out)
        self._path = out / RESULTS
        self._file: io.FileIO | None = None
        self._held = None if force else _held(self._path)
        #: The executions before the run was interrupted.
        self.steps: Sequence[Step] = ()
        if self._held is not None and not self._held.is_complete and resume:
            self.steps = read_steps(self._path, self._held.lines)

    @property
    def is_begun(self) -> bool:
        """Whether the folder contains results of this run."""
        return self._file is not None

    def begin(self, header: RunHeader) -> None:
        """Make the folder, remove the files of an earlier run, and begin or continue the journal."""
        if self._held is not None:
            _check_same(self._out, self._held, header, resumed=bool(self.steps))
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            for name in _MARKS.keys() - ({RESULTS, KEPT} if self.steps else set()):
                (self._out / name).unlink(missing_ok=True)
            self._file = self._path.open("r+b" if self.steps else "wb", buffering=0)
            if self.steps:
                self._file.truncate(self._path.read_bytes().rfind(b"\n") + 1)
                self._file.seek(0, io.SEEK_END)
                self._keeper.resume()
            else:
                self._write(header_line(header))
        except OSError as fault:
            raise _no_place(self._out, fault) from fault

    def add(self, step: Step, outputs: Sequence[Sequence[Array]]) -> None:
        """Write a line at once, and keep the outputs of a case that fails, or raise a DiskError."""
        if outputs and step.execution == "first" and step.own.verdict == "fail":
            self._keeper.keep(step.result.id, outputs)
        document = _STEP.dump_python(step, mode="json", exclude={"result"})
        try:
            self._write(line_of(document | {"result": result_document(step.result)}))
        except OSError as fault:
            raise DiskError(self._out / RESULTS, fault) from fault

    def close(self) -> None:
        """Close the files, if they were begun."""
        self._keeper.close()
        if self._file is not None:
            self._file.close()

    def _write(self, line: bytes) -> None:
        """Write a whole line, or nothing of it."""
        if self._file is None:
            return
        end = self._file.tell()
        written = 0
        try:
            while written < len(line):  # a disk that is nearly full may take a part
                written += self._file.write(line[written:])
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise


def read_steps(path: Path, lines: Sequence[bytes]) -> list[Step]:
    """The steps of an interrupted run; a SuiteError if a line is not a step."""
    try:
        return [_STEP.validate_json(line) for line in lines]
    except ValidationError as fault:
        advice = "Repeat the run with --force."
        raise SuiteError(f"{path} contains a line that no interrupted run wrote. {advice}") from fault


def results_so_far(steps: Sequence[Step]) -> list[Result]:
    """The results of an interrupted run, sorted by id."""
    last = {each.result.id: each for each in steps}
    return [_so_far(each, last.get(each.twin or "")) for _, each in sorted(last.items())]


def _so_far(step: Step, twin: Step | None) -> Result:
    """A result that takes the twin into account: a rejection counts only if the twin passed."""
    result = step.result
    why = twin_gap(step.twin, None if twin is None else (twin.result.verdict, twin.result.sentence))
    if result.expect == "accept" or result.verdict != "pass" or why is None:
        return result
    return replace(result, verdict="inconclusive", sentence=why, late=False, other_reason=None)


def check_folder(out: Path) -> None:
    """Check that results may be written to a folder, without changing it."""
    for each in (out, *out.absolute().parents):
        if (each / MANIFEST).is_file() and (each / HEADER).is_file():
            raise UsageError(f"Results cannot be written to {out}: it is part of the suite {each}. Use another --out.")
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"Results cannot be written to {out}: it is a file. Use another --out.")
        for name, marks in _MARKS.items():
            if not is_ours(out / name, marks):
                raise UsageError(f"opconform did not write {out / name} and does not overwrite it. Use another --out.")
    except OSError as fault:
        raise _no_place(out, fault) from fault


def check_certifiable(out: Path, started: str, selection: Selection, seed: int) -> None:
    """Check that a folder holds no results of another run than a certification of that backend on that selection.

    `started` has the options of the command line that name the backend.
    """
    written = _held(out / RESULTS)
    if written is None:
        return
    held = written.header
    wanted = (started, True, tuple(sorted(selection.profiles)), seed, selection.shard)
    if (held.backend, held.whole, held.profiles, held.suite.seed, held.shard) != wanted:
        raise UsageError(f"{out} contains the results of {held.title}, not of this certification. {_OTHERWISE}")


def _held(path: Path) -> Written | None:
    try:
        return read_written(path) if path.is_file() and path.stat().st_size else None
    except SuiteError as fault:
        raise UsageError(f"{str(fault).removesuffix(' Repeat the run.')} {_OTHERWISE}") from fault


def _check_same(out: Path, written: Written, new: RunHeader, *, resumed: bool) -> None:
    """Refuse to replace the results of another run, or to continue one under other conditions."""
    held, state = written.header, "" if written.is_complete else ", interrupted"
    if (other := difference(held, new)) is not None:
        kind = "a certification" if new.whole else "not a certification"
        this = f"this run is {kind}" if other == "kind" else f"this run has a different {other}"
        raise UsageError(f"{out} contains the results of {held.title}{state}, but {this}. {_OTHERWISE}")
    if resumed and (changed := changes(held, new)):
        raise UsageError(
            f"{out} contains the results of {held.title}, interrupted, and "
            f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since then. {_OTHERWISE}"
        )


#: How to get past the results of another run.
_OTHERWISE = "Use another --out, or replace them with --force."


def _no_place(out: Path, fault: OSError) -> DiskError | UsageError:
    if DiskError.is_full(fault):
        return DiskError(out, fault)
    return UsageError(f"Results cannot be written to {out}: {fault.strerror}. Use another --out.")
