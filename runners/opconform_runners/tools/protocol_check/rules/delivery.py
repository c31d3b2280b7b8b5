"""Delivering: the paths, dialects and graphs in which a case comes."""

import tempfile
from itertools import islice
from pathlib import Path

from opconform_runners.tools.protocol_check.player import Desk, NotApplicable
from opconform_runners.tools.protocol_check.rules.expectations import want_ok

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


async def each_graph(desk: Desk) -> None:
    """A harness that executes graphs executes one of each context."""
    if desk.said.dialects or not desk.said.graphs:
        why = "reads a dialect" if desk.said.dialects else "declares that it executes no graphs"
        raise NotApplicable(f"the harness {why}")
    desk.a_plain_case()
    graphs = (case.context for _, case in desk.cases if not case.is_bare)
    for context in sorted(set(graphs)):
        for entry, case in islice(desk.accepted(context=context), 1):
            want_ok(desk, "graphs.each", await desk.play(desk.prepare(entry, case)))
