"""Progress on standard error: bars with rate and time left on a terminal, otherwise a line every ten seconds.

A stage of some work has its own counts. On a terminal its bar is below the bar of the work, or in its place where the
work is otherwise complete.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column

from opconform_runners.cli.shared.output.console import console_of
from opconform_runners.execution.progress import OnProgress

_SECONDS_BETWEEN_LINES = 10.0
#: The fewest and the most columns of a bar.
_NARROW, _WIDE = 6, 40
#: A slower rate has a decimal place.
_SLOW = 10.0


@contextmanager
def progress(what: str, *, of: str = "cases", quiet: bool, titled: bool = False) -> Iterator[OnProgress]:
    """Show the progress of some work, which counts cases or other things.

    `titled` says that `what` is the title of one run of several, which its stages are named after.
    """
    prefix = f"{what}: " if titled else ""
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        bar = BarColumn(bar_width=None, table_column=Column(min_width=_NARROW, max_width=_WIDE))
        columns = ("{task.description}", bar, TextColumn("{task.fields[count]}"), TimeRemainingColumn())
        with Progress(*columns, console=console_of(stderr=True), transient=True) as bars:
            yield _Bars(bars, what, of, prefix)
    else:
        yield _Lines(what, of, prefix)


class _Bar:
    """A bar with a count and a rate."""

    def __init__(self, bars: Progress, title: str, of: str) -> None:
        self._bars, self._of, self._started = bars, of, time.monotonic()
        self.task: TaskID = bars.add_task(title, total=None, count="")
        self.fraction = 0.0

    @property
    def is_partial(self) -> bool:
        """Whether some of the work is done, and not all of it."""
        return 0.0 < self.fraction < 1.0

    def show(self, fraction: float, done: int) -> None:
        """Show how far it is; before the first case and after the last one, the bar moves to and fro."""
        self.fraction = fraction
        total = 1.0 if self.is_partial else None
        rate = done / max(time.monotonic() - self._started, 1e-9)
        speed = f" {rate:,.{0 if rate >= _SLOW else 1}f}/s" if done else ""
        self._bars.update(self.task, total=total, completed=fraction, count=f"{_counted(done, self._of)}{speed}")


class _Bars:
    """The bar of some work, and the bar of its stage while it is in one."""

    def __init__(self, bars: Progress, what: str, of: str, prefix: str) -> None:
        self._bars, self._of, self._prefix = bars, of, prefix
        self._whole, self._stage = _Bar(bars, what, of), ""
        self._part: _Bar | None = None

    def __call__(self, fraction: float, done: int, stage: str = "", /) -> None:
        """Show the progress of the work, or of a stage."""
        if stage != self._stage:
            self._begin(stage)
        (self._part or self._whole).show(fraction, done)

    def _begin(self, stage: str) -> None:
        if self._part is not None:
            self._bars.remove_task(self._part.task)
        self._bars.update(self._whole.task, visible=not stage or self._whole.is_partial)
        self._part = _Bar(self._bars, f"{self._prefix}{stage}", self._of) if stage else None
        self._stage = stage


class _Lines:
    """A line every ten seconds."""

    def __init__(self, what: str, of: str, prefix: str) -> None:
        self._what, self._of, self._prefix = what, of, prefix
        self._last = time.monotonic()
        self._unfinished = ""

    def __call__(self, fraction: float, done: int, stage: str = "", /) -> None:
        """Print how far the work, or a stage of it, is."""
        line = f"{self._prefix}{stage}" if stage else self._what
        line = f"{line}: {_counted(done, self._of)}, {fraction:.0%}"
        if not stage:
            self._unfinished = line if fraction < 1.0 else ""
        elif self._unfinished:
            line = f"{self._unfinished}; {line}"
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            click.echo(line, err=True)


def _counted(done: int, of: str) -> str:
    return f"{done:,} {of if done != 1 else of.removesuffix('s')}"
