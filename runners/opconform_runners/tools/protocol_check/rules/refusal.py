"""Refusing: `rejected`, `unsupported` and `error`."""

from itertools import islice

from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry
from opconform_runners.backends.backend import undeclared_operation
from opconform_runners.tools.protocol_check.player import Desk, NotApplicable
from opconform_runners.tools.protocol_check.rules.expectations import is_readable

#: How many cases of a kind are played at the most.
_CASES = 6


async def refusals(desk: Desk) -> None:
    """The smallest cases that must be refused, each for another requirement, are answered as such."""
    desk.a_plain_case()
    requirements = set()
    for entry, case in desk.cases:
        named = case.expect.reject if isinstance(case.expect, Reject) else None
        if named is None or named in requirements or not _is_refusable(desk, case):
            continue
        requirements.add(named)
        answer = (await desk.play(desk.prepare(entry, case))).answer
        if answer.status == "error":
            desk.breach_of("rejected.status", answer, f"a case that must be refused, for {named}, is answered `error`")
        elif answer.status in ("ok", "unsupported"):
            desk.note("rejected.status", f"the backend, and not the harness: {case.id} is answered `{answer.status}`")
        if len(requirements) == _CASES:
            return
    if not requirements:
        raise NotApplicable("no case of the suite that must be refused can be given to the harness")


def _is_refusable(desk: Desk, case: Case) -> bool:
    return case.is_bare and case.feeds == 1 and desk.is_declared(case) and desk.is_normative(case)


def _data_type(case: Case) -> str:
    """The element type of the first tensor that a case is given; the operation where it is given none."""
    return next((each.element_type for each in case.inputs if each.role == "tensor"), case.op)


async def reasons(desk: Desk) -> None:
    """What was refused was refused with a reason."""
    if all(each.status != "rejected" for each in desk.answers):
        raise NotApplicable("the backend refused no case that was played")


async def undeclared(desk: Desk) -> None:
    """Cases that need what is not declared are answered."""
    desk.a_plain_case()
    kinds: dict[str, tuple[Entry, Case]] = {}
    for entry, case in desk.cases:
        if isinstance(case.expect, Accept) and case.is_bare and not desk.is_declared(case):
            operation = undeclared_operation(case, desk.said.operations, desk.said.dialects)
            kind = operation or _data_type(case)
            kinds.setdefault(kind, (entry, case))
    if not kinds:
        raise NotApplicable("the harness declares all that the cases need which it can be given")
    for kind, (entry, case) in islice(kinds.items(), _CASES):
        answer = (await desk.play(desk.prepare(entry, case))).answer
        if answer.status == "ok":
            desk.note("unsupported.undeclared", f"{kind} is not all declared, and {case.id} is executed")
        elif answer.status == "error":
            desk.breach_of("unsupported.undeclared", answer, f"{case.id} is answered `error`")


async def missing_files(desk: Desk) -> None:
    """A request whose files are missing costs no other."""
    plain = desk.a_plain_case()
    for what, without in (("`dir`", ""), ("`inputs`", "inputs.")):
        played = await desk.play(desk.prepare(*plain, without=without))
        if is_readable(played) and played.answer.status != "error":
            desk.breach_of("error.files", played.answer, f"the file of {what} is not there")
    played = await desk.play(desk.prepare(*plain))
    if is_readable(played) and played.answer.status != "ok":
        desk.breach_of("error.files", played.answer, "the plain case after them is not answered `ok` any more")
