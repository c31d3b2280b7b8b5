"""Shards of a run, merged into the results that a run of all their cases has."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opconform.errors import DiskError, SuiteError, UsageError
from opconform.suite.reader import Suite, open_suite
from opconform.suite.storage.extract import write_extract
from opconform.suite.storage.ownership import check_replaceable
from opconform_runners.execution.log.logged_outcome import LoggedOutcome, output_files
from opconform_runners.execution.log.outcomes import OutcomeLog, log_in
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.verdicts.agreement import check_agreement
from opconform_runners.verdicts.results import (
    RESULTS,
    Result,
    WrittenResults,
    joined,
    read_written,
    tally_kind_of,
    write_results,
)
from opconform_runners.verdicts.run_header import RunHeader, differences, ids_digest
from opconform_runners.verdicts.tally import PACK_NOTES, Kind, tallies_of, tally_counts

#: The suite beside the results of a certification.
SUITE = "suite"


def merge(
    folders: Sequence[Path], out: Path, *, force: bool, place: Path | None = None
) -> tuple[RunHeader, list[Result], Suite | None]:
    """Merge the results of all the shards of one run, write them to the folder `out`, and return them.

    A twin is executed in each shard that needs it. If its results differ, the failure counts, and otherwise the result
    of the shard that it belongs to. The suite at `place`, or else that of a shard, is returned too. Streamed shards
    have one each, and these are merged.

    Raises:
        DiskError: The disk is full.
        SuiteError: Results are missing, were changed, or do not match their suite.
        UsageError: A shard is missing, given twice, interrupted or of another run, or `out` holds something else.
    """
    for folder in folders:
        if out == folder or (out.exists() and folder.exists() and out.samefile(folder)):
            raise UsageError(f"{out} is one of the shards{'' if out == folder else f', {folder}'}. Use another --out.")
    read = [(folder, read_written(folder / RESULTS)) for folder in folders]
    _check(read)
    by_case, counts = _joined(read)
    cases, header = len(by_case) + counts.total(), read[0][1].header
    streamed = header.streamed and replace(header.streamed, tallies=tallies_of(counts))
    header = replace(header, cases=cases, shard=None, streamed=streamed)
    if cases != streamed.cases if streamed else ids_digest(by_case) != header.selected:
        raise UsageError("The cases of the shards are not those of the suite that they name. Run the shards again.")
    places = [folder / SUITE for folder in folders if (folder / SUITE).is_dir()] if place is None else [place]
    suites = [open_suite(place) for place in (places if streamed else places[:1])]
    if is_joined := streamed is not None and place is None and bool(suites):
        check_replaceable(out / SUITE, None if force else suites[0].header.specs)
    results = [result for _, (result, _) in sorted(by_case.items())]
    for suite in () if is_joined else suites:
        check_agreement(header, results, suite, folders[0] / RESULTS)
    with contextlib.closing(OutcomeLog(out, force=force, resume=False)) as log:
        log.begin(header)
        join_logs({result.id: folder for result, folder in by_case.values()}, log)
        write_results(out, header, results)
        if is_joined:
            join_suites(suites, out / SUITE)
            suites = [open_suite(out / SUITE)]
    return header, results, next(iter(suites), None)


def _joined(read: Sequence[tuple[Path, WrittenResults]]) -> tuple[dict[str, tuple[Result, Path]], Counter[Kind]]:
    """The result of each case with the folder that it is from, and the counts of the cases without one."""
    by_case: dict[str, tuple[bool, bool, Result, Path]] = {}
    counts: Counter[Kind] = Counter()
    with_own_result: set[str] = set()
    for folder, written in read:
        header, results = written.header, written.results
        if (folder / SUITE).is_dir():
            check_agreement(header, results, open_suite(folder / SUITE), written.path)
        counts += tally_counts(header.streamed.tallies if header.streamed else ())
        for result in results:
            is_own = header.shard is None or header.shard.holds(result.id)
            with_own_result.update([result.id] if is_own else [])
            new = (result.verdict == "fail", is_own, result, folder)
            known = by_case.get(result.id, new)
            first, second = (new, known) if new[:2] > known[:2] else (known, new)
            by_case[result.id] = (*first[:2], joined(first[2], second[2]), first[3])
    for case in sorted(by_case.keys() - with_own_result):  # twins that another shard repeated
        if read[0][1].header.streamed is None:
            raise SuiteError(f"The shard of {case} has no result of it, but another one has. Run the shards again.")
        uncount(counts, by_case[case][2])
    return {case: (result, folder) for case, (_, _, result, folder) in by_case.items()}, counts


def _check(read: Sequence[tuple[Path, WrittenResults]]) -> None:
    """Check that results belong to all the shards of one run."""
    first, reference = read[0]
    seen: dict[int, Path] = {}
    for folder, written in read:
        shard = written.header.shard
        if shard is None:
            raise UsageError(
                f"{folder} contains the results of {written.header.title}, not of a shard. Name folders of shards."
            )
        if not written.is_complete:
            raise UsageError(f"{folder} is interrupted. Run the same command again to continue shard {shard}.")
        if reference.header.shard is None or shard.of != reference.header.shard.of:
            raise UsageError(f"{folder} contains shard {shard}, but {first} shard {reference.header.shard}.")
        if shard.number in seen:
            is_same = folder == seen[shard.number]
            twice = (
                f"{folder} is named twice"
                if is_same
                else f"{seen[shard.number]} and {folder} both contain shard {shard}"
            )
            raise UsageError(f"{twice}.")
        seen[shard.number] = folder
        differing = differences(reference.header, written.header)
        if differing or _total(reference.header) != _total(written.header):
            differing = differing or ["the number of cases in all shards"]
            raise UsageError(f"{first} and {folder} are of different runs, which differ in {', '.join(differing)}.")
    count = reference.header.shard.of if reference.header.shard else 0
    if missing := [f"{number}/{count}" for number in range(1, count + 1) if number not in seen]:
        raise UsageError(f"Shards are missing: {', '.join(missing)}. Run each with `--shard`, and merge all of them.")


def _total(header: RunHeader) -> int | None:
    """The number of cases in all streamed shards."""
    return header.streamed.cases if header.streamed else None


def uncount(counts: Counter[Kind], result: Result) -> None:
    """Take a case that failed when it was repeated out of the counts."""
    for verdict in ("pass", "inconclusive", "unsupported"):
        for pack in (None, *PACK_NOTES):
            kind = replace(tally_kind_of(result), verdict=verdict, pack=pack)
            if counts[kind]:
                counts[kind] -= 1
                return


def join_logs(folders: Mapping[str, Path], log: OutcomeLog) -> None:
    """Copy the executions and the kept outputs of cases to a log, given the folder of each."""
    lines: dict[tuple[Path, str], list[LoggedOutcome]] = defaultdict(list)
    for folder in dict.fromkeys(folders.values()):
        for logged in log_in(folder).every:
            lines[folder, logged.case].append(logged)
    kept = {folder: KeptOutputs(folder) for folder in set(folders.values())}
    for case, folder in sorted(folders.items()):
        for logged in lines[folder, case]:
            log.add(logged, kept[folder].files(case) if output_files(logged.outcome) else [])


def join_suites(suites: Sequence[Suite], out: Path) -> None:
    """Write one suite of the cases of several to `out`, in place of an earlier one; a DiskError if that fails."""
    try:
        write_extract(((suite, entry) for suite in suites for entry in suite.entries), suites[0].header, out)
    except OSError as error:
        raise DiskError(out, error) from error
