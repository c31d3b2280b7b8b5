"""`opconform report`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from opconform.errors import UsageError
from opconform.files import replace_ours
from opconform_runners.cli.shared.options import PATH, Function
from opconform_runners.cli.shared.page import page_text, subjects_of
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.reports.conclusion import conclusion
from opconform_runners.reports.formats.badge import badge_text
from opconform_runners.reports.formats.csv import csv_text
from opconform_runners.reports.formats.github import annotations_text
from opconform_runners.reports.formats.junit import junit_text
from opconform_runners.reports.formats.markdown import markdown_text
from opconform_runners.reports.report import Report
from opconform_runners.reports.report_file import finished
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING


class _Format(NamedTuple):
    text: Callable[[Report], str]
    name: str
    summary: str
    mark: bytes


#: The formats of one run that are written to a file, by option.
_FORMATS: Mapping[str, _Format] = MappingProxyType(
    {
        "junit": _Format(
            text=junit_text,
            name="JUnit XML",
            summary="Write JUnit XML, with one test suite per requirement.",
            mark=b'<testsuites name="opconform ',
        ),
        "markdown": _Format(
            text=markdown_text,
            name="Markdown",
            summary="Write Markdown, for a pull request or a job summary.",
            mark=b" opconform: ",
        ),
        "csv": _Format(
            text=csv_text, name="CSV", summary="Write CSV, with one row per case.", mark=b"run,id,operation,profile,"
        ),
        "badge": _Format(
            text=badge_text,
            name="Badge",
            summary="Write an SVG badge with the verdict.",
            mark=b'aria-label="opconform: ',
        ),
    }
)
_STDOUT = "-"


def _format_options(function: Function) -> Function:
    for name, each in reversed([*_FORMATS.items()]):
        function = click.option(f"--{name}", metavar="FILE", help=each.summary)(function)
    return function


@click.command("report")
@click.argument("results", nargs=-1, required=True, type=PATH, metavar="OUT...")
@click.option(
    "--html",
    metavar="FILE",
    help=f"Write the HTML page; if no format is named, to {PAGE} in OUT, or in this folder for several runs.",
)
@_format_options
@click.option("--github", is_flag=True, help="Print the annotations of a GitHub workflow.")
@click.option(
    "--suite",
    "place",
    type=PATH,
    help="The suite that was run, for the page; OUT/suite or OUT/../suite by default.",
)
def command(results: tuple[Path, ...], html: str | None, github: bool, place: Path | None, **files: Any) -> None:
    """Write a report of the run OUT (the folder that `run` or `certify` wrote, or its results.jsonl).

    Without options this is an HTML page, which can show several runs on the same suite. Without the suite the page has
    no tensors and no IR. The other formats take one run. One FILE may be - for standard output.

    Exit code: 0 if the runs are complete, whatever their verdict, 1 if one is incomplete.
    """
    wanted = {name: str(file) for name, file in files.items() if file is not None}
    to_stdout = github + [*wanted.values(), html].count(_STDOUT)
    if to_stdout > 1:
        raise UsageError("Only one format can go to standard output. Name a file for the others.")
    if len(results) > 1 and (wanted or github):
        raise UsageError("Only the page shows several runs. Name one run for the other formats.")
    runs = [finished(each) for each in results]
    quiet = to_stdout > 0
    for name, file in wanted.items():
        kind = _FORMATS[name]
        _write(file, kind.text(runs[0].report), kind.name, kind.mark, quiet=quiet)
    if github:
        print_document(annotations_text(runs[0].report), nl=False)
    if html is not None or not (wanted or github):
        file = html or str(runs[0].folder / PAGE if len(runs) == 1 else PAGE)
        _write(file, page_text(subjects_of(runs, place)), "Page", PAGE_BEGINNING, quiet=quiet)
    incomplete = [each for each in runs if not each.report.is_finished]
    for each in incomplete:
        click.echo(f"{each.folder}: {conclusion(each.report)[0]}", err=True)
    raise click.exceptions.Exit(1 if incomplete else 0)


def _write(file: str, text: str, name: str, mark: bytes, *, quiet: bool) -> None:
    if file == _STDOUT:
        print_document(text, nl=False)
        return
    replace_ours(Path(file), text.encode(), mark)
    click.echo(f"{name}: {file}", err=quiet)
