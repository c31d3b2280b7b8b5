"""After how many tests a search finds each row of a findings page, and how many reports each row has.

Usage: python -m benchmarks.search.measure OPERATION [--tests N] [--time SECONDS] [--seed S] [--out FILE.jsonl]
"""

import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from benchmarks.search.rows import row_of
from opconform.dialects import DIALECTS
from opconform.generation.options import Options
from opconform.system.interrupts import run_loop
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.harness.connection import described
from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.cases.supply import Batch
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.findings_folder import lines_of
from opconform_runners.tools.fuzz.search import Search, SearchLimits
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.results import Result

BACKEND = "openvino"
#: How many failures of a row are executed again until one of them fails in fresh harnesses.
_TRIED = 5


class Watched(Batches):
    """Batches that note the first failures of each row in the search."""

    def __init__(self, launch: Launch, folder: Path, options: Options) -> None:
        super().__init__(launch, folder, options)
        self._began, self._tests = time.monotonic(), 0
        self._first: dict[int, list[FuzzFinding]] = {}

    def outcomes(
        self, given: Batch | Sequence[Trial], until: float = math.inf, *, once: bool = False
    ) -> Iterator[Failure | Result]:
        """The outcomes; only those of the search are executed once."""
        for outcome in super().outcomes(given, until, once=once):
            self._tests += once
            if isinstance(outcome, Failure) and once and (row := row_of(outcome)) is not None:
                find = FuzzFinding(failure=outcome, tests=self._tests, seconds=time.monotonic() - self._began)
                self._first.setdefault(row, []).append(find)
            yield outcome

    def rows(self) -> dict[int, dict[str, object]]:
        """The first failure of each row that fails in fresh harnesses, too."""
        rows: dict[int, dict[str, object]] = {}
        for number in range(_TRIED):
            finds = {row: some[number] for row, some in self._first.items() if row not in rows and number < len(some)}
            outcomes = self.outcomes([find.failure.trial for find in finds.values()])
            for (row, find), outcome in zip(finds.items(), outcomes, strict=True):
                if isinstance(outcome, Failure) and row == row_of(outcome):
                    found = {"row": row, "tests": find.tests, "seconds": round(find.seconds, 1)}
                    rows[row] = found | {"given": outcome.result.inputs}
        return rows


@click.command()
@click.argument("op", metavar="OPERATION")
@click.option("--tests", default=5_000, show_default=True)
@click.option("--time", "seconds", default=600.0, show_default=True, help="60 % of it is for the search.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Where the first failures are written.")
def command(op: str, tests: int, seconds: float, seed: int, out: Path | None) -> None:
    """Search one operation on OpenVINO, and print what is found of its findings page."""
    launch = Launch(command=backend_command(BACKEND))
    dialects = tuple(dialect for dialect in DIALECTS if dialect in run_loop(described(launch.command)).dialects)
    with tempfile.TemporaryDirectory(prefix="opconform-") as scratch:
        began, batches = time.monotonic(), Watched(launch, Path(scratch), Options(seed=seed, dialects=dialects))
        search = Search(batches=batches, limits=SearchLimits(tests=tests, seconds=seconds), seed=seed)
        try:
            search.run([op], lambda *_: None)
            click.echo(f"{search.tests} tests in {time.monotonic() - began:.0f} s", err=True)
            rows = batches.rows()
            lines = [json.dumps(rows[row]) for row in sorted(rows)]
            click.echo("\n".join(lines))
            if out is not None:
                out.write_text("".join(f"{line}\n" for line in lines))
            search.reduce(lambda _, reduced, *__: click.echo(f"{reduced} failures reduced", err=True))
        finally:
            batches.close()
        for line in lines_of(search, Path(scratch), BACKEND):
            click.echo(line)
    reports = Counter(row_of(hit.failure) for hit in search.found.values())
    others = reports.pop(None, 0)
    click.echo(f"{len(lines)} rows; {reports.total()} reports of {len(reports)} of them, {others} of other faults")


if __name__ == "__main__":
    command()
