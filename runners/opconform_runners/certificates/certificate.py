"""Certificates: a run's results signed, and a certificate checked against what it is shown with."""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opconform.errors import CertificateError, MissingError, SuiteError
from opconform.files import open_regular, read_regular, replace_file
from opconform.suite.manifest import HEADER
from opconform.suite.reader import Suite
from opconform_runners.certificates.consistency import check_consistency
from opconform_runners.certificates.envelope import LIMIT, envelope_of, envelope_text, opened, sealed
from opconform_runners.certificates.keys import PrivateKey, PublicKey
from opconform_runners.certificates.statement import (
    OUTPUTS,
    Digests,
    Statement,
    statement_bytes,
    statement_from,
    statement_of,
)
from opconform_runners.execution.outputs_archive import Recorded
from opconform_runners.execution.replay import judge
from opconform_runners.reports.reader import read_report
from opconform_runners.reports.report import Report
from opconform_runners.reports.writer import report_text
from opconform_runners.verdicts.judge import broken_by
from opconform_runners.verdicts.origin import suite_note
from opconform_runners.verdicts.results import CERTIFICATE, REPORT, RESULTS, Result, placements_of, read_results

#: The most bytes of a report that are read.
_REPORT_LIMIT = 1 << 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The files that a certificate speaks of, read: the results, and the report as results and suite give it."""

    digests: Digests
    report: Report


def evidence_of(out: Path, suite: Suite) -> Evidence:
    """The evidence in a folder of results, once it is known to be whole and to agree with itself and with its suite.

    Raises:
        CertificateError: It is not whole, or does not agree.
        SuiteError: A file is missing, cut short or changed.
    """
    results = read_results(out / RESULTS)
    read, content = read_report(out), _read(out / REPORT, _REPORT_LIMIT)
    check_whole(results, suite, out / RESULTS)
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
        raise CertificateError(f"{out / REPORT} does not say what {RESULTS} and the suite {suite.store.root} say.")
    digests = Digests(
        results=_digest(out / RESULTS),
        report=hashlib.sha256(content).hexdigest(),
        header=hashlib.sha256(suite.store.read(HEADER)).hexdigest(),
    )
    return Evidence(digests=digests, report=report)


def sign(out: Path, suite: Suite, key: PrivateKey) -> Statement:
    """Write `certificate.json` beside the results of a complete run of whole profiles.

    A run that shows a backend not to be conformant is signed as what it is.

    Args:
        out: The folder of the results.
        suite: The suite that was run, every file of which is known to be what it says.
        key: The signer's private key.

    Raises:
        CertificateError: The run is not one that can be signed, or a certificate of another key is there.
        SuiteError: A file is missing, cut short or changed.
    """
    results = read_results(out / RESULTS)
    errors = sum(each.verdict == "error" for each in results)
    if errors:
        cases = "1 case" if errors == 1 else f"{errors:,} cases"
        raise CertificateError(f"{cases} in {out / RESULTS} ended in an error of the harness: that is not signed.")
    if not read_report(out).whole:
        raise CertificateError(
            f"{out / REPORT} is of a run that may select: only a whole `certify` or `judge` is signed."
        )
    evidence = evidence_of(out, suite)
    if evidence.report.conformant is None:
        raise CertificateError(
            f"The verdict of {out / RESULTS} is incomplete: {evidence.report.unsettled}. There is nothing to certify."
        )
    statement = statement_of(evidence.report, suite.header, evidence.digests, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    _check_place(out / CERTIFICATE, key.public)
    replace_file(out / CERTIFICATE, envelope_text(sealed(statement_bytes(statement), key)).encode())
    return statement


def _check_place(path: Path, key: PublicKey) -> None:
    """Refuse to write a certificate in the place of somebody else's."""
    if not path.exists():
        return
    try:
        other = envelope_of(_read(path, LIMIT + 1), str(path)).key
    except CertificateError:
        other = "nobody"
    if other != key.id:
        raise CertificateError(f"{path} was not signed with this key, and nothing is overwritten. Move it first.")


