"""The checks of the rules about requests, replies and outputs."""

import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry, expected_name
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import undeclared_operation
from opconform_runners.harness.protocol import LINE_LIMIT
from opconform_runners.tools.protocol_check.conversation import NoAnswer
from opconform_runners.tools.protocol_check.desk import Desk, NotApplicable, Played, data_type
from opconform_runners.verdicts.comparison import expected_outputs, mismatch_of

#: How many cases are tried until one is answered `ok`, sent ahead, and played of a kind.
_TRIES, _AHEAD, _CASES = 5, 4, 6
#: The largest integer that every reader of JSON keeps.
_LARGEST_SEQ = (1 << 53) - 1
_ODD_NAME = "a b/Größe ß 'x' #1 %41 日本語"


def _want_ok(desk: Desk, rule: str, played: Played) -> None:
    if played.answer.status == "ok":
        desk.outputs(played, rule)
    elif played.is_readable:
        desk.breach(rule, "a plain case is not answered `ok` here", played.answer)


def _want_golden(desk: Desk, rule: str, played: Played) -> None:
    request = played.request
    outputs = desk.outputs(played, "ok.outputs" if len(request.outputs) == 1 else rule)
    if not isinstance(request.case.expect, Accept) or len(outputs) < len(request.outputs):
        return
    element_types = [each.element_type for each in request.case.expect.accept]
    for feed, actual in enumerate(outputs):
        expected = expected_outputs(desk.suite.arrays(request.entry, expected_name(feed)), request.case.expect.accept)
        found = mismatch_of(expected, actual, element_types, feed=feed)
        if found is not None and found.reason != "element-type":
            where = f"of feed {feed} of" if len(outputs) > 1 else "of"
            desk.breach(rule, f"the outputs {where} {request.case.id} are wrong: {found.sentence}", played.answer)


async def run_plain(desk: Desk) -> None:
    """Find a plain case that is answered `ok`, for the other rules, too."""
    ordinary = sorted((each for each in desk.accepted() if _is_ordinary(each[1])), key=lambda each: _oddness(each[1]))
    if not ordinary:
        raise NotApplicable("no case of the suite is plain and of what the harness declares")
    tried = ordinary[:_TRIES]
    for entry, case in tried:
        played = await desk.play(desk.prepare(entry, case))
        if played.answer.status == "ok":
            desk.plain = entry, case
            desk.outputs(played)
            return
    if not played.is_readable:
        raise NotApplicable("the replies could not be read, see run.answer")
    sentence = f"none of {len(tried)} plain cases is answered `ok`; the last of them is {case.id}"
    desk.breach("run.plain", sentence, played.answer)


def _is_ordinary(case: Case) -> bool:
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    static = all(each.dynamic is None for each in case.inputs)
    return static and len(outputs) > 1 and all(math.prod(each.shape) > 1 for each in outputs)


def _oddness(case: Case) -> int:
    data, *others = case.inputs
    odd = [each.binding == "parameter" for each in others] + [each.element_type != "i64" for each in others]
    return sum(odd, start=data.element_type != "f32")


async def run_answer(desk: Desk) -> None:
    """The answers to everything that is played are messages of the protocol."""
    if not desk.answers:
        raise NotApplicable("the harness answered nothing")


async def run_seq(desk: Desk) -> None:
    """Small and large numbers come back."""
    plain = desk.a_plain_case()
    for seq in (0, 1 << 31, _LARGEST_SEQ):
        await desk.play(desk.prepare(*plain, seq=seq))


async def run_order(desk: Desk) -> None:
    """Several requests are sent at once."""
    plain = desk.a_plain_case()
    if "run.seq" in desk.breaches:
        raise NotApplicable("the replies cannot be told from each other, see run.seq")
    sent = [desk.prepare(*plain) for _ in range(_AHEAD)]
    answers = await desk.play_all(sent)
    due, came = [each.seq for each in sent], [each.document.get("seq") for each in answers]
    if list(map(str, came)) != list(map(str, due)) and sorted(map(str, came)) == sorted(map(str, due)):
        desk.breach("run.order", f"the requests {due} were answered in the order {came}", answers[0])
        return
    for request, answer in zip(sent, answers, strict=True):
        desk.judge_seq(answer, request.seq)


