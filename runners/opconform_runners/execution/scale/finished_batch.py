"""A finished batch of a streamed run: `done.json` counts its cases, and the others have their log and a suite."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import SuiteError
from opconform.suite.manifest import first_error, sealed_text
from opconform.suite.reader import open_suite
from opconform.system.files import read_regular
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log.outcomes import log_in
from opconform_runners.execution.log.results_folder import DONE, SUITES
from opconform_runners.verdicts.results import RESULTS_LIMIT, Result, is_kept
from opconform_runners.verdicts.run_header import RunHeader, ids_digest
from opconform_runners.verdicts.tally import KEPT, Tally, counts_of, tallies_of

#: How to get past a batch that cannot be used.
AGAIN = "Repeat the run with --force."


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """A finished batch: the results that it keeps, and what it counts; `repeated` are kept results of other batches.

    `own` is the SHA-256 of the ids that are counted with it, and `checksum` that of the other fields. The results are
    not in the file: they follow from the log.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    own: str
    header: RunHeader
    tallies: tuple[Tally, ...]
    devices: tuple[str, ...]
    threads: tuple[int, ...]
    results: tuple[Result, ...] = ()
    repeated: tuple[Result, ...] = ()
    checksum: str = ""


_DONE = TypeAdapter(Done)


def done_text(done: Done) -> bytes:
    """A finished batch as it is written, with its checksum."""
    return sealed_text(_DONE.dump_python(done, mode="json", exclude={"checksum", "results", "repeated"})).encode()


#: The fields of the header of a batch's log that the one in `done.json` does not have.
NOT_OF_DONE: Any = {"selected": "0" * 64, "cases": 0}


def read_done(place: Path, batch: Any) -> Done:
    """The finished batch in a folder; a SuiteError if it is another batch, or was changed."""
    path = place / DONE
    try:
        content = read_regular(path, RESULTS_LIMIT)
        done = _DONE.validate_json(content)
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise SuiteError(f"{path} is not a finished batch: {first_error(error)}. {AGAIN}") from error
    if done_text(done) != content:
        raise SuiteError(f"{path} was changed after the run: its checksum differs. {AGAIN}")
    failed, log = open_suite(place / SUITES[1]), log_in(place)
    if odd := min(failed.by_id.keys() ^ {logged.case for logged in log.lines}, default=None):
        raise SuiteError(f"{log.path} and {failed.store.root} do not agree on {odd}. {AGAIN}")
    if log.header.cases != len(batch.cases) or replace(log.header, **NOT_OF_DONE) != done.header:
        raise SuiteError(f"{log.path} is the log of another batch than {path}. {AGAIN}")
    kept = [result for result in results_of(log, failed, settled=True) if is_kept(result)]
    for contradiction in _contradictions(done, batch, kept):
        raise SuiteError(f"{path} was changed after the run: {contradiction}. {AGAIN}")
    return replace(
        done,
        results=tuple(result for result in kept if result.id in batch.own),
        repeated=tuple(result for result in kept if result.id not in batch.own),
    )


def _contradictions(done: Done, batch: Any, kept: Sequence[Result]) -> Iterator[str]:
    """What is wrong with a finished batch, given its cases and its results."""
    if done.own != ids_digest(batch.own):
        yield "it has the cases of another batch"
    cases, ids = {case.id: case for case in batch.cases}, {result.id for result in kept}
    yield from _false_counts(done, {name: case for name, case in cases.items() if name in batch.own - ids})


def _false_counts(done: Done, cases: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the counts of a batch, given the cases that are counted."""
    counted = Counter((case.op, case.profile, case.requirements) for case in cases.values())
    tallied: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    counts = counts_of(done.tallies)
    for kind, count in counts.items():
        tallied[kind.op, kind.profile, kind.requirements] += count
    if done.tallies != tallies_of(counts) or any(kind.verdict in KEPT for kind in counts):
        yield "it counts a kind of cases twice, or cases that must have results"
    if counted != tallied:
        yield f"it counts {tallied.total():,} cases, not exactly the {counted.total():,} that it has to count"
