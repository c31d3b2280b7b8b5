"""The rules that a harness is checked for: a smoke test, and what neither it nor the schema of messages says.

The docstring of each check is its rule.
"""

import contextlib
import math
import shutil
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from opconform.operations import OPERATIONS
from opconform.suite.case import Accept, Case, Reject
from opconform.system.temporary import TemporaryFolder
from opconform_runners.backends.backend import full_names
from opconform_runners.backends.constraints import constrained_names
from opconform_runners.execution.request import Request
from opconform_runners.harness.outcome import Error
from opconform_runners.harness.processes.process import STOP_LIMIT, Process, started
from opconform_runners.harness.protocol import LINE_LIMIT, STOP_LINE
from opconform_runners.tools.protocol_check.probe import Given, NoReply, NotApplicable, Probe, Violation
from opconform_runners.verdicts.judge import declared_gap
from opconform_runners.verdicts.verdict import Fail, Pass, sentence_of

#: How long a new process is sent nothing, in seconds: this much longer than a start takes, and at most.
_SILENCE, _MOST_SILENCE = 0.5, 5.0
#: The number of simple cases that are tried, and of bad cases of each kind.
_TRIES, _BAD = 5, 6
#: The largest integer that every reader of JSON keeps.
_LARGEST_SEQ = (1 << 53) - 1
_ODD_NAME = "a b/Größe ß 'x' #1 %41 日本語"


async def _start(probe: Probe) -> None:
    """Nothing is written before `start` arrives, and its reply names only what exists."""
    begun = time.perf_counter()
    await probe.process()
    silence = min(_MOST_SILENCE, _SILENCE + time.perf_counter() - begun)
    process = await started(probe.launch.command)
    try:
        with contextlib.suppress(TimeoutError):
            raise Violation("unexpected output", None, await process.receive(silence))
    finally:
        await process.kill()
    header = probe.suite.header
    allowed: tuple[tuple[str, Collection[str], Collection[str]], ...] = (
        ("dialects", probe.implementation.dialects, header.dialects),
        ("operations", probe.implementation.operations, OPERATIONS),
        (
            "mapped",
            probe.implementation.mapped,
            {*full_names(header.requirements), *constrained_names(header.declarations)},
        ),
    )
    for key, names, known in allowed:
        for name in names:
            if name not in known:
                raise Violation(f"`{key}` names {name!r}, which does not exist")


async def _smoke(probe: Probe) -> None:
    """A simple case passes. If none does, the harness is probably wrong, and not the implementation."""
    simple = sorted((pair for pair in probe.accepted() if _is_simple(pair[1])), key=lambda pair: _oddness(pair[1]))
    if not simple:
        raise NotApplicable("no simple case needs only what the harness declares")
    for pair in simple[:_TRIES]:
        verdict = await probe.play(probe.prepare(pair))
        if isinstance(verdict, Pass):
            probe.passed = pair
            return
    tried = min(len(simple), _TRIES)
    raise probe.violation(f"none of {tried} simple cases passes; the last, {pair[1].id}: {sentence_of(verdict)}")


def _is_simple(case: Case) -> bool:
    static = all(port.dynamic is None for port in case.inputs)
    return static and all(math.prod(port.shape) > 1 for port in case.outputs)


def _oddness(case: Case) -> tuple[bool, int]:
    """The order in which simple cases are tried: several outputs show more than one does."""
    data, *others = case.inputs
    odd = [port.binding == "parameter" for port in others] + [port.element_type != "i64" for port in others]
    return len(case.outputs) == 1, sum(odd, start=data.element_type != "f32")


async def _want_pass(probe: Probe, request: Request) -> None:
    verdict = await probe.play(request)
    if not isinstance(verdict, Pass):
        raise probe.violation(f"{request.case.id}: {sentence_of(verdict)}")


async def _order(probe: Probe) -> None:
    """Requests that are sent ahead get one reply each, in order, with their `seq`, up to 2^53 - 1."""
    for seqs in ((0,), (1 << 31, 7, _LARGEST_SEQ, 1 << 32)):
        await probe.ask(*(probe.prepare(seq=seq) for seq in seqs))
    await _want_pass(probe, probe.prepare())


async def _long_line(probe: Probe) -> None:
    """A request of 1,048,576 bytes, its line feed included, is read."""
    request = probe.prepare(folder=probe.scratch / "long", seq=_LARGEST_SEQ)
    end = b"}\n"
    padded = request.line.removesuffix(end).ljust(LINE_LIMIT - len(end)) + end
    await _want_pass(probe, replace(request, line=padded))


def _types_of(case: Case) -> set[str]:
    """The element types of the first input and of the outputs of an accepted case; a conversion has two."""
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    return {case.inputs[0].element_type, *(output.element_type for output in outputs)}


async def _types(probe: Probe) -> None:
    """Outputs of each declared element type have its dtype, and `element_types` does not contradict them."""
    probe.simple_case()
    for name in probe.implementation.element_types:
        pair = next((x for x in probe.accepted() if _types_of(x[1]) == {name}), None)
        if pair is None:
            continue
        try:
            verdict = await probe.play(probe.prepare(pair))
        except NoReply:  # the backend's fault
            await probe.end()
            continue
        if isinstance(verdict, Error) or (isinstance(verdict, Fail) and verdict.reason == "element-type"):
            raise probe.violation(f"{pair[1].id}, data of {name}: {sentence_of(verdict)}")


