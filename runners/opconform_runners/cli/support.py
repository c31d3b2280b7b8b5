"""`opconform support`."""

from collections.abc import Iterator
from pathlib import Path

import click

from opconform.errors import MissingError, UsageError, counted
from opconform.suite.storage.ownership import replace_ours
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import PATH, SOURCE, json_option, out_option
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.cli.shared.steps import subjects_of_runs
from opconform_runners.findings.report import Report
from opconform_runners.findings.support.claims_file import MARK, claims_file_of
from opconform_runners.findings.support.learner import LearntRule, Support, support_of
from opconform_runners.reports.html.page import support_page
from opconform_runners.reports.html.subject import suite_of
from opconform_runners.reports.html.support import map_of
from opconform_runners.reports.report_file import finished
from opconform_runners.reports.support_map import support_document
from opconform_runners.verdicts.page import PAGE_BEGINNING


@click.command(
    "support",
    cls=HelpCommand,
    example="support opconform-out/numpy -o support.yaml\nsupport first second --html map.html",
)
@click.argument("results", nargs=-1, required=True, type=SOURCE, metavar="OUT...")
@out_option(metavar="FILE", help="Write the rules as claims, for `run --claims FILE`.")
@click.option("--html", type=PATH, metavar="FILE", help="Write the map: operations by type, rank, binding and context.")
@click.option("--suite", type=SOURCE, help="The suite that was run; OUT/suite or OUT/../suite by default.")
@json_option("the rules and the map")
def command(results: tuple[Path, ...], out: Path | None, html: Path | None, suite: Path | None, as_json: bool) -> None:
    """Say what the backend of a run supports: the fewest rules that its results do not contradict.

    OUT is a folder that `run` or `certify` wrote. Runs of several backends on one suite share a map.
    """
    runs = [finished(place, suite) for place in results]
    if len(runs) > 1 and (out is not None or (html is None and not as_json)):
        raise UsageError("Rules are learnt from one run. Name one, or write the map of all with --html FILE.")
    subjects = subjects_of_runs(runs, suite)
    found = suite_of(subjects)
    if found is None:
        raise MissingError(f"The suite of {runs[0].folder} was not found. Name it with --suite.")
    document: dict[str, object] = {}
    lines: list[str] = []
    if len(runs) == 1:
        report = runs[0].report
        learnt = support_of(report, found)
        document |= _document(learnt)
        lines += _lines(report, learnt)
        if out is not None:
            replace_ours(out, claims_file_of(report, learnt).text.encode(), MARK)
            lines.append(f"Claims: {out}")
    if html is not None:
        replace_ours(html, support_page(subjects).encode(), PAGE_BEGINNING)
        lines.append(f"Map: {html}")
    if as_json:
        document |= support_document(map_of(subjects))
    print_result(document, lines, as_json=as_json)


def _lines(report: Report, learnt: Support) -> Iterator[str]:
    absent = [op for op, count in learnt.executed.items() if not count]
    executed, refused = sum(learnt.executed.values()), sum(learnt.refused.values())
    yield f"{report.implementation.title}: {executed:,} valid cases executed, {refused:,} refused as unsupported."
    yield f"Supported: {counted(len(learnt.supported), 'operation')}."
    if absent:
        yield f"Not supported: {counted(len(absent), 'operation')}: {', '.join(absent)}."
    if learnt.rules:
        yield "Exceptions:"
        yield from (f"  {_sentence(learnt_rule)}" for learnt_rule in learnt.rules)
    if learnt.cases:
        yield f"Refused, and no rule says why: {counted(len(learnt.cases), 'case')}:"
        yield from (f"  {name}" for name in learnt.cases)


def _sentence(learnt_rule: LearntRule) -> str:
    met, executed = counted(learnt_rule.refused, "refused case"), learnt_rule.executed
    return f"{learnt_rule.rule} ({met}; {executed:,} others executed)"


def _document(learnt: Support) -> dict[str, object]:
    return {
        "operations": {op: {"executed": count, "refused": learnt.refused[op]} for op, count in learnt.executed.items()},
        "rules": [
            {"operation": x.rule.subject, "facts": x.rule.sentences, "refused": x.refused, "executed": x.executed}
            for x in learnt.rules
        ],
        "cases": learnt.cases,
    }
