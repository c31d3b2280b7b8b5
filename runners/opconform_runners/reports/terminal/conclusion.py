"""The conclusion of a run, and its comparison with a baseline, in sentences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from opconform.errors import counted
from opconform_runners.findings.accuracy import accuracy_sentences, flushed_sentence
from opconform_runners.findings.claim_coverage import claimed_text
from opconform_runners.findings.known.comparison import known_sentences
from opconform_runners.findings.packs import packs_sentences
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import RequirementRow
from opconform_runners.findings.use_row import use_rows, uses_sentence
from opconform_runners.reports.terminal.incidents import deaths_clause, incident_notes
from opconform_runners.verdicts.baseline import Comparison, expectation

_LONGEST = 300
#: The most requirements that are named, of more only the number for each operation; and the most operations, of more
#: only the worst.
_NAMED, _WORST = 12, 3


def conclusion(report: Report) -> list[str]:
    """The conclusion of a run, in sentences; the first begins with the verdict in capitals and the coverage."""
    sentences = [f"{verdict_text(report)}: {' '.join(_reasons(report))}"]
    sentences += incident_notes(report)
    if report.cases and report.suite.profiles:
        sentences.append(
            f"This run covers only the profile {', '.join(report.suite.profiles)}, a selection of cases that cannot be "
            "signed. To certify a backend, use `certify` on whole profiles."
        )
    elif report.cases and report.partial and not report.whole:
        sentences.append(
            "This run covers only a selection of cases. To certify a backend, use `certify`, or `certificate judge` on "
            "whole profiles."
        )
    if report.cases and report.implementation.mapped:
        sentences.append("The harness fulfils the mapped requirements itself; their cases do not test the backend.")
    sentences += [f"{sentence}." for sentence in known_sentences(report)]
    if report.claimed is not None:
        sentences.append(f"{claimed_text(report.claimed)}.")
    sentences += [f"{sentence}." for sentence in accuracy_sentences(report.accuracy, report.least_accuracy)]
    if report.implementation.flushes_denormals:
        sentences.append(f"{flushed_sentence(report.flushed)}.")
    if report.packs is not None:
        sentences += [f"{sentence}." for sentence in packs_sentences(report.packs)]
    if rows := use_rows(report):
        sentences.append(uses_sentence(rows))
    if report.cases:
        tested = sum(requirement.is_tested for requirement in report.requirements)
        sentences.append(f"{tested:,} of {counted(len(report.requirements), 'requirement')} tested.")
    return sentences


def verdict_text(report: Report) -> str:
    """The verdict in capitals, the coverage, and the profile if it is only a list of cases."""
    part = f", {extent_of(report)}" if report.cases and report.suite.profiles else ""
    return f"{report.conclusion.upper()}, {report.coverage}{part}"


def extent_of(report: Report) -> str:
    """The profiles that were run; it begins with `only` if cases were left out of them."""
    if report.suite.profiles:
        return f"only the profile {', '.join(report.suite.profiles)}"
    names = ", ".join(report.profiles)
    if report.partial and not report.whole:
        return f"only a selection of {names}"
    return f"profile{'s' if len(report.profiles) > 1 else ''} {names}"


def _reasons(report: Report) -> Iterator[str]:
    passed = counted(report.summary["pass"], "passes", "pass")
    if report.conformant is None:
        yield f"{'; '.join(report.incomplete)}."
        if report.gave_up and report.missing:
            yield f"{counted(len(report.missing), 'case has', 'cases have')} no verdict."
        yield f"{passed}."
        if report.broken:
            yield f"Broken so far: {_names(report.broken)}."
        if report.deaths:
            yield f"{deaths_clause(len(report.deaths))}."
        return
    if report.conformant:
        yield f"{passed}, and no normative requirement is broken."
    else:
        failing = report.summary["fail"]
        clauses = [counted(failing, "case fails", "cases fail")] if failing or not report.deaths else []
        if report.broken:
            is_normative = all(row.level == "normative" for row in report.broken)
            kind = "normative requirement" if is_normative else "requirement"
            broken = counted(len(report.broken), f"{kind} is", f"{kind}s are")
            clauses.append(f"{broken} broken: {_names(report.broken)}")
        refused = report.claimed.refused if report.claimed is not None else 0
        if refused:
            clauses.append(counted(refused, "claimed case is not supported", "claimed cases are not supported"))
        if others := len(report.unnamed) - refused:
            clauses.append(f"{counted(others, 'failing case names', 'failing cases name')} no requirement")
        if report.deaths:
            clauses.append(deaths_clause(len(report.deaths)))
        yield f"{'; '.join(clauses)}."
    if report.differing:
        yield f"Deviations from interpretations (they do not affect the verdict): {_names(report.differing)}."


def _names(rows: Iterable[RequirementRow]) -> str:
    operations: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        operations[row.op].append(row.id)
    if len(operations) > _NAMED:
        worst = sorted(operations, key=lambda op: -len(operations[op]))[:_WORST]
        with_counts = ", ".join(f"{op} ({len(operations[op])})" for op in worst)
        return f"in {len(operations)} operations, most of {with_counts}"
    if sum(map(len, operations.values())) > _NAMED:
        return ", ".join(f"{op}: {len(ids)}" for op, ids in operations.items())
    return "; ".join(f"{op}: {', '.join(ids)}" for op, ids in operations.items())


def news(report: Report) -> str:
    """What the baseline of a run does not expect, as in `2 regressions, 1 stale line`, or `nothing`."""
    comparison = report.baseline or Comparison(file="")
    counts = (
        (len(comparison.regressions), "regression", ""),
        (len(comparison.lost), "unsupported case", ""),
        (len(comparison.passes), "unexpected pass", "unexpected passes"),
        (len(comparison.stale), "stale line", ""),
        (len(report.deaths), "process that crashed or hung", "processes that crashed or hung"),
    )
    return ", ".join(counted(*count) for count in counts if count[0]) or "nothing"


def known_failures(comparison: Comparison) -> str:
    """What the baseline expects, as in `3 known failures; 1 expected failure neither failed nor passed`."""
    unsupported = sum(x.verdict == "unsupported" for x in comparison.known)
    notes = [counted(len(comparison.known) - unsupported, "known failure")]
    if unsupported:
        notes.append(counted(unsupported, "known unsupported case"))
    if comparison.undecided:
        notes.append(f"{counted(len(comparison.undecided), 'expected failure')} neither failed nor passed")
    return "; ".join(notes)


def expected_otherwise(comparison: Comparison) -> dict[str, str]:
    """What the baseline expects of each case that fails for another reason, by the case's id."""
    return {
        regression.id: expectation(comparison.file, regression.lines)
        for regression in comparison.regressions
        if regression.lines
    }


def pass_sentences(comparison: Comparison) -> dict[str, str]:
    """Each pass that the baseline does not expect, by the case's id."""
    return {x.id: f"{x.id} passes, and {expectation(comparison.file, x.lines)}" for x in comparison.passes}


def lost_sentences(report: Report) -> dict[str, str]:
    """Each unsupported case that the baseline does not expect, and the reason, by the case's id."""
    lost = {x.id for x in report.baseline.lost} if report.baseline is not None else set()
    return {
        result.id: f"{result.id} is unsupported, and {report.baseline.file} does not expect it: {result.sentence}"
        for result in report.results
        if report.baseline is not None and result.id in lost
    }


def stale_sentences(comparison: Comparison) -> list[str]:
    """Each line that applies to no case."""
    return [
        f"{comparison.file}:{x.number}: no case of the suite matches {x.pattern!r} and can fail with " + x.reason
        for x in comparison.stale
    ]