def read_certificate(path: Path, key: PublicKey) -> Statement:
    """The statement of a certificate, once its signature is known to be right.

    Raises:
        CertificateError: It is no certificate, or was not signed with this key, or was changed, or contradicts itself.
    """
    envelope = envelope_of(_read(path, LIMIT + 1), str(path))
    statement = statement_from(opened(envelope, key, str(path)), str(path))
    check_consistency(statement, str(path))
    return statement


def check_profiles(statement: Statement, wanted: Sequence[str]) -> None:
    """Check that a certificate is about all the profiles that somebody demands.

    Raises:
        CertificateError: It is not.
    """
    held = [each.name for each in statement.predicate.opconform.profiles]
    lacking = [each for each in wanted if each not in held]
    if lacking:
        raise CertificateError(f"The certificate is about {', '.join(held)}, and not about {', '.join(lacking)}.")


def check_results(statement: Statement, out: Path) -> None:
    """Check that results are those that a certificate speaks of.

    Raises:
        CertificateError: They are others.
        SuiteError: They are missing or cut short.
    """
    claimed = {each.name: each.digest["sha256"] for each in statement.subject}
    for name in (RESULTS, REPORT):
        if _digest(out / name) != claimed.get(name):
            raise CertificateError(f"{out / name} is not the file that was certified: its digest is another.")
    counts: dict[str, Counter[str]] = {}
    for each in read_results(out / RESULTS):
        counts.setdefault(each.profile, Counter())[each.verdict] += 1
    noted = {each.name: Counter(each.counts) for each in statement.predicate.opconform.profiles}
    if counts != {name: +each for name, each in noted.items()}:
        raise CertificateError(f"The certificate does not count the verdicts that stand in {out / RESULTS}.")


def check_outputs(statement: Statement, path: Path) -> None:
    """Check that a file of outputs is the one whose judgement a certificate speaks of.

    Raises:
        CertificateError: It is another, or none was judged.
        SuiteError: It cannot be read.
    """
    claimed = {each.name: each.digest["sha256"] for each in statement.subject}
    if _digest(path) != claimed.get(OUTPUTS):
        raise CertificateError(f"{path} is not the file of outputs that was judged for this certificate.")


def check_verdicts(out: Path, suite: Suite, recorded: Recorded) -> None:
    """Check that results are what recorded outputs give once they are judged again.

    Raises:
        CertificateError: They are not.
        SuiteError: The outputs are not of this suite, or a file is missing or changed.
    """
    with tempfile.TemporaryDirectory(prefix="opconform-") as folder:
        again = Path(folder) / "again"
        judge(suite, recorded, again, strict=read_report(out).strict)
        if _digest(again / RESULTS) != _digest(out / RESULTS):
            raise CertificateError(f"{recorded.path}, judged again, does not give the verdicts in {out / RESULTS}.")


def check_suite(statement: Statement, suite: Suite) -> None:
    """Check that a suite is the one that a certificate speaks of, and that as many of its cases were run.

    Raises:
        CertificateError: It is another, or other numbers of cases were run.
    """
    claimed = statement.predicate.opconform
    if suite.header.digest != claimed.suite.digest:
        raise CertificateError(
            f"{suite.store.root} is not the suite that was certified: its digest is {suite.header.digest[:16]}, "
            f"and the certificate's {claimed.suite.digest[:16]}."
        )
    header = hashlib.sha256(suite.store.read(HEADER)).hexdigest()
    noted = {each.name: each.digest["sha256"] for each in statement.predicate.configuration}
    if noted.get(HEADER) != header:
        raise CertificateError(f"{suite.store.root}/{HEADER} is not the one of the suite that was certified.")
    held = Counter(each.profile for each in suite.entries)
    for each in claimed.profiles:
        if held[each.name] != sum(each.counts.values()):
            raise CertificateError(
                f"The certificate counts {sum(each.counts.values()):,} cases of the profile {each.name}, "
                f"and {suite.store.root} holds {held[each.name]:,}."
            )


