"""The rules of the protocol by their ids, and the check of a harness against all of them.

The docstring of each check is its rule. A rule that is only a sentence is checked with the others.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from opconform.interrupts import run_loop
from opconform.operations import OPERATIONS
from opconform.suite.reader import Suite
from opconform.temporary import TemporaryFolder
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import full_names
from opconform_runners.backends.constraints import constrained_names
from opconform_runners.harness.command import Launch
from opconform_runners.harness.process import STOP_LIMIT, Process
from opconform_runners.harness.protocol import STOP_LINE, ProtocolError, said_faults
from opconform_runners.tools.protocol_check import case_checks as cases
from opconform_runners.tools.protocol_check.conversation import Exchange, NoAnswer
from opconform_runners.tools.protocol_check.probe import NotApplicable, Probe

#: How long a new harness is sent nothing, at least and at most, in seconds.
_SILENCE = (0.5, 3.0)
#: How long an unexpected line may take to arrive, in seconds.
_PEEK = 5.0


async def _start_answer(probe: Probe) -> None:
    """`start` is answered by one line with the keys of its table, each of the right type, and no other keys."""
    for each in said_faults(probe.greeting.reply or b""):
        probe.breach(each.sentence, probe.greeting)


async def _start_names(probe: Probe) -> None:
    """The reply to `start` names only dialects, element types, operations and requirements that exist."""
    declarations = probe.suite.header.declarations
    allowed = (
        ("dialects", probe.said.dialects, probe.dialects),
        ("element_types", probe.said.element_types, ELEMENT_TYPES),
        ("operations", probe.said.operations, OPERATIONS),
        ("mapped", probe.said.mapped, {*full_names(probe.suite.header.requirements), *constrained_names(declarations)}),
    )
    for key, named, known in allowed:
        for each in named:
            if each not in known:
                probe.breach(f"`{key}` names {each!r}, which does not exist", probe.greeting)
    if not probe.said.dialects and not probe.greeting.document.get("operations"):
        sentence = "`operations` is empty, but a harness without dialects must list the operations that it implements"
        probe.breach(sentence, probe.greeting)


async def _before_start(probe: Probe) -> None:
    """Nothing is written to standard output before `start` arrives, or before its reply."""
    least, most = _SILENCE
    await probe.conversation(listen=min(most, least + probe.greeting.seconds))


async def _stop(probe: Probe) -> None:
    """The harness ends within two seconds of `stop`, even if it has executed nothing."""
    await _end(probe, lambda process: process.send(STOP_LINE), STOP_LINE)


async def _end_of_input(probe: Probe) -> None:
    """The harness ends within two seconds of the end of standard input, even if it has executed nothing."""
    await _end(probe, Process.send_end, b"(end of standard input)")


async def _end(probe: Probe, ask: Callable[[Process], None], shown: bytes) -> None:
    """Ask a harness to end, once after it has executed a case and once before."""
    for has_run in (True, False) if probe.answered is not None else (False,):
        if has_run:
            await probe.play(probe.prepare())
        else:
            await probe.end()
        conversation = await probe.conversation()
        process = conversation.process
        ask(process)
        if not await process.has_ended(within=STOP_LIMIT):
            after = "after a case" if has_run else "before any case"
            probe.breach(f"it did not end within {STOP_LIMIT:g} seconds, {after}", Exchange(request=shown))
        else:
            conversation.stray += [Exchange(request=shown, reply=each) for each in await conversation.listen(_PEEK)]
            if process.left_children():
                probe.notes["end.children"] = ["a child process was still running after the harness ended"]
        await probe.end()


#: The check of each rule, in the order of the checks and of the list that the command prints.
RULES: Mapping[str, Callable[[Probe], Awaitable[None]] | str] = {
    "start.answer": _start_answer,
    "start.names": _start_names,
    "output.before-start": _before_start,
    "output.between": "After that reply, nothing but one reply per request is written, whatever the backend prints.",
    "output.length": "No reply is longer than 1,048,576 bytes.",
    "run.plain": cases.run_plain,
    "run.answer": cases.run_answer,
    "run.seq": cases.run_seq,
    "run.order": cases.run_order,
    "run.long-line": cases.run_long_line,
    "ok.outputs": cases.ok_outputs,
    "ok.dtype": cases.ok_dtype,
    "ok.values": cases.ok_values,
    "ok.two-feeds": cases.ok_two_feeds,
    "ok.element-types": cases.ok_element_types,
    "ok.seconds": cases.ok_seconds,
    "rejected.status": cases.rejected_status,
    "rejected.why": cases.rejected_why,
    "unsupported.undeclared": cases.undeclared,
    "error.files": cases.missing_files,
    "paths.names": cases.odd_paths,
    "paths.outside": cases.outputs_outside,
    "inline.tensors": cases.inline_tensors,
    "dialects.each": cases.each_dialect,
    "graphs.each": cases.each_graph,
    "end.stop": _stop,
    "end.input": _end_of_input,
    "end.children": "No child process is left behind; a leftover process is reported as a note, not as a violation.",
}


def sentence_of(rule: str) -> str:
    """The sentence of a rule; its id under `python -OO`, which has no docstrings."""
    check = RULES[rule]
    return check if isinstance(check, str) else check.__doc__ or rule


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The result for one rule: its violations, each a sentence with the messages that show it, and other remarks.

    `not_applicable` is the reason why the rule does not apply to this harness or could not be checked.
    """

    id: str
    sentence: str
    breaches: Mapping[str, Exchange]
    not_applicable: str | None
    notes: tuple[str, ...]

    @property
    def state(self) -> Literal["holds", "broken", "not applicable"]:
        """The result in a word."""
        return "broken" if self.breaches else "holds" if self.not_applicable is None else "not applicable"


