"""What `show` displays: a case, and what a backend returned for it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import UsageError, counted
from opconform.explanation.case_list import ListedCase, one_case
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Accept, Reject, document_of
from opconform_runners.reports.terminal.case_text import (
    change_lines,
    drawing_lines,
    input_lines,
    output_text,
    returned_lines,
    seen_link,
)

if TYPE_CHECKING:
    from opconform_runners.reports.html.subject import Subject

#: The most outputs that are listed.
_MOST = 12


def shown_case(case: str, out: Path | None, sources: Sequence[Path]) -> tuple[dict[str, object], Iterator[str]]:
    """A case as the document `case.json` and as lines, with those on its result in a run, if its folder is named."""
    if out is None:
        listed = one_case(case, sources)
        return document_of(listed.case), _lines(listed)
    from opconform_runners.reports.html.subject import subjects_of  # what reads results takes long to import
    from opconform_runners.reports.report_file import finished

    [subject] = subjects_of([finished(out)], next(iter(sources), None), ())
    listed = one_case(case, sources if subject.suite is None else [subject.suite.store.root])
    return document_of(listed.case), chain(_lines(listed), _returned(listed, subject))


def _returned(shown: ListedCase, subject: "Subject") -> list[str]:
    """The verdict on a case, and the outputs that the run kept."""
    from opconform_runners.findings.causes.feeds import feeds_of
    from opconform_runners.findings.grouping import subgraphs_of

    report, case = subject.column.report, shown.case
    result = next((result for result in report.results if result.id == case.id), None)
    if result is None:
        raise UsageError(f"The run has no result of {case.id}.")
    feeds = []
    if subject.suite is not None and result.verdict == "fail":
        entry = next(entry for entry in subject.suite.entries if entry.id == case.id)
        feeds = feeds_of(subject.suite, entry, result, subject.kept.outputs(entry.id))
    lacking = "The suite of the run was not found, so the returned outputs are not shown. Name it with --suite."
    note = ["", f"  {lacking}"] if subject.suite is None and result.verdict == "fail" else []
    who = " ".join(x for x in (report.implementation.name, report.implementation.version) if x)
    subgraphs = {f"smallest failing subgraph: {x.sentence}" for x in subgraphs_of(report) if x.case == case.id}
    return ["", *(f"  {line}" for line in (*returned_lines(case, result, who, feeds), *subgraphs)), *note]


def _lines(shown: ListedCase) -> Iterator[str]:
    case, inputs = shown.case, shown.feeds()[0]
    texts = {name: f": {x.text}" for name, x in requirements_of(case.op).by_id.items()}
    yield case.id
    yield f"  {case.title}"
    yield f"  profile {case.profile}, context {case.context}"
    yield from (f"  requirement {name}{texts.get(name, '')}" for name in case.requirements)
    yield from (f"  seen {report}: {seen_link(report)}" for report in case.seen)
    yield ""
    yield from (f"  {line}" for line in input_lines(case, inputs))
    yield ""
    yield from (f"  {line}" for line in drawing_lines(case, inputs))
    for number, later in enumerate(shown.feeds()[1:], 2):
        yield ""
        yield f"  inference {number} on the same model, changed inputs:"
        yield from (f"    {line}" for line in change_lines(case, inputs, later))
    yield ""
    match case.expect:
        case Reject(reject=requirement):
            late = f" in inference {case.feeds}" if case.feeds > 1 else ""
            yield f"  must be rejected{late}: it violates {requirement}"
            yield f"  its twin, which must be accepted: {case.twin}"
        case Accept(accept=outputs):
            yield f"  must be accepted, with {counted(len(outputs), 'output')}:"
            yield from (f"    {output.name}: {output_text(output)}" for output in outputs[:_MOST])
            if len(outputs) > _MOST:
                yield f"    … {len(outputs) - _MOST} more"