async def run_long_line(desk: Desk) -> None:
    """A request of the greatest length is read."""
    entry, case = desk.a_plain_case()
    folder = desk.scratch / "long"
    seq = _LARGEST_SEQ - 1  # not a number that a request had before
    room = LINE_LIMIT - len(desk.prepare(entry, case, folder=folder, seq=seq).line)
    padded = replace(case, title=case.title + "." * room)
    _want_ok(desk, "run.long-line", await desk.play(desk.prepare(entry, padded, folder=folder, seq=seq)))


async def ok_outputs(desk: Desk) -> None:
    """A plain case gives outputs that can be read."""
    desk.outputs(await desk.play(desk.prepare(*desk.a_plain_case())))


async def ok_dtype(desk: Desk) -> None:
    """Play a case of each declared element type. A backend that crashes at one does not violate the rule."""
    desk.a_plain_case()
    for name in desk.said.element_types:
        for entry, case in islice(desk.accepted(element_type=name), 1):
            try:
                played = await desk.play(desk.prepare(entry, case))
            except NoAnswer as event:
                sentence = f"the backend, and not the harness: at {case.id}, data of {name}, {event.sentence}"
                desk.note("ok.dtype", sentence)
                await desk.end()
                continue
            if played.answer.status != "ok":
                desk.note("ok.dtype", f"data of {name}, which is declared, is answered `{played.answer.status}`")
                continue
            for feed in desk.outputs(played):
                _want_storage(desk, played, feed, name)


def _want_storage(desk: Desk, played: Played, outputs: Sequence[Array], name: str) -> None:
    storage = ELEMENT_TYPES[name].storage
    dtype = "<U" if storage.kind == "U" else str(storage)
    for number, array in enumerate(outputs):
        if array.dtype != storage and not (storage.kind == array.dtype.kind == "U"):
            sentence = f"output_{number} of {name} is stored as {array.dtype}, and not as {dtype}"
            desk.breach("ok.dtype", sentence, played.answer)


async def ok_values(desk: Desk) -> None:
    """A plain case gives the golden outputs."""
    _want_golden(desk, "ok.values", await desk.play(desk.prepare(*desk.a_plain_case())))


async def ok_two_feeds(desk: Desk) -> None:
    """A case of two feeds gives the golden outputs."""
    desk.a_plain_case()
    if "ok.values" in desk.breaches:
        raise NotApplicable("the outputs of a plain case are wrong, see ok.values")
    for entry, case in islice(desk.accepted(feeds=2), _TRIES):
        played = await desk.play(desk.prepare(entry, case))
        if played.answer.status == "ok":
            _want_golden(desk, "ok.two-feeds", played)
            return
    raise NotApplicable("the suite has no case of two feeds that the harness answers `ok`")


async def ok_element_types(desk: Desk) -> None:
    """The reported element types match the outputs of a plain case."""
    rule, played = "ok.element-types", await desk.play(desk.prepare(*desk.a_plain_case()))
    said = played.answer.document.get("element_types")
    if said is None:
        raise NotApplicable("the harness does not say `element_types`")
    if not isinstance(said, list) or not all(isinstance(each, list) for each in said):
        return
    if len(said) != len(played.request.outputs):
        sentence = f"`element_types` has {len(said)} lists, and the case has {len(played.request.outputs)} feeds"
        desk.breach(rule, sentence, played.answer)
    for names, feed in zip(said, desk.outputs(played), strict=False):
        if len(names) != len(feed):
            sentence = f"`element_types` names {len(names)} outputs, and {len(feed)} are in the file"
            desk.breach(rule, sentence, played.answer)
        for each in {str(name) for name in names} - set(ELEMENT_TYPES):
            desk.breach(rule, f"`element_types` names {each!r}, which is not an element type", played.answer)


async def ok_seconds(desk: Desk) -> None:
    """The reported times are possible, in every answer."""
    if all(each.document.get("seconds") is None for each in desk.answers):
        raise NotApplicable("the harness does not say `seconds`")


async def rejected_status(desk: Desk) -> None:
    """Play the smallest rejected case of each of several requirements."""
    desk.a_plain_case()
    requirements: set[str] = set()
    for entry, case in desk.cases:
        named = case.expect.reject if isinstance(case.expect, Reject) else None
        is_simple = case.is_bare and case.feeds == 1 and desk.is_declared(case) and desk.is_normative(case)
        if named is None or named in requirements or not is_simple or len(requirements) == _CASES:
            continue
        requirements.add(named)
        answer = (await desk.play(desk.prepare(entry, case))).answer
        if answer.status == "error":
            desk.breach("rejected.status", f"a case that must be refused, for {named}, is answered `error`", answer)
        elif answer.status in ("ok", "unsupported"):
            desk.note("rejected.status", f"the backend, and not the harness: {case.id} is answered `{answer.status}`")
    if not requirements:
        raise NotApplicable("no case of the suite that must be refused can be given to the harness")


