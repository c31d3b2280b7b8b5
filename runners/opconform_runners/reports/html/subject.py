"""The runs on a page, with their suite, and the links into the page."""

import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from opconform.errors import UsageError
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.log.suite_place import suite_of_results
from opconform_runners.reports.backend_matrix import Column
from opconform_runners.reports.report_file import Finished
from opconform_runners.verdicts.results import RESULTS

#: The most characters of a sentence.
_LONGEST = 1_500
#: A case on the page: the number of the run, and the case's id.
Place = tuple[int, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A run on the page.

    Attributes:
        suite: The suite, where it was found.
        place: The path of the suite in commands.
        script: The options with which `opconform repro` writes a script for the backend; empty where it cannot.
        written: When the results were written.
    """

    column: Column
    suite: Suite | None
    place: str
    script: str
    kept: KeptOutputs
    written: datetime | None = None

    def reproduction(self, case: str) -> str:
        """The command that writes the script of a failing case; without scripts, the one that executes it again."""
        suite = shlex.quote(self.place)
        if self.script:
            return f"opconform repro {case} {self.script} --suite {suite} --out repro.py"
        return f"opconform run {suite} {self.column.report.started or '--backend NAME'} --select {case} --out again"


def suite_of(subjects: Sequence[Subject]) -> Suite | None:
    """The suite of some runs, if it was found for one of them."""
    return next((subject.suite for subject in subjects if subject.suite is not None), None)


def subjects_of(runs: Sequence[Finished], place: Path | None, reproducible: Collection[str]) -> list[Subject]:
    """The runs as a page shows them, with the suite at `place`, or else the one in a run's folder or beside it.

    `reproducible` has the backends that `opconform repro` has scripts for.
    """
    digests = {run.report.suite.digest: run.folder for run in runs}
    if len(digests) > 1:
        named = ", ".join(f"{folder} on {digest[:16]}" for digest, folder in digests.items())
        raise UsageError(
            f"Runs on different suites cannot be compared: {named}. `certify` generates a suite in the dialects of its "
            f"backend; use `certify` with several backends to run them on one suite."
        )
    found = (suite_of_results(run.folder) for run in runs)
    near = next((place for place in found if place is not None), None)
    products = Counter(run.report.implementation.name for run in runs)
    subjects = []
    for run in runs:
        location = place or suite_of_results(run.folder) or near
        suite = None if location is None else open_suite(location)
        if suite is not None and suite.header.identity != run.report.suite.digest:
            if place is not None:
                raise UsageError(f"{run.folder} is not a run of {place}. Name its suite with --suite.")
            suite = None
        name, file = run.report.implementation.name, run.folder / RESULTS
        title = name if products[name] == 1 else f"{name} ({run.folder.name})"
        subjects.append(
            Subject(
                column=Column(name=title, report=run.report),
                suite=suite,
                place="SUITE" if suite is None else str(suite.store.root),
                script=run.report.started if run.report.backend in reproducible else "",
                kept=KeptOutputs(run.folder),
                written=datetime.fromtimestamp(file.stat().st_mtime, UTC) if file.exists() else None,
            )
        )
    return subjects


def cases_place(**wanted: object) -> str:
    """The address of the list of cases with these properties."""
    return f"#cases?{urlencode({name: str(n) for name, n in wanted.items() if n != ''})}"


def short(text: str) -> str:
    """A text without the end of a long one."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
