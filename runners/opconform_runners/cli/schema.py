"""`opconform schema`."""

import click

from opconform.specs.schema import schema
from opconform_runners.cli.shared.output import print_json
from opconform_runners.harness.protocol import schema as messages_schema


@click.command("schema")
@click.option("--protocol", is_flag=True, help="Print the schema of the harness protocol's messages instead.")
def command(protocol: bool) -> None:
    """Print the JSON Schema of specs, or of the harness protocol.

    To use the schema of specs in an editor, save it to a file, and name the file in the editor's settings or in the
    first line of a spec:

    # yaml-language-server: $schema=opconform.schema.json
    """
    print_json(messages_schema() if protocol else schema())
