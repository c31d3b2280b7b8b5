"""The console: tables and styled text, in which opconform's own styles are the only escape sequences."""

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from opconform_runners.cli.shared.terminal import PrintableStream, harmless

#: The width of text that is not printed to a terminal.
_WIDTH = 120


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


class HarmlessConsole(Console):
    """A console that escapes control characters in text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print, with text made harmless."""
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=harmless(each.text))


def console_of(*, width: int = _WIDTH, stderr: bool = False) -> Console:
    """A console for standard output or standard error, as wide as the terminal.

    Args:
        width: The width if the stream is not a terminal.
        stderr: Whether to use standard error.
    """
    stream = sys.stderr if stderr else sys.stdout
    file = _StyledFile(stream) if isinstance(stream, PrintableStream) else stream
    return HarmlessConsole(file=file, highlight=False, width=None if stream.isatty() else width)  # type: ignore[arg-type]
