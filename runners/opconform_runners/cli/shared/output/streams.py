r"""Standard streams: all text for people is made harmless, and a closed pipe does not end a command.

Commands print text with `click.echo` or a console, and documents for programs with `print_document`. Text passes
through `PrintableStream`: control characters are escaped as in JSON (`\u001b`), and in a GitHub workflow no line is
read as a command. A full disk is reported in one sentence.
"""

import codecs
import contextlib
import io
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import click

from opconform.errors import OutputError
from opconform.system.text import is_shown

#: The URL of what was copied to each place.
_COPIES: ContextVar[Mapping[str, str]] = ContextVar("_COPIES", default=MappingProxyType({}))


def name_copy(place: Path, url: str) -> None:
    """Name a URL wherever the place of its copy would be printed."""
    _COPIES.set({**_COPIES.get(), str(place): url})


def is_copy(place: Path) -> bool:
    """Whether a place is a copy of what is at a URL."""
    return str(place) in _COPIES.get()


def originals(text: str) -> str:
    """Text with the URLs of what was copied, and not the places of the copies."""
    for place, url in _COPIES.get().items():
        text = text.replace(place, url)
    return text


def harmless(text: str) -> str:
    """Text with unprintable characters escaped as in JSON, except for line breaks and tabs."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return "".join(letter if is_shown(letter, lines=True) else json.dumps(letter)[1:-1] for letter in text)


def print_document(text: str, *, nl: bool = True) -> None:
    """Print a document for a program unchanged: JSON, XML, a script or the commands of a GitHub workflow."""
    for item in (sys.stdout, sys.stderr):
        if isinstance(item, PrintableStream):
            item.close_fence()
    click.echo(originals(text).encode("utf-8", "surrogatepass"), nl=nl)


class PrintableStream:
    """Standard output or standard error, written with harmless text only."""

    def __init__(self, stream: TextIO, token: str | None) -> None:
        """Wrap a stream; the token ends text in which a GitHub workflow reads no commands, and is None elsewhere."""
        self._stream = stream
        self._token = token
        self._is_fenced = False
        self._begins_line = True

    def write(self, text: str) -> int:
        """Write text, made harmless."""
        return self.write_styled(harmless(originals(text)))

    def write_styled(self, text: str) -> int:
        """Write text whose only escape sequences are opconform's own."""
        if self._token is not None and text:
            self._fence(f"::stop-commands::{self._token}\n", fenced=True)
            first, line_break, rest = ("", "", text) if self._begins_line else text.partition("\n")
            self._begins_line = not text.rpartition("\n")[2].strip() and (self._begins_line or "\n" in text)
            text = first.replace("##[", r"#\u0023[") + line_break + _disarmed(rest)
        self._stream.write(text)
        return len(text)

    def close_fence(self) -> None:
        """Let a GitHub workflow read commands again."""
        if self._is_fenced:
            self._fence(("" if self._begins_line else "\n") + f"::{self._token}::\n", fenced=False)

    def _fence(self, line: str, *, fenced: bool) -> None:
        if self._is_fenced != fenced:
            self._stream.write(line)
            self._stream.flush()
            self._is_fenced = fenced

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def harmless_streams() -> Iterator[None]:
    """Print only harmless text, which a GitHub workflow does not search for commands."""
    before = sys.stdout, sys.stderr
    token = secrets.token_hex(16) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    streams = [PrintableStream(_encoding_all(x), token) for x in before]
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        with contextlib.suppress(OSError, ValueError):  # a closed pipe or stream
            for stream in streams:
                stream.close_fence()


def _encoding_all(stream: TextIO) -> TextIO:
    """A stream that can write every character in any locale."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and codecs.lookup(stream.encoding or "ascii").name != "utf-8":
        ascii_only = codecs.lookup(stream.encoding or "ascii").name == "ascii"
        reconfigure(encoding="utf-8" if ascii_only else stream.encoding, errors="backslashreplace")
    return stream


def _disarmed(text: str) -> str:
    """Text in which a GitHub workflow reads no line as a command."""
    return re.sub(r"^([^\S\n]*)::", r"\1\\u003a:", text.replace("##[", r"#\u0023["), flags=re.MULTILINE)


class _Output(io.FileIO):
    """Standard output; after a failed write later writes are discarded, so that nothing fails again at exit."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._is_terminal = self.isatty()

    def write(self, content: Any, /) -> int:
        """Write bytes; drop them if the pipe or terminal was closed, and raise OutputError for any other failure."""
        try:
            return super().write(content) or 0
        except BrokenPipeError:
            self._discard()
        except OSError as error:
            self._discard()
            if self._is_terminal:
                return memoryview(content).nbytes
            advice = "Free some space, or redirect it elsewhere."
            raise OutputError(f"Standard output cannot be written: {error.strerror}. {advice}") from error
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

    A reader that closes the pipe (`| head`), or a closed terminal, changes neither what a command does nor its exit
    code. `OutputError` is raised if standard output cannot be written, as on a full disk.
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
    """A guarded stream over the same file; a missing stream becomes the null device."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - it lives as long as the process
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(kind(descriptor)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=kind is _Messages or stream.isatty(),
    )