async def rejected_why(desk: Desk) -> None:
    """Every refusal has a stage and a message."""
    if all(each.status != "rejected" for each in desk.answers):
        raise NotApplicable("the backend refused no case that was played")


async def undeclared(desk: Desk) -> None:
    """Play the smallest case of each kind that is not declared: an operation or an element type."""
    desk.a_plain_case()
    kinds: dict[str, tuple[Entry, Case]] = {}
    for entry, case in desk.cases:
        if isinstance(case.expect, Accept) and case.is_bare and not desk.is_declared(case):
            operation = undeclared_operation(case, desk.said.operations, desk.said.dialects)
            kinds.setdefault(operation or data_type(case) or case.op, (entry, case))
    if not kinds:
        raise NotApplicable("the harness declares all that the cases need which it can be given")
    for kind, (entry, case) in islice(kinds.items(), _CASES):
        answer = (await desk.play(desk.prepare(entry, case))).answer
        if answer.status == "ok":
            desk.note("unsupported.undeclared", f"{kind} is not all declared, and {case.id} is executed")
        elif answer.status == "error":
            desk.breach("unsupported.undeclared", f"{case.id} is answered `error`", answer)


async def missing_files(desk: Desk) -> None:
    """A request whose files are missing is an error and costs no other."""
    plain = desk.a_plain_case()
    for what in ("dir", "inputs"):
        request = desk.prepare(*plain)
        if what == "dir":
            shutil.rmtree(request.folder)
        for each in request.folder.glob("inputs.*"):
            each.unlink()
        played = await desk.play(request)
        if played.is_readable and played.answer.status != "error":
            desk.breach("error.files", f"the file of `{what}` is not there", played.answer)
    played = await desk.play(desk.prepare(*plain))
    if played.is_readable and played.answer.status != "ok":
        desk.breach("error.files", "the plain case after them is not answered `ok` any more", played.answer)


async def odd_paths(desk: Desk) -> None:
    """A plain case is executed in folders with unusual names."""
    plain = desk.a_plain_case()
    folder, outputs = desk.scratch / "in" / _ODD_NAME, desk.scratch / "out" / _ODD_NAME
    outputs.mkdir(parents=True)
    _want_ok(desk, "paths.names", await desk.play(desk.prepare(*plain, folder=folder, outputs=outputs)))


async def outputs_outside(desk: Desk) -> None:
    """A plain case is executed whose outputs go elsewhere."""
    plain = desk.a_plain_case()
    with tempfile.TemporaryDirectory(prefix="opconform-out-", ignore_cleanup_errors=True) as outputs:
        _want_ok(desk, "paths.outside", await desk.play(desk.prepare(*plain, outputs=Path(outputs).resolve())))


async def each_dialect(desk: Desk) -> None:
    """A plain case is executed in each dialect but the first."""
    others = desk.said.dialects[1:]
    if not others:
        named = f"declares {desk.said.dialects[0]} alone" if desk.said.dialects else "declares no dialect"
        raise NotApplicable(f"the harness {named}")
    entry, case = desk.a_plain_case()
    held = [each for each in others if desk.suite.header.dialects.get(each) in entry.files]
    if not held:
        raise NotApplicable(f"the suite holds no plain case in {', '.join(others)}")
    for each in held:
        _want_ok(desk, "dialects.each", await desk.play(desk.prepare(entry, case, dialect=each)))


async def each_graph(desk: Desk) -> None:
    """A harness that executes graphs executes one of each context."""
    if desk.said.dialects or not desk.said.graphs:
        why = "reads a dialect" if desk.said.dialects else "declares that it executes no graphs"
        raise NotApplicable(f"the harness {why}")
    desk.a_plain_case()
    for context in sorted({case.context for _, case in desk.cases if not case.is_bare}):
        for entry, case in islice(desk.accepted(context=context), 1):
            _want_ok(desk, "graphs.each", await desk.play(desk.prepare(entry, case)))
