"""The comparison of a run with its baseline, in sentences."""

from collections.abc import Mapping

from opconform_runners.reports.report import Report
from opconform_runners.reports.text import counted, one_line
from opconform_runners.verdicts.baseline_check import Comparison, Met
from opconform_runners.verdicts.results import Result

_LONGEST = 300


def news(comparison: Comparison) -> str:
    """What the baseline does not expect, as in `2 regressions, 1 stale line`, or `nothing`."""
    counts = (
        (len(comparison.regressions), "regression", ""),
        (len(comparison.passes), "unexpected pass", "unexpected passes"),
        (len(comparison.stale), "stale line", ""),
    )
    return ", ".join(counted(*each) for each in counts if each[0]) or "nothing"


def known_failures(comparison: Comparison) -> str:
    """What the baseline expects, as in `3 known failures; 1 of them to be explained`."""
    unexplained = sum(each.line is not None and not each.line.is_explained for each in comparison.known)
    notes = [counted(len(comparison.known), "known failure")]
    if unexplained:
        notes.append(f"{unexplained:,} of them to be explained")
    if comparison.undecided:
        notes.append(f"{counted(len(comparison.undecided), 'expected failure')} neither failed nor passed")
    return "; ".join(notes)


def baseline_verdict(report: Report, comparison: Comparison) -> tuple[str, str]:
    """The verdict against the baseline (`INCOMPLETE`, `NOTHING NEW` or `NEW`), and what follows it in the sentence."""
    if report.conformant is None:
        return "INCOMPLETE", f", so nothing is settled. New so far: {news(comparison)}."
    return ("NOTHING NEW", ".") if comparison.is_as_expected else ("NEW", f": {news(comparison)}.")


def regression_sentence(met: Met, results: Mapping[str, Result]) -> str:
    """A failure that the baseline does not expect."""
    was = f" (line {met.line.number} expects {' or '.join(met.line.endings)})" if met.line is not None else ""
    return f"{met.id}: {met.reason}{was}: {one_line(results[met.id].sentence, _LONGEST)}"


def pass_sentences(comparison: Comparison) -> dict[str, str]:
    """Each pass that the baseline does not expect, by the case's id."""
    return {
        each.id: f"{each.id} passes, and {comparison.file}:{each.line.number} expects "
        f"{' or '.join(each.line.endings)}: {one_line(each.line.note, _LONGEST)}"
        for each in comparison.passes
        if each.line is not None
    }


def stale_sentences(comparison: Comparison) -> list[str]:
    """Each line that applies to no case, and why."""
    sentences = []
    for each in comparison.stale:
        endings = " or ".join(ending for ending in each.endings if ending != "pass")
        none = "which cannot" if each.matches == 1 else "none of which can"
        why = f"matches {counted(each.matches, 'case')}, {none} fail with {endings}"
        sentences.append(
            f"{comparison.file}:{each.number}: {each.pattern!r} "
            f"{why if each.matches else 'matches no case of the suite'}"
        )
    return sentences
