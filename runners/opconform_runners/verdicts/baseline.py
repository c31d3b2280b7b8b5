"""Baselines: files with one expected failure or unsupported case per line, and runs compared with them."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import filter as matching
from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict

from opconform.errors import UsageError
from opconform.suite.names import CaseId
from opconform.suite.path_kind import check_kind
from opconform.system.files import FileTooLargeError, read_regular
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import OF_CLAIMS, FailReason, VerdictName

#: What a line can expect; `pass`, in a line of its own, is for a case that fails intermittently.
Ending = FailReason | Literal["unsupported", "pass"]
ENDINGS: tuple[Ending, ...] = (*get_args(FailReason), "unsupported", "pass")

#: The failures of cases that must be accepted; `accepted-invalid` is the failure of the others.
_OF_ACCEPTED = frozenset(
    {"count", "element-type", "shape", "value", "rounding", "nan-payload", "rejected-valid", *OF_CLAIMS}
)
#: What a case whose executions differ does not end in by that.
_STEADY = frozenset({"crash", "timeout", "unsupported"})
_COMMENT = re.compile(r"(^|[ \t])#.*")
#: The comment of a new file, which names the version of the suite that it was made with.
_SUITE = re.compile(r"^# Expected failures(?: of suite (\S+))?:", re.MULTILINE)
#: The most bytes of a baseline.
_LIMIT = 16 << 20
#: The most mistakes that are reported.
_MISTAKES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One expectation.

    Attributes:
        number: Its number in the file, from 1.
        pattern: A case's id, or a shell pattern of ids such as `Split-1/axis-far-out-of-range/*`.
        reason: The reason of the failure, `unsupported`, or `pass`.
    """

    number: int
    pattern: str
    reason: Ending

    def cases(self, expects: Mapping[str, str]) -> list[str]:
        """The ids that it applies to, among cases with their expectations (`accept` or `reject`) by id.

        It only applies to cases that can fail for its reason, so that a pattern leaves out the twins in a group.
        """
        names = [self.pattern] if self.pattern in expects else matching(expects, self.pattern)
        impossible = {"accept": {"accepted-invalid"}, "reject": _OF_ACCEPTED}
        return [name for name in names if self.reason not in impossible[expects[name]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """A baseline file: its name, its text, and the expectations in it.

    Attributes:
        is_of_failures: Whether it says nothing about unsupported cases.
    """

    file: str
    text: str = "# Expected failures: one case id or pattern of ids per line, and its reason, or `unsupported`.\n"
    lines: tuple[Line, ...] = ()
    is_of_failures: bool = False

    @property
    def suite(self) -> str | None:
        """The version of the suite with which the file was made, if it says so."""
        match = _SUITE.search(self.text)
        return match and match[1]

    def of_suite(self, version: str) -> "Baseline":
        """The baseline with another version of the suite, if its comment is there."""
        return replace(self, text=_SUITE.sub(f"# Expected failures of suite {version}:", self.text, count=1))

    def lines_of(self, expects: Mapping[str, str]) -> dict[str, tuple[Line, ...]]:
        """The lines that apply to each case that has some, given the expectation of each case by its id."""
        by_case: dict[str, tuple[Line, ...]] = {}
        for line in self.lines:
            for name in line.cases(expects):
                by_case[name] = (*by_case.get(name, ()), line)
        return by_case


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file."""
    check_kind(path, "baseline")
    try:
        content = read_regular(path, _LIMIT, follow_links=True)
    except FileNotFoundError as error:
        sentence = f"Baseline not found: {path}. Add --update-baseline to write it."
        raise UsageError(sentence) from error
    except FileTooLargeError as error:
        raise UsageError(f"{path} has more than {_LIMIT:,} bytes. Use patterns that match several cases.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return parse_baseline(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{number}: this is not UTF-8. Save the file as UTF-8.") from error


def parse_baseline(text: str, file: str) -> Baseline:
    """The baseline in a text, or a UsageError with one line per mistake."""
    text = text.replace("\r\n", "\n")
    lines: list[Line] = []
    mistakes: list[str] = []
    for number, row in enumerate(text.split("\n"), start=1):
        match _COMMENT.sub("", row).split():
            case []:
                pass
            case [pattern, name]:
                reason = next((ending for ending in ENDINGS if ending == name), None)
                if reason is None:
                    mistakes.append(f"{file}:{number}: {name!r} is not a reason. Allowed: {', '.join(ENDINGS)}.")
                else:
                    lines.append(Line(number=number, pattern=pattern, reason=reason))
            case _:
                mistakes.append(f"{file}:{number}: a line must be `ID REASON`, not {row.strip()[:80]!r}.")
    if mistakes:
        omitted = len(mistakes) - _MISTAKES
        raise UsageError("\n".join([*mistakes[:_MISTAKES], *([f"… and {omitted:,} more."] if omitted > 0 else [])]))
    return Baseline(file=file, text=text, lines=tuple(lines))


@dataclass(frozen=True, kw_only=True, slots=True)
class Met:
    """A case, its verdict, and the lines of the baseline that apply to it."""

    id: CaseId
    verdict: VerdictName
    reason: FailReason | None = None
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A run against a baseline.

    Attributes:
        regressions: The failures that no line expects.
        lost: The unsupported cases that no line expects.
        passes: The cases that pass although a line expects them to fail.
        known: The failures and unsupported cases that are expected.
        undecided: The cases with a line that are inconclusive or have no verdict.
        stale: The lines that apply to no case of the suite.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # also for the classes of its fields

    file: str
    regressions: tuple[Met, ...] = ()
    lost: tuple[Met, ...] = ()
    passes: tuple[Met, ...] = ()
    known: tuple[Met, ...] = ()
    undecided: tuple[Met, ...] = ()
    stale: tuple[Line, ...] = ()

    @property
    def is_as_expected(self) -> bool:
        """Whether there are no regressions, no lost support, no unexpected passes and no stale lines."""
        return not (self.regressions or self.lost or self.passes or self.stale)


def compare(baseline: Baseline, results: Sequence[Result], suite: Mapping[str, str]) -> Comparison:
    """The comparison of results with a baseline.

    `suite` has the expectation of each case of the suite, `accept` or `reject`, by its id.
    """
    lines = baseline.lines_of({result.id: result.expect for result in results})
    met: dict[str, list[Met]] = defaultdict(list)
    for result in results:
        expected = lines.get(result.id, ())
        case = Met(id=result.id, verdict=result.verdict, reason=result.reason, lines=expected)
        kind = comparison_field_of(result, expected)
        if kind != "lost" or expected or not baseline.is_of_failures:
            met[kind].append(case)
    stale = tuple(line for line in baseline.lines if not line.cases(suite))
    kinds = ("regressions", "lost", "passes", "known", "undecided")
    return Comparison(file=baseline.file, stale=stale, **{kind: tuple(met[kind]) for kind in kinds})


def comparison_field_of(result: Result, lines: Sequence[Line]) -> str:
    """The field of `Comparison` that a result belongs to, given the lines that apply to it; empty for none."""
    reasons = {line.reason for line in lines}
    if result.unclaimed and result.verdict == "unsupported" and not reasons:
        return ""  # the claims say that it is not supported
    if ending := ending_of(result):
        return "known" if is_allowed(ending, reasons) else "lost" if ending == "unsupported" else "regressions"
    if not reasons:
        return ""
    if result.verdict == "pass":
        return "" if is_allowed("pass", reasons) else "passes"
    return "undecided"


def is_allowed(ending: Ending, reasons: Collection[Ending]) -> bool:
    """Whether lines with some reasons allow what a case ends in.

    A case whose two executions differ may pass in the next run, or fail twice for another reason.
    """
    return ending in reasons or ("nondeterministic" in reasons and ending not in _STEADY)


def ending_of(result: Result) -> Ending | None:
    """What a line must expect of a result that fails or is unsupported; None of another one."""
    return "unsupported" if result.verdict == "unsupported" else result.reason


def expectation(file: str, lines: Sequence[Line]) -> str:
    """What lines that apply to one case expect, as in `known.txt:3 expects crash or pass`; at least one line."""
    return f"{file}:{lines[0].number} expects {' or '.join(dict.fromkeys(line.reason for line in lines))}"
