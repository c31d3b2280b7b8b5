"""`opconform report`."""

from pathlib import Path

import click

from opconform.commands.reporting import PAGE, write_page
from opconform.errors import UsageError
from opconform.suite import Suite, open_suite
from opconform_runners.kept import Kept
from opconform_runners.matrix import Column
from opconform_runners.page import Subject
from opconform_runners.reading import Finished, finished

_SUITE = "suite"


@click.command("report")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="OUT...")
@click.option(
    "--html", type=click.Path(path_type=Path), help=f"The file to write; {PAGE} in the first folder by default."
)
@click.option(
    "--suite",
    "place",
    type=click.Path(path_type=Path),
    help="The suite that was run; OUT/suite, or suite beside OUT, by default.",
)
def command(results: tuple[Path, ...], html: Path | None, place: Path | None) -> None:
    """Write the HTML page of each run OUT (the folder that `run` or `certify` wrote, or its results.jsonl).

    Several of them, on the same suite, are put side by side. Without the suite the page has no tensors and no IR.
    """
    runs = [finished(each) for each in results]
    digests = {each.report.suite.digest for each in runs}
    if len(digests) > 1:
        raise UsageError("These are runs on different suites, which cannot be compared. Run one suite on each backend.")
    path = html or runs[0].folder / PAGE
    write_page(path, [_subject(each, runs, place) for each in runs])
    click.echo(f"Page: {path}")


def _subject(run: Finished, runs: list[Finished], place: Path | None) -> Subject:
    found = place or _place(run)
    suite = open_suite(found) if found is not None else None
    if suite is not None and suite.header.digest != run.report.suite.digest:
        if place is not None:
            raise UsageError(f"{place} is not the suite that {run.folder} is a run of. Name that one with --suite.")
        suite = None
    return Subject(
        column=Column(name=_name(run, runs), report=run.report),
        suite=suite,
        place=str(found) if suite is not None else "SUITE",
        kept=Kept(run.folder),
    )


def _place(run: Finished) -> Path | None:
    places = (run.folder / _SUITE, run.folder.parent / _SUITE)
    return next((each for each in places if (each / "suite.json").exists()), None)


def _name(run: Finished, runs: list[Finished]) -> str:
    """The product's name, and the folder's where two runs are of the same product."""
    name = run.report.implementation.name
    alike = [each for each in runs if each.report.implementation.name == name]
    return name if len(alike) == 1 else f"{name} ({run.folder.name})"


def subject_of(suite: Suite, run: Finished) -> Subject:
    """One run on a suite that is open, as a page shows it."""
    name = run.report.implementation.name
    return Subject(
        column=Column(name=name, report=run.report), suite=suite, place=str(suite.store.root), kept=Kept(run.folder)
    )
