"""`opconform backends`."""

import click

from opconform.errors import HarnessError
from opconform.system.interrupts import run_loop
from opconform_runners.backends.backend import Implementation
from opconform_runners.cli.shared.help import Command
from opconform_runners.cli.shared.options.general import json_option
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.harness.command import backend_command
from opconform_runners.harness.connection import described
from opconform_runners.harness.registry import names


@click.command("backends", cls=Command, example="backends")
@json_option("the list")
def command(as_json: bool) -> None:
    """List the backends: the version and device of each that can be used, and what the others need.

    Each backend is started in its own process, as in a run.
    """
    found = {name: _description(name) for name in names()}
    width = max(map(len, found), default=0)
    print_result(
        [_document(name, hit) for name, hit in found.items()],
        (f"{name:{width}}  {_sentence(hit)}" for name, hit in found.items()),
        as_json=as_json,
    )


def _description(name: str) -> Implementation | str:
    """A backend's description of itself, or why it cannot be started."""
    try:
        return run_loop(described(backend_command(name)))
    except HarnessError as error:
        return str(error)


def _sentence(found: Implementation | str) -> str:
    if isinstance(found, str):
        return found
    device = f" on {found.device}" if found.device else ""
    reads = f"reads {', '.join(found.dialects)}" if found.dialects else "executes cases directly"
    return f"{found.version}{device}, {reads}, {len(found.element_types)} element types"


def _document(name: str, found: Implementation | str) -> dict[str, object]:
    if isinstance(found, str):
        return {"name": name, "usable": False, "problem": found}
    return {"name": name, "usable": True, "version": found.version, "device": found.device}
