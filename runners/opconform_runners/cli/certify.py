"""`opconform certify`."""

from pathlib import Path
from typing import Any

import click

from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.execution import (
    backend_options,
    command_of,
    dialects_of,
    execute_shown,
    folder_of,
    force_option,
)
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.options import generation_options, options_of, spec_arguments
from opconform_runners.cli.shared.page import check_place, show_page
from opconform_runners.cli.shared.signature import sign_option, signing_with
from opconform_runners.execution.journal import check_certifiable
from opconform_runners.execution.runner import RunOptions
from opconform_runners.verdicts.results import PAGE


@click.command("certify")
@spec_arguments
@backend_options
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Certify this profile; repeatable.")
@generation_options
@click.option("--out", type=click.Path(path_type=Path), help="A folder; opconform-out/BACKEND by default.")
@force_option
@sign_option
@click.option("--jobs", type=int, help="Processes that generate, one a core by default; and harnesses, one by default.")
def command(
    specs: tuple[Path, ...],
    backend: str | None,
    harness: str | None,
    python: Path | None,
    timeout: float,
    memory: float | None,
    strict: bool,
    as_json: bool,
    profiles: tuple[str, ...],
    out: Path | None,
    force: bool,
    signer: Path | None,
    jobs: int | None,
    dialects: tuple[str, ...],
    **limits: Any,
) -> None:
    """Generate a suite, run a backend on whole profiles of it, and give a verdict on each requirement.

    Writes suite/, results.jsonl, report.json and the page report.html under --out, and with --sign certificate.json.
    The same command goes on where it was interrupted; with --sign it executes every case anew.
    Ends with 0 where the backend is conformant, 1 where it is not or the run is incomplete, 3 where the backend cannot
    be started.
    """
    signing = signing_with(signer)
    started = command_of(backend, harness, python, memory)
    folder = out or folder_of(started)
    selection = Selection(profiles=profiles)
    options = options_of(selection, jobs=jobs, dialects=dialects or dialects_of(started), **limits)
    check_place(folder / PAGE)
    if not force:
        check_certifiable(folder, started.options, profiles)
    generated = generate_shown(specs, folder / "suite", options, quiet=as_json)
    running = RunOptions(
        jobs=jobs or 1,
        timeout=timeout,
        selection=selection,
        whole=True,
        strict=strict,
        force=force,
        resume=signer is None,
    )
    code = execute_shown(open_suite(generated.out), started, folder, running, as_json=as_json)
    show_page(folder, generated.out, quiet=as_json)
    signing(folder, generated.out, quiet=as_json)
    raise click.exceptions.Exit(code)
