"""A streamed run: the cases are generated, executed and dropped in batches, so that no disk holds all of them.

The log keeps the executions of cases that fail, and counts the others at the end of each batch. The cases of failures
are kept too. Finished batches are not repeated by the run that continues an interrupted one.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from opconform.errors import DiskError, SuiteError, UsageError
from opconform.suite.manifest import Header
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Shard
from opconform.suite.storage.extract import write_extract
from opconform.suite.storage.ownership import discard
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.executor import AnyExecutor, planned
from opconform_runners.execution.log.logged_outcome import BatchEnd
from opconform_runners.execution.log.outcomes import Log, OutcomeLog
from opconform_runners.execution.log.results_folder import check_batches
from opconform_runners.execution.plan import RunOptions, RunPlan, empty_header
from opconform_runners.execution.progress import OnProgress
from opconform_runners.execution.run import Run
from opconform_runners.execution.runner import Judgement, run_supply
from opconform_runners.execution.scale.merge import SUITE, join_suites, uncount
from opconform_runners.execution.scale.remote import implementation_of
from opconform_runners.harness.command import Command
from opconform_runners.verdicts.results import BATCHES, Result, is_kept, joined, placements_of, tally_kind_of
from opconform_runners.verdicts.run_header import RunHeader, ids_digest
from opconform_runners.verdicts.tally import KEPT, Kind, Streamed, tallies_of, tally_counts


class BatchSource(Protocol):
    """A stream of cases in batches.

    Attributes:
        header: The header of the suite that all of them are, without its counts and its digest.
        digest: The digest of that suite.
        total: After the last batch, the number of all cases, in all shards.
        ids: After the last batch, the SHA-256 of their ids.
        done: The fraction of the cases that the batches so far have.
    """

    header: Header
    digest: str
    total: int
    ids: str
    done: float

    def __iter__(self) -> Iterator[Any]:
        """The batches, the same ones each time.

        Each has a `number`, its `cases` with their `profile` and `requirements`, and in `own` the ids of those that are
        counted with it.
        """

    def write(self, batch: Any, out: Path) -> None:
        """Write the suite of a batch."""


def run_stream(
    source: BatchSource, command: Command, out: Path, options: RunOptions, on_progress: OnProgress = lambda *_: None
) -> Run:
    """Generate, execute and drop the batches of a stream, and write the results and a suite of the failures to `out`.

    An interrupted run has the results of the batches that are finished; the same call continues it.

    Raises:
        DiskError: The disk is full before the first batch is finished.
        HarnessError: The harness cannot be started.
        KeyboardInterrupt: The run was interrupted before its first batch was finished.
        SuiteError: A finished batch was changed.
        UsageError: The folder holds something else, or the backend or an option changed since a finished batch.
    """
    check_batches(out / BATCHES)
    plan, executor_of = planned(command, out, options)
    return run_supply(_Batches(source, command, plan, executor_of, on_progress), plan)


@dataclass(slots=True)
class _Batches:
    """The batches of a stream, as the parts of a run. The suites of their failures are in a folder until the end."""

    source: BatchSource
    command: Command
    plan: RunPlan
    executor_of: Callable[[Suite], AnyExecutor]
    on_progress: OnProgress
    counted: "Counted" = field(init=False)
    places: list[Path] = field(default_factory=list)
    header: RunHeader | None = None

    def __post_init__(self) -> None:
        self.counted = Counted(shard=self.plan.options.selection.shard)

    def parts(self, log: OutcomeLog) -> Iterator[Judgement]:
        """The batches that are not finished; each is dropped when it is over."""
        folder, earlier = self.plan.out / BATCHES, log.earlier
        if earlier is None:
            discard(folder)
        else:
            implementation = implementation_of(self.command, self.plan.options.executor)
            log.begin(self._header_of(resolved(implementation, self.source.header.declarations)))
        for batch in self.source:
            place = folder / f"{batch.number:06}"
            if earlier is not None and batch.number in earlier.batches:
                end, results = _finished(batch, earlier, place)
            else:
                self.source.write(batch, place)
                suite = open_suite(place)
                executor = self.executor_of(suite)
                judgement = Judgement(
                    suite, suite.entries, executor, self.plan, log, self._header_of, self._on_batch_progress
                )
                yield judgement
                end, results = _dropped(batch, judgement, log, place)
            self.counted.add(end, results)
            self.places.append(place)
            self.on_progress(self.source.done, self.counted.cases)

    def conclude(self) -> Run | None:
        """The results of the finished batches; writes the suite of their failures."""
        if self.header is None or not self.places:
            return None
        header = self.counted.header_of(self.header, self.source.total)
        header = replace(header, selected=self.source.ids or header.selected)
        join_suites([open_suite(place) for place in self.places], self.plan.out / SUITE)
        return Run(header=header, results=tuple(self.counted.ordered))

    def clear(self) -> None:
        """Remove the suites of the batches."""
        with contextlib.suppress(UsageError):  # something else was put there
            check_batches(self.plan.out / BATCHES)
            discard(self.plan.out / BATCHES)

    def _header_of(self, implementation: Implementation) -> RunHeader:
        header = empty_header(self.source.header, self.plan, implementation)
        suite, nothing = replace(header.suite, digest=self.source.digest), Streamed(cases=0, tallies=())
        self.header = replace(header, suite=suite, streamed=nothing)
        return self.header

    def _on_batch_progress(self, fraction: float, count: int, stage: str = "", /) -> None:
        if stage:
            self.on_progress(fraction, count, stage)
        else:
            self.on_progress(self.source.done, self.counted.cases + count)


def _dropped(batch: Any, judgement: Judgement, log: OutcomeLog, place: Path) -> tuple[BatchEnd, list[Result]]:
    """Drop the cases of an executed batch but for failures and their twins; returns its end and its kept results."""
    suite, every = judgement.suite, judgement.results()
    kept = [result for result in every if is_kept(result)]
    entries = [suite.by_id[result.id] for result in kept]
    entries += [suite.by_id[entry.twin] for entry in entries if entry.twin is not None]
    counted = (result for result in every if not is_kept(result) and result.id in batch.own)
    environment = judgement.header.environment.placed(placements_of(every))
    end = BatchEnd(
        batch=batch.number,
        own=ids_digest(batch.own),
        tallies=tallies_of(Counter(map(tally_kind_of, counted))),
        repeated=tuple(sorted(result.id for result in kept if result.id not in batch.own)),
        devices=environment.devices,
        threads=environment.threads,
    )
    try:
        write_extract(((suite, entry) for entry in entries), suite.header, place)
    except OSError as error:
        raise DiskError(place, error) from error
    log.end_batch(end, {entry.id for entry in entries})
    return end, kept


def _finished(batch: Any, log: Log, place: Path) -> tuple[BatchEnd, list[Result]]:
    """The end and the kept results of a batch that is finished; a SuiteError if it is another batch, or was changed."""
    end, kept = _read_batch(log, batch.number, place)
    for contradiction in _contradictions(end, batch, {result.id for result in kept}):
        what = f"{log.path} was changed after the run: in batch {batch.number}, {contradiction}"
        raise SuiteError(f"{what}. Repeat the run with --force.")
    return end, kept


def killed_run(log: Log, out: Path) -> tuple[RunHeader, list[Result]]:
    """The header and the kept results of a run that was killed, with its finished batches only."""
    counted = Counted(shard=log.header.shard)
    for number in log.batches:
        counted.add(*_read_batch(log, number, out / BATCHES / f"{number:06}"))
    return counted.header_of(log.header), counted.ordered


def _read_batch(log: Log, number: int, place: Path) -> tuple[BatchEnd, list[Result]]:
    (end, lines), suite = log.batches[number], open_suite(place)
    if odd := min(suite.by_id.keys() ^ {logged.case for logged in lines}, default=None):
        raise SuiteError(f"{log.path} and {place} do not agree on {odd}. Repeat the run with --force.")
    return end, [result for result in results_of(replace(log, lines=lines), suite, settled=True) if is_kept(result)]


def _contradictions(end: BatchEnd, batch: Any, kept: set[str]) -> Iterator[str]:
    """What is wrong with the end of a batch, given its cases and the ids of its kept results."""
    if end.own != ids_digest(batch.own) or {*end.repeated} != kept - batch.own:
        yield "it has the cases of another batch"
    cases = {case.id: case for case in batch.cases if case.id in batch.own - kept}
    expected = Counter((case.op, case.profile, case.requirements) for case in cases.values())
    tallied: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    counts = tally_counts(end.tallies)
    for kind, count in counts.items():
        tallied[kind.op, kind.profile, kind.requirements] += count
    if end.tallies != tallies_of(counts) or any(kind.verdict in KEPT for kind in counts):
        yield "it counts a kind of cases twice, or cases that must have results"
    if expected != tallied:
        yield f"it counts {tallied.total():,} cases, not exactly the {expected.total():,} that it has to count"


@dataclass(kw_only=True, slots=True)
class Counted:
    """The finished batches of a run, or of a shard of one: the kept results, and the counts of the other cases."""

    shard: Shard | None
    counts: Counter[Kind] = field(default_factory=Counter)
    kept: dict[str, Result] = field(default_factory=dict)
    devices: set[str] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)

    @property
    def cases(self) -> int:
        """How many cases have a verdict."""
        return len(self.kept) + self.counts.total()

    @property
    def ordered(self) -> list[Result]:
        """The kept results, sorted by id."""
        return [result for _, result in sorted(self.kept.items())]

    def header_of(self, header: RunHeader, total: int = 0) -> RunHeader:
        """The header of the finished batches, given the number of cases in all shards as far as it is known."""
        environment = replace(
            header.environment, devices=tuple(sorted(self.devices)), threads=tuple(sorted(self.threads))
        )
        streamed = Streamed(cases=max(total, self.cases), tallies=tallies_of(self.counts))
        return replace(header, cases=self.cases, environment=environment, streamed=streamed)

    def add(self, end: BatchEnd, results: Sequence[Result]) -> None:
        """Add a batch. A failure of a repeated twin counts, even if the twin passed in another batch."""
        self.counts += tally_counts(end.tallies)
        for result in sorted(results, key=lambda result: result.id in end.repeated):
            known = self.kept.get(result.id)
            if result.id not in end.repeated:
                self.kept[result.id] = joined(result, known or result)
                continue
            if known is None and (self.shard is None or self.shard.holds(result.id)):
                uncount(self.counts, result)
            self.kept[result.id] = joined(known or result, result)
        self.devices |= {*end.devices}
        self.threads |= {*end.threads}
