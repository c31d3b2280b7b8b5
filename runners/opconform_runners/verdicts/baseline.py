"""Baselines: files with one line per expected failure or pattern of failures, and runs compared with them."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field

from opconform.errors import UsageError
from opconform.files import FileTooLargeError, read_regular
from opconform.suite.case import CaseId
from opconform.suite.kind import check_kind
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason, VerdictName

#: The outcomes that a line can expect; `pass` beside a reason is for a case that fails intermittently.
Ending = FailReason | Literal["pass"]
ENDINGS: tuple[str, ...] = (*get_args(FailReason), "pass")
#: The generated note of a line, until a person explains the failure.
PLACEHOLDER = "to be explained"
#: The comment at the top of a new baseline.
HEAD = ("# Expected failures: one case or pattern per line, the reason of the failure, and why, with a link.",)

#: The failures of cases that must be accepted; `accepted-invalid` is that of the others.
_OF_ACCEPTED = frozenset({"count", "element-type", "shape", "value", "nan-payload", "rejected-valid"})
_LINE = re.compile(r"(?P<pattern>[^\s#]+)[ \t]+(?P<endings>[^\s#]+)(?:[ \t]+#[ \t]*(?P<note>.*))?")
_PATTERN = re.compile(r"[A-Za-z0-9/*?!\[\]-]+")
_WILD = frozenset("*?[")
#: The most bytes of a baseline.
_LIMIT = 16 << 20
#: The most mistakes that are reported.
_MISTAKES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One expectation.

    Attributes:
        number: Its number in the file, from 1; 0 for a line that is not written yet.
        pattern: A case's id, or a shell pattern of ids such as `Split-1/axis-*`.
        endings: The outcomes that it expects.
        note: The explanation, with a link.
        comments: The comments above it.
    """

    number: int
    pattern: str
    endings: tuple[Ending, ...]
    note: str
    comments: Annotated[tuple[str, ...], Field(exclude=True)] = ()

    @property
    def is_explained(self) -> bool:
        """Whether a person has explained the failure."""
        return bool(self.note) and not self.note.startswith(PLACEHOLDER)

    @property
    def is_pattern(self) -> bool:
        """Whether it can match several cases."""
        return self.pattern.count("/") < 2 or not _WILD.isdisjoint(self.pattern)  # noqa: PLR2004 - an id's parts

    @property
    def text(self) -> str:
        """The text of the line."""
        return f"{self.pattern}  {','.join(self.endings)}  # {self.note or PLACEHOLDER}"

    def concerned(self, expects: Mapping[str, str]) -> list[str]:
        """The ids that it applies to, among cases with their expectations by id.

        A pattern only applies to cases that can fail for one of its reasons.
        """
        if not self.is_pattern:
            return [self.pattern] if self.pattern in expects else []
        possible = {each for each in ("accept", "reject") if any(_is_possible(ending, each) for ending in self.endings)}
        patterns = (self.pattern, f"{self.pattern}/*")
        return [
            name
            for name, expect in expects.items()
            if expect in possible and any(fnmatchcase(name, each) for each in patterns)
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """A baseline file: the comments at its top, its lines, and the comments below the last line."""

    file: str
    head: tuple[str, ...] = HEAD
    lines: tuple[Line, ...] = ()
    tail: tuple[str, ...] = ()

    @property
    def by_precedence(self) -> list[Line]:
        """The lines, ids before patterns and longer before shorter ones."""
        return sorted(self.lines, key=lambda each: (each.is_pattern, -len(each.pattern), each.pattern))

    @property
    def text(self) -> str:
        """The text of the file: its lines sorted, with a blank line below its head and above its tail."""
        ordered = sorted(self.lines, key=lambda each: each.pattern)
        body = [text for each in ordered for text in (*each.comments, each.text)]
        parts = [part for part in (self.head, body, self.tail) if part]
        return "\n\n".join("\n".join(part) for part in parts) + "\n" if parts else ""

    def lines_of(self, expects: Mapping[str, str]) -> dict[str, Line]:
        """The line with precedence for each case that has one, given the expectation of each case by its id."""
        found: dict[str, Line] = {}
        for line in self.by_precedence:
            for name in line.concerned(expects):
                found.setdefault(name, line)
        return found


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file."""
    check_kind(path, "baseline")
    try:
        content = read_regular(path, _LIMIT, follow_links=True)
    except FileNotFoundError as fault:
        sentence = f"Baseline not found: {path}. Add --update-baseline to write it."
        raise UsageError(sentence) from fault
    except FileTooLargeError as fault:
        raise UsageError(f"{path} has more than {_LIMIT:,} bytes. Use patterns that match several cases.") from fault
    except OSError as fault:
        raise UsageError(f"{path} cannot be read: {fault.strerror}.") from fault
    try:
        return parse_baseline(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as fault:
        number = content.count(b"\n", 0, fault.start) + 1
        raise UsageError(f"{path}:{number}: this is not UTF-8. Save the file as UTF-8.") from fault


def parse_baseline(text: str, file: str) -> Baseline:
    """The baseline in a text, or a UsageError with one line per mistake."""
    head: tuple[str, ...] = ()
    comments: list[str] = []
    lines: dict[str, Line] = {}
    mistakes: list[str] = []
    for number, written in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        text = written.strip()
        if text.startswith("#"):
            comments.append(text)
        elif text:
            try:
                line = _line(text, number, tuple(comments))
            except ValueError as fault:
                mistakes.append(f"{file}:{number}: {fault}")
            else:
                first = lines.setdefault(line.pattern, line).number
                if first != number:
                    mistakes.append(f"{file}:{number}: {line.pattern!r} is already in line {first}. Keep one of them.")
            comments = []
        elif comments and not lines and not mistakes:
            head, comments = (*head, *comments), []
    if mistakes:
        left = len(mistakes) - _MISTAKES
        raise UsageError("\n".join([*mistakes[:_MISTAKES], *([f"… and {left:,} more."] if left > 0 else [])]))
    return Baseline(file=file, head=head, lines=tuple(lines.values()), tail=tuple(comments))


def _line(text: str, number: int, comments: tuple[str, ...]) -> Line:
    found = _LINE.fullmatch(text)
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        raise ValueError("this is a merge conflict marker. Keep the correct lines, and delete it.")
    if found is None:
        raise ValueError(f"a line must be PATTERN  REASON  # why  link, not {text[:80]!r}.")
    pattern, endings = found["pattern"], tuple(found["endings"].split(","))
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(f"{pattern!r} is not a pattern of ids. Write one such as 'Split-1/axis-range/*'.")
    for each in endings:
        if each not in ENDINGS:
            raise ValueError(f"{each!r} is not a reason. Allowed: {', '.join(ENDINGS)}.")
    if endings == ("pass",):
        raise ValueError("a case that passes needs no line. Add the reason for which it may fail, as in 'crash,pass'.")
    return Line(number=number, pattern=pattern, endings=endings, note=(found["note"] or "").strip(), comments=comments)


def _is_possible(ending: str, expect: str) -> bool:
    impossible = {"accepted-invalid"} if expect == "accept" else _OF_ACCEPTED
    return ending != "pass" and ending not in impossible


@dataclass(frozen=True, kw_only=True, slots=True)
class Met:
    """A case, its verdict, and the line of the baseline that applies to it, where there is one."""

    id: CaseId
    verdict: VerdictName
    reason: FailReason | None = None
    line: Line | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A run against a baseline.

    Attributes:
        regressions: The failures that no line expects, or that a line expects for another reason.
        passes: The cases that pass although a line expects them to fail.
        known: The failures that are expected.
        undecided: The expected failures that neither failed nor passed.
        stale: The lines that apply to no case of the suite.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # also for the classes of its fields

    file: str
    regressions: tuple[Met, ...] = ()
    passes: tuple[Met, ...] = ()
    known: tuple[Met, ...] = ()
    undecided: tuple[Met, ...] = ()
    stale: tuple[Line, ...] = ()

    @property
    def is_as_expected(self) -> bool:
        """Whether there are no regressions, no unexpected passes and no stale lines."""
        return not (self.regressions or self.passes or self.stale)


def compare(baseline: Baseline, results: Sequence[Result], suite: Mapping[str, str]) -> Comparison:
    """The comparison of results with a baseline.

    `suite` has the expectation of each case of the suite, `accept` or `reject`, by its id.
    """
    lines = baseline.lines_of({each.id: each.expect for each in results})
    met: dict[str, list[Met]] = defaultdict(list)
    for each in results:
        line = lines.get(each.id)
        met[kind_of(each, line)].append(Met(id=each.id, verdict=each.verdict, reason=each.reason, line=line))
    stale = tuple(each for each in baseline.lines if not each.concerned(suite))
    kinds = ("regressions", "passes", "known", "undecided")
    return Comparison(file=baseline.file, stale=stale, **{kind: tuple(met[kind]) for kind in kinds})


def kind_of(result: Result, line: Line | None) -> str:
    """The field of `Comparison` that a result belongs to, given the line that applies to it; empty for none."""
    if result.verdict == "fail":
        return "known" if line is not None and result.reason in line.endings else "regressions"
    if line is None:
        return ""
    if result.verdict == "pass":
        return "" if "pass" in line.endings else "passes"
    return "undecided"
