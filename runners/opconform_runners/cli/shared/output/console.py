"""Consoles for styled text and tables, which are made harmless."""

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from opconform_runners.cli.shared.output.streams import PrintableStream, harmless, originals

#: The columns of output that does not go to a terminal.
WIDTH = 120


class _StyledFile:
    """A stream that lets the console's escape sequences through; only a terminal gets spaces at the ends of lines."""

    def __init__(self, stream: PrintableStream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text that the console has made harmless."""
        return self._stream.write_styled(text if self._stream.isatty() else _stripped(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _stripped(text: str) -> str:
    """Text without spaces at the ends of its lines."""
    return "\n".join(word.rstrip(" ") for word in text.split("\n"))


class _HarmlessConsole(Console):
    """A console that escapes control characters in text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print, with text made harmless."""
        for item in super().render(renderable, options):
            yield item if item.control else item._replace(text=harmless(originals(item.text)))


def console_of(*, stderr: bool = False, width: int = WIDTH) -> Console:
    """A console for standard output or standard error, as wide as the terminal; `width` counts elsewhere."""
    stream = sys.stderr if stderr else sys.stdout
    file = _StyledFile(stream) if isinstance(stream, PrintableStream) else stream
    return _HarmlessConsole(file=file, highlight=False, width=None if stream.isatty() else width)  # type: ignore[arg-type]


def print_styled(shown: RenderableType, width: int) -> None:
    """Print a styled line (`Text`) or a table on standard output."""
    console_of(width=width).print(shown, soft_wrap=isinstance(shown, Text))
