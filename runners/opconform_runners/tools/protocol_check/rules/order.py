"""Answering: requests are read, and each is answered in its turn."""

import math
from itertools import islice

from opconform.suite.case import Accept, Case
from opconform.suite.manifest import Entry
from opconform_runners.tools.protocol_check.player import Desk, NotApplicable, padded
from opconform_runners.tools.protocol_check.rules.expectations import is_readable, want_ok

#: How many cases are tried until one is answered `ok`.
_TRIES = 5

#: How many requests are sent ahead.
_AHEAD = 4

#: The largest integer that every reader of JSON keeps.
_LARGEST_SEQ = (1 << 53) - 1


async def plain(desk: Desk) -> None:
    """A plain case is done, and kept for the other rules."""
    candidates = list(islice(_plain_cases(desk), _TRIES))
    if not candidates:
        raise NotApplicable("no case of the suite is plain and of what the harness declares")
    for entry, case in candidates:
        played = await desk.play(desk.prepare(entry, case))
        if played.answer.status == "ok":
            desk.plain = entry, case
            desk.outputs(played, "ok.outputs")
            return
    if not is_readable(played):
        raise NotApplicable("the replies could not be read, see run.answer")
    sentence = f"none of {len(candidates)} plain cases is answered `ok`; the last of them is {case.id}"
    desk.breach_of("run.plain", played.answer, sentence)


def _plain_cases(desk: Desk) -> list[tuple[Entry, Case]]:
    """The accepted cases without anything special about them, the plainest first."""
    found = [(entry, case) for entry, case in desk.accepted() if _is_ordinary(case)]
    return sorted(found, key=lambda each: _oddness(each[1]))


def _is_ordinary(case: Case) -> bool:
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    static = all(each.dynamic is None for each in case.inputs)
    return static and len(outputs) > 1 and all(math.prod(each.shape) > 1 for each in outputs)


def _oddness(case: Case) -> int:
    data, *others = case.inputs
    odd = [each.binding == "parameter" for each in others] + [each.element_type != "i64" for each in others]
    return sum(odd, start=data.element_type != "f32")


async def some_answer(desk: Desk) -> None:
    """The answers to all that is played are messages of the protocol."""
    if not desk.answers:
        raise NotApplicable("the harness answered nothing")


async def seq(desk: Desk) -> None:
    """Small and large numbers come back."""
    plain = desk.a_plain_case()
    for seq in (0, 1 << 31, _LARGEST_SEQ):
        await desk.play(desk.prepare(*plain, seq=seq))


async def order(desk: Desk) -> None:
    """Several requests are sent at once."""
    plain = desk.a_plain_case()
    if "run.seq" in desk.breaches:
        raise NotApplicable("the replies cannot be told from each other, see run.seq")
    sent = [desk.prepare(*plain) for _ in range(_AHEAD)]
    answers = await desk.play_all(sent)
    due, came = [each.seq for each in sent], [each.document.get("seq") for each in answers]
    if list(map(str, came)) != list(map(str, due)) and sorted(map(str, came)) == sorted(map(str, due)):
        desk.breach_of("run.order", answers[0], f"the requests {due} were answered in the order {came}")
        return
    for prepared, answer in zip(sent, answers, strict=True):
        desk.judge_seq(answer, prepared.seq)


async def long_line(desk: Desk) -> None:
    """A request of the greatest length is read."""
    entry, case = desk.a_plain_case()
    folder = desk.scratch / "long"
    long = padded(case, desk.prepare(entry, case, folder=folder, seq=_LARGEST_SEQ).line)
    want_ok(desk, "run.long-line", await desk.play(desk.prepare(entry, long, folder=folder)))
