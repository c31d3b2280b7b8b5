"""A finished batch of a streamed run: the file `done.json`, which is believed only if it follows from the batch."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import SuiteError
from opconform.files import read_regular
from opconform.suite.manifest import first_error, sealed_text
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.results_folder import DONE, SUITES
from opconform_runners.verdicts.agreement import is_possible
from opconform_runners.verdicts.results import RESULTS_LIMIT, Result, is_kept
from opconform_runners.verdicts.run_header import RunHeader, ids_digest
from opconform_runners.verdicts.tally import KEPT, Tally, counts_of, tallies_of

#: How to get past a batch that cannot be used.
AGAIN = "Repeat the run with --force."


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """A finished batch: the results that it keeps, and what it counts; `repeated` are kept results of other batches.

    `own` is the SHA-256 of the ids that are counted with it, and `checksum` that of the other fields.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    own: str
    header: RunHeader
    results: tuple[Result, ...]
    repeated: tuple[Result, ...]
    tallies: tuple[Tally, ...]
    devices: tuple[str, ...]
    threads: tuple[int, ...]
    checksum: str = ""


_DONE = TypeAdapter(Done)


def done_text(done: Done) -> bytes:
    """A finished batch as it is written, with its checksum."""
    return sealed_text(_DONE.dump_python(done, mode="json", exclude={"checksum"})).encode()


def read_done(place: Path, batch: Any) -> Done:
    """The finished batch in a folder; a SuiteError if it is another batch, or was changed."""
    path = place / DONE
    try:
        content = read_regular(path, RESULTS_LIMIT)
        done = _DONE.validate_json(content)
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}.") from fault
    except ValidationError as fault:
        raise SuiteError(f"{path} is not a finished batch: {first_error(fault)}. {AGAIN}") from fault
    if done_text(done) != content:
        raise SuiteError(f"{path} was changed after the run: its checksum differs. {AGAIN}")
    for contradiction in _contradictions(done, batch, open_suite(place / SUITES[1])):
        raise SuiteError(f"{path} was changed after the run: {contradiction}. {AGAIN}")
    return done


def _contradictions(done: Done, batch: Any, failed: Suite) -> Iterator[str]:
    """What is wrong with a finished batch, given its cases and the suite of those with results."""
    if done.own != ids_digest(batch.own) or done.header.cases:
        yield "it has the cases of another batch"
    cases = {case.id: case for case in batch.cases}
    for results, known in ((done.results, batch.own), (done.repeated, cases.keys() - batch.own)):
        ids = [result.id for result in results]
        if ids != sorted(set(ids)):
            yield "its results are not sorted by id, or one is repeated"
        if unknown := min(set(ids) - known, default=None):
            yield f"it has a result of {unknown}, which belongs elsewhere"
    kept = {result.id: result for result in (*done.results, *done.repeated)}
    yield from _false_counts(done, {name: case for name, case in cases.items() if name in batch.own - kept.keys()})
    twins = {failed.by_id[name].twin for name in kept.keys() & failed.by_id.keys()}
    if odd := min((kept.keys() ^ failed.by_id.keys()) - twins, default=None):
        yield f"it and {failed.store.root} do not agree on {odd}"
    for result in kept.values():
        is_failure = result.verdict in KEPT  # a pass also depends on a twin, which may only be counted
        if not is_kept(result) or (is_failure and not is_possible(result, failed, {})):
            yield f"the result of {result.id} is not possible"


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
