"""What `generate` and `certify` share: a generation with its progress shown."""

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
    """Generate a suite and show on standard error how far it is.

    Args:
        specs: Spec files or folders; none at all stand for the shipped ones.
        out: Where the suite is written.
        options: How to generate.
        quiet: Show nothing but warnings.
    """
    loaded = _loaded(specs, options)
    with progress("generate", quiet=quiet) as tell:
        generated = generate(loaded, out, options, tell)
    for sentence in generated.repeated:
        click.echo(f"warning: {sentence}", err=True)
    return generated


def _loaded(paths: Sequence[Path], options: Options) -> list[Spec]:
    """The specs; where they have mistakes, those that show only when a group is expanded are told as well."""
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
