"""The options that several commands share. Options that belong together reach a command as one frozen value."""

import functools
import itertools
import math
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from opconform.dialects import DEFAULT, DIALECTS, check_renderable
from opconform.errors import UsageError
from opconform.generation.options import LIMITS, Limits, Options
from opconform.suite.selection import Selection
from opconform_runners.harness.command import LARGEST, Command, backend_command, harness_command, memory_limit
from opconform_runners.harness.registry import names

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner

Decorator = Callable[[Any], Any]
#: A private key; the package that defines it is optional.
PrivateKey: TypeAlias = "CryptoSigner"

#: A path on the command line, whether or not it exists.
PATH = click.Path(path_type=Path)
#: The name for every installed backend.
ALL = "all"
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


def private_key(_context: click.Context, _option: click.Parameter, path: Path | None) -> "PrivateKey | None":
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
out_option = functools.partial(click.option, "--out", "-o", type=PATH)
timeout_option = click.option(
    "--timeout", type=positive, metavar="SECONDS", default=20.0, show_default=True, help="Time limit for one case."
)
sign_option = click.option(
    "--sign",
    "key",
    type=PATH,
    metavar="KEY",
    callback=private_key,
    help="Write certificate.json, signed with this key.",
)
profile_option = click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", help="Use only this profile (repeatable)."
)

#: Adds `--profile` and `--select`, collected in the parameter `selection`.
selection_options = collected(
    "selection",
    Selection,
    profile_option,
    click.option(
        "--select",
        "-k",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="Use only cases of an id or requirement (repeatable).",
    ),
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
            raise UsageError(f"Name one backend, not {', '.join((*self.backends, *self.harnesses))}.")
        [found] = self.commands().values()
        return found

    def commands(self) -> dict[str, Command]:
        """The command of each backend and harness, by name."""
        wanted = [one for each in self.backends for one in (names() if each == ALL else [each])]
        if not wanted and not self.harnesses:
            raise UsageError(
                "Specify a backend with --backend NAME or --harness COMMAND. `opconform backends` lists the backends."
            )
        pythons = self._interpreters(list(dict.fromkeys(wanted)))
        commands = {each: backend_command(each, pythons.get(each)) for each in wanted}
        for each in self.harnesses:
            started = harness_command(each)
            commands[free_name(started.name, commands)] = started
        return {name: replace(each, memory=memory_limit(self.memory)) for name, each in commands.items()}

    def _interpreters(self, wanted: list[str]) -> dict[str, Path]:
        """The interpreter of each backend: NAME=PATH, or PATH alone for the only backend."""
        found: dict[str, Path] = {}
        for each in self.pythons:
            name, _, path = each.partition("=")
            alike = [one for one in wanted if name in (one, one.partition(":")[0])]
            if path and alike:
                found |= dict.fromkeys(alike, Path(path))
            elif len(wanted) == 1:
                found[wanted[0]] = Path(each)
            elif not wanted:
                raise UsageError("--python goes with --backend; a harness names its own interpreter.")
            elif path:
                raise UsageError(f"--python names {name!r}, which is not one of the backends: {', '.join(wanted)}.")
            else:
                raise UsageError(f"--python {each!r} must be NAME=PATH, as in --python torch=venv/bin/python.")
        return found


def free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the next free number if it is taken."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


#: Adds the options of `BackendOptions`, collected in the parameter `backend`.
backend_options = collected(
    "backend",
    BackendOptions,
    click.option(
        "--backend",
        "-b",
        "backends",
        multiple=True,
        metavar="NAME",
        help="A backend, such as openvino:CPU, or all (repeatable).",
    ),
    click.option(
        "--harness",
        "harnesses",
        multiple=True,
        metavar="COMMAND",
        help="A program that speaks the protocol (repeatable).",
    ),
    click.option(
        "--python",
        "pythons",
        multiple=True,
        metavar="[NAME=]PATH",
        help="The interpreter of a backend elsewhere (repeatable).",
    ),
    timeout_option,
    click.option("--memory", type=positive, metavar="GIB", help="Memory limit of a harness; 3/4 of the machine's."),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultOptions:
    """The options for the results of runs, and how much is printed of them."""

    out: Path | None
    force: bool
    strict: bool
    quiet: bool
    verbose: bool
    as_json: bool

    @property
    def is_silent(self) -> bool:
        """Whether only errors and the verdict are printed."""
        return self.quiet or self.as_json


#: Adds the options of `ResultOptions`, collected in the parameter `results`.
result_options = collected(
    "results",
    ResultOptions,
    out_option(help="The folder to write; opconform-out/BACKEND by default."),
    click.option("--force", is_flag=True, help="Replace the results of another run in --out."),
    click.option("--strict", is_flag=True, help="Treat interpretations like normative requirements."),
    click.option("--quiet", "-q", is_flag=True, help="Print only errors and the verdict."),
    click.option("--verbose", "-v", is_flag=True, help="Print what is only counted otherwise."),
    json_option("the report"),
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
    return click.option(name, type=_COUNT, default=default, metavar="N", help=f"Most {what} ({default:,}).")


def jobs_option(what: str, default: int | None = None) -> Decorator:
    """`--jobs`, the number of processes."""
    return click.option("--jobs", "-j", type=_COUNT, default=default, show_default=True, metavar="N", help=what)


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
            help=f"{', '.join(DIALECTS)} (repeatable).",
        ),
        _limit_option("--max-cases", LIMITS.cases, "cases per group"),
        _limit_option("--max-elements", LIMITS.elements, "elements per tensor"),
        _limit_option("--max-bytes", LIMITS.bytes, "bytes of the suite"),
        jobs_option(jobs),
    )


#: The help of `--jobs` for commands that generate a suite and run it.
RUN_JOBS = "Processes; by default one per core, and one harness."
