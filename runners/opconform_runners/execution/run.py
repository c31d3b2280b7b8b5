"""The outcome of a run."""

from dataclasses import dataclass

from opconform.errors import DiskError, HarnessError, counted
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.run_header import RunHeader, progress_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The outcome of a run.

    Attributes:
        results: The result of each case, sorted by id.
        missing: The ids of the cases that have no verdict.
        gave_up: Why cases are missing, or None.
        interrupted: What ended the run early, to be raised once the report is written, or None.
        continued: How many cases were executed before an interruption.
    """

    header: RunHeader
    results: tuple[Result, ...]
    missing: tuple[str, ...] = ()
    gave_up: str | None = None
    interrupted: KeyboardInterrupt | DiskError | HarnessError | None = None
    continued: int = 0

    @property
    def progress(self) -> str:
        """How far it got, as in `after 2 of 6 cases`; of a streamed run, `after 2 cases`."""
        if self.header.streamed is not None:
            return f"after {counted(self.header.cases, 'case')}"
        return progress_of(len(self.results), self.header.cases)
