"""The conditions that separate failing cases from passing ones: few that explain much.

An example: 20 cases of Split-1 fail with one symptom, and 60 pass. All that fail have the fact `data is u4`, as have 5
that pass; all that fail have `axis is given at run time`, as have 30 that pass; no passing case has both.

1. Each case is a row of a matrix, and each fact of a failing case is a column. Of equal columns, only one is used.
2. For each failure, the pairs and triples of its facts that no passing case has together are candidates. The heaviest,
   by the failures that have them, are looked at (`Pairs`). Here it is the pair of these two facts.
3. Naming the 20 failures one by one takes log2(80 / 20) = 2 bits each, or 40 bits. Naming a condition takes 4 bits
   (`_MARGIN`), and for each fact 2 bits and the logarithm of the number of facts of its kind: with 8 facts about the
   type of data and 2 about what is known only at run time, 4 + 5 + 3 = 12 bits. The condition saves 28 bits.
4. The candidate that saves most bits is chosen, the failures that it explains are removed, and the next one is chosen
   for the failures that are left. Two failures take 2 * log2(80 / 2) = 11 bits, so that no pair explains them: it could
   be chance.

A fact with alternatives stands for several columns: if cases of i4 failed too, `data is u4 or i4` would be one fact.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from opconform.tensors.tensor import Array
from opconform_runners.findings.causes.alternatives import DATA_TYPES, can_be_shared, fact_kind_of, groups
from opconform_runners.findings.causes.fact import Fact
from opconform_runners.findings.causes.pairs import COMPARED, Pairs, bits_of, product

#: The bits that a condition must save, so that few are chance, unless it is the violated requirement alone.
_MARGIN = 4
#: How much an unexplained failure with the same symptom counts in the first comparison, and how much any other.
_ALIKE, _OTHER = 10, 3
#: Facts that no passing case has together, each with its alternatives: at most three, or four with the operation.
Condition = tuple[tuple[Fact, ...], ...]


class _Candidate(NamedTuple):
    """Numbers of facts, each with its alternatives, the failing cases that have them, and the bits to be saved."""

    facts: tuple[tuple[int, ...], ...]
    met: Array
    cost: float


def conditions_of(facts: Sequence[frozenset[Fact]], symptoms: Sequence[str]) -> tuple[Condition, ...]:
    """The conditions that explain most failures and that no passing case meets; none if no case passes.

    Conditions are searched for each failure that none explains yet, and those that save most bits are chosen one after
    the other: describing cases by a condition must take fewer bits than naming each of them, and each symptom in it.

    Args:
        facts: The facts about each case.
        symptoms: The symptom of each case that fails; an empty text for a case that passes.
    """
    if not any(symptoms) or all(symptoms):
        return ()
    table = _Table(facts, symptoms)
    unexplained = np.ones(sum(map(bool, symptoms)), np.bool_)
    conditions: list[Condition] = []
    candidates = table.candidates(unexplained)
    while candidates:
        best = max(candidates, key=lambda x: table.saved(x, unexplained))
        if table.saved(best, unexplained) <= 0:
            candidates = table.candidates(unexplained)
            continue
        best = table.trimmed(best, unexplained)
        unexplained &= ~best.met
        conditions.append(tuple(tuple(table.facts[x] for x in columns) for columns in best.facts))
    return tuple(conditions)


class _Table:
    """Cases and their facts as matrices with one row per case and one column per fact."""

    def __init__(self, facts: Sequence[frozenset[Fact]], symptoms: Sequence[str]) -> None:
        fails = np.array([bool(symptom) for symptom in symptoms])
        self.facts = sorted(
            frozenset().union(*(of_case for of_case, bad in zip(facts, fails, strict=True) if bad)), key=_order
        )
        column = {fact: number for number, fact in enumerate(self.facts)}
        has_fact = np.zeros((len(facts), len(column)), np.bool_)
        for row, of_case in enumerate(facts):
            has_fact[row, [column[fact] for fact in of_case if fact in column]] = True
        self._fails, self._passes = has_fact[fails], has_fact[~fails]
        self._passing_bits = bits_of(self._passes.T)
        distinct = {has_fact[:, index].tobytes(): index for index in reversed(range(len(column)))}
        self._is_violation = np.array([fact.is_violation for fact in self.facts], np.bool_)
        self._can_be_shared = [*map(can_be_shared, self.facts)]
        self._is_used = np.isin(np.arange(len(column)), [*distinct.values()])
        ranks = {name: number for number, name in enumerate(sorted({symptom for symptom in symptoms if symptom}))}
        self._kinds = np.array([ranks[symptom] for symptom in symptoms if symptom])
        self._frequency = np.bincount(self._kinds)
        self._bits = np.log2(len(facts) / self._frequency)
        used = Counter(fact_kind_of(self.facts[x]) for x in np.flatnonzero(self._is_used))
        # each invalid case violates one requirement, so that it is not found among many facts
        self._costs = [
            2 + (0 if fact.is_violation else math.log2(used[fact_kind_of(fact)] or 1)) for fact in self.facts
        ]
        every = ([column[fact] for fact in group if fact in column] for group in groups())
        self._groups = [x for x in every if len(x) > 1]
        self._operations = [column[fact] for fact in groups()[0] if fact in column]
        self._types = [group for group in self._groups if self.facts[group[0]] in DATA_TYPES]

    def saved(self, candidate: _Candidate, unexplained: Array) -> float:
        """The bits that a condition saves for the failures that are left, beyond those that it must."""
        counts = np.bincount(self._kinds[candidate.met & unexplained], minlength=len(self._bits))
        total = counts.sum()
        if not total:
            return -math.inf
        occurring = counts > 0
        share = counts[occurring] * (np.log2(counts[occurring] / total) + self._bits[occurring])
        return float(share.sum()) - candidate.cost

    def is_shared(self, candidate: _Candidate) -> bool:
        """Whether a condition can be one reason of its failures: of one violated requirement, or by such a fact."""
        violated = self._fails[candidate.met][:, self._is_violation].any(0).sum()
        return bool(violated <= 1) or any(self._can_be_shared[columns[0]] for columns in candidate.facts)

    def trimmed(self, candidate: _Candidate, unexplained: Array) -> _Candidate:
        """A condition with only those alternatives that failures have that are left."""
        explained = self._fails[candidate.met & unexplained]
        facts = tuple(tuple(x for x in columns if explained[:, x].any()) for columns in candidate.facts)
        met = np.all([self._fails[:, columns].any(1) for columns in facts], axis=0)
        return candidate._replace(facts=facts, met=met)

    def doubt(self, candidate: _Candidate) -> float:
        """The bits of a condition, fewer if it is surprising that even the weakest of its facts separates.

        If the failing cases and those passing ones that it alone rules out were drawn at random, a common fact would
        often hold for all of the first, and a rare one for none of the second.
        """
        passing_with = [self._passes[:, alternatives].any(1) for alternatives in candidate.facts]
        missing = np.sum(np.logical_not(passing_with), axis=0)
        surprises = []
        for alternatives, passing in zip(candidate.facts, passing_with, strict=True):
            with_fact = int(passing.sum()) + int(self._fails[:, alternatives].any(1).sum())
            without = len(self._passes) + len(self._fails) - with_fact
            ruled_out = int((missing[~passing] == 1).sum())
            surprises.append(
                _surprise(int(candidate.met.sum()), with_fact, without) + _surprise(ruled_out, without, with_fact)
            )
        return candidate.cost - math.log2(1 + min(surprises))

    def candidates(self, sought: Array) -> list[_Candidate]:
        """The best conditions of some failures, the most frequent symptoms first, until every one was looked at."""
        by_cases: dict[bytes, _Candidate] = {}
        done = ~sought
        for seed in sorted(range(len(done)), key=lambda x: (-self._frequency[self._kinds[x]], self._kinds[x], x)):
            if done[seed]:
                continue
            compared = [x for x in self._conditions(seed, done) if self.is_shared(x)]
            remaining = ~done
            done[seed] = True
            for failures in (sought, remaining):
                best = max(compared, key=lambda x: self.saved(x, failures), default=None)
                if best is not None and self.saved(best, failures) > 0:
                    same = (x for x in compared if (x.met == best.met).all() and self.saved(x, failures) > 0)
                    by_cases.setdefault(best.met.tobytes(), min(same, key=self.doubt))
                    done |= best.met
        return [candidate for candidate in by_cases.values() if self.saved(candidate, sought) > 0]

    def _conditions(self, seed: int, done: Array) -> Iterator[_Candidate]:
        """The most promising conditions that a failure meets; also the violated requirement, if all such cases fail."""
        for violated in np.flatnonzero(self._fails[seed] & self._is_violation).tolist():
            both = [violated, *(operation for operation in self._operations if self._fails[seed, operation])]
            named = next(
                (both[:count] for count in (1, 2) if not self._met((*both[:count],), self._passes).any()), None
            )
            if named:
                met = self._met((*named,), self._fails)
                yield _Candidate(tuple((x,) for x in named), met, self._costs[violated])
        mine = np.flatnonzero(self._fails[seed] & self._is_used)
        alike = np.where(self._kinds == self._kinds[seed], _ALIKE, _OTHER)
        weights = np.where(done, np.minimum(alike, _OTHER), alike).astype(np.float32)
        pairs = Pairs(self._fails[:, mine], self._passes[:, mine], weights)
        promising = [*pairs.pure(), *pairs.triples()]
        for number, group in enumerate(self._groups):
            of_seed = [place for place, x in enumerate(group) if self._fails[seed, x]]
            if of_seed:
                promising += pairs.alternatives(number, self._fails[:, group], self._passes[:, group], of_seed)
        costs = [0, *(self._costs[x] for x in mine)]
        promising.sort(key=lambda x: (-x[0], sum(costs[place] for place in {*x[1]}), x[1:]))
        for _, places, number in promising[:COMPARED]:
            columns = tuple(int(mine[place - 1]) for place in sorted({*places} - {0}))
            yield self._candidate(columns, None if number < 0 else self._groups[number])
        for group in self._types:
            if self._fails[seed, group].any():
                for columns in ((), *((int(x),) for x in mine)):
                    yield from self._rectangles(seed, columns, group, weights)

    def _candidate(self, columns: tuple[int, ...], group: Sequence[int] | None) -> _Candidate:
        met, cost = self._met(columns, self._fails), _MARGIN + sum(self._costs[column] for column in columns)
        if group is None:
            return _Candidate(tuple((column,) for column in columns), met, cost)
        passing = self._met(columns, self._passes)
        chosen = [x for x in group if self._fails[met, x].any() and not self._passes[passing, x].any()]
        named = (*((column,) for column in columns), tuple(chosen))
        return _Candidate(named, met & self._fails[:, chosen].any(1), cost + _choice(group, chosen))

    def _rectangles(
        self, seed: int, columns: tuple[int, ...], group: Sequence[int], weights: Array
    ) -> Iterator[_Candidate]:
        """The condition with some facts, alternatives of a group, and some operations."""
        row, line = (
            next((place for place, x in enumerate(alternatives) if self._fails[seed, x]), None)
            for alternatives in (group, self._operations)
        )
        if row is None or line is None:
            return
        together = [*columns, group[row], self._operations[line]]
        if np.bitwise_and.reduce(self._passing_bits[together]).any():
            return
        failing, passing = (self._met(columns, cases) for cases in (self._fails, self._passes))
        fails, passes = (facts.astype(np.float32) for facts in (self._fails[failing], self._passes[passing]))
        good = product(fails[:, group] * weights[failing, None], fails[:, self._operations])
        bad = product(passes[:, group], passes[:, self._operations])
        kinds, operations = _rectangle(np.where(bad > 0, -1, good), row, line)
        chosen, where = [group[kind] for kind in kinds], [self._operations[operation] for operation in operations]
        if len(kinds) > 1 and len(operations) > 1 and passes[:, chosen].any():
            met = failing & self._fails[:, chosen].any(1) & self._fails[:, where].any(1)
            cost = _MARGIN + sum(self._costs[column] for column in columns) + _choice(group, chosen)
            named = (*((column,) for column in columns), tuple(chosen), tuple(where))
            yield _Candidate(named, met, cost + _choice(self._operations, where))

    @staticmethod
    def _met(columns: tuple[int, ...], has_fact: Array) -> Array:
        return np.asarray(has_fact[:, columns].all(1), np.bool_)


def _surprise(drawn: int, hits: int, others: int) -> float:
    """The bits of drawing only hits at random."""
    return drawn * math.log2((hits + others) / hits) if drawn else 0


def _rectangle(worth: Array, row: int, line: int) -> tuple[list[int], list[int]]:
    """The rows and columns around a cell whose cells are all allowed (not -1), and that are worth most together."""

    def rows_of(lines: list[int]) -> list[int]:
        chosen = worth[:, lines]
        return [int(x) for x in np.flatnonzero((chosen >= 0).all(1) & (chosen > 0).any(1))]

    lines = [int(x) for x in np.flatnonzero(worth[row] > 0)]
    rows = rows_of(lines)
    while True:
        fewer = [[kept for kept in lines if kept != dropped] for dropped in lines if dropped != line]
        best = max(fewer, key=lambda x: worth[np.ix_(rows_of(x), x)].sum(), default=None)
        if best is None or worth[np.ix_(rows_of(best), best)].sum() <= worth[np.ix_(rows, lines)].sum():
            return rows, lines
        lines, rows = best, rows_of(best)


def _choice(group: Sequence[int], named: Sequence[int]) -> float:
    """The bits that name some alternatives of a group."""
    return 2 + math.log2(math.comb(len(group), len(named)))


def _order(fact: Fact) -> tuple[int, list[int]]:
    """The order of facts that the same cases have: the shortest first, and then the one with the highest number."""
    return len(fact.sentence), [-ord(x) for x in fact.sentence]
