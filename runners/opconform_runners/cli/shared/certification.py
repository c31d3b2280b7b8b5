"""A certification: a suite is generated, backends are run on its whole profiles, and the results are published."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import click

from opconform.errors import UsageError
from opconform.generation.expansion import specs_of
from opconform.generation.identity.header import spec_digests
from opconform.generation.identity.provenance import foreign_specs
from opconform.generation.options import Options
from opconform.generation.output.stream import Stream
from opconform.specs.attribution import untested, warnings_of
from opconform.specs.operation_names import named_operations
from opconform.suite.manifest import Header
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform.suite.storage.ownership import check_replaceable
from opconform_runners.certificates.certified_results import SIGNABLE
from opconform_runners.cli.shared.expected import note_claims
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.matrix_run import FOLDER, hold_matrix, run_matrix, start
from opconform_runners.cli.shared.options.backends import BackendOptions
from opconform_runners.cli.shared.options.cluster import ClusterOptions
from opconform_runners.cli.shared.options.general import PrivateKey, ResultOptions
from opconform_runners.cli.shared.options.generation import GenerationOptions
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.steps import (
    conclude,
    executed,
    folder_name,
    folder_of,
    hold,
    launch_of,
    publish,
    report_of_run,
    show_report,
)
from opconform_runners.execution.log.outcomes import check_certifiable
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.scale.stream import run_stream
from opconform_runners.findings.support.claims_file import claims_of, read_claims
from opconform_runners.harness.command import Command


@dataclass(frozen=True, kw_only=True, slots=True)
class Certification:
    """What is certified, and how; a streamed certification does not keep its cases."""

    specs: Sequence[Path]
    backend: BackendOptions
    selection: Selection
    generation: GenerationOptions
    results: ResultOptions
    cluster: ClusterOptions
    key: "PrivateKey | None"
    claims: Path | None
    is_streamed: bool
    is_alone: bool


def certify(request: Certification) -> NoReturn:
    """Certify backends, and end the command with its exit code."""
    backend, selection, results, key = request.backend, request.selection, request.results, request.key
    specs, generation, is_streamed, claims = request.specs, request.generation, request.is_streamed, request.claims
    claims_file = None if claims is None else read_claims(claims)
    executors = request.cluster.executors(generation.jobs)
    started = start(backend, executors.runs)
    folder = results.out or (FOLDER if backend.is_several else folder_of(next(iter(backend.commands()))))
    folders = {name: folder / folder_name(name) if backend.is_several else folder for name in started.commands}
    whole = replace(selection, operations=named_operations(specs), shard=selection.shard if is_streamed else None)
    generating = replace(generation.options(whole, read=started.dialects), executor=executors.generation)
    if backend.is_several:
        hold_matrix(folder, started)
    else:
        hold(folder)
    for name, item in started.commands.items():
        if not results.force:
            check_certifiable(folders[name], item.options, selection, generating.seed)
    running = RunOptions(
        jobs=generation.jobs,
        timeout=backend.timeout,
        selection=selection,
        whole=True,
        strict=results.strict,
        least_accuracy=results.least_accuracy,
        force=results.force,
        resume=key is None,
        alone=request.is_alone,
        executor=executors.runs,
        claims=None if claims_file is None else claims_of(claims_file),
    )
    command = next(iter(started.commands.values()))
    if is_streamed:
        raise click.exceptions.Exit(_streamed(specs, command, folder, generating, running, results))
    suite = open_suite(
        generate_shown(specs, folder / "suite", generating, quiet=results.is_silent, force=results.force).out
    )
    if key is not None:
        _check_signable(suite.header)
    if foreign := foreign_specs(suite.header.specs):
        click.echo(f"note: The verdict is on your own specs: {', '.join(foreign)}.", err=True)
    if backend.is_several:
        raise click.exceptions.Exit(run_matrix(suite, started, folder, running, results, key))
    run = executed(suite, command, folder, running, results)
    if claims_file is not None:
        note_claims(claims_file, str(claims), run.header)
    conclude(run, suite, folder, results, key, launch_of(command, running))


def _check_signable(header: Header) -> None:
    """Refuse to sign a selection of cases, before it is run."""
    if header.profiles:
        raise UsageError(f"The profile {', '.join(header.profiles)} is a selection of cases. {SIGNABLE}")


def _streamed(
    specs: Sequence[Path],
    command: Command,
    folder: Path,
    generating: Options,
    running: RunOptions,
    results: ResultOptions,
) -> int:
    """Certify a backend on a stream, write the results and a suite of the failures, and return the exit code."""
    loaded, place = specs_of(specs, seed=generating.seed, limits=generating.limits), folder / "suite"
    check_replaceable(place, None if results.force else spec_digests(loaded))
    for sentence in (*untested(loaded), *warnings_of(loaded)):
        click.echo(f"warning: {sentence}", err=True)
    if foreign := foreign_specs(spec_digests(loaded)):
        click.echo(f"note: The verdict is on your own specs: {', '.join(foreign)}.", err=True)
    stream = Stream(specs=loaded, options=generating)
    with progress("generate and run", quiet=results.is_silent) as on_progress:
        run = run_stream(stream, command, folder, running, on_progress)
    report = report_of_run(run, open_suite(place), folder, results, launch_of(command, running))
    code = show_report(report, folder, results)
    if run.interrupted is not None:
        raise run.interrupted
    publish(report, folder, place, None, results)
    return code
