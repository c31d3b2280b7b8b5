"""Starting: how a harness says what it is, and that it says nothing else."""

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.protocol import said_faults
from opconform_runners.tools.protocol_check.conversation import unasked
from opconform_runners.tools.protocol_check.player import Desk

#: How long a harness is given to speak before it is asked, at the least and at the most, in seconds.
_SILENCE = (0.5, 3.0)


async def answer_to_start(desk: Desk) -> None:
    """The answer to `start` is a message of the protocol."""
    for each in said_faults(desk.greeting.answer.line):
        desk.breach_of("start.answer", desk.greeting.answer, each.sentence)


async def names(desk: Desk) -> None:
    """The answer to `start` names what there is."""
    allowed = (
        ("dialects", desk.said.dialects, desk.names.dialects),
        ("element_types", desk.said.element_types, ELEMENT_TYPES),
        ("operations", desk.said.operations, desk.names.operations),
        ("mapped", desk.said.mapped, desk.names.requirements),
    )
    for key, named, known in allowed:
        for each in named:
            if each not in known:
                desk.breach_of("start.names", desk.greeting.answer, f"`{key}` names {each!r}, which there is not")
    if not desk.said.dialects and not desk.greeting.answer.document.get("operations"):
        sentence = "`operations` is empty, and a harness without dialects must list what it implements"
        desk.breach_of("start.names", desk.greeting.answer, sentence)


async def silence(desk: Desk) -> None:
    """A harness that is asked nothing says nothing."""
    for line in desk.greeting.early:
        desk.breach("output.before-start", unasked(line), reply=line)
    least, most = _SILENCE
    await desk.conversation(listen=min(most, least + desk.greeting.answer.seconds))
