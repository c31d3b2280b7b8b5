"""The speed of a search against a plain loop that sends the same cases to a warm harness.

Usage: python -m benchmarks.search.speed [BACKEND] [OPERATION] [--tests N]
"""

import tempfile
import time
from itertools import islice
from pathlib import Path

import click

from opconform.dialects import DIALECTS
from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform.suite.reader import open_suite
from opconform.system.interrupts import run_loop
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.harness.connection import described
from opconform_runners.tools.fuzz.batch import Batches
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.supply import written
from opconform_runners.tools.fuzz.search import Limits, Search

ROUNDS = 3


@click.command()
@click.argument("backend", default="openvino")
@click.argument("op", default="Transpose-1")
@click.option("--tests", default=400, show_default=True)
def command(backend: str, op: str, tests: int) -> None:
    """Print the seconds of both, and their ratio, a few times."""
    launch = Launch(command=backend_command(backend))
    dialects = tuple(dialect for dialect in DIALECTS if dialect in run_loop(described(launch.command)).dialects)
    options = Options(dialects=dialects)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="opconform-") as scratch:
            plain = _loop(launch, op, tests, options, Path(scratch) / "suite")
            whole = _search(launch, op, tests, options, Path(scratch) / "batch")
        click.echo(f"plain loop {plain:.1f} s, search {whole:.1f} s: {plain / whole:.2f}")


def _loop(launch: Launch, op: str, tests: int, options: Options, folder: Path) -> float:
    batch = written(islice(Draws(OPERATIONS[op], 0), tests), folder, options)
    suite = open_suite(batch.folder)
    session = Session(suite, launch)
    try:
        began = time.monotonic()
        for trial in batch.trials:
            session.result_of(suite.by_id[trial.draft.id], once=True)
        return time.monotonic() - began
    finally:
        session.close()


def _search(launch: Launch, op: str, tests: int, options: Options, folder: Path) -> float:
    batches = Batches(launch, folder, options)
    began = time.monotonic()
    try:
        Search(batches=batches, limits=Limits(tests=tests)).run([op], lambda *_: None)
        return time.monotonic() - began
    finally:
        batches.close()


if __name__ == "__main__":
    command()
