"""The options that several commands share. Options that belong together reach a command as one frozen value."""

import functools
import math
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from opconform.dialects import DEFAULT, DIALECTS, check_renderable
from opconform.generation.options import LIMITS, Limits, Options
from opconform.suite.selection import Selection
from opconform_runners.harness.command import LARGEST, Command, command_of, memory_limit

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner

Decorator = Callable[[Any], Any]
#: A private key; the package that defines it is optional.
PrivateKey: TypeAlias = "CryptoSigner"

#: A path on the command line, whether or not it exists.
PATH = click.Path(path_type=Path)
_COUNT = click.IntRange(min=1)


def collected(name: str, kind: type, *options: Decorator) -> Decorator:
    """Add options to a command, which gets their values as one dataclass in the parameter `name`.

    The dataclass has a field for each option, of the name of the option's parameter.
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


def json_option(what: str) -> Decorator:
    """`--json`, which prints something as JSON."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


def positive(value: str | float) -> float:
    """A number over 0 given to an option."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= LARGEST:
        raise click.BadParameter(f"{value!r} is not a number over 0 and at most {LARGEST:,}.")
    return number


def _private_key(_context: click.Context, _option: click.Parameter, path: Path | None) -> "PrivateKey | None":
    """The private key in a file, which is read before anything is run."""
    if path is None:
        return None
    from opconform_runners.certificates.keys import read_private

    return read_private(path)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: The limits for a single case, which may be one of the profile `large`.
ONE_CASE = replace(LIMITS, elements=1 << 31)

spec_arguments = click.argument("specs", nargs=-1, type=PATH, metavar="[SPEC]...")
profile_option = click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", help="Use only this profile. Can be repeated."
)
python_option = click.option(
    "--python", type=PATH, help="The Python interpreter, in another virtual environment, that runs the backend."
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
sign_option = click.option(
    "--sign",
    "key",
    type=PATH,
    metavar="KEY",
    callback=_private_key,
    help="Also write certificate.json, signed with this private key. See `opconform keygen`.",
)
key_option = click.option(
    "--key", type=PATH, required=True, callback=_private_key, help="The private key. See `opconform keygen`."
)

#: Adds `--profile` and `--select`, collected in the parameter `selection`.
selection_options = collected(
    "selection",
    Selection,
    profile_option,
    click.option(
        "--select",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="Use only cases whose id matches, as in 'Split-1/axis-*', or that test this requirement. Can be repeated.",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BackendOptions:
    """The options that name a backend and limit its harness."""

    backend: str | None = None
    harness: str | None = None
    python: Path | None = None
    timeout: float
    memory: float | None = None

    def command(self) -> Command:
        """The command that starts the harness; exactly one backend must be named."""
        return replace(command_of(self.backend, self.harness, self.python), memory=memory_limit(self.memory))


#: Adds `--backend`, `--harness`, `--python`, `--timeout` and `--memory`, collected in the parameter `backend`.
backend_options = collected(
    "backend",
    BackendOptions,
    click.option("--backend", metavar="NAME[:DEVICE]", help="A backend by name, or path/file.py:ClassName."),
    click.option("--harness", metavar="COMMAND", help="A harness, in any language, that implements the protocol."),
    python_option,
    timeout_option,
    memory_option,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultOptions:
    """The options for the results of a run."""

    out: Path | None
    force: bool
    strict: bool
    as_json: bool


def result_options(folder: str = "opconform-out/BACKEND", what: str = "the report") -> Decorator:
    """`--out`, `--force`, `--strict` and `--json`, collected in the parameter `results`."""
    return collected(
        "results",
        ResultOptions,
        click.option("--out", type=PATH, help=f"The folder for the results; {folder} by default."),
        click.option("--force", is_flag=True, help="Replace the results of another run in --out."),
        click.option(
            "--strict", is_flag=True, help="Treat interpretations of the specification like normative requirements."
        ),
        json_option(what),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationOptions:
    """The options that decide how a suite is generated."""

    seed: int
    dialects: tuple[str, ...]
    max_cases: int
    max_elements: int
    max_bytes: int
    jobs: int | None

    def options(self, selection: Selection, *, read: Collection[str] = (), blind: bool = False) -> Options:
        """The options of the generation, in the dialects that a backend reads unless others are named."""
        dialects = self.dialects or tuple(each for each in DIALECTS if each in read)
        check_renderable(dialects)
        return Options(
            seed=self.seed,
            dialects=tuple(each for each in DIALECTS if each in dialects) or DEFAULT,
            blind=blind,
            jobs=self.jobs or cores(),
            selection=selection,
            limits=Limits(cases=self.max_cases, elements=self.max_elements, bytes=self.max_bytes),
        )


def _limit_option(name: str, default: int, what: str) -> Decorator:
    return click.option(name, type=_COUNT, default=default, show_default=True, metavar="N", help=f"Largest {what}.")


def jobs_option(what: str, default: int | None = None) -> Decorator:
    """`--jobs`, the number of processes."""
    return click.option("--jobs", type=_COUNT, default=default, show_default=True, metavar="N", help=what)


def generation_options(jobs: str) -> Decorator:
    """The options of a generation, collected in the parameter `generation`; `jobs` is the help of `--jobs`."""
    return collected(
        "generation",
        GenerationOptions,
        click.option("--seed", type=int, default=0, show_default=True, help="Seed of random fills and samples."),
        click.option(
            "--dialect",
            "dialects",
            multiple=True,
            metavar="NAME",
            help=f"Render models in this dialect: {', '.join(DIALECTS)}. Can be repeated.",
        ),
        _limit_option("--max-cases", LIMITS.cases, "number of cases per group"),
        _limit_option("--max-elements", LIMITS.elements, "number of elements per tensor"),
        _limit_option("--max-bytes", LIMITS.bytes, "size of the suite in bytes"),
        jobs_option(jobs),
    )


#: The help of `--jobs` for commands that generate a suite and run it.
RUN_JOBS = "Number of processes; by default one per core for generating, and one harness process."
