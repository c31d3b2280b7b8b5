"""The agreement of results with their suite: every case that was to be run, with a verdict that is possible."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite.reader import Suite
from opconform.suite.selection.matches import Matches
from opconform.suite.selection.selection import Selection
from opconform_runners.verdicts.judge import broken_by, is_deviation
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.run_header import RunHeader, ids_digest, note_of


def check_agreement(header: RunHeader, results: Sequence[Result], suite: Suite, path: Path) -> None:
    """Check results in a file against their suite, or raise `SuiteError`. Other suites are not compared."""
    if suite.header.identity != header.suite.digest:
        return
    problem = next(_problems(header, results, suite), None)
    if problem is not None:
        where = f"{path} does not match the suite {suite.store.root}"
        raise SuiteError(f"{where}: {problem}. One of the two was changed after the run. Repeat the run.")


def _problems(header: RunHeader, results: Sequence[Result], suite: Suite) -> Iterator[str]:
    """The contradictions, the first one of each kind."""
    if (header.suite, header.requirements) != (note_of(suite), suite.header.requirements):
        yield "its header does not repeat that of the suite"
    is_partial = suite.header.is_selection or header.selected != ids_digest(suite.by_id)
    if not suite.header.part_of and header.partial != is_partial:
        yield f"its header says that {'only some' if header.partial else 'all'} of the cases were selected"
    by_id = {result.id: result for result in results}
    if unknown := min(by_id.keys() - suite.by_id.keys(), default=None):
        yield f"it has no case {unknown}"
        return
    if missing := min(_wanted(header, results, suite) - by_id.keys(), default=None):
        yield f"there is no result of {missing}"
    for result in results:
        if not is_possible(result, suite, by_id):
            yield f"the result of {result.id} is not possible"


def _wanted(header: RunHeader, results: Sequence[Result], suite: Suite) -> set[str]:
    """The cases that must have a result, as far as the suite shows."""
    if suite.header.part_of:  # it has the kept cases and their twins
        return suite.by_id.keys() - {suite.by_id[result.id].twin for result in results}
    if not header.whole:
        return set()
    executed = {result.profile for result in results}
    selection = Selection(profiles=header.profiles or tuple(executed if header.outputs else ()), shard=header.shard)
    matches = Matches(selection, every_profile=True)
    return {entry.id for entry in suite.entries if matches.wants(entry.id, entry.profile, entry.requirements)}


def is_possible(result: Result, suite: Suite, results: Mapping[str, Result]) -> bool:
    """Whether a result is one that a run can have, given the results of the other cases by id."""
    entry = suite.by_id[result.id]
    expect = "accept" if entry.expect == "accept" else "reject"
    claimed = (result.profile, result.expect, result.requirements, result.essential)
    if claimed != (entry.profile, expect, entry.requirements, entry.essential):
        return False
    if (result.verdict == "fail") != (result.reason is not None):
        return False
    if result.verdict != "pass" and (result.late or result.other_reason is not None):
        return False
    if result.reason == "nondeterministic":  # the first verdict is only in the sentence
        return bool(result.broken) or not entry.requirements
    if result.reason is not None:
        is_of_node = result.broken == suite.header.establishes.get(entry.op, {}).get("node")
        return result.broken == broken_by(entry, result.reason, result.mismatch, suite.header, node_fails=is_of_node)
    if result.broken or result.mismatch is not None or result.again is not None:
        return False
    if result.verdict != "pass":
        return True
    if expect == "accept":
        return result.stage is None and result.message is None
    return result.stage is not None and _is_accepted(entry.twin or "", suite, results)


def _is_accepted(twin: str, suite: Suite, results: Mapping[str, Result]) -> bool:
    """Whether the backend accepts a twin, so that its rejections count."""
    result = results.get(twin)
    if result is None or result.reason == "nondeterministic":
        return False
    entry, header = suite.by_id[twin], suite.header
    return result.verdict == "pass" or is_deviation(entry, result.mismatch, result.broken, header)
