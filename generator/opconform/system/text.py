"""Text for people: characters that a terminal or an XML parser cannot take are escaped."""

import unicodedata
from collections.abc import Sequence

#: Controls, format characters such as direction marks, surrogates, unassigned characters and separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})


def printable(text: str, *, lines: bool = False) -> str:
    r"""A text with every invisible character escaped, as in `\x1b`; `lines` keeps line breaks and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if is_shown(letter, lines=lines) else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in text
    )


def is_shown(character: str, *, lines: bool) -> bool:
    """Whether a character stays as it is; `lines` says whether line breaks and tabs do."""
    return lines if character in "\n\t" else unicodedata.category(character) not in _HIDDEN


def one_line(text: str, longest: int) -> str:
    """A text on one line: white space becomes single spaces, and the end of a long text is left out."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    more = [f"… and {len(lines) - most:,} more"] if len(lines) > most else []
    return [*lines[:most], *more]
