"""A suite generated with its progress shown."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path

import click

from opconform.generation.expansion import expand
from opconform.generation.options import Options
from opconform.generation.pipeline import Generated, generate
from opconform.specs.document import ENOUGH, SpecMistakes
from opconform.specs.loader import Spec, WrongSpecs, load_specs
from opconform_runners.cli.shared.progress import progress


def generate_shown(specs: Sequence[Path], out: Path, options: Options, *, quiet: bool = False) -> Generated:
    """Generate a suite and show the progress on standard error.

    Args:
        specs: Spec files or folders; if empty, the shipped specs.
        out: The folder or zip file of the suite.
        options: How to generate.
        quiet: Whether to show warnings only.
    """
    loaded = _loaded(specs, options)
    with progress("generate", quiet=quiet) as on_progress:
        generated = generate(loaded, out, options, on_progress)
    for sentence in generated.warnings:
        click.echo(f"warning: {sentence}", err=True)
    return generated


def _loaded(paths: Sequence[Path], options: Options) -> list[Spec]:
    """The specs; if they have mistakes, the mistakes found by expanding their valid groups are reported as well."""
    try:
        return load_specs(paths)
    except WrongSpecs as fault:
        mistakes = list(fault.mistakes)
        for group in fault.sound:
            if len(mistakes) > ENOUGH:
                break
            try:
                deque(expand(group, seed=options.seed, limits=options.limits), maxlen=0)
            except SpecMistakes as more:
                mistakes.extend(more.mistakes)
        raise SpecMistakes(mistakes) from fault
