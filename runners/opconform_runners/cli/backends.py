"""`opconform backends`."""

from typing import TYPE_CHECKING

import click

from opconform.errors import HarnessError
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import json_option
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.harness.command import backend_command
from opconform_runners.harness.registry import missing_package, names

if TYPE_CHECKING:
    from opconform_runners.backends.backend import Implementation


@click.command("backends", cls=HelpCommand, example="backends")
@json_option("the list")
def command(as_json: bool) -> None:
    """List the backends: the version and device of each that can be used, and what the others need.

    Each backend is started in its own process, as in a run, unless a package that it imports is not installed.
    """
    implementations = {name: _description(name) for name in names()}
    width = max(map(len, implementations), default=0)
    print_result(
        [_document(name, implementation) for name, implementation in implementations.items()],
        (f"{name:{width}}  {_sentence(implementation)}" for name, implementation in implementations.items()),
        as_json=as_json,
    )


def _description(name: str) -> "Implementation | str":
    """A backend's description of itself, or why it cannot be started."""
    from opconform.system.interrupts import run_loop  # what speaks the protocol takes long to import
    from opconform_runners.harness.connection import described, missing_sentence

    command = backend_command(name)
    try:
        if (package := missing_package(name)) is not None:
            return missing_sentence(command, package).removeprefix(f"{name} cannot be used: ")
        return run_loop(described(command))
    except HarnessError as error:
        return str(error).removeprefix(f"{name} cannot be used: ")


def _sentence(implementation: "Implementation | str") -> str:
    if isinstance(implementation, str):
        return implementation
    device = f" on {implementation.device}" if implementation.device else ""
    reads = f"reads {', '.join(implementation.dialects)}" if implementation.dialects else "executes cases directly"
    return f"{implementation.version}{device}, {reads}, {len(implementation.element_types)} element types"


def _document(name: str, implementation: "Implementation | str") -> dict[str, object]:
    if isinstance(implementation, str):
        return {"name": name, "usable": False, "problem": implementation}
    return {"name": name, "usable": True, "version": implementation.version, "device": implementation.device}
