"""Conformance tests: the hooks that are registered if a backend is named."""

import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import OpconformError, SuiteError, UsageError
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection, near_miss
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Launch
from opconform_runners.pytest_plugin.items import NAME, Cases, Tested
from opconform_runners.pytest_plugin.options import TIMEOUT, PluginOptions, options_of
from opconform_runners.pytest_plugin.suite_cache import cached_suite, implementation_of

#: The key under which an xdist worker gets the suite's path.
_SUITE = "opconform_suite"


class Conformance:
    """The cases of one suite as tests of one backend."""

    def __init__(self) -> None:
        self._options: PluginOptions | None = None
        self._implementation: Implementation | None = None
        self._patterns: tuple[str, ...] | None = ()
        self._tested: Tested | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open or generate the suite; a worker of pytest-xdist opens the suite of its controller.

        The options are read only if cases are wanted, so that a wrong option does not stop other tests.
        """
        config = session.config
        self._patterns = _patterns(config)
        if self._patterns is None:
            return
        self._options = options = options_of(config)
        try:
            suite = open_suite(self._place(config, options))
            if suite.header.blind:
                raise SuiteError(f"{suite.store.root} is blind: it has no expected outputs.")
            Selection(profiles=options.profiles).of(_profiles(suite), f"in {suite.store.root}")
        except OpconformError as fault:
            raise pytest.UsageError(str(fault)) from fault
        for line in _marks(suite):
            config.addinivalue_line("markers", line)
        self._tested = Tested(
            suite=suite,
            session=Session(suite, Launch(command=options.command, timeout=options.timeout)),
            named=options.command.options,
            timeout=None if options.timeout == TIMEOUT else options.timeout,
            strict=options.strict,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist the path of the suite."""
        if self._tested is not None:
            node.workerinput[_SUITE] = str(self._tested.suite.store.root)

    def pytest_report_header(self) -> list[str]:
        """The backend and the suite."""
        if self._tested is None or self._options is None:
            return []
        suite = self._tested.suite
        backend = self._options.command.name if self._implementation is None else self._implementation.title
        cases = f"{len(suite.entries):,} cases, digest {suite.header.digest[:10]}"
        return [f"opconform: {backend}, {_short(suite.store.root)}: {cases}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the wanted cases to the tests."""
        if self._tested is None or self._options is None:
            return
        cases = Cases.from_parent(
            session,
            name=NAME,
            nodeid=NAME,
            tested=self._tested,
            selection=Selection(profiles=self._options.profiles, patterns=self._patterns or ()),
        )
        found = list(session.genitems(cases))
        missing = [each for each in self._patterns or () if not any(_matches(item.name, each) for item in found)]
        if missing:
            groups = [each.id.rpartition("/")[0] for each in self._tested.suite.entries]
            place, hint = _short(self._tested.suite.store.root), near_miss(missing[:1], groups, [])
            raise pytest.UsageError(f"No case of {place} matches {missing[0]!r}.{hint}")
        items.extend(found)

    def pytest_unconfigure(self) -> None:
        """Stop the harnesses."""
        if self._tested is not None:
            self._tested.session.close()

    def _place(self, config: pytest.Config, options: PluginOptions) -> Path:
        """The path of the suite. Only the controller starts the backend and generates the suite, not the workers."""
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        if worker is not None:
            return Path(worker[_SUITE])
        given = options.suite
        if given is None or not config.getoption("collectonly"):
            self._implementation = implementation_of(options.command)
        if given is not None or self._implementation is None:
            return Path() if given is None else given
        cache = getattr(config, "cache", None)
        if cache is None:
            raise UsageError("Without pytest's cache there is no place for the suite. Name one with --opconform-suite.")
        return cached_suite(cache, self._implementation.dialects, options.profiles)


def _patterns(config: pytest.Config) -> tuple[str, ...] | None:
    """The patterns of cases among the arguments: empty for all cases, None if only other tests are wanted.

    `opconform` and `opconform::PATTERN` name cases and are removed from the arguments. Paths alone name other tests,
    unless an option of the plugin is on the command line too.
    """
    named = [each for each in config.args if _names_cases(each, config)]
    if named:
        config.args[:] = [each for each in config.args if each not in named]
        patterns = tuple(each.partition("::")[2] for each in named)
        return () if "" in patterns else patterns
    typed = any(str(each).startswith("--opconform-") for each in config.invocation_params.args)
    return () if typed or config.args_source is not pytest.Config.ArgsSource.ARGS else None


def _names_cases(argument: str, config: pytest.Config) -> bool:
    path = argument.partition("::")[0]
    return Path(path).name == NAME and not (config.invocation_params.dir / path).exists()


def _matches(identity: str, pattern: str) -> bool:
    return fnmatchcase(identity, pattern) or fnmatchcase(identity, f"{pattern}/*")


def _profiles(suite: Suite) -> Sequence[str]:
    return sorted({each.profile for each in suite.entries})


def _marks(suite: Suite) -> Sequence[str]:
    """One line per marker of the cases: their profiles and requirements."""
    texts = {name: note.text for notes in suite.header.requirements.values() for name, note in notes.items()}
    texts |= {name: "" for each in suite.entries for name in each.requirements if name not in texts}
    profiles = [f"{each}: cases of the profile {each} (opconform)" for each in _profiles(suite)]
    return [*profiles, *(f"{name}: {text} (opconform)" for name, text in texts.items())]


def _short(path: Path) -> str:
    """A path relative to the current folder, if it is below it."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") and sys.platform != "win32" else str(path)
