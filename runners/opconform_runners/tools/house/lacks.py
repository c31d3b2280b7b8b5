"""What an operation of the house lacks: the file to change or to write, and what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from opconform.specs.yaml_document import Mistake


@dataclass(frozen=True, order=True, slots=True)
class Lack:
    """Something that an operation lacks.

    Attributes:
        file: The file to change or to write, as in a checkout.
        line: The line to look at, or None for a whole file.
        what: What is lacking, and what to do.
    """

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.file if self.line is None else f'{self.file}:{self.line}'}: {self.what}"


def lack_of(mistake: Mistake) -> Lack:
    """A mistake of a spec as something that is lacking."""
    return Lack(mistake.file, mistake.line, mistake.sentence)


def lacks_in(lines: list[str], file: str) -> Iterator[Lack]:
    """Lines such as `file:line:column: sentence`; a line without a place is about `file`."""
    for text in lines:
        place, _, sentence = text.partition(": ")
        name, line, *_ = *place.split(":"), "", ""
        yield Lack(name, int(line), sentence) if line.isdecimal() else Lack(file, None, text)
