"""The options that several commands share, each group collected into one frozen value."""

import asyncio
import functools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import psutil

from opconform.dialects import DEFAULT, DIALECTS, check_renderable
from opconform.errors import UsageError
from opconform.generation.options import LIMITS, Limits, Options
from opconform.suite.selection import Selection
from opconform_runners.harness.command import GIB, LARGEST, Command, backend_command, harness_command
from opconform_runners.harness.connection import described

Function = TypeVar("Function", bound=Callable[..., Any])

#: A path on the command line, whether or not it exists.
PATH = click.Path(path_type=Path)


def positive(value: str | float) -> float:
    """A number over 0 given to an option.

    Raises:
        click.BadParameter: The value is not a finite number in the allowed range.
    """
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= LARGEST:
        raise click.BadParameter(f"{value!r} is not a number over 0 and at most {LARGEST:,}.")
    return number


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


spec_arguments = click.argument("specs", nargs=-1, type=PATH, metavar="[SPEC]...")
profile_option = click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", help="Use only this profile; repeatable."
)
select_option = click.option(
    "--select",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Use only cases whose id matches, as in 'Split-1/axis-*', or that test this requirement; repeatable.",
)
timeout_option = click.option(
    "--timeout", type=positive, metavar="SECONDS", default=20.0, show_default=True, help="Time limit for one case."
)
memory_option = click.option(
    "--memory",
    type=positive,
    metavar="GIB",
    help="Memory limit for a harness; three quarters of the machine's memory by default.",
)
python_option = click.option(
    "--python", type=PATH, help="The Python interpreter, in another virtual environment, that runs the backend."
)
sign_option = click.option(
    "--sign",
    "signer",
    type=PATH,
    metavar="KEY",
    help="Also write certificate.json, signed with this private key. See `opconform keygen`.",
)


def json_option(what: str) -> Callable[[Function], Function]:
    """`--json`, which prints something as JSON."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


def _collected(name: str, kind: type, *options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Add options to a command that gets their values as one dataclass.

    Args:
        name: The parameter of the command.
        kind: The dataclass; its fields are named like the options' parameters.
        options: The options.
    """

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def command(**given: Any) -> Any:
            own = {each.name: given.pop(each.name) for each in fields(kind)}
            return function(**given, **{name: kind(**own)})

        for each in reversed(options):
            command = each(command)
        return command

    return decorate


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendOptions:
    """The options that name a backend and limit its harness."""

    backend: str | None = None
    harness: str | None = None
    python: Path | None = None
    timeout: float
    memory: float | None = None

    def command(self) -> Command:
        """The command that starts the harness.

        Raises:
            UsageError: The options do not name exactly one backend, or one that does not exist.
        """
        if self.backend is not None and self.harness is not None:
            raise UsageError("Name one backend: both --backend and --harness are given.")
        if self.harness is not None:
            if self.python is not None:
                raise UsageError("--python goes with --backend; a --harness names its own interpreter.")
            command = harness_command(self.harness)
        elif self.backend is not None:
            command = backend_command(self.backend, self.python)
        else:
            raise UsageError(
                "Name the backend with either --backend NAME or --harness COMMAND. See `opconform backends`."
            )
        return replace(command, memory=memory_of(self.memory))


#: Adds `--backend`, `--harness`, `--python`, `--timeout` and `--memory`, collected in the parameter `backend`.
backend_options = _collected(
    "backend",
    BackendOptions,
    click.option("--backend", metavar="NAME[:DEVICE]", help="A backend by name, or path/file.py:ClassName."),
    click.option("--harness", metavar="COMMAND", help="A harness, in any language, that speaks the protocol."),
    python_option,
    timeout_option,
    memory_option,
)


def memory_of(gib: float | None) -> int:
    """The memory limit of a harness in bytes: a number of GiB, or three quarters of the machine's memory."""
    return psutil.virtual_memory().total * 3 // 4 if gib is None else int(gib * GIB)


def dialects_of(command: Command) -> tuple[str, ...]:
    """The dialects that a harness reads and opconform renders; empty if it executes cases directly.

    Raises:
        HarnessError: The harness cannot be started.
    """
    return tuple(each for each in asyncio.run(described(command)).dialects if each in DIALECTS)


#: Adds `--profile` and `--select`, collected in the parameter `selection`.
selection_options = _collected("selection", Selection, profile_option, select_option)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultOptions:
    """The options for the results of a run."""

    out: Path | None
    force: bool
    strict: bool
    as_json: bool


def result_options_for(out: str, what: str) -> Callable[[Function], Function]:
    """`--out`, `--force`, `--strict` and `--json`, collected in the parameter `results`.

    Args:
        out: The default folder, for the help text.
        what: What is printed as JSON.
    """
    return _collected(
        "results",
        ResultOptions,
        click.option("--out", type=PATH, help=f"The folder for the results; {out} by default."),
        click.option("--force", is_flag=True, help="Replace the results of another run in --out."),
        click.option(
            "--strict", is_flag=True, help="Treat interpretations of the specification like normative requirements."
        ),
        json_option(what),
    )


#: The options for the results of one run.
result_options = result_options_for("opconform-out/BACKEND", "the report")


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationOptions:
    """The options that decide how a suite is generated."""

    seed: int = 0
    dialects: tuple[str, ...] = ()
    max_cases: int = LIMITS.cases
    max_elements: int = LIMITS.elements
    max_bytes: int = LIMITS.bytes
    jobs: int | None = None

    def options(self, selection: Selection, *, blind: bool = False) -> Options:
        """The options of the generation.

        Raises:
            UsageError: A dialect is unknown, or a number is below 1.
        """
        check_renderable(self.dialects)
        if min(self.max_cases, self.max_elements, self.max_bytes) < 1 or (self.jobs is not None and self.jobs < 1):
            raise UsageError("Limits and --jobs must be 1 or more.")
        return Options(
            seed=self.seed,
            dialects=tuple(each for each in DIALECTS if each in self.dialects) or DEFAULT,
            blind=blind,
            jobs=self.jobs or cores(),
            selection=selection,
            limits=Limits(cases=self.max_cases, elements=self.max_elements, bytes=self.max_bytes),
        )


#: Adds the options of a generation, collected in the parameter `generation`.
generation_options = _collected(
    "generation",
    GenerationOptions,
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of random fills and samples."),
    click.option(
        "--dialect",
        "dialects",
        multiple=True,
        metavar="NAME",
        help=f"Render models in this dialect; repeatable. Allowed are: {', '.join(DIALECTS)}.",
    ),
    click.option(
        "--max-cases", type=int, default=LIMITS.cases, show_default=True, help="Largest number of cases per group."
    ),
    click.option(
        "--max-elements",
        type=int,
        default=LIMITS.elements,
        show_default=True,
        help="Largest number of elements per tensor.",
    ),
    click.option(
        "--max-bytes", type=int, default=LIMITS.bytes, show_default=True, help="Largest size of the suite in bytes."
    ),
    click.option(
        "--jobs",
        type=int,
        help="Number of processes: one per core by default for generating, one for harnesses.",
    ),
)
