"""The options that name backends."""

import itertools
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opconform.errors import UsageError
from opconform_runners.cli.shared.help import rare_option
from opconform_runners.cli.shared.options.general import Decorator, collected
from opconform_runners.harness.command import LARGEST, Command, backend_command, harness_command, memory_limit
from opconform_runners.harness.registry import names

#: The name for every installed backend.
ALL = "all"


def positive(value: str | float) -> float:
    """A number over 0 given to an option."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= LARGEST:
        raise click.BadParameter(f"{value!r} is not a number above 0 and at most {LARGEST:,}.")
    return number


def complete_backends(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """The installed backends whose names begin with some letters, for shell completion."""
    return [name for name in names() if name.startswith(begun)]


timeout_option = rare_option(
    "--timeout", type=positive, metavar="SECONDS", default=20.0, show_default=True, help="Time limit for one case."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendOptions:
    """The options that name backends and limit their harnesses."""

    backends: tuple[str, ...] = ()
    harnesses: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    timeout: float
    memory: float | None = None

    @property
    def is_several(self) -> bool:
        """Whether more than one backend is named, or `all`."""
        return ALL in self.backends or len(set(self.backends)) + len(self.harnesses) > 1

    def command(self) -> Command:
        """The command that starts the harness; exactly one backend must be named."""
        if self.is_several:
            raise UsageError(f"Name only one of these backends: {', '.join((*self.backends, *self.harnesses))}.")
        [command] = self.commands().values()
        return command

    def commands(self) -> dict[str, Command]:
        """The command of each backend and harness, by name."""
        chosen = [name for backend in self.backends for name in (names() if backend == ALL else [backend])]
        if not chosen and not self.harnesses:
            raise UsageError(
                "Name a backend, such as numpy, or use --harness COMMAND. `opconform backends` lists the backends."
            )
        pythons = self._interpreters(list(dict.fromkeys(chosen)))
        commands = {name: backend_command(name, pythons.get(name)) for name in chosen}
        for harness in self.harnesses:
            started = harness_command(harness)
            commands[free_name(started.name, commands)] = started
        return {name: replace(command, memory=memory_limit(self.memory)) for name, command in commands.items()}

    def _interpreters(self, chosen: list[str]) -> dict[str, Path]:
        """The interpreter of each backend: NAME=PATH, or PATH alone for the only backend."""
        interpreters: dict[str, Path] = {}
        for python in self.pythons:
            name, _, path = python.partition("=")
            alike = [backend for backend in chosen if name in (backend, backend.partition(":")[0])]
            if path and alike:
                interpreters |= dict.fromkeys(alike, Path(path))
            elif len(chosen) == 1:
                interpreters[chosen[0]] = Path(python)
            elif not chosen:
                raise UsageError("--python works only with --backend; a harness names its own interpreter.")
            elif path:
                raise UsageError(f"--python names {name!r}, which is not one of the backends: {', '.join(chosen)}.")
            else:
                raise UsageError(f"--python {python!r} must be NAME=PATH, as in --python torch=venv/bin/python.")
        return interpreters


def free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the next free number if it is taken."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return name if name not in taken else next(x for x in numbered if x not in taken)


def _backend_options(every: str, repeatable: str) -> Decorator:
    return collected(
        "backend",
        BackendOptions,
        click.option(
            "--backend",
            "-b",
            "backends",
            multiple=True,
            metavar="NAME",
            shell_complete=complete_backends,
            help=f"A backend, such as openvino:CPU{every}{repeatable}.",
        ),
        click.option(
            "--harness",
            "harnesses",
            multiple=True,
            metavar="COMMAND",
            help=f"A program that speaks the protocol{repeatable}.",
        ),
        rare_option(
            "--python",
            "pythons",
            multiple=True,
            metavar="[NAME=]PATH",
            help=f"Python interpreter of another environment, for a backend{repeatable}.",
        ),
        timeout_option,
        rare_option(
            "--memory",
            type=positive,
            metavar="GIB",
            help="Memory limit of a harness; 3/4 of the machine's memory by default.",
        ),
    )


#: Add the options of `BackendOptions`, collected in the parameter `backend`, to a command for several backends or one.
backend_options = _backend_options(", or all", " (repeatable)")
one_backend_options = _backend_options("", "")
