"""Cases as tests: a collector of them, and what each tells pytest of its verdict."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import OpconformError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.selection import Selection
from opconform_runners.execution.session import Sitting
from opconform_runners.verdicts.results import Result

#: What the cases' node ids begin with.
NAME = "opconform"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """What all the cases have in common.

    Attributes:
        suite: The suite.
        sitting: Who gives the verdicts.
        named: The options that name the backend on opconform's own command line.
        timeout: What a case may take, in seconds, where that is not the default.
        strict: Whether interpretations count as much as normative requirements.
    """

    suite: Suite
    sitting: Sitting
    named: str
    timeout: float | None
    strict: bool


class Cases(pytest.Collector):
    """The cases of a suite."""

    def __init__(self, *, tested: Tested, selection: Selection, **known: Any) -> None:
        super().__init__(**known)
        self._tested = tested
        self._selection = selection

    def collect(self) -> Iterable[pytest.Item]:
        """A test for each of the wanted cases."""
        profiles = sorted({each.profile for each in self._tested.suite.entries})
        selection = self._selection.of(profiles, f"in {self._tested.suite.store.root}")
        entries = self._tested.suite.entries
        names = {name for each in entries for name in (each.profile, *each.requirements)}
        marks = {name: getattr(pytest.mark, name) for name in names}  # looked up once, since pytest checks each
        for entry in entries:
            if selection.wants_profile(entry.profile) and selection.wants(entry.id, ()):
                yield CaseItem.from_parent(self, name=entry.id, tested=self._tested, entry=entry, marks=marks)


class CaseItem(pytest.Item):
    """A case. Executing it is the set-up, so that a harness that fails is an error and no failure."""

    def __init__(
        self, *, tested: Tested, entry: Entry, marks: Mapping[str, pytest.MarkDecorator], **known: Any
    ) -> None:
        super().__init__(**known)
        self._tested = tested
        self._entry = entry
        self._result: Result | None = None
        for each in (entry.profile, *entry.requirements):
            self.add_marker(marks[each])

    def setup(self) -> None:
        """Execute the case, and its twin where the verdict needs it."""
        fault: str | None = None
        try:
            self._result = self._tested.sitting.result_of(self._entry)
        except OpconformError as raised:
            fault = str(raised)
        if fault is not None:
            pytest.fail(fault, pytrace=False)
        if self._result is not None and self._result.verdict == "error":
            log = f"\n{self._result.log}" if self._result.log else ""
            pytest.fail(f"harness error: {self._result.sentence}{log}", pytrace=False)

    def runtest(self) -> None:
        """Say what the verdict is."""
        result = self._result
        if result is None or result.verdict == "pass":
            return
        if result.verdict in ("unsupported", "inconclusive"):
            pytest.skip(f"{result.verdict}: {result.sentence}")
        if not self._counts(result):
            pytest.xfail(
                f"{result.reason}: {result.sentence}; not counted: {', '.join(result.broken) or 'NaN payloads'}"
            )
        pytest.fail("\n".join(self._lines(result)), pytrace=False)

    def reportinfo(self) -> tuple["os.PathLike[str]", int, str]:
        """Where a case is: in its suite, by its id."""
        return Path(self._tested.suite.store.root), 0, self.name

    def _counts(self, result: Result) -> bool:
        """Whether a failure makes the backend non-conformant."""
        if not result.broken:
            return result.reason != "nan-payload"
        return any(self._tested.strict or self._level(each) == "normative" for each in result.broken)

    def _level(self, requirement: str) -> str:
        note = self._tested.suite.header.requirements.get(self._entry.op, {}).get(requirement)
        return "normative" if note is None else note.level

    def _lines(self, result: Result) -> Iterator[str]:
        yield f"{result.reason}: {result.sentence}"
        notes = self._tested.suite.header.requirements.get(self._entry.op, {})
        for each in result.broken:
            text = f": {notes[each].text}" if each in notes else ""
            yield f"requirement: {each} ({self._level(each)}){text}"
        yield f"given: {result.inputs}"
        yield f"reproduce: {self._command()}"

    def _command(self) -> str:
        """The command that shows the same failure without pytest."""
        place = os.path.relpath(self._tested.suite.store.root)
        out = f"again/{self.name.rpartition('/')[2]}"
        command = (
            f"opconform run {shlex.quote(place)} {self._tested.named} --select {shlex.quote(self.name)} --out {out}"
        )
        return command if self._tested.timeout is None else f"{command} --timeout {self._tested.timeout:g}"
