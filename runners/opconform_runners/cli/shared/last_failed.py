"""What counts as a failure of a run: where it stops with `-x`, and what `--last-failed` runs again."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from opconform.errors import UsageError
from opconform.suite.reader import Suite
from opconform_runners.findings.failures import Standing, standings
from opconform_runners.findings.report import Report, report_of
from opconform_runners.harness.command import Command
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.baseline import Baseline, compare
from opconform_runners.verdicts.results import RESULTS, Result
from opconform_runners.verdicts.run_header import RunHeader

#: The folder, inside the folder of a run, for the results of the cases that are run again.
FOLDER = "last-failed"
#: What counts as a failure; what is run again also has the failures that break interpretations only.
_COUNTS: frozenset[Standing] = frozenset({"new", "passes", "lost", "error"})
_FAILED: frozenset[Standing] = _COUNTS | {"read"}


def is_failure(expected: Baseline | None) -> Callable[[RunHeader, Result], bool]:
    """Whether a result of a run is a failure that counts, or that a baseline does not expect."""

    def fails(header: RunHeader, result: Result) -> bool:
        if result.verdict == "pass" and expected is None:
            return False
        return bool(_cases(_COUNTS, report_of(header, [result]), expected))

    return fails


def last_failed(suite: Suite, out: Path, command: Command, expected: Baseline | None) -> frozenset[str]:
    """The cases that failed in the run in a folder, deviations too, that did not pass when last run again.

    Raises:
        UsageError: The folder has results of another suite or backend, or no case failed.
    """
    report = read_report(out)
    if report.suite.digest != suite.header.digest or report.started != command.options:
        what = "another backend" if report.suite.digest == suite.header.digest else "another suite"
        raise UsageError(f"{out} contains the results of {what}. Name the folder of the last run with --out.")
    failed = _cases(_FAILED, report, expected)
    again = out / FOLDER
    if (again / RESULTS).exists() and (again / RESULTS).stat().st_mtime_ns > (out / RESULTS).stat().st_mtime_ns:
        later = read_report(again)
        failed -= {result.id for result in later.results} - _cases(_FAILED, later, expected)
    if not failed:
        raise UsageError(f"No case of the last run in {out} failed. Run without --last-failed.")
    return failed


def _cases(wanted: Collection[Standing], report: Report, expected: Baseline | None) -> frozenset[str]:
    if expected is not None:
        expects: Mapping[str, str] = {result.id: result.expect for result in report.results}
        report = replace(report, baseline=compare(expected, report.results, expects))
    return frozenset(name for name, standing in standings(report).items() if standing in wanted)
