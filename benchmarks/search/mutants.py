"""Which mutants drawn cases kill, beside the shipped ones, and which drawn cases the `numpy` backend fails.

Usage: python -m benchmarks.search.mutants OPERATION [--tests N] [--seed S] [--right-only]
"""

import resource
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

import click
from tests.mutants.catalogue import MUTANTS, concerns
from tests.mutants.kills import MEMORY, Workbench

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.operations import OPERATIONS
from opconform.specs.loader import load_specs
from opconform.suite.selection.selection import EVERYTHING, Selection
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.supply import written
from opconform_runners.tools.fuzz.trial import GROUP, is_defined

#: The seconds that a case may take on a mutant with a process of its own.
_TIMEOUT = 1.0
_OPTIONS = Options(dialects=())


@click.command()
@click.argument("op", metavar="OPERATION")
@click.option("--tests", default=2_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--right-only", is_flag=True, help="Do not run the mutants.")
def command(op: str, tests: int, seed: int, right_only: bool) -> None:
    """Run `numpy` and the mutants of an operation on drawn cases, and the mutants on the shipped cases, too."""
    mutants = [mutant for mutant in MUTANTS if concerns(MUTANTS[mutant], op) and not right_only]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # some mutants make outputs of 20 GiB
    with tempfile.TemporaryDirectory(prefix="opconform-") as scratch:
        has_results = partial(is_defined, seed=_OPTIONS.seed)
        trials = islice(filter(has_results, Draws(OPERATIONS[op], seed)), tests)
        drawn = written(trials, Path(scratch) / "drawn", _OPTIONS)
        workbench = Workbench(drawn.folder, Selection(profiles=(GROUP,)), _TIMEOUT)
        wrong = [entry.id for entry, verdict in workbench.verdicts_of(Numpy()) if verdict.verdict != "pass"]
        click.echo(f"{op}: {len(drawn.trials):,} drawn tests, of which numpy fails {len(wrong)}")
        for item in wrong:
            click.echo(item)
        if right_only:
            return
        shipped = generate(
            [load_spec for load_spec in load_specs(()) if load_spec.op == op], Path(scratch) / "shipped", _OPTIONS
        )
        by_drawn = {mutant for mutant in mutants if workbench.is_killed(mutant)}
        workbench = Workbench(shipped.out, EVERYTHING, _TIMEOUT)
        by_shipped = {mutant for mutant in mutants if workbench.is_killed(mutant)}
    click.echo(f"{len(mutants)} mutants: {len(by_drawn)} killed by drawn cases, {len(by_shipped)} by shipped ones")
    click.echo(f"only by drawn cases: {', '.join(sorted(by_drawn - by_shipped)) or 'none'}")
    click.echo(f"only by shipped cases: {', '.join(sorted(by_shipped - by_drawn)) or 'none'}")


if __name__ == "__main__":
    command()
