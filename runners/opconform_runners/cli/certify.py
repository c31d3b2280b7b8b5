"""`opconform certify`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError, nearest
from opconform.explanation.shipped_groups import check_selection
from opconform.specs.operation_names import named_operations, tested_operations
from opconform.suite.case import GRAPH
from opconform.suite.path_kind import check_kind
from opconform.suite.selection.quick import QUICK
from opconform.suite.selection.selection import EXHAUSTIVE, Selection
from opconform.suite.storage.url import is_url
from opconform_runners.cli.shared.defaults import completed
from opconform_runners.cli.shared.help import HelpCommand, rare_option
from opconform_runners.cli.shared.options.backends import BackendOptions, backend_options, complete_backends
from opconform_runners.cli.shared.options.cluster import ClusterOptions, cluster_options
from opconform_runners.cli.shared.options.expected import claims_option
from opconform_runners.cli.shared.options.general import (
    PrivateKey,
    ResultOptions,
    alone_option,
    collected,
    known_option,
    profile_option,
    refused_option,
    result_options,
    shard_option,
    sign_option,
)
from opconform_runners.cli.shared.options.generation import RUN_JOBS, GenerationOptions, generation_options
from opconform_runners.harness.registry import names


def _complete_targets(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """The backends and operations that begin with some letters."""
    operations = (name for name in (*tested_operations(), GRAPH) if name.startswith(begun))
    return [*complete_backends(context, parameter, begun), *operations]


@click.command("certify", cls=HelpCommand, example="certify openvino Split-1 --profile core")
@click.argument("targets", nargs=-1, metavar="[BACKEND|SPEC]...", shell_complete=_complete_targets)
@refused_option(
    "-k", "--select", advice="`certify` runs whole profiles. Use `opconform run SUITE BACKEND --select {!r}`."
)
@refused_option("--suite", advice="`certify` generates its suite. Use `opconform run {} BACKEND`.")
@refused_option("--baseline", advice="`certify` has fixed rules. Use `opconform run SUITE BACKEND --baseline {}`.")
@refused_option("--known", advice="`certify` has fixed rules. Use `opconform run SUITE BACKEND --known`.", is_flag=True)
@backend_options
@collected("selection", Selection, profile_option, shard_option)
@result_options
@claims_option
@sign_option
@known_option
@alone_option
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

    A SPEC is a YAML file, a folder, or an operation; by default all shipped specs. The same command
    continues a run. Exit code: 0 conformant, 1 not conformant or incomplete, 3 no backend started.
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
    is_streamed = EXHAUSTIVE in selection.profiles and not values["keep_suite"]
    is_quick = QUICK in selection.profiles
    if is_streamed and (key is not None or claims is not None or backend.is_several or is_quick):
        what = "be signed" if key is not None else "judge claims" if claims is not None else "compare several backends"
        what = "include the profile quick" if is_quick else what
        raise UsageError(f"A streamed certification cannot {what}, because its cases are not kept. Add --keep-suite.")
    backend.commands()  # before anything slow
    check_selection(specs, replace(selection, operations=named_operations(specs)))
    from opconform_runners.cli.shared.certification import Certification, certify  # it takes long to import

    certify(
        Certification(
            specs=specs,
            backend=backend,
            selection=selection,
            generation=generation,
            results=results,
            cluster=cluster,
            key=key,
            claims=claims,
            is_streamed=is_streamed,
            is_alone=values["alone"],
        )
    )


def _targets(words: Sequence[str]) -> tuple[list[str], list[Path]]:
    """The backends and the specs among words. What is not a backend is a spec if it is a file or an operation."""
    installed, operations = names(), [*tested_operations(), GRAPH]
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
