"""Delivering: the paths, dialects and contexts in which a case comes."""

import tempfile
from itertools import islice
from pathlib import Path

from opconform_runners.playing import Desk, NotApplicable
from opconform_runners.rules.wanting import want_ok

_ODD_NAME = "a b/Größe ß 'x' #1 %41 日本語"


async def odd_paths(desk: Desk) -> None:
    """A plain case is done in folders of odd names."""
    plain = desk.a_plain_case()
    folder, outputs = desk.scratch / "in" / _ODD_NAME, desk.scratch / "out" / _ODD_NAME
    outputs.mkdir(parents=True)
    want_ok(desk, "paths.names", await desk.play(desk.prepare(*plain, folder=folder, outputs=outputs)))


async def outputs_outside(desk: Desk) -> None:
    """A plain case is done whose outputs go elsewhere."""
    plain = desk.a_plain_case()
    with tempfile.TemporaryDirectory(prefix="opconform-out-", ignore_cleanup_errors=True) as outputs:
        played = await desk.play(desk.prepare(*plain, outputs=Path(outputs).resolve()))
        want_ok(desk, "paths.outside", played)


async def each_dialect(desk: Desk) -> None:
    """A plain case is done in each dialect but the first."""
    others = desk.said.dialects[1:]
    if not others:
        named = f"declares {desk.said.dialects[0]} alone" if desk.said.dialects else "declares no dialect"
        raise NotApplicable(f"the harness {named}")
    entry, case = desk.a_plain_case()
    there = [each for each in others if desk.suite.header.dialects.get(each) in entry.files]
    if not there:
        raise NotApplicable(f"the suite holds no plain case in {', '.join(others)}")
    for each in there:
        want_ok(desk, "dialects.each", await desk.play(desk.prepare(entry, case, dialect=each)))


async def each_context(desk: Desk) -> None:
    """A case in each declared context is done."""
    contexts = [each for each in desk.said.contexts if each != "bare"]
    if desk.said.dialects or not contexts:
        why = "reads a dialect" if desk.said.dialects else "declares the context bare alone"
        raise NotApplicable(f"the harness {why}")
    desk.a_plain_case()
    for context in contexts:
        found = desk.accepted(context=context)
        for entry, case in islice(found, 1):
            want_ok(desk, "contexts.each", await desk.play(desk.prepare(entry, case)))
