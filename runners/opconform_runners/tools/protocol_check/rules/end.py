"""Ending: `stop`, the end of standard input, and what is left."""

from collections.abc import Callable

from opconform_runners.harness.process import STOP_LIMIT
from opconform_runners.harness.protocol import stop_line
from opconform_runners.tools.protocol_check.conversation import Conversation
from opconform_runners.tools.protocol_check.player import Desk


async def stop(desk: Desk) -> None:
    """`stop` ends the harness, before a case and after one."""
    await _end(desk, "end.stop", lambda conversation: conversation.process.send(stop_line()), stop_line())


async def end_of_input(desk: Desk) -> None:
    """The end of standard input ends it, before a case and after one."""
    await _end(desk, "end.input", lambda conversation: conversation.process.send_end(), b"(end of standard input)")


async def _end(desk: Desk, rule: str, ask: Callable[[Conversation], None], shown: bytes) -> None:
    """Ask a harness to end, once after it has run a case and once before; whether it does in time."""
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
            await conversation.rest(shown)
            _note_children(desk, conversation)
        await desk.end()


def _note_children(desk: Desk, conversation: Conversation) -> None:
    if conversation.process.left_children() and "end.children" not in desk.notes:
        desk.note("end.children", "a child process was still there when the harness had ended")
