"""`opconform repro`."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opconform.errors import HarnessError, UsageError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import check_named, replace_named
from opconform.system.temporary import TemporaryFolder
from opconform_runners.cli.shared.help import HelpCommand, rare_option
from opconform_runners.cli.shared.options.backends import BackendOptions, timeout_option
from opconform_runners.cli.shared.options.general import PATH, SOURCE, out_option
from opconform_runners.cli.shared.output.streams import print_document
from opconform_runners.cli.shared.single_case import suite_with_case
from opconform_runners.execution.log.suite_place import suite_of_results
from opconform_runners.harness.command import Launch
from opconform_runners.reports.history import interval_in
from opconform_runners.tools.repro.issue import issue_of
from opconform_runners.tools.repro.observation import PRIVATE, Observation, notes_of, observation_of
from opconform_runners.tools.repro.script import SCRIPTS, dialects_needed, script_of
from opconform_runners.tools.subgraphs import Smallest, smallest_subgraph
from opconform_runners.verdicts.results import RESULTS, read_written

#: The line that marks what opconform wrote. An issue has it in its script.
_OURS = re.compile(rb"^(?:#|//) The case \S+ of opconform\.\r?$", re.MULTILINE)
#: The forms, and what to do with each.
_FORMS = {"script": "run it with python {}", "issue": "the heading is the title", "gtest": "link it with gtest_main"}

#: The backends with tests in C++.
_WITH_CPP_TESTS = ", ".join(name for name, script in SCRIPTS.items() if script.cpp_test is not None)


@click.command(
    "repro",
    cls=HelpCommand,
    example="repro VariadicSplit-1/remainder-over/17a2d48cd0 openvino\nrepro 1faf64c2f9 openvino --as issue",
)
@click.argument("case")
@click.argument("named", required=False, metavar="[BACKEND|RESULTS]")
@click.option(
    "--backend", "-b", metavar="NAME[:DEVICE]", help=f"The backend that the script calls: {', '.join(SCRIPTS)}."
)
@click.option(
    "--as",
    "form",
    type=click.Choice([*_FORMS]),
    default="script",
    show_default=True,
    help=f"A Python script, the Markdown of an issue, or a C++ test with GoogleTest ({_WITH_CPP_TESTS} only).",
)
@click.option("--history", type=PATH, help="For an issue: folder of `opconform history`, for the releases that fail.")
@click.option("--suite", "place", type=SOURCE, help="The suite that contains the case; the shipped cases by default.")
@rare_option("--whole", is_flag=True, help="Keep the whole graph of a case that tests one.")
@rare_option("--python", metavar="PATH", help="Python interpreter of another environment, for the backend.")
@timeout_option
@out_option(help="The file to write; standard output by default.")
def command(
    case: str, named: str | None, backend: str | None, place: Path | None, out: Path | None, **values: Any
) -> None:
    """Reproduce CASE with only the backend's own API, for the backend's maker and issue tracker.

    The case is executed first, and the observed result is recorded. CASE is an id, the last part of an id, or a pattern
    that matches one case. RESULTS, the folder of a run, names its backend and its suite. A graph is cut to the smallest
    subgraph that still fails.

    A script prints the expected and the actual outputs. It exits with 1 if the bug is present and with 0 if it is
    fixed. An issue begins with its title as a heading, or with a warning for a memory fault. The rest is the body, with
    the headings of the form of the backend's tracker, if it has one. The script in it is executed once more.
    """
    if named is not None and backend is not None:
        raise UsageError(f"Name only one of these backends: {named}, {backend}.")
    python: str | None = values["python"]
    if named is not None and (Path(named) / RESULTS).is_file():
        backend, python = _run_in(Path(named), python)
        place = place or suite_of_results(Path(named))
    backend = backend or named
    if backend is None:
        raise UsageError("Name the backend, as in `opconform repro CASE openvino`.")
    form, history = values["form"], values["history"]
    dialects = dialects_needed(backend, form)
    if history is not None and form != "issue":
        raise UsageError("--history is for an issue. Add --as issue.")
    if out is not None:
        _check_place(out)
    pythons = () if python is None else (python,)
    chosen = BackendOptions(backends=(backend,), pythons=pythons, timeout=values["timeout"])
    launch = Launch(command=chosen.command(), timeout=values["timeout"])
    with TemporaryFolder() as folder:
        suite, entry = suite_with_case(case, place, dialects, Path(folder) / "suite")
        interval = None if history is None else interval_in(history, launch.command.name.partition(":")[0], entry.id)
        seen, whole = _observed(suite, entry, launch, must_fail=form == "issue"), entry.id
        found = None if values["whole"] else _smallest(suite, entry, seen, launch, Path(folder) / "parts")
        if found is not None and found.cut is not None and seen is not None:
            suite, entry, seen = found.cut.suite, found.cut.entry, replace(seen, result=found.cut.result)
        script = SCRIPTS[backend.partition(":")[0]]
        needs = script.cpp_needs if form == "gtest" else script.requires
        notes, reason = notes_of(suite, entry, needs, seen), None if seen is None else seen.result.reason
        write = script_of if form != "gtest" or script.cpp_test is None else script.cpp_test
        text = write(suite, entry, backend, notes, reason)
        if form == "issue" and seen is not None:
            text = issue_of(suite, entry, seen, script=text, launch=launch, interval=interval)
        text = text.replace(entry.id, whole)  # a part of a graph is in no suite
    if out is None:
        print_document(text, nl=False)
    else:
        replace_named(out, text.encode())
        click.echo(f"{out}: {len(text.splitlines())} lines; {_FORMS[form].format(out)}")
    if found is not None and found.cut is not None:
        click.echo(f"note: the graph was cut to {found.subgraph.sentence}; --whole keeps all of it.", err=True)
    if history is not None and interval is None:
        click.echo(f"warning: {history} has no failure of {whole}, so the issue has no releases.", err=True)
    if out is not None and seen is not None and seen.is_memory_error:
        click.echo(f"note: {PRIVATE}; see SECURITY.md of opconform.", err=True)


def _check_place(out: Path) -> None:
    """Refuse to overwrite a file that opconform did not write, and to write into a suite."""
    check_named(out)
    try:
        is_foreign = out.is_file() and not _OURS.search(out.read_bytes())
    except OSError as error:
        raise UsageError(f"{out} cannot be read: {error.strerror}. Use another --out.") from error
    if is_foreign:
        raise UsageError(f"opconform did not write {out} and does not overwrite it. Use another --out.")


def _run_in(results: Path, python: str | None) -> tuple[str, str | None]:
    """The backend of a run, and its interpreter unless another one is named."""
    words = shlex.split(read_written(results / RESULTS).header.started)
    options = dict(zip(words[::2], words[1::2], strict=False))
    if "--backend" not in options:
        raise UsageError(f"{results} has no run of an installed backend. Name one with --backend.")
    return options["--backend"], python or options.get("--python")


def _smallest(suite: Suite, entry: Entry, seen: Observation | None, launch: Launch, folder: Path) -> Smallest | None:
    """The smallest subgraph of a graph that fails as it was observed; None for any other case."""
    if seen is None or seen.result.verdict != "fail" or not suite.case(entry).tests_graph:
        return None
    return smallest_subgraph(suite, entry, seen.result, launch, folder)


def _observed(suite: Suite, entry: Entry, launch: Launch, *, must_fail: bool) -> Observation | None:
    """The observation of the case; None, after a warning, if the backend cannot be started.

    If the case `must_fail`, it is an error if it passes, and if the backend cannot be started.
    """
    try:
        seen = observation_of(suite, entry, launch)
    except HarnessError as error:
        if must_fail:
            raise
        click.echo(f"warning: {error} The script was not checked against the backend.", err=True)
        return None
    if not seen.fails and must_fail:
        raise UsageError(f"{seen.backend} does not fail {entry.id} here, so nothing is written: {seen.sentence}")
    if not seen.fails:
        click.echo(f"warning: {seen.backend} does not fail {entry.id} here: {seen.sentence}", err=True)
    return seen
