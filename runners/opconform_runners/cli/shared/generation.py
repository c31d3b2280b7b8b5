"""The steps of commands that generate: of a suite, and of a stream of cases that are not kept."""

from collections.abc import Sequence
from pathlib import Path

import click

from opconform.generation.expansion import specs_of
from opconform.generation.identity.header import spec_digests
from opconform.generation.options import Options
from opconform.generation.pipeline import Generated, generate
from opconform.suite.storage.ownership import check_replaceable
from opconform_runners.cli.shared.output.progress import progress


def generate_shown(
    specs: Sequence[Path], out: Path, options: Options, *, quiet: bool, force: bool = False
) -> Generated:
    """Generate a suite from spec files or folders, or from the shipped specs; with `quiet`, show warnings only.

    Raises:
        UsageError: A suite of other specs is there, and it is not replaced by `force`.
    """
    loaded = specs_of(specs, seed=options.seed, limits=options.limits)
    check_replaceable(out, None if force else spec_digests(loaded))
    with progress("generate", quiet=quiet) as on_progress:
        generated = generate(loaded, out, options, on_progress)
    for sentence in generated.warnings:
        click.echo(f"warning: {sentence}", err=True)
    return generated
