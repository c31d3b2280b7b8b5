"""The failures of a run, compared with the failures of a release of its product."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from opconform.errors import counted
from opconform_runners.findings.known.failures import Known
from opconform_runners.findings.known.release import KnownFailure, KnownFinding, KnownRelease
from opconform_runners.findings.report import Report
from opconform_runners.verdicts.baseline import ending_of, is_allowed
from opconform_runners.verdicts.results import Result

#: The most findings that no longer occur and are named.
_NAMED = 12


def with_known(report: Report, release: KnownRelease | None) -> Report:
    """A report with what a release explains of its findings; as it is without a release."""
    if release is None or not report.results:
        return report
    results = {result.id: result for result in report.results}
    failing = {name for name, result in results.items() if result.verdict == "fail"}
    listed = release.run.failures
    cases = {name: listed[name].findings for name in failing & listed.keys() if _is_known(results[name], listed[name])}
    by_number = {finding.number: finding for finding in release.product.findings}
    for number, finding in by_number.items():  # a case of another profile than the profile of the release's run
        if finding.case in failing - listed.keys():
            cases[finding.case] = (number,)
    cases |= dict(_alike(report, release, results, cases))
    shown = sorted({number for numbers in cases.values() for number in numbers} & by_number.keys())
    version = report.implementation.version
    known = Known(
        name=release.name,
        product=f"{release.product.product} {release.product.release}",
        release=release.product.release,
        is_other=version != release.run.version,
        cases={name: cases[name] for name in sorted(cases)},
        notes={number: note for number in shown if (note := _note(by_number[number]))},
        gone=tuple(_gone(release, results)),
    )
    return replace(report, known=known)


def _alike(
    report: Report, release: KnownRelease, results: Mapping[str, Result], listed: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The failing cases that the release was not run on, and that are in a finding with some on which it fails."""
    for finding in report.findings:
        numbers = tuple(dict.fromkeys(number for case in finding.cases for number in listed.get(case, ())))
        if any(case in listed for case in finding.cases):
            others = (case for case in finding.cases if case not in listed)
            yield from ((case, numbers) for case in others if results[case].profile != release.run.profile)


def _is_known(result: Result, known: KnownFailure) -> bool:
    ending = ending_of(result)
    return ending is not None and is_allowed(ending, known.ends)


def _gone(release: KnownRelease, results: Mapping[str, Result]) -> Iterator[int]:
    """The findings with cases in the run, if all of these passed."""
    ends: dict[int, Counter[str]] = defaultdict(Counter)
    for name, known in release.run.failures.items():
        for number in known.findings if name in results and "pass" not in known.ends else ():
            ends[number][results[name].verdict] += 1
    return (number for number, verdicts in sorted(ends.items()) if {*verdicts} == {"pass"})


def _note(finding: KnownFinding) -> str:
    """The releases that are known to have a finding, and its public report, as far as they are known."""
    first = [f"first in {finding.first}"] if finding.first else []
    last = [f"last in {finding.last}"] if finding.last else []
    state = finding.state or ""
    return ", ".join([*first, *last, *([state.removeprefix("public ")] if state.startswith("public ") else [])])


def known_sentences(report: Report) -> Iterator[str]:
    """How many failures of a run are known, and which findings no longer occur."""
    known = report.known
    if known is None:
        return
    failing = [result.id for result in report.results if result.verdict == "fail"]
    if failing:
        listed, every = sum(case in known.cases for case in failing), counted(len(failing), "failing case")
        here = ", and seen here, too" if known.is_other else ""
        if listed == len(failing):
            yield f"Known in {known.product}{here}: {every}; none is new"
        else:
            yield f"Known in {known.product}{here}: {listed:,} of {every}; the others are new"
    if known.gone:
        more = f" and {len(known.gone) - _NAMED} more" if len(known.gone) > _NAMED else ""
        numbers = ", ".join(map(str, known.gone[:_NAMED]))
        plural = "s" if len(known.gone) > 1 else ""
        yield f"No longer seen: the cases of finding{plural} {numbers}{more} of {known.name} pass"
