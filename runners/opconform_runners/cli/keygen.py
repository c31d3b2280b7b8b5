"""`opconform keygen`."""

from pathlib import Path

import click


@click.command("keygen")
@click.argument("name", type=click.Path(path_type=Path))
def command(name: Path) -> None:
    """Make a pair of ed25519 keys: NAME.key to sign with, NAME.pub to hand out.

    Nobody but you can read NAME.key. Neither file is ever overwritten.
    """
    from opconform_runners.certificates.keys import write_pair

    files = write_pair(name)
    click.echo(f"{files.private} signs; keep it to yourself.")
    click.echo(f"{files.public} verifies; hand it out. Its id is {files.id}.")
