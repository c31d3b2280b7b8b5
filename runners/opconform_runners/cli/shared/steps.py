"""The steps that several commands share: execution, report, page and signature."""

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from opconform.errors import DiskError, counted
from opconform.suite.case import GRAPH
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import replace_ours
from opconform.system.text import one_line
from opconform_runners.cli.shared.options.general import PrivateKey, ResultOptions
from opconform_runners.cli.shared.output.console import console_of
from opconform_runners.cli.shared.output.printer import print_json, print_lines
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.output.streams import originals
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.log.results_folder import FILES, Marks, owned_folder
from opconform_runners.execution.log.suite_place import note_suite, suite_of_results
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.run import Run
from opconform_runners.execution.runner import run_suite
from opconform_runners.findings.grouping import shown_findings, with_findings
from opconform_runners.findings.known.comparison import with_known
from opconform_runners.findings.known.release import KnownRelease, known_release
from opconform_runners.findings.report import Report, report_of
from opconform_runners.harness.command import Command, Launch
from opconform_runners.reports.html.subject import Subject, subjects_of
from opconform_runners.reports.report_file import Finished, finished, report_document, write_report
from opconform_runners.reports.terminal.summary import is_folded, print_summary, print_verdict
from opconform_runners.verdicts.page import PAGE, PAGE_BEGINNING

#: A backend whose device comes from a plugin's library, as in `openvino:MYCPU=path/libplugin.so`.
_PLUGIN = re.compile(r"^([\w-]+:[\w.-]+)=.*$")
#: The most characters of the reasons why a run is incomplete.
_LONGEST = 300
_NAMES = str.maketrans(dict.fromkeys(":/\\ ", "-"))


def folder_name(name: str) -> str:
    """The name of the folder for a backend's results."""
    return Path(_PLUGIN.sub(r"\1", name)).name.translate(_NAMES)


def folder_of(name: str) -> Path:
    """The default folder for a backend's results."""
    return Path("opconform-out") / folder_name(name)


def hold(folder: Path, files: Marks = FILES) -> None:
    """Check that the command may write some files to a folder, and lock it until the command ends."""
    click.get_current_context().with_resource(owned_folder(folder, files))


def executed(
    suite: Suite, command: Command, out: Path, options: RunOptions, results: ResultOptions, *, title: str = ""
) -> Run:
    """Run a suite and write the results to `out`; `title` names the run where there are several."""
    with progress(title or "run", titled=bool(title), quiet=results.is_silent) as on_progress:
        run = run_suite(suite, command, out, options, on_progress)
    if originals(str(suite.store.root)) == str(suite.store.root):  # it is neither at a URL nor installed
        note_suite(out, Path(suite.store.root))
    if run.continued:
        cases = f"{run.continued:,} of {counted(len(run.results) + len(run.missing), 'case')}"
        click.echo(f"note: the interrupted run in {out} was continued; {cases} had been executed before.", err=True)
    if not run.header.cases:
        click.echo(f"note: shard {run.header.shard} has no cases. `opconform merge` needs its results.", err=True)
    return run


def report_of_run(run: Run, suite: Suite, out: Path, results: ResultOptions, launch: Launch | None) -> Report:
    """The report of a run in a folder, which an interruption may have ended, with its findings.

    With a `launch`, which says how to start the backend here, the graphs among them are cut, unless the run was ended.
    """
    report = report_of(run.header, run.results, missing=run.missing, gave_up=run.gave_up)
    return explained(report, suite, out, results, launch if run.gave_up is None else None)


def launch_of(command: Command, options: RunOptions) -> Launch | None:
    """How single cases of a run are executed on this machine; None if the backend is on other machines."""
    return Launch(command=command, timeout=options.timeout) if options.executor is None else None


def explained(
    report: Report, suite: Suite | None, out: Path, results: ResultOptions, launch: Launch | None = None
) -> Report:
    """A report with its findings, and with what is known of the release of its backend."""
    with progress("Finding causes", quiet=results.is_silent) as on_progress:
        report = with_findings(report, suite, KeptOutputs(out), on_progress)
        if launch is not None and suite is not None and GRAPH in report.ops:
            from opconform_runners.tools.subgraphs import with_subgraphs  # it takes long to import

            report = with_subgraphs(report, suite, launch, on_progress)
    return report if results.no_known else with_known(report, known_release_of(report))


def known_release_of(report: Report) -> KnownRelease | None:
    """The release of a report's backend that is known; of several, the one that was run or else the latest."""
    if not report.backend:
        return None
    device = report.implementation.device
    return known_release(f"{report.backend}:{device}" if device else report.backend, report.implementation.version)


def show_report(report: Report, out: Path, results: ResultOptions) -> int:
    """Write a report and print it, even if the disk is full, and return the exit code.

    The code is 0 if the backend is conformant or does what the baseline expects, and 1 otherwise.
    """
    full = None
    try:
        write_report(out, report)
    except DiskError as error:
        full = error
    if results.as_json:
        print_json(report_document(report))
    elif results.quiet:
        print_verdict(report, console_of())
    else:
        console = console_of()
        print_summary(report, console, is_verbose=results.verbose)
        console.print(f"Results: {out}/results.jsonl, {out}/report.json", soft_wrap=True)
    if full is not None:
        raise full
    if report.baseline is None:
        return 0 if report.is_passed else 1
    return 0 if report.is_finished and report.is_as_expected else 1


