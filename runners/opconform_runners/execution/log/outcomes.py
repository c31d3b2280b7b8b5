"""The log of a run: `outcomes.jsonl` has one line per execution, written at once, so that a kill loses nothing.

The log of a streamed run has lines of the cases that fail, and a line for each finished batch, which counts the others.
Verdicts, results and reports follow from the log and the suite. The outputs that are needed again are in `outputs.zip`.
"""

import contextlib
import hashlib
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as chained
from pathlib import Path

from pydantic import ValidationError

from opconform.errors import DiskError, MissingError, SuiteError, UsageError
from opconform.suite.selection.selection import Selection
from opconform.system.files import read_regular
from opconform_runners.execution.log.logged_outcome import (
    BATCH_BEGINNING,
    BATCH_END,
    LOGGED,
    BatchEnd,
    LoggedOutcome,
    Saved,
    batch_line,
    kept_names,
    logged_line,
    outputs_name,
)
from opconform_runners.execution.log.outputs_zip import RUN_LIMIT, OutputsWriter
from opconform_runners.execution.log.results_folder import FILES, Marks, not_writable, owned_folder
from opconform_runners.verdicts.results import OUTCOMES, OUTPUTS_ZIP, RESULTS, RESULTS_LIMIT, read_written
from opconform_runners.verdicts.run_header import RUN_HEADER, RunHeader, changes, difference, header_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """A log that was read: its header and its complete lines, and the digest of all of them.

    Attributes:
        lines: The executions; of a streamed run, those after the last finished batch.
        batches: The finished batches of a streamed run by number, each with its executions.
        last: The bytes up to the last finished batch, or else of the header, and the digest of these lines.
    """

    path: str
    header: RunHeader
    lines: tuple[LoggedOutcome, ...]
    chain: str
    batches: Mapping[int, tuple[BatchEnd, tuple[LoggedOutcome, ...]]]
    last: tuple[int, str]

    @property
    def every(self) -> Iterator[LoggedOutcome]:
        """All executions, also in finished batches."""
        return chained((logged for _, lines in self.batches.values() for logged in lines), self.lines)


#: The length of the digest at the beginning of each line.
_LINK = len('{"chain":"",') + 64
#: How to get past the results of another run.
_OTHERWISE = "Use another --out, or replace them with --force."


class OutcomeLog:
    """A log that is being written. Until `begin` the folder is as an earlier run left it."""

    def __init__(
        self, out: Path, *, force: bool, resume: bool, files: Marks = FILES, limit: int | None = RUN_LIMIT
    ) -> None:
        """Check that results may be written to the folder, lock it, and read its contents.

        `limit` is the number of bytes of outputs that are kept.
        """
        self._out, self._path, self._names = out, out / OUTCOMES, files.keys()
        self._outputs = OutputsWriter(out / OUTPUTS_ZIP, limit)
        self._file: io.FileIO | None = None
        #: What an interrupted run left, or None.
        self.earlier: Log | None = None
        #: The executions before the run was interrupted, without executions of finished batches.
        self.lines: Sequence[LoggedOutcome] = ()
        self._chain, self._last = "", (0, "")
        with contextlib.ExitStack() as stack:
            stack.enter_context(owned_folder(out, files))
            self._held = None if force else _held(out)
            if self._held is not None and not self._held[1] and resume and _has_content(self._path):
                log = log_in(out)
                if log.lines or log.batches:
                    self.earlier, self._held = log, (log.header, False)
                    self.lines, self._chain, self._last = log.lines, log.chain, log.last
            self._folder = stack.pop_all()

    @property
    def is_begun(self) -> bool:
        """Whether the folder contains outcomes of this run."""
        return self._file is not None

    def begin(self, header: RunHeader) -> None:
        """Make the folder, remove the files of an earlier run, and begin or continue the log.

        Each batch of a streamed run begins it again, under the same conditions.
        """
        if self._held is not None:
            _check_same(self._out, *self._held, header, resumed=self.earlier is not None or self.is_begun)
        if self.is_begun:
            return
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            for name in self._names - ({OUTCOMES, OUTPUTS_ZIP} if self.earlier else set()):
                (self._out / name).unlink(missing_ok=True)  # the file may have another name elsewhere
            self._file = self._path.open("r+b" if self.earlier else "x+b", buffering=0)
            if self.earlier is not None:
                self._file.truncate(self._path.read_bytes().rfind(b"\n") + 1)
                self._file.seek(0, io.SEEK_END)
                self._outputs.resume({name for logged in self.earlier.every for name in kept_names(logged)})
            else:
                self._write(header_line(header))
                self._chain = _linked("", header_line(header))[0]
                self._last = (self._file.tell(), self._chain)
        except OSError as error:
            raise not_writable(self._out, error) from error
        self._held = (header, False)

    def add(self, logged: LoggedOutcome, files: Sequence[bytes] = ()) -> None:
        """Write a line at once, after the outputs that it names, or raise a DiskError.

        Outputs that do not fit into the rest of the room are left out.
        """
        if files and not self._outputs.has_room(sum(map(len, files))) and isinstance(logged.outcome, Saved):
            logged, files = replace(logged, outcome=replace(logged.outcome, files=())), ()
        for feed, content in enumerate(files):
            self._outputs.write(outputs_name(logged.case, feed, logged.execution), content)
        self._append([logged_line(logged)])

    def end_batch(self, end: BatchEnd, cases: Collection[str]) -> None:
        """Drop the lines of a batch except the lines of some cases, and end it, or raise a DiskError.

        A kill before the last line is written leaves executions of a batch that is continued.
        """
        if self._file is None:
            return
        try:
            start, self._chain = self._last
            self._file.seek(start)
            texts = [b"{" + line[_LINK:] for line in self._file.read().splitlines(keepends=True)]
            self._file.seek(start)
            self._file.truncate()
        except OSError as error:
            raise DiskError(self._path, error) from error
        self._append([*(text for text in texts if json.loads(text)["case"] in cases), batch_line(end)])
        self.lines, self._last = (), (self._file.tell(), self._chain)

    def _append(self, lines: Iterable[bytes]) -> None:
        """Write lines at once, each with its digest, or raise a DiskError."""
        chain, sealed = self._chain, list[bytes]()
        for text in lines:
            chain, line = _linked(chain, text)
            sealed.append(line)
        try:
            self._write(b"".join(sealed))
        except OSError as error:
            raise DiskError(self._path, error) from error
        self._chain = chain

    def close(self) -> None:
        """Close the files, if they were begun, and let others write to the folder."""
        self._outputs.close()
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


