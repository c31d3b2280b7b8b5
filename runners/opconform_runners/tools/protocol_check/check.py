"""Checking: a harness is played through the corners of the protocol, rule by rule."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from opconform.operations import OPERATIONS
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import full_names
from opconform_runners.harness.command import Command
from opconform_runners.harness.protocol import ProtocolError
from opconform_runners.tools.protocol_check.conversation import Greeting, NoAnswer
from opconform_runners.tools.protocol_check.player import Breach, Desk, Names, NotApplicable
from opconform_runners.tools.protocol_check.rules import delivery as delivering
from opconform_runners.tools.protocol_check.rules import end as ending
from opconform_runners.tools.protocol_check.rules import order as answering
from opconform_runners.tools.protocol_check.rules import outputs as returning
from opconform_runners.tools.protocol_check.rules import refusal as refusing
from opconform_runners.tools.protocol_check.rules import start as starting


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The rule holds, as far as it was seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The rule is broken."""

    breaches: tuple[Breach, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unasked:
    """The rule says nothing of this harness, or could not be asked."""

    why: str


class Rule(NamedTuple):
    """A rule of the protocol: its sentence, as in `docs/protocol.md`, and what plays it."""

    sentence: str
    play: Callable[[Desk], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What came of one rule."""

    id: str
    sentence: str
    finding: Held | Broken | Unasked
    notes: tuple[str, ...]


def check(
    command: Command,
    greeting: Greeting,
    suite: Suite,
    dialects: Sequence[str],
    *,
    timeout: float,
    tell: Callable[[float, int], None],
) -> tuple[Checked, ...]:
    """What comes of each rule, in the order of the protocol's page.

    Args:
        command: How the harness is started.
        greeting: How it answers `start`.
        suite: The cases to play; the smallest of each kind are taken.
        dialects: Every dialect that there is.
        timeout: How long an answer may take, in seconds.
        tell: Told the share of the rules that are done, and how many are.

    Raises:
        HarnessError: The harness cannot be executed any more.
        SuiteError: A file of the suite is not what it says.
    """
    names = Names(
        dialects=tuple(dialects),
        operations=tuple(OPERATIONS),
        requirements=frozenset(full_names(suite.header.requirements)),
    )
    with tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True) as scratch:
        return asyncio.run(_checked(Desk(suite, command, greeting, names, timeout, Path(scratch)), tell))


async def _checked(desk: Desk, tell: Callable[[float, int], None]) -> tuple[Checked, ...]:
    unasked: dict[str, str] = {}
    try:
        for number, (name, rule) in enumerate(RULES.items()):
            tell(number / len(RULES), number)
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
    return tuple(_came_of(desk, name, rule, unasked) for name, rule in RULES.items())


def _came_of(desk: Desk, name: str, rule: Rule, unasked: Mapping[str, str]) -> Checked:
    finding: Held | Broken | Unasked = Held()
    if desk.breaches.get(name):
        finding = Broken(breaches=tuple(desk.breaches[name]))
    elif name in unasked:
        finding = Unasked(why=unasked[name])
    return Checked(id=name, sentence=rule.sentence, finding=finding, notes=tuple(desk.notes.get(name, ())))


async def _nothing(_: Desk) -> None:
    """A rule that is judged by what the others play."""


#: The rules by their ids, in the order of `docs/protocol.md`, which is also the order in which they are played.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "start.answer": Rule(
            "`start` is answered by one line that has the keys of its table, each of the right type, and no others.",
            starting.answer_to_start,
        ),
        "start.names": Rule(
            "The dialects, element types, operations and requirements that the answer to `start` names exist.",
            starting.names,
        ),
        "output.before-start": Rule(
            "Nothing is written to standard output before `start` is asked, and nothing before its answer.",
            starting.silence,
        ),
        "output.between": Rule(
            "After that answer nothing is written but one reply a request, whatever the backend prints.", _nothing
        ),
        "output.length": Rule("No reply is longer than 1,048,576 bytes.", _nothing),
        "run.plain": Rule(
            "A plain case, of which the harness declares all that it needs, is answered `ok`.", answering.plain
        ),
        "run.answer": Rule(
            "`run` is answered by one line that has the keys of its status, each of the right type, and no others.",
            answering.some_answer,
        ),
        "run.seq": Rule(
            "A reply has the `seq` of its request, which may be any integer from 0 to 2^53 - 1.", answering.seq
        ),
        "run.order": Rule("Requests that are sent ahead are answered in their order.", answering.order),
        "run.long-line": Rule(
            "A request is read that takes 1,048,576 bytes, the end of its line included.", answering.long_line
        ),
        "ok.outputs": Rule(
            "`ok` is said when every file of outputs is whole: an .npz of output_0, output_1, … without pickles.",
            returning.outputs,
        ),
        "ok.dtype": Rule("Outputs are stored in the dtype of their element type.", returning.dtype),
        "ok.values": Rule("The outputs of a plain case are right in number, shape and every bit.", returning.values),
        "ok.two-feeds": Rule(
            "Each feed is executed, in order, and its outputs are written to the file that it names.",
            returning.two_feeds,
        ),
        "ok.element-types": Rule(
            "`element_types`, where it is said, has a list a feed and the name of an element type an output.",
            returning.element_types,
        ),
        "ok.seconds": Rule(
            "`seconds`, where it is said, is at least 0 and at most the time from the request to the reply.",
            returning.seconds,
        ),
        "rejected.status": Rule(
            "A case that the backend refuses is answered `rejected`, never `error`, and the harness goes on.",
            refusing.refusals,
        ),
        "rejected.why": Rule("`rejected` has a `stage`, `build` or `run`, and a `message`.", refusing.reasons),
        "unsupported.undeclared": Rule(
            "A case that needs what is not declared is answered `unsupported` or `rejected`, and not `error`.",
            refusing.undeclared,
        ),
        "error.files": Rule(
            "A request whose `dir` or `inputs` is not there is answered `error`, and the next one is served.",
            refusing.missing_files,
        ),
        "paths.names": Rule(
            "Paths may hold spaces, quotes and letters beyond ASCII, which stand in the request as UTF-8.",
            delivering.odd_paths,
        ),
        "paths.outside": Rule(
            "`outputs` may lie outside of `dir`, in any folder that is there.", delivering.outputs_outside
        ),
        "dialects.each": Rule(
            "A case is executed in each declared dialect, and not in the first alone.", delivering.each_dialect
        ),
        "graphs.each": Rule("A harness that declares `graphs` executes a graph of each kind.", delivering.each_graph),
        "end.stop": Rule("It ends within two seconds of `stop`, also when it has run nothing.", ending.stop),
        "end.input": Rule(
            "It ends within two seconds of the end of standard input, also when it has run nothing.",
            ending.end_of_input,
        ),
        "end.children": Rule("No child process is left behind; one that is, is a note and no breach.", _nothing),
    }
)
