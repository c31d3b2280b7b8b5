"""Results on standard output: one JSON document for programs, or text and tables for people."""

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from opconform_runners.cli.shared.streams import PrintableStream, harmless, print_document

#: The columns of output that does not go to a terminal.
_WIDTH = 120


def print_result(document: object, lines: Iterable[RenderableType], *, as_json: bool, width: int = _WIDTH) -> None:
    """Print a result as JSON, or as plain lines, styled lines (`Text`) and tables; `width` as for `console_of`."""
    if as_json:
        print_json(document)
        return
    console = console_of(width=width)
    for each in lines:
        if isinstance(each, str):
            click.echo(each)
        else:
            console.print(each, soft_wrap=isinstance(each, Text))


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print plain lines on standard output or standard error."""
    for each in lines:
        click.echo(each, err=err)


def print_json(document: object) -> None:
    """Print a JSON document. Bytes of a file name that are not UTF-8 are escaped."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    print_document(text.encode("utf-8", "backslashreplace").decode())


class _StyledFile:
    """A stream that lets the console's escape sequences through."""

    def __init__(self, stream: PrintableStream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text that the console has made harmless."""
        return self._stream.write_styled(text)

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the stream."""
        return getattr(self._stream, name)


class _HarmlessConsole(Console):
    """A console that escapes control characters in text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print, with text made harmless."""
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=harmless(each.text))


def console_of(*, stderr: bool = False, width: int = _WIDTH) -> Console:
    """A console for standard output or standard error, as wide as the terminal; `width` counts elsewhere."""
    stream = sys.stderr if stderr else sys.stdout
    file = _StyledFile(stream) if isinstance(stream, PrintableStream) else stream
    return _HarmlessConsole(file=file, highlight=False, width=None if stream.isatty() else width)  # type: ignore[arg-type]
