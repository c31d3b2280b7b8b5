"""Why cases fail: the likely cause, and the condition under which cases fail alike."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from opconform.suite.case import Reject
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.conditions import Condition, conditions_of
from opconform_runners.reports.facts import facts_of
from opconform_runners.reports.failures import severity_of
from opconform_runners.reports.feeds import feeds_of, is_read, likely_cause
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.results import Result

#: What differs between messages on the same fault: quoted names, paths, lists and numbers.
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[/\\]\S*|\[[^]]*\]|\{[^}]*\}|\d+")
_SIGNAL = re.compile(r"SIG[A-Z]+")
#: The most characters of a message that are searched for what varies, and the most of the others that are compared.
_COMPARED = 400
_BEGINNING = 80

#: An operation, and whether cases of it are accepted or rejected.
_Scope = tuple[str, str]


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
    """By the id of a failing case, a sentence on a condition that it meets and that no comparable passing case meets.

    The condition explains cases that fail alike: those of the same operation, valid or invalid, and with the same
    symptom. That is the severity, with the signal, the message of the rejection, or the likely cause, which `causes`
    has by the case's id. `facts` keeps the facts about the cases of the suite, for the next report on it.
    """
    failing, passing = _by_scope(report, suite, "fail"), _by_scope(report, suite, "pass")
    sentences: dict[str, str] = {}
    for scope, failed in failing.items():
        passed = [each.id for each in passing.get(scope, ())]
        for identity in (*passed, *(each.id for each in failed)):
            facts[identity] = facts.get(identity) or _facts(suite, identity)
        alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for each in failed:
            alike[symptom_of(each, causes.get(each.id, ""))].append(each.id)
        for group in alike.values():
            for found in reversed(conditions_of(group, [each.id for each in failed], passed, facts)):
                sentence = _sentence(found, scope[1])
                sentences |= {each: sentence for each in group if facts[each].issuperset(found.facts)}
    return sentences


def _by_scope(report: Report, suite: Suite, verdict: str) -> dict[_Scope, list[Result]]:
    found: dict[_Scope, list[Result]] = defaultdict(list)
    for each in report.results:
        if each.verdict == verdict and each.id in suite.by_id and is_read(suite.case(suite.by_id[each.id])):
            found[each.op, each.expect].append(each)
    return found


def _facts(suite: Suite, identity: str) -> frozenset[str]:
    entry = suite.by_id[identity]
    case = suite.case(entry)
    violated = [f"{entry.expect.reject} is violated"] if isinstance(entry.expect, Reject) else []
    return facts_of(case, [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]).union(violated)


def symptom_of(result: Result, cause: str) -> tuple[str, str, str]:
    """What failures that are alike have in common: severity, reason, and the signal, the message or the cause."""
    said = cause.partition(":")[0]
    if result.reason == "crash":
        said = "".join(_SIGNAL.findall(result.sentence[:_COMPARED])[:1])
    if result.reason == "rejected-valid":
        said = _VARYING.sub("", (result.message or "")[:_COMPARED])[:_BEGINNING]
    return (severity_of(result), result.reason or "", said)


def _sentence(condition: Condition, expect: str) -> str:
    *most, last = condition.facts
    where = f"{', '.join(most)} and {last}" if most else last
    kind = "valid" if expect == "accept" else "invalid"
    fail = {1: f"the only {kind} case where {where} fails", 2: f"both {kind} cases where {where} fail"}
    cases = fail.get(condition.failing, f"all {condition.failing:,} {kind} cases where {where} fail")
    return f"{cases}; {condition.passing:,} of the {condition.others:,} others pass"