def check_claims(statement: Statement, out: Path, suite: Suite) -> None:
    """Check that a certificate says what results and suite say, all of it worked out anew.

    Raises:
        CertificateError: It does not, or they do not agree with one another.
        SuiteError: A file is missing, cut short or changed.
    """
    evidence = evidence_of(out, suite)
    true = statement_of(evidence.report, suite.header, evidence.digests, statement.predicate.opconform.timestamp)
    if true != statement:
        differing = ", ".join(_differing(true, statement))
        raise CertificateError(f"The certificate does not say what {out / RESULTS} and the suite say: {differing}.")


def check_whole(results: Sequence[Result], suite: Suite, path: Path) -> None:
    """Check that every case of the profiles in some results has one verdict, and that it is one it can have.

    Raises:
        CertificateError: One has none, or two, or belongs to no suite, or has a verdict that it cannot have.
    """
    if suite.header.select:
        chosen = " ".join(suite.header.select)
        raise CertificateError(f"{suite.store.root} was generated with --select {chosen}: it holds no whole profiles.")
    ids = [each.id for each in results]
    if len(set(ids)) != len(ids):
        twice = next(each for each, count in Counter(ids).items() if count > 1)
        raise CertificateError(f"{path} has two verdicts on {twice}.")
    profiles = {each.profile for each in results}
    wanted = {each.id for each in suite.entries if each.profile in profiles}
    odd = sorted(wanted ^ set(ids))
    if odd:
        what = "has no verdict on" if odd[0] in wanted else "has a verdict on a case that the suite does not hold:"
        raise CertificateError(f"{path} {what} {odd[0]}.")
    verdicts = {each.id: each.verdict for each in results}
    for each in results:
        if not _is_possible(each, suite, verdicts):
            raise CertificateError(f"{path} contradicts the suite or itself in what it says of {each.id}.")


def _is_possible(result: Result, suite: Suite, verdicts: Mapping[str, str]) -> bool:
    """Whether a line can have come of its case."""
    entry = suite.by_id[result.id]
    expect = "accept" if entry.expect == "accept" else "reject"
    claimed = (result.profile, result.expect, result.requirements, result.essential)
    if claimed != (entry.profile, expect, entry.requirements, entry.essential):
        return False
    if (result.verdict == "fail") != (result.reason is not None):
        return False
    if result.reason == "nondeterministic":  # what it ended as the first time stands in words alone
        return bool(result.broken) or not entry.requirements
    if result.reason is not None:
        return result.broken == broken_by(entry, result.reason, result.mismatch, suite.header)
    if result.broken or result.mismatch is not None or result.again is not None:
        return False
    if result.verdict != "pass":
        return True
    if expect == "accept":
        return result.stage is None and result.message is None
    return result.stage is not None and verdicts.get(entry.twin or "") == "pass"


def _differing(true: Statement, claimed: Statement) -> list[str]:
    """The keys in which two statements differ."""
    pairs: list[tuple[Any, Any]] = [(true, claimed), (true.predicate, claimed.predicate)]
    pairs.append((true.predicate.opconform, claimed.predicate.opconform))
    return [
        each.name
        for one, other in pairs
        for each in fields(one)
        if each.name not in ("predicate", "opconform") and getattr(one, each.name) != getattr(other, each.name)
    ]


def _digest(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        error = MissingError if isinstance(fault, FileNotFoundError) else SuiteError
        raise error(f"{path} cannot be read: {fault.strerror}.") from fault


def _read(path: Path, limit: int) -> bytes:
    try:
        return read_regular(path, limit, follow_links=True)
    except OSError as fault:
        error = MissingError if isinstance(fault, FileNotFoundError) else SuiteError
        raise error(f"{path} cannot be read: {fault.strerror}.") from fault
