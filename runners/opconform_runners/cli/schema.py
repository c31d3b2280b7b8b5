"""`opconform schema`."""

import json

import click

from opconform.specs.schema import schema
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.harness.protocol import schema as messages_schema


@click.command("schema")
@click.option("--protocol", is_flag=True, help="Print the schema of the harness protocol's messages instead.")
def command(protocol: bool) -> None:
    """Print the JSON Schema of specs, or of the harness protocol.

    Save the schema of specs, and name it in an editor's settings or in the first line of a spec:
    # yaml-language-server: $schema=opconform.schema.json
    """
    print_document(json.dumps(messages_schema() if protocol else schema(), indent=2))
