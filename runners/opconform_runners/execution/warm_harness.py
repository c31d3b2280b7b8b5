"""Keeping: one harness for cases that are executed singly, when they are asked for."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

from opconform.errors import HarnessError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.scheduler import IN_FLIGHT, Execution, Worker
from opconform_runners.harness.command import Command
from opconform_runners.harness.outcome import Outcome


class KeptHarness:
    """A harness that is started with the first case, stays between cases, and is replaced when a case ends it."""

    def __init__(self, suite: Suite, command: Command, timeout: float) -> None:
        """Nothing is started yet.

        Args:
            suite: The suite that the cases are of.
            command: How the harness is started.
            timeout: How long a case may take, in seconds.
        """
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)  # and so no one else's loop is replaced
        self._told: list[tuple[Case, Outcome]] = []
        self._execution = Execution(suite, command, deque(), timeout, self._tell, ahead=IN_FLIGHT)
        self._worker = Worker(self._execution)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def implementation(self) -> Implementation:
        """What the harness says it drives; it is started for that.

        Raises:
            HarnessError: The harness cannot be started.
            UsageError: The suite holds nothing that it reads.
        """
        if self._execution.implementation is None:
            self._runner.run(self._connect())
        if self._execution.implementation is None:
            raise HarnessError(self._execution.gave_up or "The harness cannot be started.")
        return self._execution.implementation

    def outcome_of(self, entry: Entry) -> tuple[Case, Outcome]:
        """A case, and what came of it.

        Raises:
            HarnessError: The harness cannot be started.
            SuiteError: A file of the suite is not what it says.
            UsageError: The suite holds nothing that the harness reads.
        """
        self._told.clear()
        try:
            self._runner.run(self._execute(entry))
        except BaseException:
            self._runner.run(self._worker.end())
            self._execution.waiting.clear()
            self._worker.doubted = None
            raise
        [told] = self._told
        return told

    def close(self) -> None:
        """Stop the harness, with all that it started."""
        self._runner.run(self._worker.end())
        self._runner.close()

    def _tell(self, _entry: Entry, case: Case, outcome: Outcome) -> None:
        self._told.append((case, outcome))

    async def _execute(self, entry: Entry) -> None:
        if self._execution.implementation is None:
            await self._connect()
        self._execution.waiting.append(entry)
        await self._worker.work()
        if not self._told:
            raise HarnessError(self._execution.gave_up or "The harness cannot be started.")

    async def _connect(self) -> None:
        """Start the harness; once it could not be started, that is not tried again for every case."""
        if self._execution.gave_up is not None:
            return
        try:
            await self._worker.begin()
        except HarnessError as fault:
            self._execution.gave_up = str(fault)
            raise
