"""Text of a harness, a suite or a spec is searched in linear time, and only the beginning of a message is kept."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opconform.specs.matrix.expressions import _sentence as expression_sentence
from opconform_runners.backends.exceptions import short_message
from opconform_runners.cli.shared.output.console import _stripped
from opconform_runners.cli.shared.output.streams import PrintableStream
from opconform_runners.harness.outcome import Error
from opconform_runners.harness.processes.scratch import without_scratch
from opconform_runners.harness.protocol import LOG_LIMIT, TEXT_LIMIT, reply_of
from opconform_runners.reports.terminal.summary import _CASE

SCRATCH = Path("/tmp/opconform-x")  # noqa: S108 - a name
#: The noise in messages of TVM.
NOISE = re.compile(r"In ir\.Op\(.*?support_level=\d+\), ")
#: The length of the texts, for which quadratic time would be hours.
LENGTH = 1 << 20


def plain(text: str) -> str:
    """A text without the scratch folder."""
    return without_scratch(Error(sentence=text), SCRATCH).sentence


def in_workflow(text: str) -> str:
    """What is printed in a workflow of GitHub."""
    stream = io.StringIO()
    PrintableStream(stream, "token").write(text)
    return stream.getvalue()


#: What searches foreign text, and the repeated and the last part of a text that a careless pattern takes long for.
SEARCHES: dict[str, tuple[Callable[[str], object], str, str]] = {
    "a path": (plain, "x", f" {SCRATCH}/1/"),
    "many paths": (plain, f"{SCRATCH.name}/1", "x"),
    "a longer path": (plain, "/1", f"{SCRATCH.name}x"),
    "the commands of a workflow": (in_workflow, "\n", "x"),
    "the end of a line": (_stripped, " ", "x"),
    "a case": (lambda text: _CASE.sub("", text), "/", " x"),
    "many cases": (lambda text: _CASE.sub("", text), " a/b", " x"),
    "an error of an expression": (lambda text: expression_sentence(ValueError(text)), "a", "."),
    "the noise of a message": (lambda text: short_message(text, NOISE), "In ir.Op(", ""),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SEARCHES)
def test_foreign_text_is_searched_in_linear_time(name: str) -> None:
    """However long it is, and whatever it repeats."""
    search, repeated, last = SEARCHES[name]
    assert search(repeated * (LENGTH // len(repeated)) + last) is not None


def test_the_texts_of_a_reply_are_cut() -> None:
    """Of a message the beginning is kept, and of a traceback the end."""
    failed = {"seq": 1, "status": "error", "message": "m" * 400_000, "traceback": f"{'t' * 400_000}end"}
    refused = {"seq": 1, "status": "rejected", "stage": "run", "message": "m" * 400_000, "requirement": "r" * 400_000}
    read = reply_of(json.dumps(failed).encode())
    other = reply_of(json.dumps(refused).encode())

    assert (read.message, len(read.traceback), read.traceback[-4:]) == ("m" * TEXT_LIMIT, LOG_LIMIT, "tend")  # type: ignore[union-attr, arg-type, index]
    assert (other.message, other.requirement) == ("m" * TEXT_LIMIT, "r" * TEXT_LIMIT)  # type: ignore[union-attr]
