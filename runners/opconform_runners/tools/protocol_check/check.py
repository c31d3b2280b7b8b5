"""The check of a harness: it is played through the rules of the protocol one by one."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opconform.operations import OPERATIONS
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import full_names
from opconform_runners.harness.command import Launch
from opconform_runners.harness.protocol import ProtocolError
from opconform_runners.tools.protocol_check.conversation import Greeting, NoAnswer
from opconform_runners.tools.protocol_check.desk import Breach, Desk, Names, NotApplicable
from opconform_runners.tools.protocol_check.rules import RULES


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The rule holds, as far as it was seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The rule is broken."""

    breaches: tuple[Breach, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unasked:
    """The rule says nothing about this harness, or could not be checked."""

    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What was found for one rule."""

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
    """What is found for each rule, in the order of the protocol's page.

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
    names = Names(
        dialects=tuple(dialects),
        operations=tuple(OPERATIONS),
        requirements=frozenset(full_names(suite.header.requirements)),
    )
    with tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True) as scratch:
        desk = Desk(suite, launch.command, greeting, names, launch.timeout, Path(scratch))
        unasked = asyncio.run(_played(desk, on_progress))
    return tuple(
        Checked(
            id=name,
            sentence=rule.sentence,
            finding=_finding(desk.breaches.get(name, ()), unasked.get(name)),
            notes=tuple(desk.notes.get(name, ())),
        )
        for name, rule in RULES.items()
    )


async def _played(desk: Desk, on_progress: Callable[[float, int], None]) -> dict[str, str]:
    """Play every rule; returns why some could not be checked."""
    unasked: dict[str, str] = {}
    try:
        for number, (name, rule) in enumerate(RULES.items()):
            on_progress(number / len(RULES), number)
            if rule.play is None:
                continue
            try:
                await rule.play(desk)
            except NotApplicable as answer:
                unasked[name] = str(answer)
            except NoAnswer as event:
                desk.breach(name, event.sentence, request=event.request)
                await desk.end()
            except ProtocolError as fault:
                desk.breach("output.length", str(fault))
                unasked[name] = "a reply was too long to be read, see output.length"
                await desk.end()
    finally:
        await desk.end()
    return unasked


def _finding(breaches: Sequence[Breach], unasked: str | None) -> Held | Broken | Unasked:
    if breaches:
        return Broken(breaches=tuple(breaches))
    return Held() if unasked is None else Unasked(why=unasked)
