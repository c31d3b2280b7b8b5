"""Text that is wrapped between words, and never inside one, however narrow the terminal is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

#: How far the text of a field is indented, and its name.
_FIELD, _NAME = 11, 2
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Markup as lines of words, indented; with a name, as a field."""

    markup: str
    name: str = ""
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines; a word that is wider than the terminal is a line of its own."""
        indent = _FIELD if self.name else self.indent
        before = f"{'':{_NAME}}{self.name}" if self.name else ""
        for part in Text.from_markup(self.markup).split(allow_blank=True):
            for line in part.divide(_breaks(part.plain, options.max_width - indent)):
                line.rstrip()
                yield Text(f"{before:<{indent}}", no_wrap=True, overflow="ignore").append_text(line)
                before = ""


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where lines begin, but for the first one."""
    start = 0
    for word in _WORD.finditer(text):
        if word.start() > start and cell_len(text[start : word.end()]) > width:
            start = word.start()
            yield start


def print_sentence(console: Console, markup: str) -> None:
    """Print a sentence: on a terminal wrapped between words, and elsewhere as one line."""
    if console.is_terminal:
        console.print(Wrapped(markup), crop=False)
    else:
        console.print(markup, soft_wrap=True)
