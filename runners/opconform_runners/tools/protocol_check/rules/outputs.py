"""Returning: what a harness gives back with `ok`."""

from collections.abc import Sequence
from itertools import islice

from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform_runners.tools.protocol_check.conversation import NoAnswer
from opconform_runners.tools.protocol_check.player import Desk, NotApplicable, Played
from opconform_runners.tools.protocol_check.rules.expectations import want_golden

#: How many cases are tried until one is answered `ok`.
_TRIES = 5


async def outputs(desk: Desk) -> None:
    """A plain case gives outputs that can be read."""
    desk.outputs(await desk.play(desk.prepare(*desk.a_plain_case())), "ok.outputs")


async def dtype(desk: Desk) -> None:
    """A case of each declared element type gives outputs of its dtype."""
    desk.a_plain_case()
    for name in desk.said.element_types:
        found = desk.accepted(element_type=name)
        for entry, case in islice(found, 1):
            await _play_type(desk, entry, case, name)


async def _play_type(desk: Desk, entry: Entry, case: Case, name: str) -> None:
    """Play a case of an element type; that the backend does not survive it is no fault of the harness."""
    try:
        played = await desk.play(desk.prepare(entry, case))
    except NoAnswer as event:
        desk.note("ok.dtype", f"the backend, and not the harness: at {case.id}, data of {name}, {event.sentence}")
        await desk.end()
        return
    if played.answer.status != "ok":
        desk.note("ok.dtype", f"data of {name}, which is declared, is answered `{played.answer.status}`")
        return
    for feed in desk.outputs(played, "ok.outputs"):
        _want_storage(desk, played, feed, name)


def _want_storage(desk: Desk, played: Played, outputs: Sequence[Array], name: str) -> None:
    storage = ELEMENT_TYPES[name].storage
    for number, array in enumerate(outputs):
        if array.dtype != storage and not (storage.kind == array.dtype.kind == "U"):
            sentence = f"output_{number} of {name} is stored as {array.dtype}, and not as {_dtype_name(name)}"
            desk.breach_of("ok.dtype", played.answer, sentence)


def _dtype_name(name: str) -> str:
    storage = ELEMENT_TYPES[name].storage
    return "<U" if storage.kind == "U" else str(storage)


async def values(desk: Desk) -> None:
    """A plain case gives the golden outputs."""
    want_golden(desk, await desk.play(desk.prepare(*desk.a_plain_case())), "ok.values")


async def two_feeds(desk: Desk) -> None:
    """A case of two feeds is done."""
    desk.a_plain_case()
    if "ok.values" in desk.breaches:
        raise NotApplicable("the outputs of a plain case are wrong, see ok.values")
    found = desk.accepted(feeds=2)
    for entry, case in islice(found, _TRIES):
        played = await desk.play(desk.prepare(entry, case))
        if played.answer.status == "ok":
            want_golden(desk, played, "ok.two-feeds")
            return
    raise NotApplicable("the suite has no case of two feeds that the harness answers `ok`")


async def element_types(desk: Desk) -> None:
    """What is said of the outputs of a plain case fits them."""
    played = await desk.play(desk.prepare(*desk.a_plain_case()))
    said = played.answer.document.get("element_types")
    if said is None:
        raise NotApplicable("the harness does not say `element_types`")
    if not isinstance(said, list) or not all(isinstance(each, list) for each in said):
        return
    outputs = desk.outputs(played, "ok.outputs")
    if len(said) != len(played.outputs):
        sentence = f"`element_types` has {len(said)} lists, and the case has {len(played.outputs)} feeds"
        desk.breach_of("ok.element-types", played.answer, sentence)
    for names, feed in zip(said, outputs, strict=False):
        if len(names) != len(feed):
            sentence = f"`element_types` names {len(names)} outputs, and {len(feed)} are in the file"
            desk.breach_of("ok.element-types", played.answer, sentence)
        for each in {str(name) for name in names} - set(ELEMENT_TYPES):
            sentence = f"`element_types` names {each!r}, which is no element type"
            desk.breach_of("ok.element-types", played.answer, sentence)


async def seconds(desk: Desk) -> None:
    """What is said of the time fits the time that all the cases took."""
    if all(each.document.get("seconds") is None for each in desk.answers):
        raise NotApplicable("the harness does not say `seconds`")
