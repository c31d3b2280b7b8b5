"""Cases as pytest items, and their collector."""

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
from opconform_runners.execution.session import Session
from opconform_runners.verdicts.results import Result

#: The first part of the cases' node ids.
NAME = "opconform"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """The suite under test, shared by all cases.

    Attributes:
        suite: The suite.
        session: Gives the verdicts.
        named: The options of opconform's command line that name the backend.
        timeout: The time limit for a case in seconds, if it is not the default.
        strict: Whether interpretations count like normative requirements.
    """

    suite: Suite
    session: Session
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
        """One test per wanted case."""
        profiles = sorted({each.profile for each in self._tested.suite.entries})
        selection = self._selection.of(profiles, f"in {self._tested.suite.store.root}")
        entries = self._tested.suite.entries
        names = {name for each in entries for name in (each.profile, *each.requirements)}
        marks = {name: getattr(pytest.mark, name) for name in names}  # once, since pytest checks each look-up
        for entry in entries:
            if selection.wants_profile(entry.profile) and selection.wants(entry.id, ()):
                yield CaseItem.from_parent(self, name=entry.id, tested=self._tested, entry=entry, marks=marks)


class CaseItem(pytest.Item):
    """A case. It is executed in the set-up, so that a failure of the harness is an error, not a failed test."""

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
        """Execute the case, and its twin if the verdict needs it."""
        result, fault = None, ""
        try:
            result = self._result = self._tested.session.result_of(self._entry)
        except OpconformError as raised:
            fault = str(raised)
        if result is None:  # outside the handler, so that pytest shows the sentence alone
            pytest.fail(fault, pytrace=False)
        if result.verdict == "error":
            log = f"\n{result.log}" if result.log else ""
            pytest.fail(f"harness error: {result.sentence}{log}", pytrace=False)

    def runtest(self) -> None:
        """Report the verdict."""
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
        """The place of the case: its suite and its id."""
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
        """The command that reproduces the failure without pytest."""
        place = os.path.relpath(self._tested.suite.store.root)
        out = f"again/{self.name.rpartition('/')[2]}"
        command = (
            f"opconform run {shlex.quote(place)} {self._tested.named} --select {shlex.quote(self.name)} --out {out}"
        )
        return command if self._tested.timeout is None else f"{command} --timeout {self._tested.timeout:g}"
