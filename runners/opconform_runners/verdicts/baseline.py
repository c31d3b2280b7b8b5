"""Baseline files: one line per expected failure or pattern of failures, with its reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict

from opconform.errors import UsageError
from opconform.files import FileTooLargeError, read_regular, replace_named
from opconform_runners.verdicts.verdict import FailReason

#: The outcomes that a line can expect; `pass` beside a reason is for a case that fails intermittently.
Ending = FailReason | Literal["pass"]
ENDINGS: tuple[str, ...] = (*get_args(FailReason), "pass")
#: The generated note of a line, until a person explains the failure.
PLACEHOLDER = "to be explained"
#: The comment at the top of a new baseline.
HEAD = ("# Expected failures: one case or pattern per line, the reason of the failure, and why, with a link.",)
#: The beginning of a line that no longer holds, and stays as a comment for what a person wrote.
RETIRED = "#- "

#: The failures of cases that must be accepted; `accepted-invalid` is that of the others.
_OF_ACCEPTED = frozenset({"count", "element-type", "shape", "value", "nan-payload", "rejected-valid"})
_LINE = re.compile(r"(?P<pattern>[^\s#]+)[ \t]+(?P<endings>[^\s#]+)(?:[ \t]+#[ \t]*(?P<note>.*))?")
_PATTERN = re.compile(r"[A-Za-z0-9/*?!\[\]-]+")
_LINK = re.compile(r"https?://[^\s<>\"]+")
_UNTOUCHED = re.compile(rf"{PLACEHOLDER}( \(.*\))?")
_WILD = frozenset("*?[")
#: The most bytes of a baseline.
_LIMIT = 16 << 20


class BaselineMistakes(UsageError):  # noqa: N818 - it has several mistakes
    """All mistakes in a baseline, each with its line."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One expectation.

    Attributes:
        number: Its number in the file, from 1; 0 for a line that is not written yet.
        pattern: A case's id, or a shell pattern of ids such as `Split-1/axis-*`.
        endings: The outcomes that it expects.
        note: The explanation, with a link.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    number: int
    pattern: str
    endings: tuple[Ending, ...]
    note: str

    @property
    def is_explained(self) -> bool:
        """Whether a person has explained the failure."""
        return bool(self.note) and not self.note.startswith(PLACEHOLDER)

    @property
    def is_written(self) -> bool:
        """Whether a person wrote any part of the note."""
        return bool(self.note) and (not _UNTOUCHED.fullmatch(self.note) or bool(self.link))

    @property
    def is_pattern(self) -> bool:
        """Whether it can match several cases."""
        return self.pattern.count("/") < 2 or not _WILD.isdisjoint(self.pattern)  # noqa: PLR2004 - an id's parts

    @property
    def link(self) -> str:
        """The first link of the note; empty if there is none."""
        found = _LINK.search(self.note)
        return found.group() if found else ""

    @property
    def text(self) -> str:
        """The text of the line."""
        return f"{self.pattern}  {','.join(self.endings)}  # {self.note or PLACEHOLDER}"

    def matches(self, identity: str) -> bool:
        """Whether a case's id matches."""
        if not self.is_pattern:
            return identity == self.pattern
        return fnmatchcase(identity, self.pattern) or fnmatchcase(identity, f"{self.pattern}/*")

    def concerns(self, identity: str, expect: str) -> bool:
        """Whether the line applies to a case: a pattern only applies to cases that can fail for one of its reasons."""
        possible = not self.is_pattern or any(_is_possible(each, expect) for each in self.endings)
        return possible and self.matches(identity)


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A line in its file, with the comments above it; a retired line expects nothing."""

    line: Line
    comments: tuple[str, ...] = ()
    is_retired: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """A baseline file.

    Attributes:
        head: The comments at the top.
        placed: Its lines, in the order of the file.
        tail: The comments below the last line.
    """

    file: str
    head: tuple[str, ...] = HEAD
    placed: tuple[Placed, ...] = ()
    tail: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that expect something, in order of precedence: ids before patterns, longer before shorter ones."""
        active = [each.line for each in self.placed if not each.is_retired]
        return tuple(sorted(active, key=lambda each: (each.is_pattern, -len(each.pattern), each.pattern)))

    @property
    def text(self) -> str:
        """The text of the file: its lines sorted, with a blank line below its head and above its tail."""
        ordered = sorted(self.placed, key=lambda each: (each.line.pattern, each.is_retired, each.line.text))
        body = [
            text
            for each in ordered
            for text in (*each.comments, RETIRED + each.line.text if each.is_retired else each.line.text)
        ]
        parts = [part for part in (self.head, body, self.tail) if part]
        return "\n\n".join("\n".join(part) for part in parts) + "\n" if parts else ""

    def lines_of(self, expects: Mapping[str, str]) -> dict[str, Line]:
        """The line with precedence for each case that has one, given the expectation of each case by its id."""
        by_id = {each.pattern: each for each in self.lines if not each.is_pattern}
        patterns = [each for each in self.lines if each.is_pattern]
        found: dict[str, Line] = {}
        for identity, expect in expects.items():
            own = by_id.get(identity)
            candidates = patterns if own is None else [own, *patterns]
            line = next((each for each in candidates if each.concerns(identity, expect)), None)
            if line is not None:
                found[identity] = line
        return found


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file."""
    try:
        content = read_regular(path, _LIMIT, follow_links=True)
    except FileNotFoundError as fault:
        sentence = (
            f"There is no baseline at {path}. Write one with `opconform baseline update RESULTS --baseline {path}`."
        )
        raise UsageError(sentence) from fault
    except FileTooLargeError as fault:
        raise UsageError(f"{path} has more than {_LIMIT:,} bytes. Write fewer lines: a pattern is one line.") from fault
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}.") from fault
    try:
        return parse_baseline(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as fault:
        number = content.count(b"\n", 0, fault.start) + 1
        raise UsageError(f"{path}:{number}: this is not UTF-8. Save the file as UTF-8.") from fault


def parse_baseline(text: str, file: str) -> Baseline:
    """The baseline in a text.

    Raises:
        BaselineMistakes: Some lines are not valid.
    """
    head: tuple[str, ...] = ()
    comments: list[str] = []
    placed: list[Placed] = []
    mistakes: list[str] = []
    for number, written in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        line = written.strip()
        retired = _retired(line, number)
        if retired is not None:
            placed.append(Placed(line=retired, comments=tuple(comments), is_retired=True))
            comments = []
        elif line.startswith("#"):
            comments.append(line)
        elif line:
            try:
                placed.append(Placed(line=_line(line, number), comments=tuple(comments)))
            except ValueError as fault:
                mistakes.append(f"{file}:{number}: {fault}")
            comments = []
        elif comments and not placed and not mistakes:
            head, comments = (*head, *comments), []
    seen: dict[str, int] = {}
    for pattern, number in ((each.line.pattern, each.line.number) for each in placed if not each.is_retired):
        first = seen.setdefault(pattern, number)
        if first != number:
            mistakes.append(f"{file}:{number}: {pattern!r} is already in line {first}. Keep one of the two.")
    if mistakes:
        raise BaselineMistakes(mistakes)
    return Baseline(file=file, head=head, placed=tuple(placed), tail=tuple(comments))


def _line(text: str, number: int) -> Line:
    found = _LINE.fullmatch(text)
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        raise ValueError("this is a merge conflict marker. Keep the lines that hold, and delete it.")
    if found is None:
        raise ValueError(f"a line must be PATTERN  REASON  # why  link, not {text[:80]!r}.")
    pattern, endings = found["pattern"], tuple(found["endings"].split(","))
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(f"{pattern!r} is not a pattern of ids. Write one such as 'Split-1/axis-range/*'.")
    for each in endings:
        if each not in ENDINGS:
            raise ValueError(f"{each!r} is not a reason. Allowed are: {', '.join(ENDINGS)}.")
    if endings == ("pass",):
        raise ValueError("a case that passes needs no line. Add the reason that it may fail for, as in 'crash,pass'.")
    return Line(number=number, pattern=pattern, endings=endings, note=(found["note"] or "").strip())


def _retired(text: str, number: int) -> Line | None:
    if not text.startswith(RETIRED):
        return None
    try:
        return _line(text.removeprefix(RETIRED).strip(), number)
    except ValueError:
        return None


def _is_possible(ending: str, expect: str) -> bool:
    impossible = {"accepted-invalid"} if expect == "accept" else _OF_ACCEPTED
    return ending != "pass" and ending not in impossible


def renumbered(baseline: Baseline) -> Baseline:
    """The same baseline as it will be written: sorted, and each line with its number."""
    return parse_baseline(baseline.text, baseline.file)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline atomically."""
    replace_named(path, baseline.text.encode())
