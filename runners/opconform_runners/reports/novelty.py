"""What a comparison with a baseline says, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from opconform_runners.reports.printable import one_line
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.baseline_check import Comparison, Met, Stale
from opconform_runners.verdicts.results import Result

#: The most cases of a kind that a terminal is shown.
_MOST = 50
_LONGEST = 300


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, as in `1 case` and `2 cases`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def novelty(comparison: Comparison) -> str:
    """What is new, in one line: `2 regressions, 1 stale line`, or `nothing`."""
    counts = (
        (len(comparison.regressions), "regression", ""),
        (len(comparison.passes), "unexpected pass", "unexpected passes"),
        (len(comparison.stale), "stale line", ""),
    )
    return ", ".join(counted(*each) for each in counts if each[0]) or "nothing"


def known(comparison: Comparison) -> str:
    """What is known, in one line."""
    unexplained = sum(each.line is not None and not each.line.is_explained for each in comparison.known)
    notes = [
        *([f"{unexplained:,} of them to be explained"] if unexplained else []),
        *(
            [f"{counted(len(comparison.undecided), 'expected failure')} neither failed nor passed"]
            if comparison.undecided
            else []
        ),
    ]
    return "; ".join([counted(len(comparison.known), "known failure"), *notes])


def print_novelty(report: Report, comparison: Comparison, console: Console) -> None:
    """Print what is new for a person, and in one line how much is known."""
    results = {each.id: each for each in report.results}
    for title, sentences in (
        ("Regressions", [regression_sentence(each, results) for each in comparison.regressions]),
        ("Unexpected passes", [pass_sentence(each, comparison.file) for each in comparison.passes]),
        ("Stale lines", list(stale_sentences(comparison))),
    ):
        if sentences:
            console.print(f"\n[bold]{title}[/bold]")
        for each in sentences[:_MOST]:
            console.print(f"  {escape(each)}", soft_wrap=True)
        if len(sentences) > _MOST:
            console.print(f"  … and {len(sentences) - _MOST:,} more; see report.json")
    console.print(f"\nExpected by {escape(comparison.file)}: {known(comparison)}.", soft_wrap=True)


def against(report: Report, comparison: Comparison) -> str:
    """The verdict on a run against its baseline, with colours."""
    new, file = novelty(comparison), escape(comparison.file)
    if report.conformant is None:
        return f"Against {file}: [bold magenta]INCOMPLETE[/bold magenta], so nothing is settled. New so far: {new}."
    if comparison.is_as_expected:
        return f"Against {file}: [bold green]NOTHING NEW[/bold green]."
    return f"Against {file}: [bold red]NEW[/bold red]: {new}."


def regression_sentence(met: Met, results: Mapping[str, Result]) -> str:
    """What a failure that was not expected is."""
    was = f" (line {met.line.number} expects {' or '.join(met.line.endings)})" if met.line is not None else ""
    return f"{met.id}: {met.reason}{was}: {one_line(results[met.id].sentence, _LONGEST)}"


def pass_sentence(met: Met, file: str) -> str:
    """What a pass that was not expected is."""
    if met.line is None:
        return met.id
    expected, why = " or ".join(met.line.endings), one_line(met.line.note, _LONGEST)
    return f"{met.id} passes, and {file}:{met.line.number} expects {expected}: {why}"


def stale_sentences(comparison: Comparison) -> Iterator[str]:
    """What each stale line is."""
    for each in comparison.stale:
        yield f"{comparison.file}:{each.number}: {each.pattern!r} {_idleness(each)}"


def _idleness(stale: Stale) -> str:
    """Why a line guards nothing."""
    if not stale.matches:
        return "is about no case of the suite"
    endings = " or ".join(each for each in stale.endings if each != "pass")
    none = "which cannot" if stale.matches == 1 else "none of which can"
    return f"matches {counted(stale.matches, 'case')}, {none} fail with {endings}"


def shortened(sentences: Sequence[str], most: int) -> list[str]:
    """The first sentences, and how many more there are."""
    more = [f"… and {len(sentences) - most:,} more"] if len(sentences) > most else []
    return [*sentences[:most], *more]