def log_in(out: Path) -> Log:
    """The log in the folder of a run; a MissingError if it has none."""
    path = out / OUTCOMES
    if not path.is_file():
        raise MissingError(f"{path} is missing. Use the whole folder that `run` or `certify` wrote.")
    return read_log(_content(path), str(path))


def read_log(content: bytes, where: str) -> Log:
    """The log in a file; a SuiteError, in which `where` is its name, if a line was changed, added or removed."""
    first, *lines = [line for line in io.BytesIO(content) if line.endswith(b"\n")] or [b""]
    logged, chain, place = list[LoggedOutcome](), _linked("", first)[0], len(first)
    batches, last = dict[int, tuple[BatchEnd, tuple[LoggedOutcome, ...]]](), (place, chain)
    try:
        header = RUN_HEADER.validate_json(first)
    except ValidationError as error:
        raise SuiteError(f"{where} has no header that this version of opconform writes. Repeat the run.") from error
    for number, line in enumerate(lines, 2):
        text = b"{" + line[_LINK:]
        chain, sealed = _linked(chain, text)
        what = f"{where}:{number} is not what a run wrote there. Repeat the run with --force."
        if line != sealed:
            raise SuiteError(what)
        place += len(line)
        try:
            if text.startswith(BATCH_BEGINNING):
                end = BATCH_END.validate_json(text)
                if end.batch != len(batches) + 1:
                    raise SuiteError(what)
                batches[end.batch] = (end, tuple(logged))
                logged, last = [], (place, chain)
            else:
                logged.append(LOGGED.validate_json(text))
                if logged[-1].pack is not None and (header.alone or header.implementation.packs == 1):
                    raise SuiteError(what)
        except ValidationError as error:
            raise SuiteError(what) from error
    return Log(path=where, header=header, lines=tuple(logged), chain=chain, batches=batches, last=last)


def linked(header: bytes, lines: Iterable[bytes]) -> bytes:
    """A log: its header and its lines, each with the digest of itself and of all before it."""
    chain, text = _linked("", header)[0], [header]
    for line in lines:
        chain, sealed = _linked(chain, line)
        text.append(sealed)
    return b"".join(text)


def _linked(chain: str, line: bytes) -> tuple[str, bytes]:
    """The digest of a line and of all lines before it, whose digest is `chain`; and the line with that digest."""
    chain = hashlib.sha256(chain.encode() + line).hexdigest()
    return chain, b'{"chain":"%s",' % chain.encode() + line[1:]


def check_certifiable(out: Path, started: str, selection: Selection, seed: int) -> None:
    """Check that a folder holds no results of another run than a certification of that backend on that selection.

    `started` has the options of the command line that name the backend.
    """
    if (present := _held(out)) is None:
        return
    header, _ = present
    wanted = (started, True, tuple(sorted(selection.profiles)), seed, selection.shard)
    if (header.backend, header.whole, header.profiles, header.suite.seed, header.shard) != wanted:
        raise UsageError(f"{out} contains the results of {header.title}, not of this certification. {_OTHERWISE}")


def _held(out: Path) -> tuple[RunHeader, bool] | None:
    """The header of the run in a folder, and whether that run is complete; None if there is none."""
    try:
        if _has_content(out / RESULTS):
            written = read_written(out / RESULTS)
            return written.header, written.is_complete
        if _has_content(out / OUTCOMES):
            return read_log(_content(out / OUTCOMES).partition(b"\n")[0] + b"\n", str(out / OUTCOMES)).header, False
    except SuiteError as error:
        raise UsageError(f"{str(error).removesuffix(' Repeat the run.')} {_OTHERWISE}") from error
    return None


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, RESULTS_LIMIT)
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}.") from error


def _check_same(out: Path, present: RunHeader, is_complete: bool, new: RunHeader, *, resumed: bool) -> None:
    """Refuse to replace the results of another run, or to continue one under other conditions."""
    state = "" if is_complete else ", interrupted"
    if (aspect := difference(present, new)) is not None:
        kind = "a certification" if new.whole else "not a certification"
        this = f"this run is {kind}" if aspect == "kind" else f"this run has a different {aspect}"
        raise UsageError(f"{out} contains the results of {present.title}{state}, but {this}. {_OTHERWISE}")
    changed = changes(present, new) or ([] if present == new.counting_as(present) else ["the options"])
    if resumed and changed:
        raise UsageError(
            f"{out} contains the results of {present.title}, interrupted, and "
            f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since then. {_OTHERWISE}"
        )
