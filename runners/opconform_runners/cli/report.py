"""`opconform report`."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import click

from opconform.errors import UsageError
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE
from opconform_runners.cli.shared.output.streams import is_copy, print_document
from opconform_runners.verdicts.page import PAGE, PAGE_BEGINNING

if TYPE_CHECKING:
    from opconform_runners.findings.report import Report


class _Format(NamedTuple):
    name: str
    mark: bytes  # among the first bytes of each file


#: The formats of one run that are written to a file, by option; each is in the module of its name.
_FORMATS: Mapping[str, _Format] = MappingProxyType(
    {
        "junit": _Format("JUnit XML", b'<testsuites name="opconform '),
        "markdown": _Format("Markdown", b" opconform: "),
        "sarif": _Format("SARIF", b"/sarif-schema-2.1.0.json"),
        "badge": _Format("Badge", b'"label": "opconform",'),
    }
)
_STDOUT = "-"


@click.command(
    "report", cls=HelpCommand, example="report opconform-out/openvino\nreport opconform-out/numpy --junit junit.xml"
)
@click.argument("results", nargs=-1, required=True, type=SOURCE, metavar="OUT...")
@click.option(
    "--html",
    metavar="FILE",
    help=f"Write the HTML report; by default to {PAGE} in OUT or, for several runs or a URL, in the current folder.",
)
@click.option("--junit", metavar="FILE", help="Write JUnit XML, with one test suite per operation.")
@click.option("--markdown", metavar="FILE", help="Write Markdown, for a pull request or a job summary.")
@click.option("--sarif", metavar="FILE", help="Write SARIF 2.1.0, for code scanning: one rule per requirement.")
@click.option("--badge", metavar="FILE", help="Write JSON for a badge of shields.io with the verdict.")
@click.option(
    "-v",
    "--verbose",
    "is_printed",
    is_flag=True,
    help="Print the full summary, with every failure and the reasons for unsupported and inconclusive cases.",
)
@click.option("--github", is_flag=True, help="Print annotations for a GitHub workflow.")
@click.option(
    "--suite", type=SOURCE, help="The suite that was run, for the HTML report; OUT/suite or OUT/../suite by default."
)
@click.option(
    "--against",
    multiple=True,
    type=SOURCE,
    metavar="OLD",
    help="Mark what is new or fixed since this run in the HTML report. Repeat to show a trend, oldest run first.",
)
def command(
    results: tuple[Path, ...],
    html: str | None,
    is_printed: bool,
    github: bool,
    suite: Path | None,
    against: tuple[Path, ...],
    **files: str | None,
) -> None:
    """Write a report of the run OUT (the folder that `run` or `certify` wrote, or its results.jsonl).

    Without a format option, writes an HTML report. Only the HTML report can show several runs, all on the same suite.
    If the suite is not found, the HTML report has no tensors and no IR. Use - as FILE for standard
    output (once).

    Exit code: 0 if every case of the runs has a verdict other than error, 1 otherwise.
    """
    wanted = {name: file for name, file in files.items() if file is not None}
    to_stdout = is_printed + github + [*wanted.values(), html].count(_STDOUT)
    if to_stdout > 1:
        raise UsageError("Only one format can go to standard output. Name a file for the others.")
    if len(results) > 1 and (wanted or github):
        raise UsageError("Only the HTML report can show several runs. Name one run for the other formats.")
    if len(results) > 1 and against:
        raise UsageError(
            "Only a report of one run can be compared with older runs. Name one run, and use --against OLD."
        )

    from opconform_runners.reports.report_file import finished  # what reads results takes long to import
    from opconform_runners.reports.terminal.conclusion import conclusion

    runs, older = [finished(result, suite) for result in results], [finished(x) for x in against]
    quiet = to_stdout > 0
    for name, file in wanted.items():
        title, mark = _FORMATS[name]
        _write(file, _text(name, runs[0].report), title, mark, quiet=quiet)
    if github:
        from opconform_runners.reports.formats.github import annotations_text

        print_document(annotations_text(runs[0].report), nl=False)
    if is_printed:
        from opconform_runners.cli.shared.output.console import console_of
        from opconform_runners.reports.terminal.summary import print_summary

        for run in runs:
            print_summary(run.report, console_of(), is_verbose=True)
    if html is not None or not (wanted or github or is_printed):
        from opconform_runners.cli.shared.steps import page_of_runs

        is_beside = len(runs) == 1 and not is_copy(runs[0].folder)
        file = html or str(runs[0].folder / PAGE if is_beside else PAGE)
        _write(file, page_of_runs(runs, suite, older, quiet=False), "HTML report", PAGE_BEGINNING, quiet=quiet)
    incomplete = [run for run in runs if not run.report.is_finished]
    for run in incomplete:
        click.echo(f"{run.folder}: {conclusion(run.report)[0]}", err=True)
    raise click.exceptions.Exit(1 if incomplete else 0)


def _text(name: str, report: "Report") -> str:
    """A report in a format."""
    module = import_module(f"opconform_runners.reports.formats.{name}")
    text: str = getattr(module, f"{name}_text")(report)
    return text


def _write(file: str, text: str, name: str, mark: bytes, *, quiet: bool) -> None:
    if file == _STDOUT:
        print_document(text, nl=False)
        return
    from opconform.suite.storage.ownership import replace_ours

    replace_ours(Path(file), text.encode(), mark)
    click.echo(f"{name}: {file}", err=quiet)
