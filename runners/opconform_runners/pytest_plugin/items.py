"""The plugin's options, cases as pytest items, and their collector."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import OpconformError
from opconform.suite.installed import place_of
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.configuration import defaults_at
from opconform_runners.execution.session import Session
from opconform_runners.findings.support.claims_file import ClaimsFile
from opconform_runners.harness.command import LARGEST, Command, backend_command, harness_command, memory_limit
from opconform_runners.harness.registry import backend_file_of
from opconform_runners.pytest_plugin.names import names_of
from opconform_runners.reports.terminal.incidents import incident_sentence
from opconform_runners.verdicts.baseline import Line, comparison_field_of, expectation
from opconform_runners.verdicts.results import Result

#: The property of a test that passes although the claims do not cover it.
UNCLAIMED = "opconform_unclaimed"
#: The default time limit for a case, in seconds.
TIMEOUT = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginOptions:
    """The backend's command, the suite (None for the shipped cases), what is selected (empty for all), the rules.

    `note` says what is from `pyproject.toml`.
    """

    command: Command
    suite: Path | None
    profiles: tuple[str, ...]
    patterns: tuple[str, ...]
    baseline: Path | None
    claims: Path | None
    timeout: float
    strict: bool
    note: str


def options_of(config: pytest.Config) -> PluginOptions:
    """The plugin's options; raises `pytest.UsageError` if they are contradictory or wrong."""
    timeout = config.getoption("opconform_timeout")
    if timeout is not None and not 0 < timeout <= LARGEST:
        raise pytest.UsageError(f"--opconform-timeout must be above 0 and at most {LARGEST:,}.")
    suite, backend, harness, python, baseline, claims = (
        config.getoption(f"opconform_{name}")
        for name in ("suite", "backend", "harness", "python", "baseline", "claims")
    )
    try:
        defaults = defaults_at(config.invocation_params.dir).only(
            backend=backend is None and harness is None,
            profile=not config.getoption("opconform_profile"),
            baseline=baseline is None,
            claims=claims is None,
        )
    except OpconformError as error:
        raise pytest.UsageError(str(error)) from error
    backend = next(iter(defaults.backend), backend)
    if file := backend_file_of(backend or ""):
        backend = f"{_located(config, 'backend', file)}{backend.removeprefix(file)}"
    if (backend is None) == (harness is None):
        raise pytest.UsageError("Use either --opconform-backend NAME or --opconform-harness COMMAND.")
    if python is not None and backend is None:
        raise pytest.UsageError("--opconform-python works only with --opconform-backend; a harness names its own.")
    try:
        interpreter = None if python is None else _located(config, "python", python)
        installed = None if suite is None else place_of(suite)
        command = harness_command(harness) if backend is None else backend_command(backend, interpreter)
    except OpconformError as error:
        raise pytest.UsageError(str(error)) from error
    return PluginOptions(
        command=replace(command, memory=memory_limit()),
        suite=_located(config, "suite", suite) if installed == Path(suite or "") else installed,
        profiles=_repeated(config, "profile") or defaults.profile,
        patterns=_repeated(config, "select"),
        baseline=defaults.baseline if baseline is None else _located(config, "baseline", baseline),
        claims=defaults.claims if claims is None else _located(config, "claims", claims),
        timeout=timeout or TIMEOUT,
        strict=bool(config.getoption("opconform_strict")),
        note=defaults.note,
    )


def _located(config: pytest.Config, option: str, path: str) -> Path:
    """A path from the command line as it is, and one from a configuration file relative to that file's folder."""
    if _typed(config, option) or config.inipath is None or Path(path).is_absolute():
        return Path(path)
    return Path(os.path.relpath(config.inipath.parent / path))


def _typed(config: pytest.Config, option: str) -> int:
    """How often an option is on the command line, and not in a configuration file."""
    words = [*map(str, config.invocation_params.args), *shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))]
    return sum(word.partition("=")[0] == f"--opconform-{option}" for word in words)


def _repeated(config: pytest.Config, option: str) -> tuple[str, ...]:
    """The values of an option that can be repeated; the command line replaces the values of a file."""
    values: list[str] = config.getoption(f"opconform_{option}") or []
    return tuple(values[-_typed(config, option) :])


