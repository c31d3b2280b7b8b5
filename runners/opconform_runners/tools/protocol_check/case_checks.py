"""The checks of the rules about requests, replies and outputs; their docstrings are the rules."""

import math
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

from opconform.suite.case import Accept, Case, Reject
from opconform.temporary import TemporaryFolder
from opconform_runners.execution.request import Request, contradiction
from opconform_runners.harness.outcome import Returned
from opconform_runners.harness.protocol import LINE_LIMIT
from opconform_runners.tools.protocol_check.conversation import Exchange, NoAnswer
from opconform_runners.tools.protocol_check.probe import Given, NotApplicable, Probe
from opconform_runners.verdicts.judge import declared_gap, first_verdict
from opconform_runners.verdicts.verdict import Fail

#: The number of cases that are tried until one is answered `ok`, sent ahead, and played per kind.
_TRIES, _AHEAD, _CASES = 5, 4, 6
#: The largest integer that every reader of JSON keeps.
_LARGEST_SEQ = (1 << 53) - 1
_ODD_NAME = "a b/Größe ß 'x' #1 %41 日本語"


async def _want_ok(probe: Probe, request: Request) -> None:
    answer = await probe.play(request)
    if answer.status == "ok":
        probe.outputs(request, answer, probe.rule)
    elif answer.status is not None:
        probe.breach("a simple case is not answered `ok` here", answer)


def _want_golden(probe: Probe, request: Request, answer: Exchange) -> None:
    outputs = probe.outputs(request, answer, "ok.outputs" if probe.rule == "ok.values" else probe.rule)
    if len(outputs) < len(request.outputs):
        return
    outcome = Returned(outputs=tuple(outputs), element_types=None, seconds=None)
    verdict = first_verdict(probe.suite, request.entry, request.case, outcome)
    if isinstance(verdict, Fail) and verdict.mismatch is not None and verdict.reason != "element-type":
        feed = f"feed {verdict.mismatch.feed} of " if len(outputs) > 1 else ""
        probe.breach(f"the outputs of {feed}{request.case.id} are wrong: {verdict.sentence}", answer)


async def run_plain(probe: Probe) -> None:
    """The harness answers `ok` to a simple case that it declares to support."""
    ordinary = sorted((each for each in probe.accepted() if _is_ordinary(each[1])), key=lambda each: _oddness(each[1]))
    if not ordinary:
        raise NotApplicable("no simple case needs only what the harness declares")
    tried = ordinary[:_TRIES]
    for given in tried:
        request = probe.prepare(given)
        answer = await probe.play(request)
        if answer.status == "ok":
            probe.answered = given
            probe.outputs(request, answer)
            return
    if answer.status is None:
        raise NotApplicable("the replies could not be read, see run.answer")
    probe.breach(f"none of {len(tried)} simple cases is answered `ok`; the last of them is {request.case.id}", answer)


def _is_ordinary(case: Case) -> bool:
    static = all(each.dynamic is None for each in case.inputs)
    return static and all(math.prod(each.shape) > 1 for each in case.outputs)


def _oddness(case: Case) -> tuple[bool, int]:
    """The order in which ordinary cases are tried: several outputs show more than one does."""
    data, *others = case.inputs
    odd = [each.binding == "parameter" for each in others] + [each.element_type != "i64" for each in others]
    return len(case.outputs) == 1, sum(odd, start=data.element_type != "f32")


async def run_answer(probe: Probe) -> None:
    """`run` is answered by one line with the keys of its status, each of the right type, and no other keys."""
    if not probe.answers:
        raise NotApplicable("the harness sent no reply")


async def run_seq(probe: Probe) -> None:
    """A reply has the `seq` of its request, which may be any integer from 0 to 2^53 - 1."""
    for seq in (0, 1 << 31, _LARGEST_SEQ):
        await probe.play(probe.prepare(seq=seq))


async def run_order(probe: Probe) -> None:
    """Requests that are sent ahead are answered in order."""
    sent = [probe.prepare() for _ in range(_AHEAD)]
    probe.need("run.seq")
    answers = await probe.play_all(sent)
    due, found = [str(each.seq) for each in sent], [str(each.document.get("seq")) for each in answers]
    if found != due and sorted(found) == sorted(due):
        probe.breach(f"the requests {', '.join(due)} were answered in the order {', '.join(found)}", answers[0])
        return
    for request, answer in zip(sent, answers, strict=True):
        probe.check_seq(answer, request.seq)


