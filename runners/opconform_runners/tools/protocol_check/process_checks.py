"""The checks of the rules about the start and the end of a harness."""

from collections.abc import Callable

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.process import STOP_LIMIT
from opconform_runners.harness.protocol import STOP_LINE, said_faults
from opconform_runners.tools.protocol_check.conversation import PEEK, Conversation
from opconform_runners.tools.protocol_check.desk import Desk

#: How long a new harness is sent nothing, at least and at most, in seconds.
_SILENCE = (0.5, 3.0)


async def start_answer(desk: Desk) -> None:
    """The answer to `start` is a message of the protocol."""
    for each in said_faults(desk.greeting.answer.line):
        desk.breach("start.answer", each.sentence, desk.greeting.answer)


async def start_names(desk: Desk) -> None:
    """The answer to `start` names what exists."""
    allowed = (
        ("dialects", desk.said.dialects, desk.names.dialects),
        ("element_types", desk.said.element_types, ELEMENT_TYPES),
        ("operations", desk.said.operations, desk.names.operations),
        ("mapped", desk.said.mapped, desk.names.requirements),
    )
    for key, named, known in allowed:
        for each in named:
            if each not in known:
                desk.breach("start.names", f"`{key}` names {each!r}, which does not exist", desk.greeting.answer)
    if not desk.said.dialects and not desk.greeting.answer.document.get("operations"):
        sentence = "`operations` is empty, and a harness without dialects must list what it implements"
        desk.breach("start.names", sentence, desk.greeting.answer)


async def silence(desk: Desk) -> None:
    """A harness that is asked nothing writes nothing."""
    for line in desk.greeting.early:
        desk.unexpected("output.before-start", line)
    least, most = _SILENCE
    await desk.conversation(listen=min(most, least + desk.greeting.answer.seconds))


async def stop(desk: Desk) -> None:
    """`stop` ends the harness, before a case and after one."""
    await _end(desk, "end.stop", lambda conversation: conversation.process.send(STOP_LINE), STOP_LINE)


async def end_of_input(desk: Desk) -> None:
    """The end of standard input ends the harness, before a case and after one."""
    await _end(desk, "end.input", lambda conversation: conversation.process.send_end(), b"(end of standard input)")


async def _end(desk: Desk, rule: str, ask: Callable[[Conversation], None], shown: bytes) -> None:
    """Ask a harness to end, once after it has run a case and once before."""
    for has_run in (True, False) if desk.plain is not None else (False,):
        if not has_run:
            await desk.end()
        conversation = await desk.conversation()
        if has_run:
            await desk.play(desk.prepare(*desk.a_plain_case()))
        ask(conversation)
        if not await conversation.process.has_ended(within=STOP_LIMIT):
            after = "after a case" if has_run else "before any case"
            desk.breach(rule, f"it had not ended {STOP_LIMIT:g} seconds later, {after}", request=shown)
        else:
            conversation.stray += [(shown, line) for line in await conversation.listen(PEEK)]
            if conversation.process.left_children() and "end.children" not in desk.notes:
                desk.note("end.children", "a child process was still there when the harness had ended")
        await desk.end()