def conclude(
    run: Run, suite: Suite, out: Path, results: ResultOptions, key: "PrivateKey | None", launch: Launch | None = None
) -> NoReturn:
    """Report a run and publish it, and end the command with its exit code, or with what interrupted it."""
    report = report_of_run(run, suite, out, results, launch)
    code = show_report(report, out, results)
    if run.interrupted is not None:
        raise run.interrupted
    publish(report, out, Path(suite.store.root), key, results)
    raise click.exceptions.Exit(code)


def print_next(report: Report, out: Path, suite: Path, results: ResultOptions, first: Sequence[str] = ()) -> None:
    """Print the worst failure, the commands that explain it, and those for everything that was not printed.

    The commands `first` come before all others.
    """
    if results.is_silent:
        return
    steps = [*first]
    for shown in shown_findings(report, ["new"])[:1]:
        from opconform_runners.tools.repro.script import SCRIPTS  # it takes long to import

        case = shown.smallest.id
        print_lines([f"Worst finding: {shown.heading}: {shown.kind}, {shown.cases_text}"])
        steps.append(show_command(case, out, suite))
        if report.backend in SCRIPTS:
            steps.append(f"repro {case} {shlex.quote(str(out))}{_named(suite, out)}")
    if not steps:
        ended = [result.id for result in report.results if result.verdict == "error"]
        steps += [show_command(case, out, suite) for case in ended[:1]]
    if is_folded(report) and not results.verbose:
        steps.append(f"report {shlex.quote(str(out))} -v")
    if not (out / PAGE).exists():
        steps.append(f"report {shlex.quote(str(out))}{_named(suite, out)}")
    _print_steps(steps)
    if report.incomplete:
        print_lines([f"Incomplete: {one_line('; '.join(report.incomplete), _LONGEST)}."])


def print_next_of_matrix(runs: Iterable[Finished], suite: Path) -> None:
    """Print for each backend the command that explains its worst failure."""
    runs = [*runs]
    worst = [(run.folder, shown.smallest.id) for run in runs for shown in shown_findings(run.report, ["new"])[:1]]
    _print_steps([show_command(case, out, suite) for out, case in worst])
    for run in runs:
        if run.report.incomplete:
            reasons = one_line("; ".join(run.report.incomplete), _LONGEST)
            print_lines([f"Incomplete: {run.report.implementation.title}: {reasons}."])


def show_command(case: str, out: Path, suite: Path) -> str:
    """The command that displays the result of a case in a folder."""
    return f"show {case} {shlex.quote(str(out))}{_named(suite, out)}"


def _named(suite: Path, out: Path) -> str:
    """The option that names the suite of a run; nothing if it is found beside the results."""
    found = suite_of_results(out)
    return "" if found is not None and found.resolve() == suite.resolve() else f" --suite {shlex.quote(str(suite))}"


def _print_steps(steps: Sequence[str]) -> None:
    is_installed = Path(sys.argv[0]).name != "opconform" or shutil.which("opconform") is not None
    program = "opconform" if is_installed else sys.argv[0]  # in an environment that is not activated
    print_lines(f"{'      ' if number else 'Next: '}{program} {step}" for number, step in enumerate(steps))


def subjects_of_runs(runs: Sequence[Finished], suite: Path | None) -> list[Subject]:
    """What a page shows of runs on one suite, which is searched for beside them unless it is named."""
    from opconform_runners.tools.repro.script import SCRIPTS  # it takes long to import

    return [replace(subject, place=originals(subject.place)) for subject in subjects_of(runs, suite, SCRIPTS)]


def page_of_runs(
    runs: Sequence[Finished],
    suite: Path | None,
    older: Sequence[Finished] = (),
    *,
    quiet: bool,
) -> str:
    """The HTML page of runs on one suite, which is searched for beside them unless it is named.

    `older` has runs to compare a single run with, the oldest first.
    """
    subjects = subjects_of_runs(runs, suite)
    for run, item in zip(runs, subjects, strict=True):
        if item.suite is None and any(result.verdict == "fail" for result in run.report.results):
            lacking = "has no tensors and no IR"
            sentence = f"the suite of {run.folder} was not found, so the HTML report {lacking}. Name it with --suite."
            click.echo(f"note: {sentence}", err=True)
    from opconform_runners.reports.html.page import page_text  # so do templates

    with progress("Writing the report", quiet=quiet) as on_progress:
        return page_text(subjects, older, on_progress)


def publish(
    report: Report,
    folder: Path,
    suite: Path,
    key: "PrivateKey | None",
    results: ResultOptions,
) -> None:
    """Write the page of the run in a folder and, with a key, its certificate; print their places and what is next."""
    page = page_of_runs([finished(folder)], suite, quiet=results.is_silent)
    replace_ours(folder / PAGE, page.encode(), PAGE_BEGINNING)
    places = [f"HTML report: {folder / PAGE}"]
    if key is not None:
        places.append(sign_results(folder, suite, key, witnessed=True))
    if not results.quiet:
        print_lines(places, err=results.as_json)
    print_next(report, folder, suite, results)


def sign_results(folder: Path, suite: Path, key: PrivateKey, *, witnessed: bool) -> str:
    """Sign the results in a folder, and return a sentence about the certificate; `witnessed` as for `sign`."""
    from opconform_runners.certificates.certificate import sign
    from opconform_runners.certificates.verification import check_origin, intact_suite

    opened = intact_suite(suite)
    check_origin(opened)
    result = sign(folder, opened, key, witnessed=witnessed).predicate.result
    return f"Certificate: {folder}/certificate.json, {result}, signed with the key {key.public_key.keyid}"