async def run_long_line(probe: Probe) -> None:
    """A request of 1,048,576 bytes, its line feed included, is read."""
    entry, case = probe.simple_case()
    folder = probe.scratch / "long"
    seq = _LARGEST_SEQ - 1  # not a number that a request had before
    room = LINE_LIMIT - len(probe.prepare(folder=folder, seq=seq).line)
    padded = replace(case, title=case.title + "." * room)
    await _want_ok(probe, probe.prepare((entry, padded), folder=folder, seq=seq))


async def ok_outputs(probe: Probe) -> None:
    """`ok` means that every output file is complete: an .npz of output_0, output_1, … without pickles."""
    request = probe.prepare()
    probe.outputs(request, await probe.play(request))


async def ok_dtype(probe: Probe) -> None:
    """Outputs are stored in the dtype of their element type."""
    probe.simple_case()
    probe.need("ok.outputs")
    for name in probe.said.element_types:
        for given in islice(probe.accepted(element_type=name), 1):
            request = probe.prepare(given)
            try:
                answer = await probe.play(request)
            except NoAnswer as event:  # a backend that crashes does not violate the rule
                probe.note(f"the backend, not the harness: at {given[1].id}, data of {name}, {event.sentence}")
                await probe.end()
                continue
            if answer.status != "ok":
                probe.note(f"data of {name}, which is declared, is answered `{answer.document.get('status')}`")
                continue
            outputs = probe.outputs(request, answer)
            fault = contradiction(outputs, [[name] * len(feed) for feed in outputs])
            if fault is not None:
                probe.breach(fault, answer)


async def ok_values(probe: Probe) -> None:
    """The outputs of a simple case are right in number, shape and every bit."""
    probe.need("ok.outputs")
    request = probe.prepare()
    _want_golden(probe, request, await probe.play(request))


async def ok_two_feeds(probe: Probe) -> None:
    """Each feed is executed, in order, and its outputs are written to the file that the feed names."""
    _, simple = probe.simple_case()
    probe.need("ok.outputs", "ok.values")
    known_first = sorted(probe.accepted(feeds=2), key=lambda given: given[1].op != simple.op)
    for given in islice(known_first, _TRIES):
        request = probe.prepare(given)
        answer = await probe.play(request)
        if answer.status == "ok":
            _want_golden(probe, request, answer)
            return
    raise NotApplicable("the suite has no case of two feeds that the harness answers `ok`")


async def ok_element_types(probe: Probe) -> None:
    """`element_types`, if given, has one list per feed, with the name of each output's element type."""
    request = probe.prepare()
    answer = await probe.play(request)
    said = answer.document.get("element_types")
    if said is None:
        raise NotApplicable("the harness does not report `element_types`")
    probe.need("ok.outputs", "ok.dtype")
    sentence = contradiction(probe.outputs(request, answer), said)
    if sentence is not None and "ok.element-types" not in probe.breaches:
        probe.breach(sentence, answer)


async def ok_seconds(probe: Probe) -> None:
    """`seconds`, if given, is at least 0 and at most the time from the request to the reply."""
    if all(each.document.get("seconds") is None for each in probe.answers):
        raise NotApplicable("the harness does not report `seconds`")


async def rejected_status(probe: Probe) -> None:
    """A case that the backend refuses is answered `rejected`, never `error`, and the harness continues."""
    probe.simple_case()
    smallest: dict[str, Given] = {}
    for entry, case in probe.cases:
        is_simple = case.is_bare and case.feeds == 1 and probe.is_normative(case)
        is_declared = declared_gap(case, probe.said, roles=("tensor", "control")) is None
        if is_simple and is_declared and isinstance(case.expect, Reject):
            smallest.setdefault(case.expect.reject, (entry, case))
    if not smallest:
        raise NotApplicable("the harness does not declare support for any case that must be rejected")
    for requirement, given in islice(smallest.items(), _CASES):
        answer = await probe.play(probe.prepare(given))
        if answer.status == "error":
            probe.breach(f"a case that must be rejected, for {requirement}, is answered `error`", answer)
        elif answer.status in ("ok", "unsupported"):
            probe.note(f"the backend, not the harness: {given[1].id} is answered `{answer.status}`")


