"""Standard streams: a reader that has left does not end a command, and a full disk is an error in one sentence."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from opconform.errors import OutputError


class _Output(io.FileIO):
    """Standard output; whatever it refuses, later writes go nowhere, so that nothing fails a second time at exit."""

    def write(self, content: Any, /) -> int:
        """Write some bytes; those for a reader that has left are dropped.

        Raises:
            OutputError: The system refuses them for another reason.
        """
        try:
            return super().write(content) or 0
        except BrokenPipeError:
            self._discard()
        except OSError as fault:
            self._discard()
            raise OutputError(f"Standard output cannot be written: {fault.strerror}.") from fault
        return memoryview(content).nbytes

    def _discard(self) -> None:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - os.devnull is no file below a folder
            os.dup2(nothing.fileno(), self.fileno())


class _Messages(_Output):
    """Standard error: nobody can be told that it refuses, so what it refuses is dropped."""

    def write(self, content: Any, /) -> int:
        """Write some bytes, or drop them."""
        with contextlib.suppress(OutputError):
            return super().write(content)
        return memoryview(content).nbytes


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Have standard output and standard error behave as above; the output is flushed at the end.

    A reader that has left (`| head`) does not change what a command does or ends with.

    Raises:
        OutputError: Standard output cannot be written, as on a full disk.
    """
    before = sys.stdout, sys.stderr
    sys.stdout = _guarded(sys.stdout, _Output)
    sys.stderr = _guarded(sys.stderr, _Messages)
    try:
        yield
        sys.stdout.flush()
    finally:
        with contextlib.suppress(OutputError):
            sys.stdout.flush()
        sys.stdout, sys.stderr = before


def _guarded(stream: TextIO | None, kind: type[_Output]) -> TextIO:
    """A stream over the same file; a terminal stays as it is, and where there is none all is dropped."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - it lives as long as the process
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        return stream
    if stream.isatty():
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(kind(descriptor, "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=kind is _Messages,
    )
