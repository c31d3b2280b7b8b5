"""The rules of the protocol by their ids, and the checks about the start and the end of a harness.

The docstring of each check is its rule in docs/protocol.md. A check without a body is made by the others.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from opconform.operations import OPERATIONS
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import full_names
from opconform_runners.harness.process import STOP_LIMIT
from opconform_runners.harness.protocol import STOP_LINE, said_faults
from opconform_runners.tools.protocol_check import case_checks as cases
from opconform_runners.tools.protocol_check.conversation import PEEK, Conversation
from opconform_runners.tools.protocol_check.probe import Probe

#: The minimum and maximum time for which a new harness is sent nothing, in seconds.
_SILENCE = (0.5, 3.0)


async def _start_answer(probe: Probe) -> None:
    """`start` is answered by one line with the keys of its table, each of the right type, and no other keys."""
    for each in said_faults(probe.greeting.answer.line):
        probe.breach("start.answer", each.sentence, probe.greeting.answer)


async def _start_names(probe: Probe) -> None:
    """The answer to `start` names only dialects, element types, operations and requirements that exist."""
    allowed = (
        ("dialects", probe.said.dialects, probe.dialects),
        ("element_types", probe.said.element_types, ELEMENT_TYPES),
        ("operations", probe.said.operations, OPERATIONS),
        ("mapped", probe.said.mapped, full_names(probe.suite.header.requirements)),
    )
    for key, named, known in allowed:
        for each in named:
            if each not in known:
                probe.breach("start.names", f"`{key}` names {each!r}, which does not exist", probe.greeting.answer)
    if not probe.said.dialects and not probe.greeting.answer.document.get("operations"):
        sentence = "`operations` is empty, and a harness without dialects must list what it implements"
        probe.breach("start.names", sentence, probe.greeting.answer)


async def _before_start(probe: Probe) -> None:
    """Nothing is written to standard output before `start` arrives, or before its answer."""
    for line in probe.greeting.early:
        probe.unexpected("output.before-start", line)
    least, most = _SILENCE
    await probe.conversation(listen=min(most, least + probe.greeting.answer.seconds))


async def _output_between(_probe: Probe) -> None:
    """After that answer, nothing but one reply per request is written, whatever the backend prints."""


async def _output_length(_probe: Probe) -> None:
    """No reply is longer than 1,048,576 bytes."""


async def _stop(probe: Probe) -> None:
    """The harness ends within two seconds of `stop`, also if it has executed nothing."""
    await _end(probe, "end.stop", lambda conversation: conversation.process.send(STOP_LINE), STOP_LINE)


async def _end_of_input(probe: Probe) -> None:
    """The harness ends within two seconds of the end of standard input, also if it has executed nothing."""
    await _end(probe, "end.input", lambda conversation: conversation.process.send_end(), b"(end of standard input)")


async def _end(probe: Probe, rule: str, ask: Callable[[Conversation], None], shown: bytes) -> None:
    """Ask a harness to end, once after it has executed a case and once before."""
    for has_run in (True, False) if probe.answered is not None else (False,):
        if not has_run:
            await probe.end()
        conversation = await probe.conversation()
        if has_run:
            await probe.play(probe.prepare())
        ask(conversation)
        if not await conversation.process.has_ended(within=STOP_LIMIT):
            after = "after a case" if has_run else "before any case"
            probe.breach(rule, f"it had not ended {STOP_LIMIT:g} seconds later, {after}", request=shown)
        else:
            conversation.stray += [(shown, line) for line in await conversation.listen(PEEK)]
            if conversation.process.left_children() and "end.children" not in probe.notes:
                probe.note("end.children", "a child process was still there when the harness had ended")
        await probe.end()


async def _children(_probe: Probe) -> None:
    """No child process is left behind; one that is left is a note, not a breach."""


#: The check of each rule, in the order of `docs/protocol.md`, which is also the order of the checks.
RULES: Mapping[str, Callable[[Probe], Awaitable[None]]] = MappingProxyType(
    {
        "start.answer": _start_answer,
        "start.names": _start_names,
        "output.before-start": _before_start,
        "output.between": _output_between,
        "output.length": _output_length,
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
        "dialects.each": cases.each_dialect,
        "graphs.each": cases.each_graph,
        "end.stop": _stop,
        "end.input": _end_of_input,
        "end.children": _children,
    }
)


def sentence_of(rule: str) -> str:
    """The sentence of a rule."""
    return str(RULES[rule].__doc__)
