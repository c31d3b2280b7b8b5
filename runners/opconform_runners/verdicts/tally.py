"""Tallies of a streamed run: it keeps the results of cases that fail, and counts the others."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ConfigDict

from opconform.suite.case import ProfileName
from opconform_runners.verdicts.verdict import VerdictName

#: The verdicts whose results are kept.
KEPT = frozenset({"fail", "error"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """Cases of one operation and profile that have the same verdict and are evidence for the same requirements."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    op: str
    profile: ProfileName
    verdict: VerdictName
    requirements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How many cases of a kind have no results."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    cases: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Streamed:
    """What a streamed run has beside its results: the number of cases in all shards, and its tallies."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    cases: int
    tallies: tuple[Tally, ...]


def tallies_of(counts: Mapping[Kind, int]) -> tuple[Tally, ...]:
    """Counts as tallies, sorted."""
    ordered = sorted(counts, key=lambda each: (each.op, each.profile, each.verdict, each.requirements))
    return tuple(Tally(kind=each, cases=counts[each]) for each in ordered if counts[each])


def counts_of(tallies: Iterable[Tally]) -> Counter[Kind]:
    """Tallies as counts."""
    counts: Counter[Kind] = Counter()
    for each in tallies:
        counts[each.kind] += each.cases
    return counts
