"""Text from a backend made fit to be shown: what a person, an XML parser or a terminal cannot take is spelt out."""

import unicodedata

#: Controls, formats that turn the direction of text, surrogates, and characters that are none.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})


def printable(text: str, *, lines: bool = False) -> str:
    r"""A text with every character that is not shown as itself spelt out, as in `\x1b`.

    Args:
        text: Any text.
        lines: Whether line breaks and tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if is_shown(each, lines=lines) else _spelt(each) for each in text)


def one_line(text: str, longest: int) -> str:
    """A text on one line, with every run of white space as one space, and cut where it is too long."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def is_shown(character: str, *, lines: bool) -> bool:
    """Whether a character is shown as itself; `lines`: whether line breaks and tabs are."""
    if character in "\n\t":
        return lines
    return unicodedata.category(character) not in _HIDDEN


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
