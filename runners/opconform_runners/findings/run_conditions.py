"""The conditions that the failures of a run meet, in words."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from opconform.suite.case import Reject
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.findings.causes.conditions import Condition, conditions_of
from opconform_runners.findings.causes.fact import Fact, either, requirement_fact, sentences, violation_fact
from opconform_runners.findings.causes.facts import facts_of
from opconform_runners.findings.causes.feeds import is_read
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import DECIDED
from opconform_runners.verdicts.results import Result

#: The most valid or invalid cases that are searched for conditions.
_COMPARABLE = 50_000
#: What a condition says about further cases, by their number: one or several.
_UNDECIDED = {
    "unsupported": ("more is unsupported", "more are unsupported"),
    "inconclusive": ("more is inconclusive", "more are inconclusive"),
    "error": ("more ended in an error", "more ended in an error"),
    "large": ("large case was not compared", "large cases were not compared"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCondition:
    """Facts that failing cases have and no passing one.

    Attributes:
        kind: `valid ` or `invalid ` if all these cases are; an empty text if they are of both.
        cases: The failing cases that have the facts.
        compared: The cases that pass or fail, with which they were compared.
        undecided: How many further cases have the facts, by verdict; `large` counts those whose facts are unknown.
    """

    facts: Condition
    kind: str
    cases: Sequence[Result]
    compared: Sequence[Result]
    undecided: Mapping[str, int]

    @property
    def others(self) -> int:
        """How many of the compared cases do not have the facts."""
        return len(self.compared) - len(self.cases)

    @property
    def passing(self) -> int:
        """How many of the compared cases pass."""
        return _passing(self.compared)

    @property
    def fact_sentences(self) -> tuple[tuple[str, ...], ...]:
        """The facts, each with its alternatives, in words."""
        return tuple(map(sentences, self.facts))

    @property
    def sentence(self) -> str:
        """The facts, and how many cases fail that have them."""
        *others, last = map(either, self.facts)
        where = f"{', '.join(others)} and {last}" if others else last
        count, kind = f"{len(self.cases):,}", self.kind
        decided = "decided " if self.undecided.keys() - {"large"} else ""
        more = "".join(
            f"; {self.undecided[name]:,} {words[self.undecided[name] > 1]}"
            for name, words in _UNDECIDED.items()
            if self.undecided.get(name)
        )
        such = f"({count} of {count} such {decided}{kind}cases fail{more})"
        return f"{where} {such}; of the {self.others:,} other decided {kind}cases, {self.passing:,} pass"


def run_conditions(
    report: Report, suite: Suite, symptoms: Mapping[str, str], on_progress: OnProgress = lambda *_: None
) -> list[RunCondition]:
    """The conditions of valid cases, and the conditions of invalid cases that none of these explains.

    `symptoms` has the symptom of each case that fails, by its id.
    """
    conditions: list[RunCondition] = []
    for expect, kind in (("accept", "valid "), ("reject", "invalid ")):
        results = [result for result in report.results if result.expect == expect and result.id in suite.by_id]
        cases = _ComparedCases(suite, results, partial(staged, on_progress=on_progress, title=f"Comparing {kind}cases"))
        failing = len(cases.decided) - _passing(cases.decided)
        if len(cases.results) > _COMPARABLE or not 0 < failing <= _passing(cases.decided):
            continue
        explained: set[str] = set()
        for number, condition in enumerate(conditions):
            meeting = cases.meeting(condition.facts)
            if meeting and not _passing(meeting):
                conditions[number] = replace(
                    condition,
                    kind="",
                    cases=[*condition.cases, *meeting],
                    compared=[*condition.compared, *cases.compared],
                    undecided=Counter(condition.undecided) + Counter(cases.undecided(condition.facts)),
                )
                explained.update(x.id for x in meeting)
        rest = [x for x in cases.compared if x.id not in explained]
        about = [cases.facts[result.id] for result in rest]
        on_progress(0.0, 0, f"Finding conditions of {kind}cases")
        conditions += (
            RunCondition(
                facts=facts,
                kind=kind,
                cases=cases.meeting(facts),
                compared=cases.compared,
                undecided=cases.undecided(facts),
            )
            for facts in conditions_of(about, [symptoms.get(result.id, "") for result in rest])
        )
    return conditions


class _ComparedCases:
    """The valid or the invalid cases of a run. Those that pass or fail are compared, unless they are too large."""

    def __init__(
        self, suite: Suite, results: Sequence[Result], each: Callable[[Sequence[Result]], Iterator[Result]]
    ) -> None:
        """`each` goes through cases and shows how far it is."""
        self._suite, self.results, self._each = suite, results, each
        self.decided = [result for result in results if result.verdict in DECIDED]
        self._large = [result for result in results if not is_read(suite.recent_case(suite.by_id[result.id]))]
        large = {x.id for x in self._large}
        self.compared = [x for x in self.decided if x.id not in large]
        self._others = [result for result in results if result.verdict not in DECIDED and result.id not in large]

    @cached_property
    def facts(self) -> Mapping[str, frozenset[Fact]]:
        """The facts about the compared cases, by their ids."""
        return {x.id: _facts(self._suite, x.id) for x in self._each(self.compared)}

    @cached_property
    def _facts_of_others(self) -> Mapping[str, frozenset[Fact]]:
        return {result.id: _facts(self._suite, result.id) for result in self._each(self._others)}

    def meeting(self, condition: Condition) -> list[Result]:
        """The compared cases that meet a condition."""
        return [x for x in self.compared if _meets(self.facts[x.id], condition)]

    def undecided(self, condition: Condition) -> Mapping[str, int]:
        """How many other cases meet a condition, by their verdicts, and how many are too large to tell."""
        verdicts = Counter(x.verdict for x in self._others if _meets(self._facts_of_others[x.id], condition))
        return dict(verdicts) | ({"large": len(self._large)} if self._large else {})


def _meets(facts: frozenset[Fact], condition: Condition) -> bool:
    return all(not facts.isdisjoint(alternatives) for alternatives in condition)


def _passing(cases: Sequence[Result]) -> int:
    return sum(case.verdict == "pass" for case in cases)


def _facts(suite: Suite, identity: str) -> frozenset[Fact]:
    entry = suite.by_id[identity]
    case = suite.recent_case(entry)
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    expected = [suite.golden(entry, feed) for feed in range(case.feeds) if expected_name(feed) in entry.files]
    if isinstance(entry.expect, Reject):
        about = [violation_fact(entry.expect.reject)]
    else:
        compared = {name for names in suite.header.establishes.get(case.op, {}).values() for name in names}
        about = [requirement_fact(requirement) for requirement in entry.requirements if requirement not in compared]
    return facts_of(case, feeds, expected).union(about)
