"""The evidence of a case on the page: its inputs, expected and actual outputs, likely cause and IR."""

from collections.abc import Mapping
from dataclasses import fields

from opconform.explanation.models import model_texts
from opconform.explanation.origins import Origin
from opconform.explanation.pictures import highlight_of
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.findings.causes.feeds import Arrays, FeedArrays, divided_shape, origin_line, origin_of_mismatch
from opconform_runners.reports.terminal.case_text import input_lines, output_text, seen_link
from opconform_runners.reports.terminal.excerpt import Excerpt, Marks, bars_of, excerpt_of, pairs_of
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result

#: The most outputs that are listed.
_VALUES = 12


def evidence_document(suite: Suite, entry: Entry, result: Result, feeds: list[FeedArrays]) -> dict[str, object]:
    """The evidence of a case as a JSON object without empty values."""
    case = suite.recent_case(entry)
    inputs = input_lines(case, feeds[0].inputs if feeds else {})
    evidence: dict[str, object] = {
        "title": case.title,
        "inputs": [*inputs, f"context: {case.context}"],
        "expected": _expected(case),
        "feeds": [without_empty(_drawn(case, feed, result.mismatch)) for feed in feeds],
        "models": model_texts(suite, entry),
        "seen": [(report, seen_link(report)) for report in case.seen],
    }
    return without_empty(evidence)


def without_empty(document: Mapping[str, object]) -> dict[str, object]:
    """A JSON object without its empty values; 0 is not empty."""
    return {name: x for name, x in document.items() if x or x == 0}


def _fields(excerpt: Excerpt) -> dict[str, object]:
    """An excerpt as a JSON object; its rows are not copied, unlike by `asdict`."""
    return without_empty({x.name: getattr(excerpt, x.name) for x in fields(excerpt)})


def _drawn(case: Case, feed: FeedArrays, mismatch: Mismatch | None) -> dict[str, object]:
    here = mismatch if mismatch is not None and mismatch.feed == feed.number else None
    origin = origin_of_mismatch(case, feed, here)
    data = _picture(case, feed.inputs, origin)
    wanted, got = (bars_of(divided_shape(case, feed), x) for x in (feed.golden, feed.actual))
    return {
        "number": feed.number,
        "data": None if data is None else _fields(data),
        "origin": origin_line(here, origin),
        "pairs": [[x and _fields(x) for x in pair] for pair in pairs_of(case, feed, here)],
        "wanted": None if wanted is None or wanted == got else wanted._asdict(),
        "got": None if got is None or wanted == got else got._asdict(),
    }


def _picture(case: Case, arrays: Arrays, origin: Origin | None) -> Excerpt | None:
    """The input with the element that the first difference should equal; otherwise the divided or the first tensor."""
    tensors = {
        input_.name: input_.element_type for input_ in case.inputs if input_.role == "data" and input_.name in arrays
    }
    highlight = highlight_of(case, arrays)
    divided = highlight if highlight is not None and highlight.tensor in arrays else None
    name = origin.tensor if origin else divided.tensor if divided else next(iter(tensors), None)
    if name is None:
        return None
    return excerpt_of(
        name,
        arrays[name],
        tensors[name],
        highlight=divided if divided is not None and divided.tensor == name else None,
        marks=Marks(at=origin.at if origin else None),
    )


def _expected(case: Case) -> str:
    match case.expect:
        case Reject(reject=requirement):
            return f"It is rejected, since it violates {requirement}."
        case Accept(accept=()):
            return "It is accepted, with no output."
        case Accept(accept=outputs):
            kinds = ", ".join(map(output_text, outputs[:_VALUES]))
            more = f", … {len(outputs)} in all" if len(outputs) > _VALUES else ""
            return f"It is accepted, with the outputs {kinds}{more}."
        case None:
            return ""
