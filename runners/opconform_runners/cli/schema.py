"""`opconform schema`."""

import click

from opconform.specs.schema.models import spec_schema
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.output.printer import print_json


@click.command("schema", cls=HelpCommand, example="schema > opconform-specs-1.schema.json")
def command() -> None:
    """Print the JSON Schema of specs.

    To use it in an editor, save it to a file. Name that file in the editor's settings or in the first line of a spec:

    $schema: opconform-specs-1.schema.json
    """
    print_json(spec_schema())
