"""A streamed run: the cases are generated, executed and dropped in batches, so that no disk holds all of them.

The results and the cases of failures are kept, and the other cases are counted. Finished batches are not repeated by
the run that continues an interrupted one.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from opconform.errors import DiskError, HarnessError, UsageError, counted
from opconform.suite.manifest import Header
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Shard
from opconform.suite.storage.extract import write_extract
from opconform.suite.storage.ownership import discard
from opconform.system.files import replace_file
from opconform_runners.execution.log.logged_outcome import logged_line
from opconform_runners.execution.log.outcomes import OutcomeLog, linked, log_in
from opconform_runners.execution.log.results_folder import DONE, STREAM, SUITES, check_batches
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import OnProgress, Run, run_suite
from opconform_runners.execution.scale.finished_batch import NOT_OF_DONE, Done, done_text, read_done
from opconform_runners.execution.scale.merge import join_logs, join_suites, uncount
from opconform_runners.execution.scale.remote import implementation_of
from opconform_runners.harness.command import Command
from opconform_runners.verdicts.results import (
    BATCHES,
    OUTCOMES,
    RESULTS,
    Result,
    is_kept,
    joined,
    kind_of,
    placements_of,
    write_results,
)
from opconform_runners.verdicts.run_header import RunHeader, differences, header_line, ids_digest, suite_note
from opconform_runners.verdicts.tally import Kind, Streamed, counts_of, tallies_of

_SUITE, _FAILED = SUITES
#: The selection of a batch, which only the stream knows.
_NOTHING = "0" * 64


class Source(Protocol):
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
    source: Source, command: Command, out: Path, options: RunOptions, on_progress: OnProgress = lambda *_: None
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
    with contextlib.closing(OutcomeLog(out, force=options.force, resume=False)) as log:
        folder = out / BATCHES
        _begin(folder, source.digest, options)
        merged = Merged(shard=options.selection.shard)
        places = []
        implementation = cache(lambda: implementation_of(command, options.executor))

        def expected(done: Done) -> RunHeader:
            return replace(
                done.header,
                suite=replace(suite_note(source.header), digest=source.digest),
                requirements=source.header.requirements,
                implementation=replace(implementation(), hardware=None, driver=None),
                started=command.options,
                profiles=tuple(sorted(options.selection.profiles)),
                whole=options.whole,
                strict=options.strict,
                timeout=options.timeout,
                memory=command.memory,
                outputs=None,
                program=command.program if options.executor is None else done.header.program,
            )

        def on_case(_: float, count: int) -> None:
            on_progress(source.done, merged.cases + count)

        interrupted, gave_up = None, None
        try:
            for batch in source:
                place = folder / f"{batch.number:06}"
                is_earlier = (place / DONE).is_file()
                done = _done(batch, source, command, place, options, on_case)
                if is_earlier and (other := differences(done.header, expected(done))):
                    raise _changed(other)
                merged.add(done, place)
                places.append(place)
                on_case(0.0, 0)
        except (KeyboardInterrupt, DiskError, HarnessError) as error:
            if not places:
                raise
            interrupted, gave_up = error, f"Interrupted after {counted(merged.cases, 'case')}"
        header = merged.header(max(source.total, merged.cases), source.ids or _NOTHING)
        log.begin(header)
        join_logs({name: place for name, (_, place) in merged.kept.items()}, log)
        write_results(out, header, merged.ordered, interrupted=interrupted is not None)
        join_suites([open_suite(place / _FAILED) for place in places], out / _SUITE)
        with contextlib.suppress(UsageError):  # something else was put there
            check_batches(folder)
            if interrupted is None:
                discard(folder)
    return Run(
        header=header,
        results=tuple(merged.ordered),
        missing=(),
        gave_up=gave_up,
        interrupted=interrupted,
        continued=0,
    )


def _begin(folder: Path, digest: str, options: RunOptions) -> None:
    """Check that the folder has batches of no other stream."""
    content = json.dumps({"digest": digest, "shard": str(options.selection.shard)}).encode()
    held = folder / STREAM
    check_batches(folder)
    if options.force:
        discard(folder)
    elif folder.exists() and not (held.is_file() and held.read_bytes() == content):
        other = f"{folder} belongs to an interrupted certification of other cases"
        raise UsageError(f"{other}. Use another --out, or replace it with --force.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(held, content)
    except OSError as error:
        raise DiskError(folder, error) from error


def _done(
    batch: Any, source: Source, command: Command, place: Path, options: RunOptions, on_progress: OnProgress
) -> Done:
    """A batch that is finished already, or else is executed now."""
    if (place / DONE).is_file():
        done = read_done(place, batch)
    else:
        source.write(batch, place / _SUITE)
        suite = open_suite(place / _SUITE)
        running = replace(options, selection=replace(options.selection, shard=None))
        run = run_suite(suite, command, place, running, on_progress)
        if run.interrupted is not None:
            raise run.interrupted
        if run.gave_up is not None:
            raise HarnessError(f"{run.gave_up} The same command continues with the cases that are left.")
        done = _done_of(run, batch.own)
        try:
            _keep_failed(suite, [*done.results, *done.repeated], place)
            replace_file(place / DONE, done_text(done))
        except OSError as error:
            raise DiskError(place, error) from error
    discard(place / _SUITE)
    (place / RESULTS).unlink(missing_ok=True)
    return done


def _changed(properties: Sequence[str]) -> UsageError:
    return UsageError(
        f"The run cannot be continued: {', '.join(properties)} changed since it was interrupted. "
        f"Use another --out, or replace the results with --force."
    )


def _done_of(run: Run, own: frozenset[str]) -> Done:
    kept = [result for result in run.results if is_kept(result)]
    counted = (result for result in run.results if not is_kept(result) and result.id in own)
    environment = run.header.environment.placed(placements_of(run.results))
    return Done(
        own=ids_digest(own),
        header=replace(run.header, **NOT_OF_DONE),
        results=tuple(name for name in kept if name.id in own),
        repeated=tuple(name for name in kept if name.id not in own),
        tallies=tallies_of(Counter(map(kind_of, counted))),
        devices=environment.devices,
        threads=environment.threads,
    )


def _keep_failed(suite: Suite, kept: list[Result], place: Path) -> None:
    """Keep of a batch the log of the cases with results and of their twins, and write a suite of them."""
    entries, log = [suite.by_id[name.id] for name in kept], log_in(place)
    twins = [suite.by_id[entry.twin] for entry in entries if entry.twin is not None]
    names = {entry.id for entry in (*entries, *twins)}
    lines = (logged_line(logged) for logged in log.lines if logged.case in names)
    replace_file(place / OUTCOMES, linked(header_line(log.header), lines))
    write_extract(((suite, entry) for entry in (*entries, *twins)), suite.header, place / _FAILED)


@dataclass(kw_only=True)
class Merged:
    """The finished batches of a run, or shards of one, as far as they are merged: kept results and their folders."""

    shard: Shard | None
    first: RunHeader | None = None
    counts: Counter[Kind] = field(default_factory=Counter)
    kept: dict[str, tuple[Result, Path]] = field(default_factory=dict)
    devices: set[str] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)

    @property
    def cases(self) -> int:
        """How many cases have a verdict."""
        return len(self.kept) + self.counts.total()

    @property
    def ordered(self) -> list[Result]:
        """The kept results, sorted by id."""
        return [result for _, (result, _) in sorted(self.kept.items())]

    def add(self, done: Done, place: Path) -> None:
        """Add a batch. A failure of a repeated twin counts, even if the twin passed in another batch."""
        self.first = self.first or done.header
        if other := differences(self.first, done.header):
            raise _changed(other)
        self.counts += counts_of(done.tallies)
        for result in done.results:
            first, _ = self.kept.get(result.id, (result, place))
            self.kept[result.id] = (joined(result, first), place)
        for item in done.repeated:
            if item.id not in self.kept and (self.shard is None or self.shard.holds(item.id)):
                uncount(self.counts, item)
            first, folder = self.kept.get(item.id, (item, place))
            self.kept[item.id] = (joined(first, item), folder)
        self.devices |= {*done.devices}
        self.threads |= {*done.threads}

    def header(self, total: int, ids: str) -> RunHeader:
        """The header of the whole run."""
        if self.first is None:
            raise UsageError("The stream has no cases.")
        devices, threads = tuple(sorted(self.devices)), tuple(sorted(self.threads))
        return replace(
            self.first,
            cases=self.cases,
            selected=ids,
            shard=self.shard,
            environment=replace(self.first.environment, devices=devices, threads=threads),
            streamed=Streamed(cases=total, tallies=tallies_of(self.counts)),
        )
