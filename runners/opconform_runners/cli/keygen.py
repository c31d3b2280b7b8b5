"""`opconform keygen`."""

from pathlib import Path

import click

from opconform_runners.cli.shared.options import PATH


@click.command("keygen")
@click.argument("name", type=PATH)
def command(name: Path) -> None:
    """Generate an ed25519 key pair: NAME.key for signing certificates, NAME.pub for verifying signatures.

    Only you can read NAME.key. `keygen` never overwrites files.
    """
    from opconform_runners.certificates.keys import write_pair

    private, public, key_id = write_pair(name)
    click.echo(f"{private} is the private key; keep it secret.")
    click.echo(f"{public} is the public key; publish it. Its id is {key_id}.")
