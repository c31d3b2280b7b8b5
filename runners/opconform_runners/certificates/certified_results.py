"""The evidence for a certificate: complete results that agree with their report and their suite."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opconform.errors import CertificateError, MissingError, SuiteError
from opconform.files import open_regular, read_regular
from opconform.suite.manifest import HEADER
from opconform.suite.reader import Suite
from opconform_runners.reports.report import Report
from opconform_runners.reports.report_file import read_report, report_text
from opconform_runners.verdicts.agreement import is_possible
from opconform_runners.verdicts.results import REPORT, RESULTS, RESULTS_LIMIT, Result, placements_of, read_results
from opconform_runners.verdicts.run_header import suite_note


def evidence_of(out: Path, suite: Suite) -> tuple[Report, dict[str, str]]:
    """The report that follows from results and suite, and the SHA-256 of the certified files by name.

    Raises CertificateError for results that are incomplete, or contradict themselves, their report or the suite.
    """
    results = read_results(out / RESULTS)
    read, content = read_report(out), read_file(out / REPORT, RESULTS_LIMIT)
    check_whole(read, out)
    _check_complete(results, suite, out / RESULTS)
    report = replace(
        read,
        suite=suite_note(suite.header),
        notes=suite.header.requirements,
        results=tuple(results),
        missing=(),
        gave_up=None,
        environment=read.environment.placed(placements_of(results)),
        baseline=None,
    )
    if report_text(report).encode() != content:
        raise CertificateError(f"{out / REPORT} does not match {RESULTS} and the suite {suite.store.root}.")
    return report, {
        RESULTS: file_digest(out / RESULTS),
        REPORT: hashlib.sha256(content).hexdigest(),
        HEADER: hashlib.sha256(suite.store.read(HEADER)).hexdigest(),
    }


#: Why results that were streamed cannot be signed.
_STREAMED = "is from a streamed certification, whose cases were not kept. Repeat it with --keep-suite to sign it."


def check_whole(report: Report, out: Path) -> None:
    """Check that the report in a folder is that of a certification, or raise a CertificateError."""
    if not report.whole:
        raise CertificateError(
            f"{out / REPORT} is from a run that may cover a selection of cases. Only results of `certify` or "
            "`certificate judge` can be signed."
        )
    if report.tallies:
        raise CertificateError(f"{out / REPORT} {_STREAMED}")


def _check_complete(results: Sequence[Result], suite: Suite, path: Path) -> None:
    """Check that every case of the profiles in some results has one verdict, and that the verdict is possible."""
    if suite.header.select:
        chosen = " ".join(suite.header.select)
        raise CertificateError(f"{suite.store.root} was generated with --select {chosen}: its profiles are incomplete.")
    if suite.header.part_of:
        raise CertificateError(f"{suite.store.root} {_STREAMED}")
    verdicts = {each.id: each.verdict for each in results}
    if len(verdicts) < len(results):
        [(twice, _)] = Counter(each.id for each in results).most_common(1)
        raise CertificateError(f"{path} has two verdicts on {twice}.")
    profiles = {each.profile for each in results}
    wanted = {each.id for each in suite.entries if each.profile in profiles}
    odd = min(wanted ^ verdicts.keys(), default=None)
    if odd is not None:
        what = "has no verdict on" if odd in wanted else "has a verdict on a case that is not in the suite:"
        raise CertificateError(f"{path} {what} {odd}.")
    for each in results:
        if not is_possible(each, suite, verdicts):
            raise CertificateError(f"{path} contradicts the suite or itself: see the result of {each.id}.")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise _unreadable(path, fault) from fault


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes."""
    try:
        return read_regular(path, limit, follow_links=True)
    except OSError as fault:
        raise _unreadable(path, fault) from fault


def _unreadable(path: Path, fault: OSError) -> SuiteError:
    error = MissingError if isinstance(fault, FileNotFoundError) else SuiteError
    return error(f"{path} cannot be read: {fault.strerror}.")
