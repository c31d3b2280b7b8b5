"""After how many tests a search finds each row of a findings page, and how many reports each row has.

Usage: python -m benchmarks.search.measure OPERATION [--tests N] [--time SECONDS] [--seed S] [--out FILE.jsonl]
"""

import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from benchmarks.search.rows import row_of
from opconform.dialects import DIALECTS
from opconform.generation.options import Options
from opconform.interrupts import run_loop
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.harness.connection import described
from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.finds import lines_of
from opconform_runners.tools.fuzz.search import Limits, Search
from opconform_runners.tools.fuzz.supply import Batch
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.results import Result

BACKEND = "openvino"


class Watched(Batches):
    """Batches that note the first failure of each row, after it was executed again."""

    rows: dict[int | None, dict[str, object]]
    began: float
    tests = 0

    def outcomes(
        self,
        given: Batch | Sequence[Trial],
        until: float = math.inf,
        is_news: Callable[[Failure], bool] = lambda _: True,
    ) -> Iterator[Failure | Result]:
        """The outcomes, of which the first of each row is news."""
        for outcome in super().outcomes(given, until, lambda each: is_news(each) or row_of(each) not in self.rows):
            self.tests += 1
            if isinstance(outcome, Failure) and (row := row_of(outcome)) not in self.rows:
                seconds = round(time.monotonic() - self.began, 1)
                inputs = outcome.result.inputs
                self.rows[row] = {"row": row, "tests": self.tests, "seconds": seconds, "given": inputs}
                click.echo(json.dumps(self.rows[row]))
            yield outcome


@click.command()
@click.argument("op", metavar="OPERATION")
@click.option("--tests", default=5_000, show_default=True)
@click.option("--time", "seconds", default=600.0, show_default=True, help="60 % of it is for the search.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Where the first failures are written.")
def command(op: str, tests: int, seconds: float, seed: int, out: Path | None) -> None:
    """Search one operation on OpenVINO, and print what is found of its findings page."""
    launch = Launch(command=backend_command(BACKEND))
    dialects = tuple(each for each in DIALECTS if each in run_loop(described(launch.command)).dialects)
    with tempfile.TemporaryDirectory(prefix="opconform-") as scratch:
        batches = Watched(launch, Path(scratch), Options(seed=seed, dialects=dialects))
        batches.rows, batches.began = {}, time.monotonic()
        search = Search(batches=batches, limits=Limits(tests=tests, seconds=seconds), seed=seed)
        try:
            search.run([op], lambda *_: None)
            if out is not None:
                given = (json.dumps(each) for row, each in batches.rows.items() if row is not None)
                out.write_text("".join(f"{each}\n" for each in given))
            click.echo(f"{search.tests} tests in {time.monotonic() - batches.began:.0f} s", err=True)
            search.reduce(lambda _, reduced: click.echo(f"{reduced} failures reduced", err=True))
        finally:
            batches.close()
        for line in lines_of(search, Path(scratch), BACKEND):
            click.echo(line)
    reports = Counter(row_of(each.failure) for each in search.found.values())
    others = reports.pop(None, 0)
    rows = len(batches.rows.keys() - {None})
    click.echo(f"{rows} rows; {reports.total()} reports of {len(reports)} of them, {others} of other faults")


if __name__ == "__main__":
    command()
