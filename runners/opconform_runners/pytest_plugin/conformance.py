"""Conformance tests: the hooks that are registered if an option of the plugin is given."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from opconform.errors import OpconformError, SuiteError, UsageError, counted
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Matches
from opconform.suite.selection.selection import Selection
from opconform_runners.execution.session import Session
from opconform_runners.findings.support.claims_file import backend_of, claims_of, notes_on, read_claims
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import described
from opconform_runners.pytest_plugin.case_selection import absent_sentence, selected_entries
from opconform_runners.pytest_plugin.items import (
    UNCLAIMED,
    CaseItem,
    Cases,
    PluginOptions,
    TestedSuite,
    options_of,
    shown_path,
)
from opconform_runners.pytest_plugin.names import case_pattern
from opconform_runners.pytest_plugin.shipped_suite import cached_suite
from opconform_runners.verdicts.baseline import Line, compare, read_baseline

#: The first part of the cases' node ids.
_NAME = "opconform"
#: The key under which an xdist worker gets the suite's path and what its controller knows of the backend.
_GIVEN = "opconform_given"


class _Given(NamedTuple):
    """The path of the suite; the backend's title, declared operations (empty if it takes all), and name in claims."""

    suite: str
    title: str
    operations: Sequence[str]
    backend: str


class Conformance:
    """The cases of one suite as tests of one backend."""

    def __init__(self) -> None:
        self._given = _Given("", "", (), "")
        self._tested: TestedSuite | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open or generate the suite; a worker of pytest-xdist opens the suite of its controller.

        The options are read only if cases are wanted, so that a wrong option does not stop other tests.
        """
        config = session.config
        patterns = _patterns(config)
        if patterns is None:
            return
        options = options_of(config)
        try:
            self._given = chosen = self._found(config, options)
            suite = open_suite(Path(chosen.suite))
            if suite.release_difference:
                raise SuiteError(f"{suite.store.root}: {suite.release_difference}.")
            if suite.header.blind:
                sentence = "is blind: it has no expected outputs. Generate it without --blind."
                raise SuiteError(f"{suite.store.root} {sentence}")
            selections = [
                Selection(profiles=options.profiles, patterns=options.patterns),
                Selection(patterns=tuple(case_pattern(suite, pattern) for pattern in patterns)),
            ]
            selections[0].check_profiles(suite.known().groups, f"in {suite.store.root}")
            # Against a baseline or claims, an operation that the backend no longer declares is lost support.
            is_free = options.baseline is None and options.claims is None
            entries, absent = selected_entries(suite, selections, chosen.operations if is_free else ())
            claims = None if options.claims is None else read_claims(options.claims)
            expected = _expected(suite, options)
        except OpconformError as error:
            raise pytest.UsageError(str(error)) from error
        for name, text in _marks(suite):
            config.addinivalue_line("markers", f"{name}: {text} (opconform)")
        self._tested = TestedSuite(
            suite=suite,
            entries=tuple(entries),
            absent=tuple(absent),
            session=Session(
                suite,
                Launch(command=options.command, timeout=options.timeout),
                None if claims is None else claims_of(claims),
            ),
            claims=claims,
            options=options,
            expected=expected,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist what is known of the suite and the backend."""
        if self._tested is not None:
            node.workerinput[_GIVEN] = list(self._given)

    def pytest_report_header(self) -> list[str]:
        """The backend and the suite."""
        if self._tested is None:
            return []
        suite = self._tested.suite
        cases = f"{counted(len(suite.entries), 'case')}, digest {suite.header.digest[:10]}"
        lines = [f"opconform: {self._given.title}, {shown_path(suite.store.root)}: {cases}"]
        lines += [f"opconform: {note}" for note in [self._tested.options.note] if note]
        if (claims := self._tested.claims) is not None:
            place = shown_path(self._tested.options.claims or Path())
            lines += map("opconform: {}".format, notes_on(claims, place, self._given.backend, suite.header.version))
        return lines

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the wanted cases to the tests."""
        if self._tested is None:
            return
        cases = Cases.from_parent(session, name=_NAME, nodeid=_NAME, tested=self._tested)
        collected = [genitem for genitem in session.genitems(cases) if isinstance(genitem, CaseItem)]
        left_out = self._deselected(session.config, collected)
        session.config.hook.pytest_deselected(items=[item for item in collected if item.case_id in left_out])
        items.extend(item for item in collected if item.case_id not in left_out)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many cases were not collected, and how many pass that are not claimed."""
        if self._tested is not None and self._tested.absent:
            sentence = absent_sentence(self._tested.absent, self._given.title)
            terminalreporter.write_line(f"opconform: not collected: {sentence}")
        passed = terminalreporter.stats.get("passed", ())
        if unclaimed := sum((UNCLAIMED, True) in report.user_properties for report in passed):
            passes = counted(unclaimed, "case passes", "cases pass")
            terminalreporter.write_line(f"opconform: {passes}, although the claims do not cover it.")

    def _deselected(self, config: pytest.Config, items: Sequence[CaseItem]) -> set[str]:
        """The ids of the cases that `--deselect` names as `opconform::PATTERN`; pytest handles other values."""
        named = [x for x in config.getoption("deselect") or () if x.partition("::")[0] == _NAME]
        if not named or self._tested is None:
            return set()
        config.option.deselect = [x for x in config.option.deselect if x not in named]
        suite = self._tested.suite
        patterns = tuple(case_pattern(suite, x.partition("::")[2]) for x in named)
        matches = Matches(Selection(patterns=patterns), every_profile=True)
        by_id = suite.by_id
        wanted_ids = {item.case_id for item in items if matches.wants(item.case_id, by_id[item.case_id].profile, ())}
        try:
            check_matches(matches, suite.known, within=f" of {shown_path(suite.store.root)}")
        except OpconformError as error:
            raise pytest.UsageError(f"--deselect: {error}") from error
        return wanted_ids

    def pytest_unconfigure(self) -> None:
        """Stop the harnesses."""
        if self._tested is not None:
            self._tested.session.close()

    def _found(self, config: pytest.Config, options: PluginOptions) -> _Given:
        """The suite and the backend. The controller starts the backend and generates the suite, not the workers."""
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        if worker is not None:
            return _Given(*worker[_GIVEN])
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # leaves a running event loop alone
            implementation = runner.run(described(options.command))
        suite = options.suite or cached_suite(config, implementation, options.profiles)
        return _Given(str(suite), implementation.title, implementation.operations, backend_of(implementation))


