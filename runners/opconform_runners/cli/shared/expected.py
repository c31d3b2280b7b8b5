"""The files that say what is expected of a backend: its baseline, and its claims."""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opconform.errors import SuiteError, UsageError, counted
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import replace_named
from opconform.system.text import one_line
from opconform_runners.cli.shared.options.expected import ExpectedOptions
from opconform_runners.findings.report import Report
from opconform_runners.findings.support.claims_file import (
    ClaimsFile,
    backend_of,
    claims_file_of,
    claims_of,
    notes_on,
    read_claims,
)
from opconform_runners.findings.support.claims_update import updated_text
from opconform_runners.findings.support.learner import support_of
from opconform_runners.reports.baseline_update import update
from opconform_runners.verdicts.baseline import Baseline, compare, read_baseline
from opconform_runners.verdicts.claims import Claims
from opconform_runners.verdicts.run_header import RunHeader

#: The most characters of the reason why a run is incomplete.
_LONGEST = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What the files say, as far as there are any."""

    options: ExpectedOptions
    baseline: Baseline | None
    claims_file: ClaimsFile | None

    @property
    def claims(self) -> Claims | None:
        """The claims by which cases are judged: none while they are updated."""
        return None if self.claims_file is None or self.options.update_claims else claims_of(self.claims_file)

    def compared(self, report: Report, suite: Suite, tell: Callable[[str], None]) -> Report:
        """A report compared with the files, which are updated first if that is wanted and the run is finished."""
        if self.options.update_claims and report.is_finished:
            for line in _update_claims(self.options.claims or Path(), self.claims_file, report, suite):
                tell(line)
        elif self.claims_file is not None:
            note_claims(self.claims_file, str(self.options.claims), report)
        if self.baseline is None:
            return report
        expects = {entry.id: "accept" if entry.expect == "accept" else "reject" for entry in suite.entries}
        baseline = self.baseline
        if self.options.update_baseline and report.is_finished:
            updated = update(baseline.of_suite(suite.header.version), report.results, expects)
            baseline = updated.baseline
            _write(Path(baseline.file), baseline.text)
            for line in (
                *(f"added: {row}" for row in updated.added),
                *(f"removed, since it no longer holds: {row}" for row in updated.removed),
                f"{baseline.file}: {counted(len(baseline.lines), 'line')}.",
            ):
                tell(line)
        elif baseline.suite not in (None, suite.header.version):
            made = f"{baseline.file} is from version {baseline.suite} of the suite"
            click.echo(f"note: {made}, and this is {suite.header.version}. Update it with --update-baseline.", err=True)
        return replace(report, baseline=compare(baseline, report.results, expects))

    def check_updated(self, report: Report, advice: str) -> None:
        """Raise a SuiteError if a file was not updated, because the run is not complete."""
        if self.options.updates and not report.is_finished:
            file = self.options.baseline if self.options.update_baseline else self.options.claims
            reason = one_line(report.unfinished, _LONGEST)
            raise SuiteError(f"{file} was not updated, since the run is incomplete: {reason}. {advice}")


def expected_of(options: ExpectedOptions) -> Expected:
    """What the files say; a file that is to be updated may be missing."""
    if options.update_baseline and options.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE, the file to update.")
    if options.update_claims and options.claims is None:
        raise UsageError("--update-claims needs --claims FILE, the file to update.")
    baseline, claims = None, None
    if options.baseline is not None:
        is_new = options.update_baseline and not options.baseline.exists()
        baseline = Baseline(file=str(options.baseline)) if is_new else read_baseline(options.baseline)
    if options.claims is not None and not (options.update_claims and not options.claims.exists()):
        claims = read_claims(options.claims)
    return Expected(options=options, baseline=baseline, claims_file=claims)


def note_claims(file: ClaimsFile, name: str, run: Report | RunHeader) -> None:
    """Say on standard error that claims belong to another backend or suite."""
    for note in notes_on(file, name, backend_of(run.implementation), run.suite.version):
        click.echo(f"note: {note}", err=True)


def _update_claims(path: Path, old: ClaimsFile | None, report: Report, suite: Suite) -> Iterator[str]:
    new = claims_file_of(report, support_of(report, suite))
    text = new.text if old is None else updated_text(old, new)
    _write(path, text)
    before = [] if old is None else old.written.splitlines()
    for line in difflib.unified_diff(before, text.splitlines(), n=0, lineterm=""):
        if line.startswith(("+- ", "-- ")):
            yield f"{'added' if line[0] == '+' else 'removed'}: {line[3:]}"
    exceptions = counted(len(new.rules) + len(new.cases), "exception")
    yield f"{path}: {counted(len(new.supported), 'operation')}, {exceptions}."


def _write(file: Path, text: str) -> None:
    if not file.exists() or text.encode() != file.read_bytes():
        replace_named(file, text.encode())
