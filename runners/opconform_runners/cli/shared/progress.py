"""Progress on standard error: a bar with rate and time left on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from opconform_runners.cli.shared.console import console_of

#: Told the share of the work that is done, of 1, and how many things are.
Tell = Callable[[float, int], None]

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(what: str, *, then: str = "", of: str = "cases", quiet: bool) -> Iterator[Tell]:
    """Show how far a command is.

    Args:
        what: What it does.
        then: What it does once all of them are done, if that is not the end.
        of: What it counts.
        quiet: Show nothing.
    """
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        with _bar(what, then or what, of) as tell:
            yield tell
    else:
        yield _lines(what, of)


@contextmanager
def _bar(what: str, then: str, of: str) -> Iterator[Tell]:
    columns = ("{task.description}", BarColumn(), TextColumn(f"{{task.fields[done]:,}} {of}"))
    rate = TextColumn("{task.fields[rate]:,.0f}/s")
    with Progress(*columns, rate, TimeRemainingColumn(), console=console_of(stderr=True), transient=True) as bar:
        started = time.monotonic()
        task = bar.add_task(what, total=1.0, done=0, rate=0.0)

        def tell(share: float, done: int) -> None:
            rate = done / max(time.monotonic() - started, 1e-9)
            bar.update(task, completed=share, done=done, rate=rate, description=what if share < 1.0 else then)

        yield tell


def _lines(what: str, of: str) -> Tell:
    last = [time.monotonic()]

    def tell(share: float, done: int) -> None:
        if time.monotonic() - last[0] >= _SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            click.echo(f"{what}: {done:,} {of}, {share:.0%}", err=True)

    return tell
