"""The check of a harness: a result for each rule of the protocol."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from opconform.suite.reader import Suite
from opconform.system.interrupts import run_loop
from opconform.system.temporary import TemporaryFolder
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import Harness
from opconform_runners.tools.protocol_check.probe import NotApplicable, Probe, Violation
from opconform_runners.tools.protocol_check.rules import RULES


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """The result for one rule; `not_applicable` is why it does not apply to this harness or could not be checked."""

    id: str
    violation: Violation | None = None
    not_applicable: str | None = None

    @property
    def sentence(self) -> str:
        """The rule; its id under `python -OO`, which has no docstrings."""
        return RULES[self.id].__doc__ or self.id

    @property
    def state(self) -> Literal["holds", "broken", "not applicable"]:
        """The result in a word."""
        return "broken" if self.violation is not None else "holds" if self.not_applicable is None else "not applicable"


def check_protocol(
    launch: Launch, harness: Harness, suite: Suite, on_progress: Callable[[float, int], None] = lambda *_: None
) -> tuple[RuleResult, ...]:
    """The result for each rule, from the smallest cases of a suite. A rule is checked up to its first violation.

    `harness` has the declarations of the harness. `on_progress` is called periodically with the completed fraction (0
    to 1) and the number of completed rules.
    """
    with TemporaryFolder() as scratch:
        probe = Probe(suite, launch, harness.implementation, harness.inline, Path(scratch))
        return run_loop(_results(probe, on_progress))


async def _results(probe: Probe, on_progress: Callable[[float, int], None]) -> tuple[RuleResult, ...]:
    results: list[RuleResult] = []
    try:
        for number, (rule, play) in enumerate(RULES.items()):
            on_progress(number / len(RULES), number)
            try:
                await play(probe)
                results.append(RuleResult(id=rule))
            except NotApplicable as answer:
                results.append(RuleResult(id=rule, not_applicable=str(answer)))
            except Violation as violation:
                results.append(RuleResult(id=rule, violation=violation))
                await probe.end()
    finally:
        await probe.end()
    return tuple(results)
