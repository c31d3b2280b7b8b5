"""The stream of the cases of some specs: batches that are written one after another, because all of them are too many.

The stream is a suite that is never written as a whole. Its digest covers everything that decides its bytes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opconform.errors import UsageError
from opconform.generation.expansion import families
from opconform.generation.identity.header import suite_header
from opconform.generation.options import Options
from opconform.generation.pipeline import selected_groups, write_suite
from opconform.model.draft import Draft
from opconform.specs.group import Spec
from opconform.suite.manifest import Header, header_text

#: How many cases a batch has, and the twin of the last one.
BATCH = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseBatch:
    """Consecutive cases of a stream, with the twins that they need.

    Attributes:
        own: The ids of the cases that are counted with this batch; the others are twins of another batch or shard.
    """

    number: int
    cases: tuple[Draft, ...]
    own: frozenset[str]


@dataclass(kw_only=True)
class Stream:
    """The cases of some specs in batches; only the cases of a shard if the options select one.

    Attributes:
        size: The least number of cases in a batch.
        header: The header of the suite that all cases are, without its counts and its digest.
        digest: The SHA-256 of what decides the bytes of all cases: recipe, specs, profiles, seed and dialects.
        total: How many cases the groups so far have, in all shards.
        ids: The SHA-256 of the ids of those cases in order, one per line.
        done: The completed fraction of the groups.
    """

    specs: Sequence[Spec]
    options: Options
    size: int = BATCH
    header: Header = field(init=False)
    digest: str = field(init=False)
    total: int = field(init=False, default=0)
    ids: str = field(init=False, default="")
    done: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.header = suite_header(self.specs, self.options, counts={}, cases={}, digest="0" * 64)
        profiles = " ".join(sorted(self.options.selection.profiles))
        self.digest = hashlib.sha256(f"{header_text(self.header)}{profiles}".encode()).hexdigest()

    def __iter__(self) -> Iterator[CaseBatch]:
        groups = selected_groups(self.specs, self.options.selection, self.options.limits)
        shard, every, self.total = self.options.selection.shard, hashlib.sha256(), 0
        cases: dict[str, Draft] = {}
        own: set[str] = set()
        number = 1
        for place, group in enumerate(groups, 1):
            ids: list[str] = []
            for family in families(group, seed=self.options.seed, limits=self.options.limits):
                new = [x.id for x in family.new]
                ids += new
                mine = [x for x in new if shard is None or shard.holds(x)]
                for case in family.cases:
                    if case.id in mine or family.cases[0].id in mine:
                        cases.setdefault(case.id, case)
                own.update(mine)
                if len(cases) >= self.size:
                    yield CaseBatch(number=number, cases=tuple(cases.values()), own=frozenset(own))
                    number, cases, own = number + 1, {}, set()
            every.update("".join(f"\n{id_}" for id_ in sorted(ids)).encode()[0 if self.total else 1 :])
            self.total += len(ids)
            self.done = place / len(groups)
        self.ids = every.hexdigest()
        if cases:
            yield CaseBatch(number=number, cases=tuple(cases.values()), own=frozenset(own))
        elif number == 1:
            raise UsageError(f"Shard {shard} has no cases. Use fewer shards.")

    def write(self, batch: CaseBatch, out: Path) -> None:
        """Write a batch as a suite."""
        write_suite(batch.cases, self.specs, out, self.options, whole=self.digest)
