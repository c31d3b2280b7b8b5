"""Why cases fail: the likely cause, and the condition under which cases fail alike."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opconform.suite.case import Reject
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.conditions import Condition, conditions_of
from opconform_runners.reports.facts import facts_of
from opconform_runners.reports.failures import severity_of
from opconform_runners.reports.feeds import feeds_of, is_read, likely_cause
from opconform_runners.reports.report import DECIDED, Report
from opconform_runners.verdicts.results import Result

#: What differs between messages on the same fault: quoted names, paths, lists and numbers.
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[/\\]\S*|\[[^]]*\]|\{[^}]*\}|\d+")
_SIGNAL = re.compile(r"SIG[A-Z]+")
#: The most characters of a message that are searched for what varies, and the most of the others that are compared.
_COMPARED = 400
_BEGINNING = 80

#: The most valid or invalid cases that are searched for conditions.
_COMPARABLE = 50_000


class Explanation(NamedTuple):
    """The likely cause of a failure, and the condition under which such cases fail; empty where there is none.

    The cause is None where no outputs were kept.
    """

    cause: str | None
    condition: str


def explanations(report: Report, suite: Suite, kept: Kept) -> dict[str, Explanation]:
    """The explanations of all failures, by the case's id."""
    failing = [each for each in report.results if each.verdict == "fail" and each.id in suite.by_id]
    causes = {}
    for result in failing:
        entry = suite.by_id[result.id]
        feeds = feeds_of(suite, entry, result, kept.outputs(entry.id))
        if feeds and feeds[0].actual:
            causes[result.id] = likely_cause(suite.case(entry), result, feeds[0])
    conditions = conditions_by_case(report, suite, causes, {})
    return {each.id: Explanation(causes.get(each.id), conditions.get(each.id, "")) for each in failing}


def conditions_by_case(
    report: Report, suite: Suite, causes: Mapping[str, str], facts: dict[str, frozenset[str]]
) -> dict[str, str]:
    """By the id of a failing case, a sentence on the first condition that it meets; no comparable passing case does.

    Valid cases are compared with valid ones of all operations, and invalid ones with invalid ones. `causes` has the
    likely causes by the case's id. `facts` keeps the facts about the cases of the suite, for the next report on it.
    """
    sentences: dict[str, str] = {}
    for expect in ("accept", "reject"):
        decided = _decided(report, suite, expect)
        for each in decided:
            facts[each.id] = facts.get(each.id) or _facts(suite, each.id)
        symptoms = ["/".join(symptom_of(each, causes.get(each.id, ""))) if _fails(each) else "" for each in decided]
        for found in conditions_of([facts[each.id] for each in decided], symptoms):
            sentence = _sentence(found, expect, decided)
            for number in found.cases:
                sentences.setdefault(decided[number].id, sentence)
    return sentences


def _decided(report: Report, suite: Suite, expect: str) -> list[Result]:
    """The comparable cases with an expectation that pass or fail; none if one fails and there are too many of them."""
    found = [each for each in report.results if each.verdict in DECIDED and each.expect == expect]
    if not any(map(_fails, found)) or len(found) > _COMPARABLE:
        return []
    return [each for each in found if each.id in suite.by_id and is_read(suite.case(suite.by_id[each.id]))]


def _fails(result: Result) -> bool:
    return result.verdict == "fail"


def _facts(suite: Suite, identity: str) -> frozenset[str]:
    entry = suite.by_id[identity]
    case = suite.case(entry)
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    expected = [suite.arrays(entry, name) for name in map(expected_name, range(case.feeds)) if name in entry.files]
    if isinstance(entry.expect, Reject):
        about = [f"{entry.expect.reject} is violated"]
    else:
        compared = {name for names in suite.header.establishes.get(case.op, {}).values() for name in names}
        about = [f"{each} is tested" for each in entry.requirements if each not in compared]
    return facts_of(case, feeds, expected).union(about)


def symptom_of(result: Result, cause: str) -> tuple[str, str, str]:
    """What failures that are alike have in common: severity, reason, and the signal, the message or the cause."""
    said = cause.partition(":")[0]
    if result.reason == "crash":
        said = "".join(_SIGNAL.findall(result.sentence[:_COMPARED])[:1])
    if result.reason == "rejected-valid":
        said = _VARYING.sub("", (result.message or "")[:_COMPARED])[:_BEGINNING]
    return (severity_of(result), result.reason or "", said)


def _sentence(condition: Condition, expect: str, decided: Sequence[Result]) -> str:
    *most, last = map(_either, condition.facts)
    where = f"{', '.join(most)} and {last}" if most else last
    kind = "valid" if expect == "accept" else "invalid"
    failing = len(condition.cases)
    fail = {1: f"the only {kind} case where {where} fails", 2: f"both {kind} cases where {where} fail"}
    cases = fail.get(failing, f"all {failing:,} {kind} cases where {where} fail")
    passing = sum(not _fails(each) for each in decided)
    return f"{cases}; {passing:,} of the {len(decided) - failing:,} others pass"


def _either(facts: Sequence[str]) -> str:
    """Alternatives, which have all words but the last in common."""
    *most, last = (each.rpartition(" ")[2] for each in facts)
    return facts[0] if not most else f"{facts[0].rpartition(' ')[0]} {', '.join(most)} or {last}"
