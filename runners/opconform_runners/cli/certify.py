"""`opconform certify`."""

from dataclasses import replace
from pathlib import Path

import click

from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.execution import Execution, execute_shown, folder_of
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.options import (
    BackendOptions,
    GenerationOptions,
    ResultOptions,
    backend_options,
    dialects_of,
    generation_options,
    profile_option,
    result_options,
    sign_option,
    spec_arguments,
)
from opconform_runners.cli.shared.page import check_place, show_page
from opconform_runners.cli.shared.signature import signing_with
from opconform_runners.execution.journal import check_certifiable
from opconform_runners.execution.runner import RunOptions
from opconform_runners.verdicts.results import PAGE


@click.command("certify")
@spec_arguments
@backend_options
@profile_option
@generation_options
@result_options
@sign_option
def command(
    specs: tuple[Path, ...],
    backend: BackendOptions,
    profiles: tuple[str, ...],
    generation: GenerationOptions,
    results: ResultOptions,
    signer: Path | None,
) -> None:
    """Generate a suite, run a backend on whole profiles of it, and decide each requirement.

    Uses the shipped specs unless SPECs are given. Writes suite/, results.jsonl, report.json and report.html to --out,
    and certificate.json with --sign. The same command continues an interrupted run; with --sign it executes every case
    again.

    Exit code: 0 if the backend is conformant, 1 if it is not or the run is incomplete, 3 if the backend cannot be
    started.
    """
    signing = signing_with(signer)
    started = backend.command()
    folder = results.out or folder_of(started.name)
    selection = Selection(profiles=profiles)
    dialects = generation.dialects or dialects_of(started)
    options = replace(generation, dialects=dialects).options(selection)
    check_place(folder / PAGE)
    if not results.force:
        check_certifiable(folder, started.options, profiles)
    generated = generate_shown(specs, folder / "suite", options, quiet=results.as_json)
    running = RunOptions(
        jobs=generation.jobs or 1,
        timeout=backend.timeout,
        selection=selection,
        whole=True,
        strict=results.strict,
        force=results.force,
        resume=signer is None,
    )
    execution = Execution(suite=open_suite(generated.out), command=started, out=folder, options=running)
    code = execute_shown(execution, as_json=results.as_json)
    show_page(folder, generated.out, quiet=results.as_json)
    signing(folder, generated.out, quiet=results.as_json)
    raise click.exceptions.Exit(code)
