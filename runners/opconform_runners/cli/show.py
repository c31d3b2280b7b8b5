"""`opconform show`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.suite.path_kind import kinds_of
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, json_option
from opconform_runners.cli.shared.output.printer import print_result


@click.command(
    "show",
    cls=HelpCommand,
    example="show VariadicSplit-1/remainder-over/17a2d48cd0\nshow 17a2d48cd0 opconform-out/openvino",
)
@click.argument("case")
@click.argument("out", required=False, type=SOURCE)
@click.option("--suite", "sources", multiple=True, type=SOURCE, help="Look in this suite or spec (repeatable).")
@json_option("case.json")
def command(case: str, out: Path | None, sources: tuple[Path, ...], as_json: bool) -> None:
    """Display CASE: its inputs, outputs and expectation, and what a backend returned in the run OUT.

    CASE is an id, the last part of an id, or a pattern that matches one case, such as 'Split-1/page-example/*'. OUT is
    the folder that `run` or `certify` wrote.
    """
    for place in (Path(case), out):
        kinds = kinds_of(place) if place is not None else []
        if "suite" in kinds:
            raise UsageError(f"{place} is a suite. Use `opconform show CASE --suite {place}`.")
        if "results" in kinds and place != out:
            raise UsageError(f"{place} is not a case. Name the case first: `opconform show CASE {place}`.")
    if out is not None and as_json:
        raise UsageError(f"--json prints case.json. The result of the case is in results.jsonl in {out}.")
    from opconform_runners.cli.shared.shown_case import shown_case  # it takes long to import

    document, lines = shown_case(case, out, sources)
    print_result(document, lines, as_json=as_json)
