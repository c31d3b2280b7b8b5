"""Wanting: what several rules demand of an answer."""

from opconform.suite.case import Accept
from opconform.suite.manifest import expected_name
from opconform_runners.tools.protocol_check.player import Desk, Played
from opconform_runners.verdicts.comparison import expected_outputs, mismatch_of


def want_ok(desk: Desk, rule: str, played: Played) -> None:
    """Note under a rule that a plain case was not done."""
    if played.answer.status == "ok":
        desk.outputs(played, rule)
    elif is_readable(played):
        desk.breach_of(rule, played.answer, "a plain case is not answered `ok` here")


def want_golden(desk: Desk, played: Played, rule: str) -> None:
    """Note under a rule where the outputs of a case are not the golden ones."""
    if not isinstance(played.case.expect, Accept):
        return
    outputs = desk.outputs(played, "ok.outputs" if len(played.outputs) == 1 else rule)
    if len(outputs) < len(played.outputs):
        return
    for feed, actual in enumerate(outputs):
        golden = desk.suite.arrays(played.entry, expected_name(feed))
        expected = expected_outputs(golden, played.case.expect.accept)
        found = mismatch_of(expected, actual, played.case.inputs[0].element_type, feed=feed)
        if found is not None and found.reason != "element-type":
            where = f"of feed {feed} of" if len(outputs) > 1 else "of"
            desk.breach_of(rule, played.answer, f"the outputs {where} {played.case.id} are wrong: {found.sentence}")


def is_readable(played: Played) -> bool:
    """Whether the status is one of the protocol, so that more can be asked of the answer."""
    return played.answer.status in ("ok", "rejected", "unsupported", "error")
