"""What `generate` and `certify` share: a generation with its progress shown."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from opconform.generating import Generated, Options, Progress, generate
from opconform.loading import load_specs

_SECONDS_BETWEEN_LINES = 10.0


def generate_shown(specs: Sequence[Path], out: Path, options: Options, *, quiet: bool = False) -> Generated:
    """Generate a suite and show on standard error how far it is.

    Args:
        specs: Spec files or folders; none at all stand for the shipped ones.
        out: Where the suite is written.
        options: How to generate.
        quiet: Show nothing but warnings.
    """
    loaded = load_specs(specs)
    with _shown(quiet=quiet) as tell:
        generated = generate(loaded, out, options, tell)
    for sentence in generated.repeated:
        click.echo(f"warning: {sentence}", err=True)
    return generated


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = ("{task.description}", BarColumn(), TextColumn("{task.fields[cases]:,} cases"))
    rate = TextColumn("{task.fields[rate]:,.0f}/s")
    with Bar(*columns, rate, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        started = time.monotonic()
        task = bar.add_task("generate", total=1.0, cases=0, rate=0.0)

        def tell(progress: Progress) -> None:
            rate = progress.cases / max(time.monotonic() - started, 1e-9)
            bar.update(task, completed=progress.share, cases=progress.cases, rate=rate)

        yield tell


def _lines() -> Callable[[Progress], None]:
    last = [time.monotonic()]

    def tell(progress: Progress) -> None:
        if time.monotonic() - last[0] >= _SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            click.echo(f"generate: {progress.cases:,} cases, {progress.share:.0%}", err=True)

    return tell