def is_checked(found: Iterable[Checked]) -> bool:
    """Whether a simple case was executed or a rule is broken; otherwise nothing is known of the harness."""
    return any(each.breaches or (each.id == "run.plain" and each.state == "holds") for each in found)


def check(
    launch: Launch,
    greeting: Exchange,
    suite: Suite,
    dialects: Collection[str],
    on_progress: Callable[[float, int], None] = lambda *_: None,
) -> tuple[Checked, ...]:
    """The result for each rule, in the order of the protocol's page, from the smallest cases of a suite.

    `greeting` is the harness's answer to `start`, and `dialects` are all dialects. `on_progress` is called periodically
    with the completed fraction (0 to 1) and the number of completed rules.
    """
    with TemporaryFolder() as scratch:
        probe = Probe(suite, launch, greeting, dialects, Path(scratch))
        reasons = run_loop(_played(probe, on_progress))
    return tuple(
        Checked(
            id=rule,
            sentence=sentence_of(rule),
            breaches=probe.breaches.get(rule, {}),
            not_applicable=None if rule in probe.breaches else reasons.get(rule),
            notes=tuple(probe.notes[rule]),
        )
        for rule in RULES
    )


async def _played(probe: Probe, on_progress: Callable[[float, int], None]) -> dict[str, str]:
    """Check every rule; returns why some could not be checked."""
    reasons: dict[str, str] = {}
    try:
        for number, (rule, play) in enumerate(RULES.items()):
            on_progress(number / len(RULES), number)
            if isinstance(play, str):
                continue
            probe.rule = rule
            try:
                await play(probe)
            except NotApplicable as answer:
                reasons[rule] = str(answer)
            except NoAnswer as event:
                probe.breach(event.sentence, Exchange(request=event.request))
                await probe.end()
            except ProtocolError as fault:
                probe.breach(str(fault), Exchange(), "output.length")
                reasons[rule] = "a reply was too long to be read, see output.length"
                await probe.end()
    finally:
        await probe.end()
    return reasons
