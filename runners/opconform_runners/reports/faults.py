"""What the failures of a run have in common: its faults."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opconform.suite.case import Reject
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.conditions import Condition, conditions_of
from opconform_runners.reports.facts import facts_of
from opconform_runners.reports.failures import SEVERITIES, Standing, severity_of, size_of, standings
from opconform_runners.reports.fault import Fault, Severity
from opconform_runners.reports.feeds import feeds_of, is_read, likely_cause
from opconform_runners.reports.report import DECIDED, Report
from opconform_runners.reports.requirement_row import RequirementRow
from opconform_runners.reports.symptom import symptom_of, symptom_text
from opconform_runners.verdicts.results import Result

#: The most valid or invalid cases that are searched for conditions.
_COMPARABLE = 50_000
#: The part of the cases of a fault that must be of a severity for the fault to be.
_TENTH = 10
#: The most requirements that are named.
_NAMED = 4


def with_faults(report: Report, suite: Suite | None = None, kept: Kept | None = None) -> Report:
    """A report with the faults of its run; without the suite or the passing cases, no conditions are searched.

    Each condition is a fault, and so are the failures under no condition that have the same operation, broken
    requirements and symptom.
    """
    failing = {each.id: each for each in report.results if each.verdict == "fail"}
    causes = {} if suite is None or kept is None else _causes(failing.values(), suite, kept)
    stands = standings(report)
    severities = {name: severity_of(each, stands[name]) for name, each in failing.items()}
    symptoms = {name: symptom_text(symptom_of(each, causes.get(name, ""))) for name, each in failing.items()}
    found: list[Fault] = []
    explained: set[str] = set()
    for one in () if suite is None or report.tallies else _conditions(report, suite, symptoms):
        known = sum(each.id in explained for each in one.cases)
        shared = f"; {known:,} of them also meet another condition" if known > 1 else ""
        fault = _fault(one.cases, severities, symptoms, explained)
        explained.update(fault.cases)
        others, passing = len(one.compared) - len(one.cases), _passing(one.compared)
        said = f"{_sentence(one)}{shared}"
        found.append(replace(fault, condition=said, facts=one.facts, others=others, passing=passing))
    alike: dict[tuple[object, ...], list[Result]] = defaultdict(list)
    for name in failing.keys() - explained:
        each = failing[name]
        alike[each.op, each.broken, stands[name], severities[name], symptoms[name]].append(each)
    found += (_fault(some, severities, symptoms) for some in alike.values())
    found = [replace(each, cause=causes.get(each.cases[0], "")) for each in found]
    return replace(report, faults=tuple(sorted(found, key=_rank)))


def _rank(fault: Fault) -> tuple[int, int, tuple[str, ...]]:
    return SEVERITIES.index(fault.severity), -len(fault.cases), fault.cases


def _fault(
    cases: Sequence[Result],
    severities: Mapping[str, Severity],
    symptoms: Mapping[str, str],
    explained: Collection[str] = (),
) -> Fault:
    """The fault with some cases, without its condition. Its severity and first case are those of unexplained cases."""
    own = [each for each in cases if each.id not in explained]
    counts = Counter(severities[each.id] for each in own)
    severity = min((name for name, count in counts.items() if count * _TENTH >= len(own)), key=SEVERITIES.index)
    first = min(own, key=lambda each: (severities[each.id] != severity, *size_of(each)))
    rest = sorted((each for each in cases if each is not first), key=size_of)
    said = Counter(symptoms[each.id] for each in (first, *rest))
    ids = (first.id, *(each.id for each in rest))
    return Fault(severity=severity, symptoms=dict(said.most_common()), cases=ids)


def _causes(failing: Iterable[Result], suite: Suite, kept: Kept) -> dict[str, str]:
    """The likely causes of failures whose outputs were kept."""
    causes = {}
    for result in failing:
        if (entry := suite.by_id.get(result.id)) and result.reason != "nondeterministic":
            feeds = feeds_of(suite, entry, result, kept.outputs(entry.id))
            if feeds and feeds[0].actual:
                causes[result.id] = likely_cause(suite.case(entry), result, feeds[0])
    return causes


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """A condition in words: its facts, the failures that have them, and the cases that they were compared with.

    The kind is that of all these cases, `valid ` or `invalid `; an empty text if they are of both.
    """

    facts: Condition
    kind: str
    cases: list[Result]
    compared: list[Result]


def _conditions(report: Report, suite: Suite, symptoms: Mapping[str, str]) -> list[_Found]:
    """The conditions of valid cases, and those of invalid cases that none of these explains."""
    found: list[_Found] = []
    for expect, kind in (("accept", "valid "), ("reject", "invalid ")):
        compared = [each for each in report.results if each.verdict in DECIDED and each.expect == expect]
        failing = sum(each.verdict == "fail" for each in compared)
        if len(compared) > _COMPARABLE or not 0 < failing <= _passing(compared):
            continue
        compared = [each for each in compared if each.id in suite.by_id and is_read(suite.case(suite.by_id[each.id]))]
        about = [_facts(suite, each.id) for each in compared]
        explained: set[str] = set()
        for number, one in enumerate(found):
            cases = _meeting(one.facts, compared, about)
            if cases and not _passing(cases):
                found[number] = _Found(
                    facts=one.facts, kind="", cases=one.cases + cases, compared=one.compared + compared
                )
                explained.update(each.id for each in cases)
        rest = [number for number, each in enumerate(compared) if each.id not in explained]
        said = [symptoms.get(compared[number].id, "") for number in rest]
        found += (
            _Found(facts=facts, kind=kind, cases=_meeting(facts, compared, about), compared=compared)
            for facts in conditions_of([about[number] for number in rest], said)
        )
    return found


def _meeting(facts: Condition, cases: Iterable[Result], about: Iterable[frozenset[str]]) -> list[Result]:
    return [each for each, held in zip(cases, about, strict=True) if all(not held.isdisjoint(some) for some in facts)]


def _passing(cases: Iterable[Result]) -> int:
    return sum(each.verdict == "pass" for each in cases)


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


def _sentence(condition: _Found) -> str:
    *most, last = map(_either, condition.facts)
    where = f"{', '.join(most)} and {last}" if most else last
    kind, failing = condition.kind, len(condition.cases)
    fail = {1: f"the only {kind}case where {where} fails", 2: f"both {kind}cases where {where} fail"}
    cases = fail.get(failing, f"all {failing:,} {kind}cases where {where} fail")
    others, passing = len(condition.compared) - failing, _passing(condition.compared)
    return f"{cases}; of the {others:,} other {kind}cases, {passing:,} pass"


def _either(facts: Sequence[str]) -> str:
    """Alternatives, which have all words but the last in common."""
    *most, last = (each.rpartition(" ")[2] for each in facts)
    return facts[0] if not most else f"{facts[0].rpartition(' ')[0]} {', '.join(most)} or {last}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFault:
    """A fault as a reader sees it: its failures that have some standings, and the requirements that they break.

    Attributes:
        standing: `new` if one of them counts.
        results: The failures, the smallest of the fault's severity first.
    """

    fault: Fault
    standing: Standing
    results: tuple[Result, ...]
    requirements: tuple[RequirementRow, ...]

    @property
    def smallest(self) -> Result:
        """The smallest failure."""
        return self.results[0]

    @property
    def names(self) -> str:
        """The operations and the broken requirements, as in `Split-1 axis.range`."""
        names: dict[str, list[str]] = defaultdict(list)
        for each in self.results:
            names[each.op] += [name for name in each.broken if name not in names[each.op]]
        texts = [f"{op} {', '.join(some) or 'no requirement named'}" for op, some in sorted(names.items())]
        more = f" and {len(texts) - _NAMED} more operations" if len(texts) > _NAMED + 1 else ""
        return "; ".join(texts[:_NAMED] if more else texts) + more

    @property
    def kind(self) -> str:
        """The severity, and the reason of the smallest case if it says more."""
        severity, reason = self.fault.severity, self.smallest.reason or ""
        return severity if severity == reason else f"{severity} ({reason})"


def shown_faults(report: Report, standing: Iterable[Standing] = ("new", "known", "read")) -> tuple[ShownFault, ...]:
    """The faults of a report that have a failure with one of some standings; what a baseline expects comes last."""
    stands, wanted = standings(report), set(standing)
    results = {each.id: each for each in report.results}
    rows = {(each.op, each.id): each for each in report.requirements}
    shown = []
    for fault in report.faults or with_faults(report).faults:
        some = [results[each] for each in fault.cases if stands[each] in wanted]
        if some:
            broken = dict.fromkeys((each.op, name) for each in some for name in each.broken)
            held = {stands[each.id] for each in some}
            first = next(each for each in ("new", "read", "known") if each in held)
            known = tuple(rows[each] for each in broken if each in rows)
            shown.append(ShownFault(fault=fault, standing=first, results=tuple(some), requirements=known))
    return tuple(sorted(shown, key=lambda each: each.standing == "known"))