async def rejected_why(probe: Probe) -> None:
    """`rejected` has a `stage`, `build` or `run`, and a `message`."""
    if all(each.document.get("status") != "rejected" for each in probe.answers):
        raise NotApplicable("the backend rejected none of the cases")


async def undeclared(probe: Probe) -> None:
    """A case that needs more than the harness declares is answered `unsupported` or `rejected`, not `error`."""
    probe.simple_case()
    smallest: dict[str, Given] = {}
    for entry, case in probe.cases:
        gap = declared_gap(case, probe.said)
        if gap is not None and case.is_bare and isinstance(case.expect, Accept):
            smallest.setdefault(gap, (entry, case))
    if not smallest:
        raise NotApplicable("the harness declares support for every feature of the cases")
    operations_last = sorted(smallest.items(), key=lambda each: each[0] == each[1][1].op)
    for gap, given in islice(operations_last, _CASES):
        answer = await probe.play(probe.prepare(given))
        if answer.status == "ok":
            probe.note(f"{given[1].id} is executed, although the harness does not declare {gap}")
        elif answer.status == "error":
            probe.breach(f"{given[1].id} is answered `error`", answer)


async def missing_files(probe: Probe) -> None:
    """A request whose `dir` or `inputs` does not exist is answered `error`, and the next request is served."""
    for what in ("dir", "inputs"):
        folder = probe.scratch / f"missing-{what}"
        request = probe.prepare(folder=folder)
        if what == "dir":
            shutil.rmtree(folder)
        for each in folder.glob("inputs.*"):
            each.unlink()
        answer = await probe.play(request)
        if answer.status not in ("error", None):
            probe.breach(f"the reply is not `error`, although the file of `{what}` does not exist", answer)
    answer = await probe.play(probe.prepare())
    if answer.status not in ("ok", None):
        probe.breach("a simple case after them is no longer answered `ok`", answer)


async def odd_paths(probe: Probe) -> None:
    """Paths may contain spaces, quotes and letters beyond ASCII, which requests encode as UTF-8."""
    folder, outputs = probe.scratch / "in" / _ODD_NAME, probe.scratch / "out" / _ODD_NAME
    outputs.mkdir(parents=True)
    await _want_ok(probe, probe.prepare(folder=folder, outputs=outputs))


async def outputs_outside(probe: Probe) -> None:
    """`outputs` may lie outside `dir`, in any existing folder."""
    with TemporaryFolder() as outputs:
        await _want_ok(probe, probe.prepare(outputs=Path(outputs).resolve()))


async def inline_tensors(probe: Probe) -> None:
    """A harness that declares `inline` executes cases of one and of two feeds whose inputs are in the request."""
    if not probe.greeting.document.get("inline"):
        raise NotApplicable("the harness does not declare `inline`")
    simple = probe.simple_case()
    probe.need("ok.outputs", "ok.values")
    two_feeds = (each for each in probe.accepted(feeds=2) if each[1].op == simple[1].op)
    for given in (simple, *islice(two_feeds, 1)):
        request = probe.prepare(given, inline=True)
        answer = await probe.play(request)
        if answer.status == "ok":
            _want_golden(probe, request, answer)
        elif given is simple and answer.status is not None:
            probe.breach("a simple case is not answered `ok` here", answer)


async def each_dialect(probe: Probe) -> None:
    """A case is executed in each declared dialect, not only in the first."""
    others = probe.said.dialects[1:]
    if not others:
        named = f"only the dialect {probe.said.dialects[0]}" if probe.said.dialects else "no dialect"
        raise NotApplicable(f"the harness declares {named}")
    entry, _ = probe.simple_case()
    held = [each for each in others if probe.suite.header.dialects.get(each) in entry.files]
    if not held:
        raise NotApplicable(f"the suite has no simple case in {', '.join(others)}")
    for each in held:
        await _want_ok(probe, probe.prepare(dialect=each))


async def each_graph(probe: Probe) -> None:
    """A harness that declares `graphs` executes a graph of each context."""
    if probe.said.dialects or not probe.said.graphs:
        why = "reads a dialect" if probe.said.dialects else "declares that it executes no graphs"
        raise NotApplicable(f"the harness {why}")
    probe.simple_case()
    for context in sorted({case.context for _, case in probe.cases if not case.is_bare}):
        for given in islice(probe.accepted(context=context), 1):
            await _want_ok(probe, probe.prepare(given))
