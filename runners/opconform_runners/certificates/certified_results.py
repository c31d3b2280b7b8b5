"""The evidence for a certificate: complete results that follow from their log and their suite."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opconform.errors import CertificateError, MissingError, SuiteError
from opconform.suite.file_names import HEADER
from opconform.suite.reader import Suite
from opconform.system.files import open_regular, read_regular
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log.outcomes import log_in
from opconform_runners.findings.report import Report, report_of
from opconform_runners.findings.support.claims_file import claims_in
from opconform_runners.verdicts.results import OUTCOMES, RESULTS, Result, read_results, read_written
from opconform_runners.verdicts.run_header import RunHeader, note_of


def evidence_of(out: Path, suite: Suite) -> tuple[Report, dict[str, str]]:
    """The report that follows from results and suite, and the SHA-256 of the certified files by name.

    Raises CertificateError for results that are incomplete, or do not follow from the log and the suite.
    """
    written, log = read_written(out / RESULTS), log_in(out)
    check_whole(written.header, out)
    results = read_results(out / RESULTS)
    _check_complete(results, suite, out / RESULTS)
    if (
        log.header.counting_as(written.header) != written.header
        or results_of(log, suite, claims_in(log.header), settled=True) != results
    ):
        raise CertificateError(f"{out / RESULTS} does not follow from {OUTCOMES} and the suite {suite.store.root}.")
    header = replace(written.header, suite=note_of(suite), requirements=suite.header.requirements)
    return report_of(header, results), {
        RESULTS: file_digest(out / RESULTS),
        OUTCOMES: file_digest(out / OUTCOMES),
        HEADER: hashlib.sha256(suite.store.read(HEADER)).hexdigest(),
    }


#: What to do instead of signing results on a selection of cases.
SIGNABLE = "Only whole profiles can be signed: certify core, or leave --profile out."
#: Why results that were streamed cannot be signed.
_STREAMED = "is from a streamed certification, whose cases were not kept. Repeat it with --keep-suite to sign it."


def check_whole(header: RunHeader, out: Path) -> None:
    """Check that the results in a folder come from a certification, or raise a CertificateError."""
    if not header.whole:
        raise CertificateError(
            f"{out / RESULTS} is from a run that may cover a selection of cases. Only results of `certify` or "
            "`certificate judge` can be signed."
        )
    if header.suite.profiles:
        names = ", ".join(header.suite.profiles)
        raise CertificateError(f"{out / RESULTS} covers the profile {names}, a selection of cases. {SIGNABLE}")
    if header.streamed is not None:
        raise CertificateError(f"{out / RESULTS} {_STREAMED}")


def _check_complete(results: Sequence[Result], suite: Suite, path: Path) -> None:
    """Check that every case of the profiles in some results has one verdict."""
    if suite.header.select:
        chosen = " ".join(suite.header.select)
        raise CertificateError(f"{suite.store.root} was generated with --select {chosen}: its profiles are incomplete.")
    if suite.header.part_of:
        raise CertificateError(f"{suite.store.root} {_STREAMED}")
    verdicts = {result.id: result.verdict for result in results}
    profiles = {result.profile for result in results}
    wanted = {entry.id for entry in suite.entries if entry.profile in profiles}
    odd = min(wanted ^ verdicts.keys(), default=None)
    if odd is not None:
        what = "has no verdict on" if odd in wanted else "has a verdict on a case that is not in the suite:"
        raise CertificateError(f"{path} {what} {odd}.")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes."""
    try:
        return read_regular(path, limit, follow_links=True)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> SuiteError:
    kind = MissingError if isinstance(error, FileNotFoundError) else SuiteError
    return kind(f"{path} cannot be read: {error.strerror}.")
