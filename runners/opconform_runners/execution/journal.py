"""The journal of a run: `results.jsonl` during the run, one line per execution, so that a kill loses nothing."""

import contextlib
import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import DiskError, SuiteError, UsageError
from opconform.suite.selection import Selection
from opconform.tensors.tensor import Array
from opconform_runners.execution.failed_outputs import KEPT, Keeper
from opconform_runners.execution.results_folder import FILES, not_writable, owned_folder
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts.results import (
    RESULTS,
    Result,
    Written,
    line_of,
    read_written,
    result_document,
)
from opconform_runners.verdicts.run_header import RunHeader, changes, difference, header_line
from opconform_runners.verdicts.verdict import Own, twin_gap

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
#: The length of the digest at the beginning of each line.
_LINK = len('{"chain":"",') + 64


class Journal:
    """A journal that is being written. Until `begin` the folder is as an earlier run left it."""

    def __init__(self, out: Path, *, force: bool, resume: bool) -> None:
        """Check that results may be written to the folder, lock it, and read its contents."""
        self._out = out
        self._keeper = Keeper(out)
        self._path = out / RESULTS
        self._file: io.FileIO | None = None
        #: The executions before the run was interrupted.
        self.steps: Sequence[Step] = ()
        self._chain = ""
        with contextlib.ExitStack() as stack:
            stack.enter_context(owned_folder(out))
            self._held = None if force else _held(self._path)
            if self._held is not None and not self._held.is_complete and resume:
                self.steps = read_steps(self._held)
                if self.steps:
                    self._chain = self._held.lines[-1][_LINK - 66 : _LINK - 2].decode()
            self._folder = stack.pop_all()

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
            for name in FILES.keys() - ({RESULTS, KEPT} if self.steps else set()):
                (self._out / name).unlink(missing_ok=True)  # the file may have another name elsewhere
            self._file = self._path.open("r+b" if self.steps else "xb", buffering=0)
            if self.steps:
                self._file.truncate(self._path.read_bytes().rfind(b"\n") + 1)
                self._file.seek(0, io.SEEK_END)
                self._keeper.resume()
            else:
                self._write(header_line(header))
                self._chain = _linked("", header_line(header))[0]
        except OSError as fault:
            raise not_writable(self._out, fault) from fault

    def add(self, step: Step, outputs: Sequence[Sequence[Array]]) -> None:
        """Write a line at once, and keep the outputs of a case that fails, or raise a DiskError."""
        if outputs and step.execution == "first" and step.own.verdict == "fail":
            self._keeper.keep(step.result.id, outputs)
        document = _STEP.dump_python(step, mode="json", exclude={"result"})
        try:
            chain, line = _linked(self._chain, line_of(document | {"result": result_document(step.result)}))
            self._write(line)
            self._chain = chain
        except OSError as fault:
            raise DiskError(self._out / RESULTS, fault) from fault

    def close(self) -> None:
        """Close the files, if they were begun, and let others write to the folder."""
        self._keeper.close()
        if self._file is not None:
            self._file.close()
        self._folder.close()

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


def read_steps(written: Written) -> list[Step]:
    """The steps of an interrupted run; a SuiteError if a line is not a step, or was changed, added or removed."""
    steps, chain = [], _linked("", header_line(written.header))[0]
    for number, line in enumerate(written.lines, 2):
        content = b"{" + line[_LINK:]
        chain, linked = _linked(chain, content)
        what = f"{written.path}:{number} is not what an interrupted run wrote there. Repeat the run with --force."
        if line != linked:
            raise SuiteError(what)
        try:
            steps.append(_STEP.validate_json(content))
        except ValidationError as fault:
            raise SuiteError(what) from fault
    return steps


def linked(header: bytes, lines: Iterable[bytes]) -> bytes:
    """A journal: its header, and the lines of its steps, each with the digest of itself and of all before it."""
    chain, text = _linked("", header)[0], [header]
    for line in lines:
        chain, sealed = _linked(chain, line)
        text.append(sealed)
    return b"".join(text)


def _linked(chain: str, line: bytes) -> tuple[str, bytes]:
    """The digest of a line and of all lines before it, whose digest is `chain`; and the line with that digest."""
    chain = hashlib.sha256(chain.encode() + line).hexdigest()
    return chain, b'{"chain":"%s",' % chain.encode() + line[1:]


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
    changed = changes(held, new) or ([] if held == replace(new, strict=held.strict) else ["the options"])
    if resumed and changed:
        raise UsageError(
            f"{out} contains the results of {held.title}, interrupted, and "
            f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since then. {_OTHERWISE}"
        )


#: How to get past the results of another run.
_OTHERWISE = "Use another --out, or replace them with --force."
