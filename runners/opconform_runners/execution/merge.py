"""Shards of a run, merged into the results that a run of all their cases has."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from opconform.errors import DiskError, UsageError
from opconform.suite.extract import write_extract
from opconform.suite.reader import open_suite
from opconform_runners.execution.failed_outputs import Keeper, Kept
from opconform_runners.execution.journal import Journal
from opconform_runners.verdicts.results import RESULTS, Result, Written, joined, kind_of, read_written, write_results
from opconform_runners.verdicts.run_header import RunHeader, differences, ids_digest
from opconform_runners.verdicts.tally import Kind, counts_of, tallies_of

#: The suite beside the results of a certification.
SUITE = "suite"


def merge(folders: Sequence[Path], out: Path, *, force: bool) -> tuple[RunHeader, list[Result]]:
    """Merge the results of all the shards of one run, write them to the folder `out`, and return them.

    A twin is executed in each shard that needs it. If its results differ, the failure counts, and otherwise the result
    of the shard that it belongs to.

    Raises:
        DiskError: The disk is full.
        SuiteError: Results are missing, or were changed.
        UsageError: A shard is missing, given twice, interrupted or of another run, or `out` holds other results.
    """
    read = [(folder, read_written(folder / RESULTS)) for folder in folders]
    _check(read)
    found: dict[str, tuple[bool, bool, Result, Path]] = {}
    for folder, written in read:
        for each in written.results:
            is_own = written.header.shard is None or written.header.shard.holds(each.id)
            new = (each.verdict == "fail", is_own, each, folder)
            held = found.get(each.id, new)
            first, other = (new, held) if new[:2] > held[:2] else (held, new)
            found[each.id] = (*first[:2], joined(first[2], other[2]), first[3])
    counts = _counts(read, [each for _, is_own, each, _ in found.values() if not is_own])
    cases, header = len(found) + counts.total(), read[0][1].header
    streamed = header.streamed and replace(header.streamed, tallies=tallies_of(counts))
    header = replace(header, cases=cases, shard=None, streamed=streamed)
    if cases != streamed.cases if streamed else ids_digest(found) != header.selected:
        raise UsageError("The cases of the shards are not those of the suite that they name. Run the shards again.")
    with contextlib.closing(Journal(out, force=force, resume=False)) as journal:
        journal.begin(header)
    keep_outputs({each.id: folder for _, _, each, folder in found.values() if each.verdict == "fail"}, out)
    results = [each for _, (_, _, each, _) in sorted(found.items())]
    write_results(out, header, results)
    return header, results


def _counts(read: Sequence[tuple[Path, Written]], repeated: Sequence[Result]) -> Counter[Kind]:
    """The counts of streamed shards, without twins that failed in another shard than their own."""
    counts: Counter[Kind] = Counter()
    for _, written in read:
        counts += counts_of(written.header.streamed.tallies if written.header.streamed else ())
    for each in repeated if counts else ():
        uncount(counts, each)
    return counts


def _check(read: Sequence[tuple[Path, Written]]) -> None:
    """Check that results are those of all the shards of one run."""
    first, held = read[0]
    seen: dict[int, Path] = {}
    for folder, written in read:
        shard = written.header.shard
        if shard is None:
            raise UsageError(f"{folder} contains the results of {written.header.title}, not of a shard.")
        if not written.is_complete:
            raise UsageError(f"{folder} is interrupted. Run the same command again to continue shard {shard}.")
        if held.header.shard is None or shard.of != held.header.shard.of:
            raise UsageError(f"{folder} contains shard {shard}, but {first} shard {held.header.shard}.")
        if shard.number in seen:
            is_same = folder == seen[shard.number]
            twice = (
                f"{folder} is named twice"
                if is_same
                else f"{seen[shard.number]} and {folder} both contain shard {shard}"
            )
            raise UsageError(f"{twice}.")
        seen[shard.number] = folder
        if other := differences(held.header, written.header):
            raise UsageError(f"{first} and {folder} are of different runs, which differ in {', '.join(other)}.")
    count = held.header.shard.of if held.header.shard else 0
    if missing := [f"{number}/{count}" for number in range(1, count + 1) if number not in seen]:
        raise UsageError(f"Shards are missing: {', '.join(missing)}. Run each with `--shard`, and merge all of them.")


def uncount(counts: Counter[Kind], result: Result) -> None:
    """Take a case that failed when it was repeated out of the counts."""
    for verdict in ("pass", "inconclusive", "unsupported"):
        kind = replace(kind_of(result), verdict=verdict)
        if counts[kind]:
            counts[kind] -= 1
            return


def keep_outputs(folders: Mapping[str, Path], out: Path) -> None:
    """Copy the kept outputs of failures, given the folder of each."""
    kept = {folder: Kept(folder) for folder in set(folders.values())}
    with contextlib.closing(Keeper(out)) as keeper:
        for case, folder in sorted(folders.items()):
            outputs = sorted(kept[folder].outputs(case).items())
            feeds = groupby(outputs, key=lambda each: each[0][0])
            keeper.keep(case, [[array for _, array in feed] for _, feed in feeds])


def join_suites(folders: Sequence[Path], out: Path) -> None:
    """Write one suite of the cases of several to `out`, in place of an earlier one; a DiskError if that fails."""
    suites = [open_suite(each) for each in folders]
    made, target = out / f".{SUITE}.joined", out / SUITE
    try:
        shutil.rmtree(made, ignore_errors=True)
        write_extract(((suite, entry) for suite in suites for entry in suite.entries), suites[0].header, made)
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    except OSError as fault:
        raise DiskError(target, fault) from fault
