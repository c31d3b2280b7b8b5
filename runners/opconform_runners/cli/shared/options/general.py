"""The options that several commands share. Options that belong together reach a command as one frozen value."""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from opconform.errors import UsageError
from opconform.suite.selection.quick import QUICK
from opconform.suite.selection.selection import PROFILES, Selection, Shard, shard_of
from opconform_runners.cli.shared.help import rare_option
from opconform_runners.cli.shared.stores import FolderTarget, LocalPath, Source, Target
from opconform_runners.verdicts.accuracy_level import LEAST_ACCURACIES, LeastAccuracy

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner

Decorator = Callable[[Any], Any]
#: A private key; the package that defines it is optional.
PrivateKey: TypeAlias = "CryptoSigner"

#: A path on the command line, whether or not it exists: a local one, and one to read or to write, which may be a URL.
PATH, SOURCE = LocalPath(path_type=Path), Source(path_type=Path)
TARGET, FOLDER_TARGET = Target(path_type=Path), FolderTarget(path_type=Path)


def collected(name: str, kind: type, *options: Decorator) -> Decorator:
    """Add options to a command, which gets their values as one dataclass in the parameter `name`.

    Each option's parameter has the name of a field. A field without an option keeps its default.
    """

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def command(**values: Any) -> Any:
            option_values = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            return function(**values, **{name: kind(**option_values)})

        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def refused_option(*names: str, advice: str, is_flag: bool = False) -> Decorator:
    """A hidden option that a user may expect here; it is refused with what to do instead."""

    def refuse(_context: click.Context, _option: click.Parameter, value: str | bool | None) -> None:
        if value is not None and value is not False:
            raise UsageError(advice.format(value))

    return click.option(*names, hidden=True, expose_value=False, callback=refuse, is_flag=is_flag)


def json_option(what: str) -> Decorator:
    """`--json`, which prints something as JSON."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as JSON.")


def private_key(_context: click.Context, _option: click.Parameter, path: Path | None) -> "PrivateKey | None":
    """The private key in a file, which is read before anything is run."""
    if path is None:
        return None
    from opconform_runners.certificates.keys import read_private

    return read_private(path)


def _shard(_context: click.Context, _option: click.Parameter, text: str | None) -> Shard | None:
    """The named shard, or the one in Bazel's environment variables."""
    total, index = os.environ.get("TEST_TOTAL_SHARDS"), os.environ.get("TEST_SHARD_INDEX")
    if text is None and total is not None and index is not None:
        if status := os.environ.get("TEST_SHARD_STATUS_FILE"):
            Path(status).touch()
        text = f"{int(index) + 1}/{total}" if index.isdecimal() else f"{index}/{total}"
    try:
        return None if text is None else shard_of(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error


#: Adds `--shard`, one of several parts of the cases.
shard_option = rare_option(
    "--shard",
    metavar="I/N",
    callback=_shard,
    help="Run one shard of N; `opconform merge` joins them.",
)
spec_arguments = click.argument("specs", nargs=-1, type=PATH, metavar="[SPEC]...")
out_option = functools.partial(click.option, "--out", "-o", type=PATH)
sign_option = click.option(
    "--sign",
    "key",
    type=PATH,
    metavar="KEY",
    callback=private_key,
    help="Write certificate.json, signed with this key.",
)
profile_option = click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help=f"{', '.join(PROFILES)}, default (first 7) or {QUICK}.",
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
        help="Use only cases that match an id or requirement (repeatable).",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultOptions:
    """The options for the results of runs, and how much is printed of them."""

    out: Path | None
    force: bool
    strict: bool
    least_accuracy: LeastAccuracy
    quiet: bool
    verbose: bool
    as_json: bool
    no_known: bool = False

    @property
    def place(self) -> Path:
        """The folder of the results, once it is known."""
        if self.out is None:
            raise ValueError("the folder of the results is not known yet")
        return self.out

    @property
    def is_silent(self) -> bool:
        """Whether only errors and the verdict are printed."""
        return self.quiet or self.as_json


#: Adds the options of `ResultOptions`, collected in the parameter `results`.
result_options = collected(
    "results",
    ResultOptions,
    out_option(
        type=FOLDER_TARGET,
        help="Folder or URL to write; by default opconform-out/BACKEND.",
    ),
    click.option("--force", is_flag=True, help="Replace the results of another run in --out."),
    rare_option("--strict", is_flag=True, help="Treat interpretations like normative requirements."),
    rare_option(
        "--accuracy",
        "least_accuracy",
        type=click.Choice(LEAST_ACCURACIES),
        metavar="LEVEL",
        default=LEAST_ACCURACIES[0],
        help="Least accuracy: reduced (default) or bounded.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print only errors and the verdict."),
    click.option("--verbose", "-v", is_flag=True, help="Also list unsupported and inconclusive cases."),
    json_option("the report"),
)


#: Adds `--no-known`, a part of `ResultOptions` of commands that run backends.
known_option = rare_option("--no-known", is_flag=True, help="Treat known failures of a product like new ones.")


#: Adds `--alone`.
alone_option = rare_option("--alone", is_flag=True, help="Execute each case alone, in no model with others.")


def count(value: str | int) -> int:
    """A number of at least 1 given to an option."""
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is not a whole number of at least 1.")
    return number


def jobs_option(what: str) -> Decorator:
    """`--jobs`, the number of processes."""
    return rare_option("--jobs", "-j", type=count, metavar="N", help=what)
