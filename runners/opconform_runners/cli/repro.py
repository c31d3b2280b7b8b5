"""`opconform repro`."""

import re
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
from opconform_runners.cli.shared.options.general import SOURCE, out_option
from opconform_runners.cli.shared.output.streams import print_document
from opconform_runners.cli.shared.single_case import suite_with_case
from opconform_runners.harness.command import Launch
from opconform_runners.tools.repro.observation import PRIVATE, Observation, notes_of, observation_of
from opconform_runners.tools.repro.script import SCRIPTS, dialects_needed, script_of

#: The line that marks a script written by opconform.
_OURS = re.compile(rb"^# The case \S+ of opconform\.\r?$", re.MULTILINE)


@click.command("repro", cls=HelpCommand, example="repro VariadicSplit-1/remainder-over/17a2d48cd0 openvino")
@click.argument("case")
@click.argument("named", required=False, metavar="[BACKEND]")
@click.option(
    "--backend", "-b", metavar="NAME[:DEVICE]", help=f"The backend that the script calls: {', '.join(SCRIPTS)}."
)
@click.option("--suite", "place", type=SOURCE, help="The suite that contains the case; the shipped cases by default.")
@rare_option("--python", metavar="PATH", help="Python interpreter of another environment, for the backend.")
@timeout_option
@out_option(help="The file to write; standard output by default.")
def command(
    case: str, named: str | None, backend: str | None, place: Path | None, out: Path | None, **values: Any
) -> None:
    """Write a script that reproduces CASE with only the backend's own API, for the backend's issue tracker.

    The script prints the expected and the actual outputs. It exits with 1 if the bug is present and with 0 if it is
    fixed. CASE is an id, the last part of an id, or a pattern that matches one case. The case is executed first, and
    the script records the observed result.
    """
    if named is not None and backend is not None:
        raise UsageError(f"Name only one of these backends: {named}, {backend}.")
    backend = backend or named
    if backend is None:
        raise UsageError("Name the backend, as in `opconform repro CASE openvino`.")
    name = backend.partition(":")[0]
    dialects = dialects_needed(backend)
    if out is not None:
        _check_place(out)
    pythons = () if values["python"] is None else (values["python"],)
    chosen = BackendOptions(backends=(backend,), pythons=pythons, timeout=values["timeout"])
    launch = Launch(command=chosen.command(), timeout=values["timeout"])
    with TemporaryFolder() as folder:
        suite, entry = suite_with_case(case, place, dialects, Path(folder) / "suite")
        seen = _observed(suite, entry, launch)
        notes = notes_of(suite, entry, name, seen)
        script = script_of(suite, entry, backend, notes, None if seen is None else seen.result.reason)
    if out is None:
        print_document(script, nl=False)
        return
    replace_named(out, script.encode())
    click.echo(f"{out}: {len(script.splitlines())} lines; run it with python {out}")
    if seen is not None and seen.is_memory_error:
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


def _observed(suite: Suite, entry: Entry, launch: Launch) -> Observation | None:
    """The observation of the case; None, after a warning, if the backend cannot be started."""
    try:
        seen = observation_of(suite, entry, launch)
    except HarnessError as error:
        click.echo(f"warning: {error} The script was not checked against the backend.", err=True)
        return None
    if not seen.fails:
        click.echo(f"warning: {seen.backend} does not fail {entry.id} here: {seen.sentence}", err=True)
    return seen
