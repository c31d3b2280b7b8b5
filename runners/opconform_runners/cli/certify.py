"""`opconform certify`."""

import asyncio
from pathlib import Path

import click

from opconform.files import check_ours
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared import options
from opconform_runners.cli.shared.steps import execute_shown, folder_of, generate_shown, publish
from opconform_runners.execution.journal import check_certifiable
from opconform_runners.execution.runner import RunOptions
from opconform_runners.harness.connection import described
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING


@click.command("certify")
@options.spec_arguments
@options.backend_options
@options.profile_option
@options.generation_options(options.RUN_JOBS)
@options.result_options()
@options.sign_option
def command(
    specs: tuple[Path, ...],
    backend: options.BackendOptions,
    profiles: tuple[str, ...],
    generation: options.GenerationOptions,
    results: options.ResultOptions,
    key: "options.PrivateKey | None",
) -> None:
    """Generate a suite, run a backend on whole profiles of it, and report a verdict for each requirement.

    Uses the shipped specs unless SPECs are given. Writes suite/, results.jsonl, report.json and report.html to --out,
    and certificate.json with --sign. The same command continues an interrupted run; with --sign it executes every case
    again.

    Exit code: 0 if the backend is conformant, 1 if it is not or the run is incomplete, 3 if the backend cannot be
    started.
    """
    started, quiet = backend.command(), results.as_json
    folder = results.out or folder_of(started.name)
    selection = Selection(profiles=profiles)
    read = () if generation.dialects else asyncio.run(described(started)).dialects
    generating = generation.options(selection, read=read)
    check_ours(folder / PAGE, PAGE_BEGINNING)
    if not results.force:
        check_certifiable(folder, started.options, profiles, generating.seed)
    suite = generate_shown(specs, folder / "suite", generating, quiet=quiet, force=results.force).out
    running = RunOptions(
        jobs=generation.jobs or 1,
        timeout=backend.timeout,
        selection=selection,
        whole=True,
        strict=results.strict,
        force=results.force,
        resume=key is None,
    )
    code = execute_shown(open_suite(suite), started, folder, running, as_json=quiet)
    publish(folder, suite, key, quiet=quiet)
    raise click.exceptions.Exit(code)