def shown_path(path: Path) -> str:
    """A path relative to the current folder, if it is below it."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") and sys.platform != "win32" else str(path)


@dataclass(frozen=True, kw_only=True, slots=True)
class TestedSuite:
    """The suite under test, the session that gives the verdicts, the options, the baseline's lines by case, the claims.

    `absent` are the wanted cases of operations that the backend does not declare.
    """

    suite: Suite
    entries: tuple[Entry, ...]
    absent: tuple[Entry, ...]
    session: Session
    options: PluginOptions
    expected: Mapping[str, tuple[Line, ...]]
    claims: ClaimsFile | None = None


class Cases(pytest.Collector):
    """The cases of a suite."""

    def __init__(self, *, tested: TestedSuite, **known: Any) -> None:
        super().__init__(**known)
        self._tested = tested

    def collect(self) -> Iterable[pytest.Item]:
        """One test per wanted case."""
        suite, selected = self._tested.suite, self._tested.entries
        marks = {name: getattr(pytest.mark, name) for name in marks_of(suite)}  # once, since pytest checks each look-up
        groups = {name.id.rpartition("/")[0] for name in selected}
        names = names_of(suite, [entry for entry in suite.entries if entry.id.rpartition("/")[0] in groups])
        for entry in selected:
            name = names[entry.id]
            arguments = {"tested": self._tested, "entry": entry, "marks": marks}
            # The node id is given whole, since pytest would not take the brackets of a name for parameters, and not
            # find the case again with --lf.
            yield CaseItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}", **arguments)


def marks_of(suite: Suite) -> set[str]:
    """The markers of the cases: their profiles and requirements."""
    return {name for entry in suite.entries for name in (entry.profile, *entry.requirements)}


class CaseItem(pytest.Item):
    """A case. It is executed in the set-up, so that a failure of the harness is an error, not a failed test."""

    @property
    def case_id(self) -> str:
        """The id of the case."""
        return self._entry.id

    def __init__(
        self, *, tested: TestedSuite, entry: Entry, marks: Mapping[str, pytest.MarkDecorator], **known: Any
    ) -> None:
        super().__init__(**known)
        self._tested = tested
        self._entry = entry
        self._notes = tested.suite.header.requirements.get(entry.op, {})
        self._result: Result | None = None
        self.extra_keyword_matches.add(entry.id)
        for requirement in (entry.profile, *entry.requirements):
            self.add_marker(marks[requirement])

    def setup(self) -> None:
        """Execute the case, and its twin if the verdict needs it."""
        try:
            self._result, message = self._tested.session.result_of(self._entry), ""
        except OpconformError as raised:
            message = str(raised)
        if message:  # outside the handler, so that pytest shows the sentence alone
            pytest.fail(message, pytrace=False)
        if self._result is not None and self._result.verdict == "error":
            log = f"\n{self._result.log}" if self._result.log else ""
            pytest.fail(f"harness error: {self._result.sentence}{log}", pytrace=False)

    def runtest(self) -> None:
        """Report the verdict."""
        result, lines = self._result, self._tested.expected.get(self._entry.id, ())
        if result is None:
            return
        if self._tested.options.baseline is not None:
            self._compare(result, lines)
        if result.verdict in ("unsupported", "inconclusive"):
            pytest.skip(f"{result.verdict}: {result.sentence}")
        if result.verdict == "pass":
            if result.unclaimed:
                self.user_properties.append((UNCLAIMED, True))
            return
        if self._counts(result):
            pytest.fail("\n".join(self._lines(result)), pytrace=False)
        why = ", ".join(result.broken) or "NaN payloads"
        pytest.xfail(f"{result.inputs}: {result.reason}: {result.sentence}; not counted: {why}")

    def _compare(self, result: Result, lines: Sequence[Line]) -> None:
        """Report a failure or a pass as the baseline expects it."""
        expects = [expectation(str(self._tested.options.baseline), lines)] if lines else []
        match comparison_field_of(result, lines):
            case "lost":
                lost = f"no longer supported: {result.sentence}; the baseline does not expect it"
                pytest.fail("\n".join([lost, *expects]), pytrace=False)
            case "known" if result.verdict == "fail":
                pytest.xfail("; ".join([f"{result.inputs}: {result.reason}: {result.sentence}", *expects]))
            case "passes":
                pytest.fail("\n".join([f"{self._entry.id} passes", *expects]), pytrace=False)
            case "regressions":
                pytest.fail("\n".join([*self._lines(result), *expects]), pytrace=False)

    def teardown(self) -> None:
        """Report what happened to the process: an end or a hang is an error, although the test passed by itself."""
        incidents = self._result.incidents if self._result is not None else ()
        for item in incidents:
            if not item.is_death:
                self.warn(pytest.PytestWarning(incident_sentence(item)))
        if deaths := [incident_sentence(incident) for incident in incidents if incident.is_death]:
            pytest.fail("\n".join(deaths), pytrace=False)

    def reportinfo(self) -> tuple["os.PathLike[str]", int, str]:
        """The place of the case: its suite and its id."""
        return Path(self._tested.suite.store.root), 0, self.name

    def _counts(self, result: Result) -> bool:
        """Whether a failure makes the backend non-conformant."""
        if not result.broken:
            return result.reason != "nan-payload"
        return any(
            self._tested.options.strict or self._level(requirement) == "normative" for requirement in result.broken
        )

    def _level(self, requirement: str) -> str:
        return self._notes[requirement].level if requirement in self._notes else "normative"

    def _lines(self, result: Result) -> Iterator[str]:
        yield f"{result.inputs}: {result.reason}: {result.sentence}"
        for requirement in result.broken:
            text = f": {self._notes[requirement].text}" if requirement in self._notes else ""
            yield f"requirement: {requirement} ({self._level(requirement)}){text}"
        options = self._tested.options
        suite, case = shlex.quote(os.path.relpath(self._tested.suite.store.root)), shlex.quote(self._entry.id)
        timeout = "" if options.timeout == TIMEOUT else f" --timeout {options.timeout:g}"
        out = f"--out again/{self._entry.id.rpartition('/')[2]}"
        yield f"reproduce: opconform run {suite} {options.command.options} --select {case} {out}{timeout}"