def _expected(suite: Suite, options: PluginOptions) -> Mapping[str, tuple[Line, ...]]:
    """The lines of the baseline by case; a line without a case is an error if the suite is named."""
    if options.baseline is None:
        return {}
    baseline = read_baseline(options.baseline)
    expects = {entry.id: "accept" if entry.expect == "accept" else "reject" for entry in suite.entries}
    stale = compare(baseline, (), expects).stale
    if stale and options.suite is not None:  # a generated suite may lack profiles that the baseline covers
        advice = (
            "Delete the line, or update the file with `opconform run SUITE BACKEND --baseline FILE --update-baseline`."
        )
        raise UsageError(f"{baseline.file}:{stale[0].number}: no case matches {stale[0].pattern!r}. {advice}")
    return baseline.lines_of(expects)


def _patterns(config: pytest.Config) -> tuple[str, ...] | None:
    """The patterns of cases among the arguments: empty for all cases, None if only other tests are wanted.

    `opconform` and `opconform::PATTERN` name cases and are removed from the arguments. Paths alone name other tests,
    unless an option of the plugin is on the command line too.
    """
    folder = config.invocation_params.dir
    paths = {argument: argument.partition("::")[0] for argument in config.args}
    named = [key for key, path in paths.items() if Path(path).name == _NAME and not (folder / path).exists()]
    if named:
        config.args[:] = [argument for argument in config.args if argument not in named]
        patterns = tuple(x.partition("::")[2] for x in named)
        return () if "" in patterns else patterns
    typed = any(str(argument).startswith("--opconform-") for argument in config.invocation_params.args)
    return () if typed or config.args_source is not pytest.Config.ArgsSource.ARGS else None


def _marks(suite: Suite) -> Iterator[tuple[str, str]]:
    """The markers of the cases, which are their profiles and requirements, and the meaning of each."""
    texts = {name: note.text for notes in suite.header.requirements.values() for name, note in notes.items()}
    for profile in sorted({entry.profile for entry in suite.entries}):
        yield profile, f"cases of the profile {profile}"
    for name in {**texts, **dict.fromkeys(name for entry in suite.entries for name in entry.requirements)}:
        yield name, texts.get(name, "")
