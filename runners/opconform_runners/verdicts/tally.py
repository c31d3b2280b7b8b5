"""Tallies of a streamed run: it keeps the results of cases that fail, and counts the others."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from opconform.suite.names import ProfileName
from opconform.suite.selection.selection import Selection
from opconform_runners.verdicts.accuracy_level import AccuracyLevel
from opconform_runners.verdicts.verdict import VerdictName

#: What was seen of a case in a pack: it passed there, and was not executed alone; it passed there and alone; it passed
#: there, but not alone; it passed alone, but not there.
PackNote = Literal["counted", "confirmed", "differs", "alone-only"]
PACK_NOTES: tuple[PackNote, ...] = ("counted", "confirmed", "differs", "alone-only")
#: The verdicts whose results are kept.
KEPT = frozenset({"fail", "error"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """Cases of one operation and profile with one verdict and accuracy that are evidence for the same requirements.

    Attributes:
        accuracy: The level of their rounded outputs, if they passed.
        rounded: The element type of these outputs.
        pack: What was seen of them in packs.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    op: str
    profile: ProfileName
    verdict: VerdictName
    requirements: tuple[str, ...]
    accuracy: AccuracyLevel | None = None
    rounded: str | None = None
    pack: PackNote | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How many cases of a kind have no results."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    cases: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Streamed:
    """What a streamed run has beside its results: the number of cases in all shards, and its tallies."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    cases: Annotated[int, Field(ge=0)]
    tallies: tuple[Tally, ...]

    def contradictions(
        self, cases: int, requirements: Mapping[str, Collection[str]], profiles: tuple[str, ...]
    ) -> Iterator[str]:
        """What the tallies of a part of the cases contradict, given the known requirements and the profiles."""
        if cases > self.cases:
            yield f"it has {cases:,} cases, but its header says {self.cases:,} in all shards"
        if self.tallies != tallies_of(tally_counts(self.tallies)):
            yield "its tallies are not sorted, or one is repeated"
        for kind in (tally.kind for tally in self.tallies):
            if kind.verdict in KEPT:
                yield f"it counts cases with the verdict {kind.verdict}, which have results of their own"
            if not Selection(profiles=profiles).wants_profile(kind.profile):
                yield f"it counts cases of the profile {kind.profile}, which was not run"
            if kind.op not in requirements or not {*kind.requirements} <= {*requirements[kind.op]}:
                yield f"it counts cases of {kind.op} for a requirement that does not exist"


def tallies_of(counts: Mapping[Kind, int]) -> tuple[Tally, ...]:
    """Counts as tallies, sorted."""
    ordered = sorted(counts, key=_order)
    return tuple(Tally(kind=x, cases=counts[x]) for x in ordered if counts[x])


def _order(kind: Kind) -> tuple[str | tuple[str, ...], ...]:
    further = (kind.accuracy or "", kind.rounded or "", kind.pack or "")
    return (kind.op, kind.profile, kind.verdict, kind.requirements, *further)


def tally_counts(tallies: Iterable[Tally]) -> Counter[Kind]:
    """Tallies as counts."""
    counts: Counter[Kind] = Counter()
    for tally in tallies:
        counts[tally.kind] += tally.cases
    return counts
