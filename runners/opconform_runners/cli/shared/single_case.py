"""The suite of one case and its twin, for commands on a single case."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from opconform.explanation.case_list import one_case, specs_of_case
from opconform.generation.options import ONE_CASE, Options
from opconform.generation.pipeline import generate
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection, check_one, pattern_of


def suite_with_case(case: str, place: Path | None, dialects: Sequence[str], out: Path) -> tuple[Suite, Entry]:
    """The suite at a place, or else a new one of a shipped case and its twin, and the case in it.

    Groups whose cases cannot match are not expanded.
    """
    suite = open_suite(place) if place is not None else _generated(case, dialects, out)
    ids = [entry.id for entry in suite.entries if fnmatchcase(entry.id, pattern_of(case))]
    check_one(case, ids, where=f" in {suite.store.root}")
    return suite, suite.by_id[ids[0]]


def _generated(case: str, dialects: Sequence[str], out: Path) -> Suite:
    wanted = one_case(case).case
    selection = Selection(profiles=(wanted.profile,), patterns=(wanted.id,))
    options = Options(dialects=tuple(dialects), selection=selection, limits=ONE_CASE)
    return open_suite(generate(specs_of_case(wanted.id), out, options).out)
