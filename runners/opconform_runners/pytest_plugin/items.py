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
from opconform_runners.pytest_plugin.options import TIMEOUT, PluginOptions
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """The suite under test, the wanted cases, the session that gives the verdicts, and the options."""

    suite: Suite
    selection: Selection
    session: Session
    options: PluginOptions


class Cases(pytest.Collector):
    """The cases of a suite."""

    def __init__(self, *, tested: Tested, **known: Any) -> None:
        super().__init__(**known)
        self._tested = tested

    def collect(self) -> Iterable[pytest.Item]:
        """One test per selected case."""
        entries, selection = self._tested.suite.entries, self._tested.selection
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
        self._notes = tested.suite.header.requirements.get(entry.op, {})
        self._result: Result | None = None
        for each in (entry.profile, *entry.requirements):
            self.add_marker(marks[each])

    def setup(self) -> None:
        """Execute the case, and its twin if the verdict needs it."""
        try:
            self._result, fault = self._tested.session.result_of(self._entry), ""
        except OpconformError as raised:
            fault = str(raised)
        if fault:  # outside the handler, so that pytest shows the sentence alone
            pytest.fail(fault, pytrace=False)
        if self._result is not None and self._result.verdict == "error":
            log = f"\n{self._result.log}" if self._result.log else ""
            pytest.fail(f"harness error: {self._result.sentence}{log}", pytrace=False)

    def runtest(self) -> None:
        """Report the verdict."""
        result = self._result
        if result is None or result.verdict == "pass":
            return
        if result.verdict in ("unsupported", "inconclusive"):
            pytest.skip(f"{result.verdict}: {result.sentence}")
        if self._counts(result):
            pytest.fail("\n".join(self._lines(result)), pytrace=False)
        why = ", ".join(result.broken) or "NaN payloads"
        pytest.xfail(f"{result.inputs}: {result.reason}: {result.sentence}; not counted: {why}")

    def reportinfo(self) -> tuple["os.PathLike[str]", int, str]:
        """The place of the case: its suite and its id."""
        return Path(self._tested.suite.store.root), 0, self.name

    def _counts(self, result: Result) -> bool:
        """Whether a failure makes the backend non-conformant."""
        if not result.broken:
            return result.reason != "nan-payload"
        return any(self._tested.options.strict or self._level(each) == "normative" for each in result.broken)

    def _level(self, requirement: str) -> str:
        return self._notes[requirement].level if requirement in self._notes else "normative"

    def _lines(self, result: Result) -> Iterator[str]:
        yield f"{result.inputs}: {result.reason}: {result.sentence}"
        for each in result.broken:
            text = f": {self._notes[each].text}" if each in self._notes else ""
            yield f"requirement: {each} ({self._level(each)}){text}"
        options = self._tested.options
        suite, case = shlex.quote(os.path.relpath(self._tested.suite.store.root)), shlex.quote(self.name)
        timeout = "" if options.timeout == TIMEOUT else f" --timeout {options.timeout:g}"
        out = f"--out again/{self.name.rpartition('/')[2]}"
        yield f"reproduce: opconform run {suite} {options.command.options} --select {case} {out}{timeout}"
