"""Checks that the conclusions of a certificate follow from its own counts."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from opconform.errors import CertificateError
from opconform.suite.manifest import MANIFEST
from opconform_runners.certificates.statement import OUTPUTS, Finding, Predicate, Statement, tests_of
from opconform_runners.reports.incidents import deaths_clause
from opconform_runners.reports.report import VERDICTS
from opconform_runners.reports.requirement_row import supported
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.results import REPORT, RESULTS


def check_consistency(statement: Statement, where: str) -> None:
    """Check that a statement does not contradict itself; `where` is the name of its certificate in the error."""
    predicate, finding = statement.predicate, statement.predicate.opconform
    found = chain(  # each relies on those before it
        _file_contradictions(statement),
        _count_contradictions(finding),
        _test_contradictions(predicate),
        _verdict_contradictions(predicate),
        _profile_contradictions(finding),
    )
    for contradiction in found:
        raise CertificateError(f"{where} contradicts itself: {contradiction}.")


def _file_contradictions(statement: Statement) -> Iterator[str]:
    finding = statement.predicate.opconform
    names = [each.name for each in statement.subject]
    if names != [RESULTS, REPORT, *([OUTPUTS] if finding.judged else [])]:
        yield f"its subject is {', '.join(names) or 'nothing'}, but judged is {str(finding.judged).lower()}"
    manifests = [each.digest["sha256"] for each in statement.predicate.configuration if each.name == MANIFEST]
    if manifests != [finding.suite.digest]:
        yield f"the suite digest is not that of {MANIFEST}"


def _count_contradictions(finding: Finding) -> Iterator[str]:
    ids = [(each.op, each.id) for each in finding.requirements]
    names = [each.name for each in finding.profiles]
    if len(set(ids)) != len(ids) or len(set(names)) != len(names):
        yield "a requirement or a profile is listed twice"
    all_counts = [finding.cases, *(each.counts for each in finding.profiles)]
    all_counts += [each.counts for each in finding.requirements]
    if any(set(each) != set(VERDICTS) for each in all_counts):
        yield f"a count does not have exactly the keys {', '.join(VERDICTS)}"
        return
    total: Counter[str] = Counter()
    for profile in finding.profiles:
        total.update(profile.counts)
    if {name: total[name] for name in VERDICTS} != dict(finding.cases):
        yield "the counts of the profiles do not add up to those of the cases"
    for each in finding.requirements:
        if any(each.counts[name] > finding.cases[name] for name in VERDICTS):
            yield f"{each.test} counts more cases than there are"
    if finding.cases["error"]:
        yield "it counts harness errors, which cannot be certified"
    if finding.supported != supported(finding.cases):
        yield f"it says that {finding.supported:,} cases are supported, but counts {supported(finding.cases):,}"


def _test_contradictions(predicate: Predicate) -> Iterator[str]:
    finding = predicate.opconform
    for each in finding.requirements:
        if each.broken != (each.counts["fail"] > 0):
            failing = counted(each.counts["fail"], "case fails", "cases fail")
            yield f"{each.test} is {'broken' if each.broken else 'not broken'}, but {failing}"
    for name, tests in tests_of(finding, predicate.warned).items():
        if tests != getattr(predicate, name):
            yield f"{name}Tests do not follow from its requirements"


def _verdict_contradictions(predicate: Predicate) -> Iterator[str]:
    finding = predicate.opconform
    result = "FAILED" if not finding.conformant else "WARNED" if predicate.warned else "PASSED"
    if predicate.result != result:
        yield f"conformant is {str(finding.conformant).lower()}, but the result is {predicate.result}"
    if finding.conformant and predicate.failed:
        yield f"conformant is true, but {predicate.failed[0]} is broken"
    if finding.conformant and finding.deaths:
        yield f"conformant is true, but {deaths_clause(finding.deaths)}"
    if not finding.conformant and not finding.cases["fail"] and not finding.deaths:
        yield "conformant is false, but no case fails"
    undecided = [
        each
        for each in finding.requirements
        if finding.counts(each) and not each.mapped and any(each.counts.values()) and not supported(each.counts)
    ]
    if finding.conformant and (undecided or not supported(finding.cases)):
        yield f"conformant is true, but no case was supported{f' for {undecided[0].test}' if undecided else ''}"


def _profile_contradictions(finding: Finding) -> Iterator[str]:
    for each in finding.profiles:
        if each.passed and not each.counts["pass"]:
            yield f"the profile {each.name} passed, but none of its cases did"
        if finding.conformant != each.passed and len(finding.profiles) == 1:
            yield f"the only profile, {each.name}, {'passed' if each.passed else 'did not pass'}"
    is_failed = any(not each.passed and (each.counts["fail"] or finding.deaths) for each in finding.profiles)
    if not finding.conformant and not is_failed:
        yield "conformant is false, but every profile with a failure passed"
