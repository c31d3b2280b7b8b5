"""The check of a harness against every rule of the protocol."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opconform.suite.reader import Suite
from opconform_runners.harness.command import Launch
from opconform_runners.harness.protocol import ProtocolError
from opconform_runners.tools.protocol_check.conversation import Greeting, NoAnswer
from opconform_runners.tools.protocol_check.probe import Breach, NotApplicable, Probe
from opconform_runners.tools.protocol_check.rules import RULES, sentence_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """No breach of the rule was seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The rule is broken."""

    breaches: tuple[Breach, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unasked:
    """The rule does not apply to this harness, or could not be checked."""

    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The finding for one rule."""

    id: str
    sentence: str
    finding: Held | Broken | Unasked
    notes: tuple[str, ...]


def check(
    launch: Launch,
    greeting: Greeting,
    suite: Suite,
    dialects: Sequence[str],
    on_progress: Callable[[float, int], None] = lambda *_: None,
) -> tuple[Checked, ...]:
    """The finding for each rule, in the order of the protocol's page.

    Args:
        launch: How the harness is started.
        greeting: Its answer to `start`.
        suite: The source of the cases; the smallest of each kind are played.
        dialects: Every dialect.
        on_progress: Called periodically with the completed fraction (0 to 1) and the number of completed rules.

    Raises:
        HarnessError: The harness cannot be started any more.
        SuiteError: A file of the suite is missing, changed or not readable.
    """
    with tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True) as scratch:
        probe = Probe(suite, launch, greeting, dialects, Path(scratch))
        unasked = asyncio.run(_played(probe, on_progress))

    def finding(rule: str) -> Held | Broken | Unasked:
        if rule in probe.breaches:
            return Broken(breaches=tuple(probe.breaches[rule]))
        return Unasked(why=unasked[rule]) if rule in unasked else Held()

    return tuple(
        Checked(id=rule, sentence=sentence_of(rule), finding=finding(rule), notes=tuple(probe.notes.get(rule, ())))
        for rule in RULES
    )


async def _played(probe: Probe, on_progress: Callable[[float, int], None]) -> dict[str, str]:
    """Check every rule; returns why some could not be checked."""
    unasked: dict[str, str] = {}
    try:
        for number, (rule, play) in enumerate(RULES.items()):
            on_progress(number / len(RULES), number)
            try:
                await play(probe)
            except NotApplicable as answer:
                unasked[rule] = str(answer)
            except NoAnswer as event:
                probe.breach(rule, event.sentence, request=event.request)
                await probe.end()
            except ProtocolError as fault:
                probe.breach("output.length", str(fault))
                unasked[rule] = "a reply was too long to be read, see output.length"
                await probe.end()
    finally:
        await probe.end()
    return unasked