async def _feeds(probe: Probe) -> None:
    """Each of two feeds is executed, in order, and its outputs are written to its own file."""
    op = probe.simple_case()[1].op
    smallest: dict[str, Given] = {}  # of each operation, since a backend may lack some of them
    for pair in probe.accepted(feeds=2):
        smallest.setdefault(pair[1].op, pair)
    for pair in sorted(smallest.values(), key=lambda pair: pair[1].op != op):
        request = probe.prepare(pair)
        verdict = await probe.play(request)
        if isinstance(verdict, Fail | Error) and (isinstance(verdict, Error) or verdict.mismatch is not None):
            raise probe.violation(f"{request.case.id}: {sentence_of(verdict)}")
        if isinstance(verdict, Pass):
            probe.passed_twice = pair
            return
    raise NotApplicable("no case of two feeds passes")


async def _bad_cases(probe: Probe) -> None:
    """Cases that the backend must reject, or that need more than it declares, are never answered `error`."""
    probe.simple_case()
    smallest: dict[str, Given] = {}
    for entry, case in probe.cases:
        gap = declared_gap(case, probe.implementation)
        if case.is_bare and case.feeds == 1 and probe.is_normative(case) and (gap or isinstance(case.expect, Reject)):
            smallest.setdefault(f"undeclared {gap}" if gap else f"invalid {case.expect}", (entry, case))
    for kind in ("invalid", "undeclared"):
        for name in islice((name for name in smallest if name.startswith(kind)), _BAD):
            [reply] = await probe.ask(probe.prepare(smallest[name]))
            if reply.status == "error":
                raise probe.violation(f"{smallest[name][1].id}, which is {kind}, is answered `error`")
    await _want_pass(probe, probe.prepare())


async def _files(probe: Probe) -> None:
    """A request whose `dir` or `inputs` does not exist is answered `error`, and the next request is served."""
    for what in ("dir", "inputs"):
        folder = probe.scratch / f"missing-{what}"
        request = probe.prepare(folder=folder)
        for path in folder.glob("inputs.*"):
            path.unlink()
        if what == "dir":
            shutil.rmtree(folder)
        [reply] = await probe.ask(request)
        if reply.status != "error":
            raise probe.violation(f"the reply is not `error`, although the file of `{what}` does not exist")
    await _want_pass(probe, probe.prepare())


async def _paths(probe: Probe) -> None:
    """Paths may have spaces, quotes and letters beyond ASCII, and `outputs` may lie outside `dir`."""
    with TemporaryFolder() as elsewhere:
        outputs = Path(elsewhere).resolve() / _ODD_NAME
        outputs.mkdir(parents=True)
        await _want_pass(probe, probe.prepare(folder=probe.scratch / "in" / _ODD_NAME, outputs=outputs))


async def _inline(probe: Probe) -> None:
    """A harness that declares `inline` executes cases of one and of two feeds whose inputs are in the request."""
    if not probe.inline:
        raise NotApplicable("the harness does not declare `inline`")
    for pair in filter(None, (probe.simple_case(), probe.passed_twice)):
        await _want_pass(probe, probe.prepare(pair, inline=True))


async def _graphs(probe: Probe) -> None:
    """A case is executed in each declared dialect; with `graphs` and no dialect, in each context."""
    entry, _ = probe.simple_case()
    dialects = [
        name for name in probe.implementation.dialects[1:] if probe.suite.header.dialects.get(name) in entry.files
    ]
    contexts = {case.context for _, case in probe.cases if not case.is_bare}
    if probe.implementation.dialects or not probe.implementation.graphs:
        contexts.clear()
    if not dialects and not contexts:
        raise NotApplicable("the harness has no second dialect, and executes no graphs of `case`")
    for name in dialects:
        await _want_pass(probe, probe.prepare(dialect=name))
    for context in sorted(contexts):
        for pair in islice(probe.accepted(context=context), 1):
            if isinstance(verdict := await probe.play(probe.prepare(pair)), Error):
                raise probe.violation(f"{pair[1].id}: {verdict.sentence}")


async def _end(probe: Probe) -> None:
    """The harness ends within two seconds of `stop`, and of the end of its input, even if it has executed nothing."""
    asks: Mapping[str, Callable[[Process], None]] = {
        "`stop`": lambda process: process.send(STOP_LINE),
        "the end of its input": Process.send_end,
    }
    for what, ask in asks.items():
        for when in ("after a case", "before any case") if probe.passed is not None else ("before any case",):
            await probe.end()
            process = await probe.process()
            if when == "after a case":
                await _want_pass(probe, probe.prepare())
            ask(process)
            if not await process.has_ended(within=STOP_LIMIT):
                raise Violation(f"it did not end within {STOP_LIMIT:g} seconds of {what}, {when}")


#: The check of each rule, in order.
RULES: Mapping[str, Callable[[Probe], Awaitable[None]]] = {
    "start": _start,
    "smoke": _smoke,
    "order": _order,
    "long-line": _long_line,
    "types": _types,
    "feeds": _feeds,
    "bad-cases": _bad_cases,
    "files": _files,
    "paths": _paths,
    "inline": _inline,
    "graphs": _graphs,
    "end": _end,
}
