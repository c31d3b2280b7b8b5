"""Standard streams: a closed pipe does not end a command, and a full disk is reported in one sentence."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from opconform.errors import OutputError


class _Output(io.FileIO):
    """Standard output; after a failed write later writes are discarded, so that nothing fails again at exit."""

    def write(self, content: Any, /) -> int:
        """Write bytes; drop them if the reader has closed the pipe.

        Raises:
            OutputError: The write fails for another reason.
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
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - os.devnull is a name, not a Path
            os.dup2(nothing.fileno(), self.fileno())


class _Messages(_Output):
    """Standard error, which drops what cannot be written, since there is no other place to report it."""

    def write(self, content: Any, /) -> int:
        """Write bytes, or drop them."""
        with contextlib.suppress(OutputError):
            return super().write(content)
        return memoryview(content).nbytes


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and standard error, and flush the output at the end.

    A reader that closes the pipe (`| head`) changes neither what a command does nor its exit code.

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
    """A guarded stream over the same file; a terminal stays as it is, and a missing stream becomes the null device."""
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
