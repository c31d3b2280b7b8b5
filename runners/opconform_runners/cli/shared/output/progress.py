"""Progress on standard error: a bar with rate and time left on a terminal, otherwise a line every ten seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from opconform_runners.cli.shared.output.console import console_of

#: Called periodically with the completed fraction (0 to 1) and the number of completed things.
OnProgress = Callable[[float, int], None]

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(what: str, *, then: str = "", of: str = "cases", quiet: bool) -> Iterator[OnProgress]:
    """Show the progress of some work, which counts cases or other things; `then` is the work that follows it."""
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        with _bar(what, then or what, of) as on_progress:
            yield on_progress
    else:
        yield _lines(what, of)


@contextmanager
def _bar(what: str, then: str, of: str) -> Iterator[OnProgress]:
    counts = TextColumn("{task.fields[done]:,} {task.fields[noun]} {task.fields[rate]:,.0f}/s")
    columns = ("{task.description}", BarColumn(), counts, TimeRemainingColumn())
    with Progress(*columns, console=console_of(stderr=True), transient=True) as bar:
        started = time.monotonic()
        task = bar.add_task(what, total=1.0, done=0, noun=of, rate=0.0)

        def on_progress(fraction: float, done: int) -> None:
            rate = done / max(time.monotonic() - started, 1e-9)
            said = what if fraction < 1.0 else then
            bar.update(task, completed=fraction, done=done, noun=_noun(of, done), rate=rate, description=said)

        yield on_progress


def _noun(of: str, done: int) -> str:
    return of if done != 1 else of.removesuffix("s")


def _lines(what: str, of: str) -> OnProgress:
    last = [time.monotonic()]

    def on_progress(fraction: float, done: int) -> None:
        if time.monotonic() - last[0] >= _SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            click.echo(f"{what}: {done:,} {_noun(of, done)}, {fraction:.0%}", err=True)

    return on_progress
