"""Keeping: one harness for cases that are executed singly, when they are asked for."""

import asyncio
import tempfile
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Self

from opconform.case import Case
from opconform.errors import HarnessError
from opconform.suite import Entry, Suite
from opconform_runners.backend import Implementation
from opconform_runners.commands import Command
from opconform_runners.connecting import Harness, connect
from opconform_runners.executing import IN_FLIGHT, Execution, Outcome, Sent, check_dialects


class KeptHarness:
    """A harness that is started with the first case, stays between cases, and is replaced when a case ends it."""

    def __init__(self, suite: Suite, command: Command, timeout: float) -> None:
        """Nothing is started yet.

        Args:
            suite: The suite that the cases are of.
            command: How the harness is started.
            timeout: How long a case may take, in seconds.
        """
        self._suite = suite
        self._command = command
        self._scratch = tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True)
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)  # and so no one else's loop is replaced
        self._told: list[tuple[Case, Outcome]] = []
        self._execution = Execution(
            suite, command, deque(), timeout, Path(self._scratch.name), self._tell, ahead=IN_FLIGHT
        )
        self._harness: Harness | None = None

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
            self._execution.waiting.clear()
            self._runner.run(self._end())
            raise
        [told] = self._told
        return told

    def close(self) -> None:
        """Stop the harness, with all that it started."""
        self._runner.run(self._end())
        self._runner.close()
        self._scratch.cleanup()

    def _tell(self, _entry: Entry, case: Case, outcome: Outcome) -> None:
        self._told.append((case, outcome))

    async def _execute(self, entry: Entry) -> None:
        if self._harness is None:
            await self._connect()
        if self._harness is None:
            raise HarnessError(self._execution.gave_up or "The harness cannot be started.")
        sent: deque[Sent] = deque()
        self._execution.waiting.append(entry)
        self._execution.fill(self._harness, sent)
        if sent and not await self._execution.settle(self._harness, sent):
            await self._harness.kill()
            self._harness = None

    async def _connect(self) -> None:
        """Start the harness; once it could not be replaced, it is not tried again for every case."""
        if self._execution.gave_up is not None:
            return
        if self._execution.implementation is not None:
            self._harness = await self._execution.connected()
            return
        try:
            self._harness = await connect(self._command)
            check_dialects(self._suite, self._harness.implementation)
        except HarnessError as fault:
            self._execution.gave_up = str(fault)
            raise
        self._execution.implementation = self._harness.implementation

    async def _end(self) -> None:
        if self._harness is not None:
            await self._harness.stop()
            self._harness = None
