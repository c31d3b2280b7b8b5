"""The schedule of a run with packs: which case or pack is executed next, given what came of those before.

The cases of one operation come together, sorted by element type, so that refusals come together: first in packs, then
those that are executed alone.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform_runners.execution.packs.eligibility import Eligibility
from opconform_runners.execution.packs.pack import Member, Pack, Packed
from opconform_runners.execution.packs.sample import PackHistory, sample_of
from opconform_runners.execution.packs.size import Limits
from opconform_runners.harness.outcome import Crashed, Error, Incident, Outcome, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts import judge
from opconform_runners.verdicts.verdict import Own, Pass


class OnPacked(Protocol):
    """Called with each case of a pack, its outcome and what it shows."""

    def __call__(self, entry: Entry, case: Case, outcome: Outcome, packed: Packed, /, *incidents: Incident) -> None:
        """Note an outcome, and what happened to the process."""


@dataclass(slots=True)
class Schedule:
    """The cases that wait, in the order of their operations.

    Attributes:
        alone: The cases that are executed alone next.
        packs: The packs that were formed and not sent.
        checks: The ids of cases that passed in a pack and are executed alone too.
        differing: The operations with a case that passed in a pack, but not alone.
        sampled: The operations with a pass that was executed alone too.
        given_up: The operations whose cases are executed alone, since one differed or many ended a process.
    """

    entries: Sequence[Entry]
    eligibility: Eligibility
    limits: Limits
    on_packed: OnPacked
    alone: deque[Entry] = field(default_factory=deque)
    packs: deque[Pack] = field(default_factory=deque)
    checks: set[str] = field(default_factory=set)
    differing: set[str] = field(default_factory=set)
    sampled: set[str] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    _later: deque[list[Entry]] = field(init=False)
    _members: deque[Member] = field(default_factory=deque)
    _rest: list[Entry] = field(default_factory=list)
    _passed: dict[str, list[Entry]] = field(default_factory=dict)
    _incidents: dict[str, tuple[Incident, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._later = deque([*cases] for _, cases in groupby(self.entries, key=lambda entry: entry.op))

    def __len__(self) -> int:
        """About as many as there are requests."""
        waiting = sum(map(len, self._later)) + len(self._members)
        return len(self.alone) + len(self.packs) + len(self._rest) + -(-waiting // self.limits.packs)

    def next(self) -> Entry | Pack | None:
        """The next case or pack; None if there is none."""
        while True:
            if self.alone:
                return self.alone.popleft()
            if self.packs:
                return self.packs.popleft()
            if self._members:
                self._form()
            elif self._rest:
                self.alone.extend(self._rest)
                self._rest = []
            elif self._later:
                self._open(self._later.popleft())
            else:
                return None

    def put_back(self, item: Entry | Pack, /) -> None:
        """Execute a case or a pack before the others, since it was not executed."""
        if not isinstance(item, Pack):
            self.alone.appendleft(item)
        elif item.op in self.given_up:
            self.take_apart(item)
        else:
            self.packs.appendleft(item)

    def settle(self, pack: Pack, outcome: Outcome, incidents: tuple[Incident, ...], seconds: float) -> None:
        """Report what is seen of each case of a pack, or halve the pack if it was refused, crashed or hung.

        The cases that did not pass are executed alone next, and so is the sample of the others. `incidents` are what
        happened to the process at the pack, and did not happen again if it has another outcome now.
        """
        is_ended = isinstance(outcome, Crashed | TimedOut | Error)
        if incidents and not is_ended:
            self._incidents[pack.ids[-1]] = incidents
        parts = pack.parts(outcome) if isinstance(outcome, Returned) else None
        if parts is None:
            if is_ended:
                smaller = pack.quarters
                if self.limits.note_ended(pack.op):
                    self._give_up(pack.op)
            else:
                named = pack.named(outcome.message) if isinstance(outcome, Refused | NotSupported) else []
                self.limits.note_refused(pack.op, len(pack.members), is_named=bool(named))
                smaller = pack.without(named) if named else pack.halves
            for members in reversed(smaller):
                self._wait(members, is_suspect=is_ended or pack.is_suspect)
            return
        verdicts = [self._verdict(x.entry, x.case, part) for x, part in zip(pack.members, parts, strict=True)]
        passed = [x.entry for x, verdict in zip(pack.members, verdicts, strict=True) if isinstance(verdict, Pass)]
        self.limits.note_executed(pack.op, len(pack.members), seconds, len(passed))
        sample = self._sample(pack.op, passed)
        self.checks |= sample
        counted = {entry.id for entry in passed} - sample
        self.alone.extend(member.entry for member in pack.members if member.entry.id not in counted)
        for member, part, verdict in zip(pack.members, parts, verdicts, strict=True):
            packed = Packed(pack=pack.name, own=verdict, checked=member.entry.id in sample)
            self.on_packed(member.entry, member.case, part, packed, *self.incidents_at(member.entry.id))

    def resume(self, history: PackHistory) -> None:
        """Take what was seen before an interruption."""
        self.checks |= history.unchecked
        self.differing |= history.differing
        self.given_up |= history.differing
        self._note_passed(self.eligibility.suite.by_id[name] for name in sorted(history.counted))

    def take_apart(self, pack: Pack) -> None:
        """Execute the cases of a pack alone."""
        self.alone.extend(member.entry for member in pack.members)

    def incidents_at(self, case: str) -> tuple[Incident, ...]:
        """What happened at the pack of a case and was not reported; it is reported with the next outcome."""
        return self._incidents.pop(case, ())

    def check(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        """Note the outcome of a case alone. If it passed in a pack alone, its operation is not packed any more."""
        if entry.id not in self.checks or entry.op in self.differing:
            return
        if isinstance(self._verdict(entry, case, outcome), Pass):
            return
        self.differing.add(entry.op)
        again = [passed for passed in self._passed.pop(entry.op, []) if passed.id not in self.checks]
        self.alone.extend(again)
        self._give_up(entry.op)

    def _sample(self, op: str, passed: Sequence[Entry]) -> set[str]:
        """The cases among those that passed that are executed alone too."""
        if op in self.differing:
            return {entry.id for entry in passed}
        sample = sample_of([entry.id for entry in passed], is_first=op not in self._passed and op not in self.sampled)
        self.sampled |= {op} if sample else set()
        self._note_passed(passed)
        return sample

    def _note_passed(self, entries: Iterable[Entry]) -> None:
        """Note cases that passed in packs, which are executed alone if a case of their operation differs."""
        for entry in entries:
            self._passed.setdefault(entry.op, []).append(entry)

    def _give_up(self, op: str) -> None:
        """Execute the rest of an operation alone."""
        self.given_up.add(op)
        for pack in [pack for pack in self.packs if pack.op == op]:
            self.packs.remove(pack)
            self.take_apart(pack)
        self.alone.extend(member.entry for member in self._members if member.case.op == op)
        self._members = deque(member for member in self._members if member.case.op != op)

    def _verdict(self, entry: Entry, case: Case, outcome: Outcome) -> Own:
        flushes = self.eligibility.implementation.flushes_denormals
        return judge.first_verdict(self.eligibility.suite, entry, case, outcome, flushes=flushes)

    def _open(self, entries: Iterable[Entry]) -> None:
        """Read the cases of the next operation, and sort out those that may be packed."""
        members: list[Member] = []
        for entry in entries:
            member = None if self.limits.is_useless or entry.op in self.given_up else self.eligibility.member(entry)
            if member is None:
                self._rest.append(entry)
            else:
                members.append(member)
        self._members.extend(sorted(members, key=lambda member: member.order))

    def _form(self) -> None:
        """Form the next pack of the cases that may be packed."""
        first, part = self._members[0], list[Member]()
        while self._members and len(part) < self.limits.size(first.case.op) and self._members[0].kind == first.kind:
            part.append(self._members.popleft())
        self._wait(part)

    def _wait(self, members: Sequence[Member], *, is_suspect: bool = False) -> None:
        """Let cases wait as a pack, but for a single one."""
        if len(members) == 1 or members[0].case.op in self.given_up:
            self.alone.extend(member.entry for member in members)
        else:
            self.packs.appendleft(Pack(members=tuple(members), is_suspect=is_suspect))
