"""The console: tables and styled text, in which nothing but opconform's own styles steers a terminal."""

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from opconform_runners.cli.shared.terminal import PrintableStream, harmless

#: How wide text is that goes to a file.
_WIDTH = 120


class _StyledFile:
    """A stream to which a console writes its own escape sequences."""

    def __init__(self, stream: PrintableStream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text that the console has made harmless."""
        return self._stream.write_styled(text)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own."""
        return getattr(self._stream, name)


class HarmlessConsole(Console):
    """A console that spells out what would steer the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed; those that are text are made harmless."""
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=harmless(each.text))


def console_of(*, width: int = _WIDTH, stderr: bool = False) -> Console:
    """A console for standard output or standard error, as wide as the terminal.

    Args:
        width: How wide text is that does not go to a terminal.
        stderr: Whether it is for standard error.
    """
    stream = sys.stderr if stderr else sys.stdout
    file = _StyledFile(stream) if isinstance(stream, PrintableStream) else stream
    return HarmlessConsole(file=file, highlight=False, width=None if stream.isatty() else width)  # type: ignore[arg-type]
