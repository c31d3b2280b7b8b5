"""`opconform history`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from opconform.dialects import DIALECTS
from opconform.errors import DiskError, HarnessError, OpconformError, counted
from opconform.generation.options import Options
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform.suite.storage.ownership import replace_ours
from opconform.system.resources import DEFAULT_DIALECTS
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.help import HelpCommand, rare_option
from opconform_runners.cli.shared.options.backends import timeout_option
from opconform_runners.cli.shared.options.general import (
    PATH,
    SOURCE,
    jobs_option,
    json_option,
    out_option,
    selection_options,
)
from opconform_runners.cli.shared.output.printer import print_lines, print_result
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.single_case import suite_with_case
from opconform_runners.cli.shared.steps import folder_name, hold
from opconform_runners.execution.log.results_folder import Marks
from opconform_runners.findings.history import History, Release, State
from opconform_runners.harness.environment import cores
from opconform_runners.reports.history import (
    DOCUMENT,
    bisection_document,
    bisection_lines,
    history_document,
    history_view,
    repeats_in,
)
from opconform_runners.reports.html.history import history_page
from opconform_runners.tools.history.bisection import Bisection, change_between
from opconform_runners.tools.history.environments import Environments, default_cache
from opconform_runners.tools.history.installer import Installer, installer_in
from opconform_runners.tools.history.releases import package_of, releases_of, wanted
from opconform_runners.tools.history.runs import ReleaseRuns
from opconform_runners.tools.history.trials import Executor, repetitions
from opconform_runners.verdicts.page import PAGE_BEGINNING

_PAGE = "history.html"
#: The folder of the suite of a bisection.
_BISECTION = "bisection-suite"
#: The columns of output that does not go to a terminal.
WIDTH = 160
#: The documents of a history, and a mark among the first bytes of each.
_FILES: Marks = {DOCUMENT: (b'{\n "format"',), _PAGE: (PAGE_BEGINNING,)}


@click.command(
    "history",
    cls=HelpCommand,
    example="history openvino 2025.0..\nhistory onnxruntime 1.20 1.22..1.24 -k 'Split-1/*'\n"
    "history openvino --bisect VariadicSplit-1/remainder-over/17a2d48cd0\nhistory openvino --remove",
)
@click.argument("product")
@click.argument("versions", nargs=-1, metavar="[VERSION|FIRST..LAST]...")
@selection_options
@click.option("--bisect", metavar="CASE", help="Only find the change of one case, with few releases.")
@click.option("--remove", is_flag=True, help="Remove the environments of the product.")
@out_option(help="Folder to write; by default opconform-out/history-PRODUCT.")
@click.option("--force", is_flag=True, help="Run releases again that were run.")
@json_option("the history")
@rare_option("--package", metavar="NAME", help="The package of a backend that opconform does not ship.")
@rare_option("--suite", "place", type=SOURCE, help="Run this suite instead of generating one.")
@rare_option("--cache", type=PATH, metavar="FOLDER", help="Folder of the environments.")
@timeout_option
@jobs_option("Releases that run beside each other; by default one per core.")
def command(product: str, versions: tuple[str, ...], selection: Selection, **values: Any) -> None:
    """Run a suite on the releases of PRODUCT, and say since which release each failure exists.

    PRODUCT is a backend, such as openvino. Without versions, all final releases are run that the package index has for
    this Python. FIRST..LAST is a range, of which either end may be left out. Each release gets an environment of its
    own, which is kept for the next time. By default the cases are those of the profile core.

    The same command continues an interrupted one. A release that cannot be installed or started is listed with the
    reason.

    Exit code: 0 done, 1 a full disk, or --bisect finds no change, 3 no release can be started.
    """
    package, others = package_of(product, values["package"])
    cache: Path = values["cache"] or default_cache()
    environments = Environments(cache=cache.absolute(), package=package, backend=product, others=others)
    if values["remove"]:
        gone = environments.remove()
        print_lines(
            [f"{counted(len(gone), 'environment')} of {package} removed: {', '.join(gone) or 'none was there'}"]
        )
        return
    environments.claim()
    installer, jobs = installer_in(environments.cache), values["jobs"] or cores()
    chosen = wanted(versions, _known(environments, installer), package)
    dialects = _dialects(environments, chosen, installer)
    out = values["out"] or Path("opconform-out") / f"history-{folder_name(product)}"
    is_silent, place = values["as_json"], values["place"]
    hold(out, _FILES)
    entry = None
    if values["bisect"] is not None:
        suite, entry = suite_with_case(values["bisect"], place, dialects, out / _BISECTION)
    elif place is not None:
        suite = open_suite(place)
    else:
        selection = replace(selection, profiles=selection.profiles or ("core",))
        options = Options(dialects=dialects, selection=selection, jobs=cores())
        generated = generate_shown((), out / "suite", options, quiet=is_silent, force=values["force"])
        suite = open_suite(generated.out)
    executor = Executor(suite=suite, command_of=environments.command, timeout=values["timeout"], jobs=jobs)
    if entry is not None:
        prepare = partial(environments.prepare, installer=installer)
        bisection = Bisection(executor=executor, case=entry.id, prepare=prepare)
        raise click.exceptions.Exit(_bisect(bisection, chosen, as_json=is_silent))
    runs = ReleaseRuns(
        environments=environments,
        installer=installer,
        executor=executor,
        out=out,
        selection=selection,
        force=values["force"],
    )
    repeats = {} if values["force"] else repeats_in(out / DOCUMENT, suite.header.identity)
    history = History(product=product, releases=(), repeats=repeats)
    history, interrupted = _filled(history, runs, chosen, quiet=is_silent)
    _show(history, out, as_json=is_silent)
    if interrupted is not None:
        raise interrupted


def _known(environments: Environments, installer: Installer) -> tuple[str, ...]:
    """The releases on the index, or those that are installed if it cannot be asked."""
    try:
        return releases_of(environments.package, installer)
    except HarnessError as error:
        installed = environments.installed()
        if not installed:
            raise
        click.echo(f"note: {error} The {counted(len(installed), 'installed release')} can be run.", err=True)
        return installed


def _dialects(environments: Environments, versions: Sequence[str], installer: Installer) -> tuple[str, ...]:
    """The dialects that the backend reads, as its newest release says that starts."""
    first: HarnessError | None = None
    for version in reversed(versions):
        try:
            click.echo(f"Starting {environments.package} {version}.", err=True)
            environments.prepare(version, installer)
            implementation = environments.implementation(version)
        except HarnessError as error:
            first = first or error
            continue
        return tuple(dialect for dialect in DIALECTS if dialect in implementation.dialects) or DEFAULT_DIALECTS
    raise HarnessError(f"No release of {environments.package} can be started. {versions[-1]}: {first}")


def _filled(
    history: History, runs: ReleaseRuns, versions: Sequence[str], *, quiet: bool
) -> tuple[History, KeyboardInterrupt | OpconformError | None]:
    """A history with some releases, as far as it got, and what interrupted it."""

    def tell(release: Release) -> None:
        if not quiet:
            click.echo(f"{release.version}: {release.why or 'done'}", err=True)

    try:
        with progress("run", of="releases", quiet=quiet) as on_progress:
            history = replace(history, releases=tuple(runs.releases(versions, tell, on_progress)))
    except (KeyboardInterrupt, DiskError) as error:
        return replace(history, releases=tuple(map(runs.known, versions))), error
    try:
        with progress("repeat cases that fail intermittently", of="times", quiet=quiet) as on_progress:
            for done, (repeated, remaining) in enumerate(repetitions(history, runs.executor), 1):
                history = repeated
                on_progress(done / (done + remaining), done)
    except (KeyboardInterrupt, OpconformError) as error:
        return history, error
    return history, None


def _show(history: History, out: Path, *, as_json: bool) -> None:
    """Write a history and print it, even if the disk is full."""
    document, full = history_document(history), None
    try:
        replace_ours(out / DOCUMENT, (json.dumps(document, indent=1) + "\n").encode(), *_FILES[DOCUMENT])
        replace_ours(out / _PAGE, history_page(history).encode(), PAGE_BEGINNING)
    except DiskError as error:
        full = error
    place = f"Results: {out}/{DOCUMENT}, {out}/{_PAGE}, and one folder per release"
    print_result(document, [*history_view(history), place], as_json=as_json, width=WIDTH)
    if full is not None:
        raise full


def _bisect(bisection: Bisection, versions: Sequence[str], *, as_json: bool) -> int:
    """Find the releases between which a case changes, print them, and return the exit code."""

    def state_of(version: str) -> State:
        state = bisection.state(version)
        click.echo(f"{version}: {state}{f': {bisection.reason}' if bisection.reason else ''}", err=True)
        return state

    found = (bisection.case, versions, bisection.trials_by_release, change := change_between(versions, state_of))
    print_result(bisection_document(*found), bisection_lines(*found), as_json=as_json)
    return 1 if change is None else 0
