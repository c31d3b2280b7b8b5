"""`opconform schema`."""

import click

from opconform.specs.schema.models import schema
from opconform_runners.cli.shared.help import Command
from opconform_runners.cli.shared.output.printer import print_json


@click.command("schema", cls=Command, example="schema > opconform.schema.json")
def command() -> None:
    """Print the JSON Schema of specs.

    To use it in an editor, save it to a file. Name that file in the editor's settings or in the first line of a spec:

    # yaml-language-server: $schema=opconform.schema.json
    """
    print_json(schema())
