r"""The terminal: text for people is made harmless here, once, whoever wrote the names and messages in it.

Commands print text with `click.echo`, `print` or a console, and documents for programs with `print_document`. Text
passes `PrintableStream`: characters that steer a terminal are spelled out as in JSON (`\u001b`), and in a GitHub
workflow no line is taken for a command.
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

#: How a line begins, or what it holds, that a GitHub workflow takes for a command.
_COMMAND = re.compile(r"^(?P<space>\s*)::|##\[", re.MULTILINE)


def harmless(text: str) -> str:
    """A text in which what is not shown as itself is spelled out as in JSON; line breaks and tabs stay."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return "".join(each if is_shown(each, lines=True) else json.dumps(each)[1:-1] for each in text)


def print_document(text: str, *, nl: bool = True) -> None:
    """Print a document for a program, to the byte: JSON, XML, CSV, a script or the commands of a GitHub workflow."""
    for each in (sys.stdout, sys.stderr):
        if isinstance(each, PrintableStream):
            each.close_fence()
    click.echo(text.encode("utf-8", "surrogatepass"), nl=nl)


class PrintableStream:
    """Standard output or standard error, to which only harmless text is written."""

    def __init__(self, stream: TextIO, token: str | None) -> None:
        """Nothing is written yet.

        Args:
            stream: The stream.
            token: What ends the text that a GitHub workflow searches for no commands; None outside of one.
        """
        self._stream = stream
        self._token = token
        self._is_fenced = False
        self._begins_line = True

    def write(self, text: str) -> int:
        """Write a text, made harmless."""
        return self.write_styled(harmless(text))

    def write_styled(self, text: str) -> int:
        """Write a text whose only escape sequences are opconform's own."""
        if self._token is not None and text:
            self._fence(f"::stop-commands::{self._token}\n", fenced=True)
            first, line_break, rest = ("", "", text) if self._begins_line else text.partition("\n")
            self._begins_line = not text.rpartition("\n")[2].strip() and (self._begins_line or "\n" in text)
            text = first.replace("##[", r"#\u0023[") + line_break + _COMMAND.sub(_disarmed, rest)
        self._stream.write(text)
        return len(text)

    def close_fence(self) -> None:
        """Have a GitHub workflow take lines for commands again."""
        if self._is_fenced:
            self._fence(("" if self._begins_line else "\n") + f"::{self._token}::\n", fenced=False)

    def _fence(self, line: str, *, fenced: bool) -> None:
        if self._is_fenced != fenced:
            self._stream.write(line)
            self._stream.flush()
            self._is_fenced = fenced

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own."""
        return getattr(self._stream, name)


@contextlib.contextmanager
def harmless_streams() -> Iterator[None]:
    """Print harmless text only, and in a GitHub workflow none that it searches for commands."""
    before = sys.stdout, sys.stderr
    token = secrets.token_hex(16) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    streams = [PrintableStream(_encoding_all(each), token) for each in before]
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        with contextlib.suppress(OSError, ValueError):  # a reader that went away, or a closed stream
            for each in streams:
                each.close_fence()


def _encoding_all(stream: TextIO) -> TextIO:
    """A stream that can write every character, whatever the locale says."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and codecs.lookup(stream.encoding or "ascii").name != "utf-8":
        ascii_only = codecs.lookup(stream.encoding or "ascii").name == "ascii"
        reconfigure(encoding="utf-8" if ascii_only else stream.encoding, errors="backslashreplace")
    return stream


def _disarmed(found: "re.Match[str]") -> str:
    return r"#\u0023[" if found["space"] is None else rf"{found['space']}\u003a:"
