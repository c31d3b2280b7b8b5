"""The options that several commands share."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from opconform.dialects import DEFAULT, DIALECTS, check_renderable
from opconform.errors import UsageError
from opconform.generation.options import LIMITS, Limits, Options
from opconform.suite.selection import Selection
from opconform_runners.harness.command import LARGEST

Function = TypeVar("Function", bound=Callable[..., Any])


def positive(value: str | float) -> float:
    """The number over 0 that an option gives.

    Raises:
        click.BadParameter: It is none, or infinite, nan or too large.
    """
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= LARGEST:
        raise click.BadParameter(f"{value!r} is not a number over 0 and at most {LARGEST:,}.")
    return number


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spec_arguments(function: Function) -> Function:
    """`[SPEC…]`: spec files or folders of them; the shipped ones by default."""
    return click.argument("specs", nargs=-1, type=click.Path(path_type=Path), metavar="[SPEC]...")(function)


def selection_options(function: Function) -> Function:
    """`--profile` and `--select`."""
    profile = click.option(
        "--profile", "profiles", multiple=True, metavar="NAME", help="Only this profile; repeatable."
    )
    select = click.option(
        "--select",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="Only cases whose id matches (as in 'Split-1/axis-*') or that test this requirement; repeatable.",
    )
    return profile(select(function))


def generation_options(function: Function) -> Function:
    """What decides how a suite is generated."""
    options = (
        click.option("--seed", type=int, default=0, show_default=True, help="What random fills and samples depend on."),
        click.option(
            "--dialect",
            "dialects",
            multiple=True,
            metavar="NAME",
            help=f"Render this dialect; repeatable. There are {', '.join(DIALECTS)}.",
        ),
        click.option("--max-cases", type=int, default=LIMITS.cases, show_default=True, help="Limit of cases a group."),
        click.option(
            "--max-elements", type=int, default=LIMITS.elements, show_default=True, help="Limit of elements a tensor."
        ),
        click.option(
            "--max-bytes", type=int, default=LIMITS.bytes, show_default=True, help="Limit of a suite's bytes."
        ),
    )
    for each in reversed(options):
        function = each(function)
    return function


def options_of(
    selection: Selection,
    *,
    seed: int,
    dialects: tuple[str, ...],
    max_cases: int,
    max_elements: int,
    max_bytes: int,
    blind: bool = False,
    jobs: int | None = None,
) -> Options:
    """How to generate, as the options say.

    Raises:
        UsageError: A dialect is unknown, or a number makes no sense.
    """
    check_renderable(dialects)
    if min(max_cases, max_elements, max_bytes) < 1 or (jobs is not None and jobs < 1):
        raise UsageError("Limits and --jobs must be 1 or more.")
    return Options(
        seed=seed,
        dialects=tuple(each for each in DIALECTS if each in dialects) or DEFAULT,
        blind=blind,
        jobs=jobs or cores(),
        selection=selection,
        limits=Limits(cases=max_cases, elements=max_elements, bytes=max_bytes),
    )
