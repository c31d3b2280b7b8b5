"""`opconform schema`."""

import json

import click

from opconform.spec import schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of specs.

    Save it, and name it in an editor's settings or in a spec's first line:
    # yaml-language-server: $schema=opconform.schema.json
    """
    click.echo(json.dumps(schema(), indent=2))
