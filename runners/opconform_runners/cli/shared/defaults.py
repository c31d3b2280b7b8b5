"""The defaults in `pyproject.toml`, as far as a command uses them."""

from dataclasses import replace
from pathlib import Path

import click

from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.options.backends import BackendOptions
from opconform_runners.configuration import Defaults, defaults_at


def completed(
    backend: BackendOptions, selection: Selection, **wanted: bool
) -> tuple[BackendOptions, Selection, Defaults]:
    """The options with the defaults of the current folder, and all wanted defaults, which a note names.

    A backend and profiles are taken if the command line has none.
    """
    wanted |= {"backend": not (backend.backends or backend.harnesses), "profile": not selection.profiles}
    defaults = defaults_at(Path.cwd()).only(**wanted)
    if defaults.note:
        click.echo(f"note: {defaults.note}", err=True)
    backend = replace(backend, backends=(*backend.backends, *defaults.backend))
    return backend, replace(selection, profiles=(*selection.profiles, *defaults.profile)), defaults
