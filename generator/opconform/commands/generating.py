"""What `generate` and `certify` share: a generation with its progress shown."""

from collections.abc import Sequence
from pathlib import Path

import click

from opconform.commands.progress import progress
from opconform.generating import Generated, Options, generate
from opconform.loading import load_specs


def generate_shown(specs: Sequence[Path], out: Path, options: Options, *, quiet: bool = False) -> Generated:
    """Generate a suite and show on standard error how far it is.

    Args:
        specs: Spec files or folders; none at all stand for the shipped ones.
        out: Where the suite is written.
        options: How to generate.
        quiet: Show nothing but warnings.
    """
    loaded = load_specs(specs)
    with progress("generate", quiet=quiet) as tell:
        generated = generate(loaded, out, options, tell)
    for sentence in generated.repeated:
        click.echo(f"warning: {sentence}", err=True)
    return generated
