"""`opconform certify`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError, nearest
from opconform.generation.identity.provenance import foreign_specs
from opconform.specs.loader import named_operations, tested_operations
from opconform.suite.manifest import Header
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import open_suite
from opconform.suite.selection.quick import QUICK
from opconform.suite.selection.selection import EXHAUSTIVE, Selection
from opconform.suite.storage.url import is_url
from opconform_runners.certificates.certified_results import SIGNABLE
from opconform_runners.cli.shared.defaults import completed
from opconform_runners.cli.shared.expected import claims_option, note_claims
from opconform_runners.cli.shared.help import HelpCommand, rare_option
from opconform_runners.cli.shared.matrix_run import FOLDER, hold_matrix, run_matrix, start
from opconform_runners.cli.shared.options.backends import BackendOptions, backend_options, complete_backends
from opconform_runners.cli.shared.options.cluster import ClusterOptions, cluster_options
from opconform_runners.cli.shared.options.general import (
    PrivateKey,
    ResultOptions,
    collected,
    profile_option,
    refused_option,
    result_options,
    shard_option,
    sign_option,
)
from opconform_runners.cli.shared.options.generation import RUN_JOBS, GenerationOptions, generation_options
from opconform_runners.cli.shared.steps import (
    certify_streamed,
    conclude,
    executed,
    folder_name,
    folder_of,
    generate_shown,
    hold,
)
from opconform_runners.execution.log.outcomes import check_certifiable
from opconform_runners.execution.plan import RunOptions
from opconform_runners.findings.support.claims_file import claims_of, read_claims
from opconform_runners.harness.registry import names


def _complete_targets(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """The backends and operations that begin with some letters."""
    operations = (name for name in tested_operations() if name.startswith(begun))
    return [*complete_backends(context, parameter, begun), *operations]


@click.command("certify", cls=HelpCommand, example="certify openvino\ncertify numpy onnxruntime Split-1 --profile core")
@click.argument("targets", nargs=-1, metavar="[BACKEND|SPEC]...", shell_complete=_complete_targets)
@refused_option(
    "-k", "--select", advice="`certify` runs whole profiles. Use `opconform run SUITE BACKEND --select {!r}`."
)
@refused_option("--suite", advice="`certify` generates its suite. Use `opconform run {} BACKEND`.")
@refused_option("--baseline", advice="`certify` has fixed rules. Use `opconform run SUITE BACKEND --baseline {}`.")
@backend_options
@collected("selection", Selection, profile_option, shard_option)
@result_options
@claims_option
@sign_option
@rare_option("--keep-suite", is_flag=True, help="Keep all cases of the profile exhaustive.")
@generation_options(RUN_JOBS)
@cluster_options
def command(
    targets: tuple[str, ...],
    backend: BackendOptions,
    selection: Selection,
    generation: GenerationOptions,
    results: ResultOptions,
    cluster: ClusterOptions,
    **values: Any,
) -> None:
    """Generate a suite, run backends on its whole profiles, and report a verdict for each requirement.

    A SPEC is a YAML file, a folder, or an operation; by default all shipped specs. Several backends
    have one folder each in --out, and a matrix. The same command continues an interrupted run. Exit code: 0
    conformant, 1 not conformant or incomplete, 3 the backend cannot start.
    """
    key: PrivateKey | None = values["key"]
    if key is not None and selection.shard is not None:
        raise UsageError("A shard cannot be signed. Merge the shards with `opconform merge`, and sign the result.")
    named, specs = _targets(targets)
    backend = replace(backend, backends=(*named, *backend.backends))
    claims: Path | None = values["claims"]
    is_judged = claims is None and not backend.is_several and EXHAUSTIVE not in selection.profiles
    backend, selection, defaults = completed(backend, selection, claims=is_judged)
    claims = claims or defaults.claims
    if claims is not None and backend.is_several:
        raise UsageError("--claims works with one backend. Name one.")
    claims_file = None if claims is None else read_claims(claims)
    is_streamed = EXHAUSTIVE in selection.profiles and not values["keep_suite"]
    is_quick = QUICK in selection.profiles
    if is_streamed and (key is not None or claims is not None or backend.is_several or is_quick):
        what = "be signed" if key is not None else "judge claims" if claims is not None else "compare several backends"
        what = "include the profile quick" if is_quick else what
        raise UsageError(f"A streamed certification cannot {what}, because its cases are not kept. Add --keep-suite.")
    executors = cluster.executors(generation.jobs)
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
        force=results.force,
        resume=key is None,
        executor=executors.runs,
        claims=None if claims_file is None else claims_of(claims_file),
    )
    command = next(iter(started.commands.values()))
    if is_streamed:
        raise click.exceptions.Exit(certify_streamed(specs, command, folder, generating, running, results))
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
    conclude(run, suite, folder, results, key)


def _check_signable(header: Header) -> None:
    """Refuse to sign a selection of cases, before it is run."""
    if header.profiles:
        raise UsageError(f"The profile {', '.join(header.profiles)} is a selection of cases. {SIGNABLE}")


def _targets(words: Sequence[str]) -> tuple[list[str], list[Path]]:
    """The backends and the specs among words. What is not a backend is a spec if it is a file or an operation."""
    installed, operations = names(), tested_operations()
    specs = [
        word
        for word in words
        if word not in installed and (word.endswith((".yaml", ".yml")) or Path(word).is_dir() or word in operations)
    ]
    for item in words:
        if is_url(item):
            raise UsageError(f"{item} is a URL, but specs must be local files.")
        if (item in specs and item not in operations) or (item not in installed and Path(item).exists()):
            check_kind(Path(item), "spec")
        if item not in specs and not nearest(item, installed) and (meant := nearest(item, operations)):
            raise UsageError(f"{item!r} is neither a backend nor an operation. {meant.strip()}")
    return [word for word in words if word not in specs], [Path(spec) for spec in specs]
