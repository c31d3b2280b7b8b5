r"""The terminal: all text for people is made harmless here, wherever its names and messages come from.

Commands print text with `click.echo`, `print` or a console, and documents for programs with `print_document`. Text
passes through `PrintableStream`: control characters are escaped as in JSON (`\u001b`), and in a GitHub workflow no
line is read as a command.
"""

import codecs
import contextlib
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import click

from opconform_runners.reports.text import is_shown

#: The beginning or content of a line that a GitHub workflow reads as a command.
_COMMAND = re.compile(r"^(?P<space>\s*)::|##\[", re.MULTILINE)


def harmless(text: str) -> str:
    """Text with unprintable characters escaped as in JSON, except for line breaks and tabs."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return "".join(each if is_shown(each, lines=True) else json.dumps(each)[1:-1] for each in text)


def print_document(text: str, *, nl: bool = True) -> None:
    """Print a document for a program unchanged: JSON, XML, CSV, a script or the commands of a GitHub workflow."""
    for each in (sys.stdout, sys.stderr):
        if isinstance(each, PrintableStream):
            each.close_fence()
    click.echo(text.encode("utf-8", "surrogatepass"), nl=nl)


class PrintableStream:
    """Standard output or standard error, written with harmless text only."""

    def __init__(self, stream: TextIO, token: str | None) -> None:
        """Wrap a stream.

        Args:
            stream: The stream.
            token: The token that ends text in which a GitHub workflow reads no commands; None elsewhere.
        """
        self._stream = stream
        self._token = token
        self._is_fenced = False
        self._begins_line = True

    def write(self, text: str) -> int:
        """Write text, made harmless."""
        return self.write_styled(harmless(text))

    def write_styled(self, text: str) -> int:
        """Write text whose only escape sequences are opconform's own."""
        if self._token is not None and text:
            self._fence(f"::stop-commands::{self._token}\n", fenced=True)
            first, line_break, rest = ("", "", text) if self._begins_line else text.partition("\n")
            self._begins_line = not text.rpartition("\n")[2].strip() and (self._begins_line or "\n" in text)
            text = first.replace("##[", r"#\u0023[") + line_break + _COMMAND.sub(_disarmed, rest)
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
        """Any other attribute of the stream."""
        return getattr(self._stream, name)


@contextlib.contextmanager
def harmless_streams() -> Iterator[None]:
    """Print only harmless text, which a GitHub workflow does not search for commands."""
    before = sys.stdout, sys.stderr
    token = secrets.token_hex(16) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    streams = [PrintableStream(_encoding_all(each), token) for each in before]
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        with contextlib.suppress(OSError, ValueError):  # a closed pipe or stream
            for each in streams:
                each.close_fence()


def _encoding_all(stream: TextIO) -> TextIO:
    """A stream that can write every character in any locale."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and codecs.lookup(stream.encoding or "ascii").name != "utf-8":
        ascii_only = codecs.lookup(stream.encoding or "ascii").name == "ascii"
        reconfigure(encoding="utf-8" if ascii_only else stream.encoding, errors="backslashreplace")
    return stream


def _disarmed(found: "re.Match[str]") -> str:
    return r"#\u0023[" if found["space"] is None else rf"{found['space']}\u003a:"
