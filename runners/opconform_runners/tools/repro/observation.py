"""The observation of a case on the installed backend, which a script's header quotes."""

from collections.abc import Iterator
from dataclasses import dataclass

from opconform.errors import UsageError
from opconform.suite.case import Reject
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation, full_name
from opconform_runners.execution.session import Session
from opconform_runners.findings.failures import severity_of
from opconform_runners.harness.command import Launch
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.judge import FAILS_UNDECLARED
from opconform_runners.verdicts.results import Result

#: How often a case is executed that passes, since what a backend reads beside the data may be right by chance.
_EXECUTIONS = 5
#: The advice for a script that shows a memory error.
PRIVATE = "This is probably a memory error: report it to the vendor privately before you publish this script"


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """The result of a case on the installed backend, and the backend's description of itself."""

    result: Result
    implementation: Implementation

    @property
    def backend(self) -> str:
        """The backend's name, version and device."""
        return self.implementation.title

    @property
    def fails(self) -> bool:
        """Whether the backend fails the case, even if it declares that it does not support it."""
        return self.result.verdict == "fail" or FAILS_UNDECLARED in self.result.remarks

    @property
    def is_memory_error(self) -> bool:
        """Whether the failure is probably an access out of bounds; a division by zero is not."""
        return severity_of(self.result) in ("memory", "crash") and "SIGFPE" not in self.result.sentence

    @property
    def sentence(self) -> str:
        """The result in words."""
        name = self.result.reason or self.result.verdict
        return f"{name}: {self.result.sentence.rstrip('.')}" if self.result.sentence else name


def observation_of(suite: Suite, entry: Entry, launch: Launch) -> Observation:
    """Execute a case until it does not pass, a few times at most, and return the observation.

    Raises `UsageError` if the harness, and not the backend, fulfils the requirement, so that a script cannot show it.
    """
    session = Session(suite, launch)
    try:
        for _ in range(_EXECUTIONS):
            result, who = session.result_of(entry, once=True), session.implementation
            if result.verdict != "pass":
                break
    finally:
        session.close()
    if isinstance(suite.case(entry).expect, Reject) and full_name(entry.op, result.requirements[0]) in who.mapped:
        raise UsageError(
            f"{entry.id} tests {result.requirements[0]}, which the harness implements for {who.name}. "
            f"The backend's own API cannot reproduce it."
        )
    return Observation(result=result, implementation=who)


def notes_of(suite: Suite, entry: Entry, needs: str, observation: Observation | None) -> Iterator[str]:
    """The sentences of a script's header; `needs` is what it needs."""
    case = suite.case(entry)
    yield f"{entry.op}: {case.title}."
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    yield f"Given: {description_of(case, feeds)}."
    broken = () if observation is None else observation.result.broken
    for requirement in broken or entry.requirements:
        note = suite.header.requirements.get(entry.op, {}).get(requirement)
        yield f"Requirement {requirement}" + (f" ({note.level}): {note.text}" if note else "")
    if observation is not None:
        yield f"Seen with {observation.backend}: {observation.sentence}."
        if observation.is_memory_error:
            yield f"{PRIVATE}."
    yield f"Needs: {needs}"
