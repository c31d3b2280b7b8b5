"""Conformance tests: the hooks that are registered if an option of the plugin is given."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from opconform.dialects import DIALECTS
from opconform.errors import OpconformError, SuiteError, UsageError
from opconform.generation.header import recipe_digest
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs, shipped_files
from opconform.suite.manifest import HEADER
from opconform.suite.matches import Matches
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import described
from opconform_runners.pytest_plugin.items import Cases, PluginOptions, Tested, options_of, shown_path

#: The first part of the cases' node ids.
_NAME = "opconform"
#: The key under which an xdist worker gets the suite's path.
_SUITE = "opconform_suite"


class Conformance:
    """The cases of one suite as tests of one backend."""

    def __init__(self) -> None:
        self._backend = ""
        self._tested: Tested | None = None

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
        self._backend = options.command.name
        try:
            suite = open_suite(self._place(config, options))
            if suite.header.blind:
                sentence = "is blind: it has no expected outputs. Generate it without --blind."
                raise SuiteError(f"{suite.store.root} {sentence}")
            profiles = sorted({each.profile for each in suite.entries})
            selection = Selection(profiles=options.profiles, patterns=patterns)
            selection.check_profiles(profiles, f"in {suite.store.root}")
        except OpconformError as fault:
            raise pytest.UsageError(str(fault)) from fault
        for name, text in _marks(suite):
            config.addinivalue_line("markers", f"{name}: {text} (opconform)")
        launch = Launch(command=options.command, timeout=options.timeout)
        self._tested = Tested(suite=suite, selection=selection, session=Session(suite, launch), options=options)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist the path of the suite."""
        if self._tested is not None:
            node.workerinput[_SUITE] = str(self._tested.suite.store.root)

    def pytest_report_header(self) -> list[str]:
        """The backend and the suite."""
        if self._tested is None:
            return []
        suite = self._tested.suite
        cases = f"{len(suite.entries):,} cases, digest {suite.header.digest[:10]}"
        return [f"opconform: {self._backend}, {shown_path(suite.store.root)}: {cases}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the wanted cases to the tests."""
        if self._tested is None:
            return
        suite, matches = self._tested.suite, Matches(self._tested.selection, every_profile=True)
        cases = Cases.from_parent(session, name=_NAME, nodeid=_NAME, tested=self._tested, matches=matches)
        items.extend(session.genitems(cases))
        try:
            matches.check(suite.known, within=f" of {shown_path(suite.store.root)}")
        except OpconformError as fault:
            raise pytest.UsageError(str(fault)) from fault

    def pytest_unconfigure(self) -> None:
        """Stop the harnesses."""
        if self._tested is not None:
            self._tested.session.close()

    def _place(self, config: pytest.Config, options: PluginOptions) -> Path:
        """The path of the suite. Only the controller starts the backend and generates the suite, not the workers."""
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        if worker is not None:
            return Path(worker[_SUITE])
        if options.suite is not None and config.getoption("collectonly"):
            return options.suite
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # leaves a running event loop alone
            implementation = runner.run(described(options.command))
        self._backend = implementation.title
        if options.suite is not None:
            return options.suite
        cache = getattr(config, "cache", None)
        if cache is None:
            raise UsageError("A suite cannot be generated without pytest's cache. Name one with --opconform-suite.")
        return _cached_suite(cache, implementation.dialects, options.profiles)


def _cached_suite(cache: pytest.Cache, read: Sequence[str], profiles: tuple[str, ...]) -> Path:
    """The suite of the shipped cases in the dialects that a backend reads; without profiles, of all but `large`.

    It lies in pytest's cache folder, and is generated if it is missing or out of date.
    """
    dialects = tuple(each for each in DIALECTS if each in read)
    # One process: worker processes would import the script that called pytest again.
    options = Options(dialects=dialects, jobs=1, selection=Selection(profiles=profiles))
    name = "-".join((*dialects, *sorted(profiles))) or "cases"
    place = cache.mkdir("opconform") / name
    digest = hashlib.sha256(recipe_digest(options).encode())
    for folder in sorted({each.parent for each in shipped_files().values()}):
        for file in sorted(folder.glob("*.yaml")):
            digest.update(f"{folder.name}/{file.name}".encode() + b"\0" + file.read_bytes() + b"\0")
    if cache.get(f"opconform/{name}", None) != digest.hexdigest() or not (place / HEADER).exists():
        generate(load_specs([]), place, options)
        cache.set(f"opconform/{name}", digest.hexdigest())
    return place


def _patterns(config: pytest.Config) -> tuple[str, ...] | None:
    """The patterns of cases among the arguments: empty for all cases, None if only other tests are wanted.

    `opconform` and `opconform::PATTERN` name cases and are removed from the arguments. Paths alone name other tests,
    unless an option of the plugin is on the command line too.
    """
    folder = config.invocation_params.dir
    paths = {each: each.partition("::")[0] for each in config.args}
    named = [each for each, path in paths.items() if Path(path).name == _NAME and not (folder / path).exists()]
    if named:
        config.args[:] = [each for each in config.args if each not in named]
        patterns = tuple(each.partition("::")[2] for each in named)
        return () if "" in patterns else patterns
    typed = any(str(each).startswith("--opconform-") for each in config.invocation_params.args)
    return () if typed or config.args_source is not pytest.Config.ArgsSource.ARGS else None


def _marks(suite: Suite) -> Iterator[tuple[str, str]]:
    """The markers of the cases, which are their profiles and requirements, and the meaning of each."""
    texts = {name: note.text for notes in suite.header.requirements.values() for name, note in notes.items()}
    for profile in sorted({each.profile for each in suite.entries}):
        yield profile, f"cases of the profile {profile}"
    for name in {**texts, **dict.fromkeys(name for each in suite.entries for name in each.requirements)}:
        yield name, texts.get(name, "")
