"""The page of the protocol says what the program does."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.protocol import (
    INLINE_LIMIT,
    LINE_LIMIT,
    VERSION,
    ProtocolError,
    reply_of,
    reply_problems,
    said_problems,
)
from tests.conftest import ROOT, Run

PAGE = (ROOT / "docs" / "protocol.md").read_text()
#: Where the page's conversation has its files.
FOLDER = "/tmp/x"  # noqa: S108 - a name on a page


def section(title: str) -> str:
    """A section of the page."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def conversation() -> list[tuple[str, Any]]:
    """The messages of the page's conversation, each with its mark."""
    block = section("A conversation").split("```text\n")[1].split("```")[0]
    return [(word[0], json.loads(word[2:].replace("\n  ", ""))) for word in re.split(r"\n(?=[→←])", block.strip())]


def test_the_dtypes_on_the_page_are_those_that_are_stored() -> None:
    """Each element type has its row."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `\\?(\S+)` \|", section("Arrays"), re.MULTILINE)
    stored = [
        (name, element_type.storage.name, element_type.storage.str) for name, element_type in ELEMENT_TYPES.items()
    ]
    expected = [("string", "str", "<U…") if name == "string" else (name, dtype, descr) for name, dtype, descr in stored]

    assert rows == expected


def test_the_limits_on_the_page_are_those_of_the_program() -> None:
    """The version and the longest line."""
    assert f"# The harness protocol, version {VERSION}\n" in PAGE
    assert f"A line is at most {LINE_LIMIT:,} bytes long" in PAGE
    assert f"more than {INLINE_LIMIT:,} bytes" in PAGE


def test_the_keys_on_the_page_are_those_of_the_schema(opconform: Run) -> None:
    """In both directions."""
    messages = json.loads(opconform("harness", "schema").stdout)["$defs"]
    replies = ("Ok", "Refused", "NotSupported", "Failed")
    pages: dict[str, list[tuple[str, ...]]] = {"`start`": [("Start",), ("Said",)], "`run`": [("Run",), replies]}

    for title, tables in pages.items():
        found = re.findall(r"\| key of the \w+ \|.*?\n\n", section(title), re.DOTALL)
        for table, names in zip(found, tables, strict=True):
            keys = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
            assert sorted(keys) == sorted({key for name in names for key in messages[name]["properties"]})


def test_the_schema_accepts_the_conversation_and_no_wrong_message(opconform: Run) -> None:
    """Every message on the page is valid, and messages that break the page are not."""
    schema = json.loads(opconform("harness", "schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)

    for _, message in conversation():
        validator.validate(message)
    for wrong in (
        {"cmd": "start", "protocol": 2},
        {"seq": 1, "status": "fine"},
        {"seq": 1, "status": "rejected", "message": "no"},
        {"seq": 1, "status": "ok", "mood": "good"},
        {"cmd": "go"},
    ):
        assert not validator.is_valid(wrong), wrong


def test_the_conversation_on_the_page_has_no_faults() -> None:
    """The numpy backend's messages on the page keep to the protocol exactly."""
    replies = [message for mark, message in conversation() if mark == "←"]

    assert said_problems(json.dumps(replies[0]).encode()) == ()
    assert [reply_problems(json.dumps(reply).encode()) for reply in replies[1:]] == [()] * len(replies[1:])
    assert [reply["status"] for reply in replies[1:]] == ["ok", "rejected", "ok", "error"]


@pytest.fixture
def numpy_harness() -> Iterator["subprocess.Popen[str]"]:
    """The numpy backend's process."""
    command = [sys.executable, "-m", "opconform_runners.harness.server", "numpy"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_a_real_conversation_equals_the_one_on_the_page(
    opconform: Run, tmp_path: Path, numpy_harness: "subprocess.Popen[str]"
) -> None:
    """The same requests have the same replies, except for versions and times."""
    ids = [message["case"]["id"] for _, message in conversation() if message.get("cmd") == "run"]
    selected = [part for fromkey in dict.fromkeys(ids) for part in ("--select", fromkey)]
    opconform(
        "generate",
        *dict.fromkeys(x.partition("/")[0] for x in ids),
        "--profile",
        "core",
        *selected,
        "--out",
        tmp_path / "suite",
    )
    suite = open_suite(tmp_path / "suite")
    *exchanges, (_, last) = conversation()
    assert numpy_harness.stdin is not None
    assert numpy_harness.stdout is not None
    for (_, request), (_, reply) in zip(exchanges[::2], exchanges[1::2], strict=True):
        lay_ready(suite, request, tmp_path)
        numpy_harness.stdin.write(json.dumps(request).replace(FOLDER, str(tmp_path)) + "\n")
        numpy_harness.stdin.flush()
        said = json.loads(numpy_harness.stdout.readline().replace(str(tmp_path), FOLDER))

        assert steady(said) == steady(reply)
    numpy_harness.stdin.write(json.dumps(last) + "\n")
    numpy_harness.stdin.close()

    assert numpy_harness.stdout.read() == ""
    assert numpy_harness.wait(timeout=60) == 0


def lay_ready(suite: Any, request: Any, place: Path) -> None:
    """Put a request's inputs where it says, but for the last case's."""
    folder = Path(request.get("dir", "").replace(FOLDER, str(place)))
    if request["cmd"] == "run" and folder.name != "4":
        entry = suite.by_id[request["case"]["id"]]
        folder.mkdir()
        for feed in request["feeds"]:
            (folder / feed["inputs"]).write_bytes(suite.read(entry, feed["inputs"]))


def steady(message: Any) -> Any:
    """A message without what is another each time, which has to be there all the same."""
    changing = {"seconds": 0.0, "traceback": "…"}
    kept: dict[str, Any] = {key: changing.get(key, value) for key, value in message.items()}
    return kept | ({"implementation": sorted(kept["implementation"])} if "implementation" in kept else {})


@pytest.mark.parametrize("number", ["4503599627370497.5", "7.0", '"7"', "true"])
def test_the_number_of_a_reply_is_an_integer(number: str) -> None:
    """A fraction is not rounded to the number of some request, as 4503599627370497.5 would be."""
    with pytest.raises(ProtocolError, match=r"ok\.seq: Input should be a valid integer"):
        reply_of(f'{{"seq":{number},"status":"ok"}}'.encode())


@pytest.mark.parametrize(
    "keys",
    [
        '"seconds":"1"',
        '"seconds":true',
        '"placement":{"threads":1e400}',
        '"placement":{"threads":2.0}',
        '"placement":{"threads":99999999999999999999}',
        '"element_types":[["f32",1]]',
    ],
)
def test_a_run_reads_a_reply_as_strictly_as_the_check_of_a_harness(keys: str) -> None:
    """A value of another type is not converted."""
    line = f'{{"seq":1,"status":"ok",{keys}}}'.encode()
    with pytest.raises(ProtocolError, match="is not a valid message"):
        reply_of(line)
    assert len(reply_problems(line)) == 1
