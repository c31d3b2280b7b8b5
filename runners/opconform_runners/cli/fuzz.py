"""`opconform fuzz`."""

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opconform.dialects import DIALECTS
from opconform.errors import UsageError, nearest
from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.specs.operation_names import tested_operations
from opconform.suite.case import GRAPH
from opconform.suite.storage.ownership import check_replaceable
from opconform.system.interrupts import defer_interrupts, run_loop
from opconform.system.temporary import TemporaryFolder
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.backends import BackendOptions, one_backend_options, positive
from opconform_runners.cli.shared.options.general import collected, count, out_option, refused_option
from opconform_runners.cli.shared.output.printer import print_lines
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.steps import folder_name
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import described
from opconform_runners.harness.registry import names
from opconform_runners.tools.fuzz.batch import Batches
from opconform_runners.tools.fuzz.findings_folder import (
    earlier_trials,
    lines_of,
    sorted_findings,
    write_findings,
    write_findings_suite,
)
from opconform_runners.tools.fuzz.search import Search, SearchLimits

#: How long a search takes unless a limit is given, in seconds.
_SECONDS = 60.0


def _seconds(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    """A duration such as 90, 90s, 5m or 1h, in seconds."""
    if text is None:
        return None
    unit = {"s": 1, "m": 60, "h": 3_600}.get(text[-1:], 0)
    try:
        return positive(text[:-1]) * unit if unit else positive(text)
    except click.BadParameter as error:
        raise click.BadParameter(f"{text!r} is not a positive duration. Write it as 90s, 5m or 1h.") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawingOptions:
    """Which cases are drawn, and how many."""

    seconds: float | None
    tests: int | None
    graphs: bool
    seed: int

    @property
    def limits(self) -> SearchLimits:
        """When the search ends."""
        seconds = self.seconds or (math.inf if self.tests else _SECONDS)
        return SearchLimits(tests=self.tests or math.inf, seconds=seconds)


@click.command("fuzz", cls=HelpCommand, example="fuzz openvino\nfuzz openvino VariadicSplit-1 --time 5m --out finds")
@click.argument("targets", nargs=-1, metavar="[BACKEND|OPERATION]...")
@refused_option("--op", "--operation", advice="Name operations without an option: `opconform fuzz BACKEND {}`.")
@one_backend_options
@collected(
    "drawing",
    DrawingOptions,
    click.option(
        "--time",
        "seconds",
        callback=_seconds,
        metavar="TIME",
        help="Time budget, as 90s or 5m. Shrinking may add 50 %, and confirming another 50 %.  [default: 60s]",
    ),
    click.option("--tests", type=count, metavar="N", help="Number of cases to test."),
    click.option("--graphs", is_flag=True, help="Draw graphs of three to eight operations, not single operations."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed for the drawn cases."),
)
@out_option(metavar="FOLDER", help="Folder for the findings. Findings already in it are not reported again.")
def command(
    targets: tuple[str, ...],
    backend: BackendOptions,
    drawing: DrawingOptions,
    out: Path | None,
) -> None:
    """Search for failures of a backend beyond the shipped cases.

    Cases are drawn from the declarations of the operations; by default, of every operation that the backend declares.
    Every case is valid, or violates one requirement and has a valid twin. Each failure is shrunk to the smallest case
    with the same symptom. Each finding is appended as a group to the spec FOLDER/OPERATION.yaml. If `opconform repro`
    supports the backend, a script is written, too. Findings of earlier searches in FOLDER are tested again, and only
    new findings are reported. If nearly every case fails, the search ends early and reports one failure.

    Exit code: 0 nothing new, 1 new findings, nearly every case fails, or a named operation has no case that passed or
    failed, 3 the backend cannot start.
    """
    named = [target for target in targets if target not in OPERATIONS]
    for item in named:  # a misspelt operation would be taken for a backend
        if item.partition(":")[0] not in names() and (meant := nearest(item, tested_operations())):
            raise UsageError(f"{item!r} is neither a backend nor an operation. {meant.strip()}")
    if len(named) > 1:
        known = ", ".join(tested_operations())
        raise UsageError(
            f"{named[1]!r} is not an operation, and the backend is already {named[0]!r}. Operations: {known}."
        )
    command = replace(backend, backends=(*named, *backend.backends)).command()
    graphs, seed = drawing.graphs, drawing.seed
    folder = out or Path("opconform-out") / f"{folder_name(command.name)}-fuzz"
    check_replaceable(folder / "suite")
    earlier = earlier_trials(folder, seed)
    implementation = run_loop(described(command))
    dialects = tuple(dialect for dialect in DIALECTS if dialect in implementation.dialects)
    declared = [
        tested_operation for tested_operation in tested_operations() if tested_operation in implementation.operations
    ]
    operations = [fromkey for fromkey in dict.fromkeys(targets) if fromkey in OPERATIONS]
    if absent := [operation for operation in operations if declared and operation not in declared]:
        sentence = f"{implementation.title} does not declare {', '.join(absent)}."
        raise UsageError(f"{sentence} Leave it out, or name another. Declared: {', '.join(declared)}.")
    operations = operations or declared or [*shipped_operations()]
    with TemporaryFolder() as scratch:
        launch = Launch(command=command, timeout=backend.timeout)
        batches = Batches(launch, Path(scratch), Options(seed=seed, dialects=dialects))
        search = Search(batches=batches, limits=drawing.limits, seed=seed, graphs=graphs, earlier=earlier)

        def write() -> None:
            with defer_interrupts():
                write_findings(search.confirmed, folder)

        search.on_finding = write
        try:
            with progress("fuzz", quiet=False) as on_progress:
                search.run(operations, on_progress)
            with progress("reduce", of="failures", quiet=not sys.stderr.isatty()) as on_progress:
                search.reduce(on_progress)
        finally:
            batches.close()
            with defer_interrupts():
                write_findings(sorted_findings(search), folder)
                try:
                    write_findings_suite(search, folder, command.name, batches.options)
                finally:
                    if search.tests:
                        print_lines(lines_of(search, folder, command.name, [GRAPH] if graphs else operations))
    wanted = [operation for operation in operations if operation in targets and not graphs]
    is_tested = search.decided.total() > 0 and all(search.decided[name] for name in wanted)
    raise click.exceptions.Exit(1 if search.found or search.fails or not is_tested else 0)
