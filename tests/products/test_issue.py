"""Issues about failures: in the form of each tracker, and whatever a spec or a backend says, only text."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from opconform.suite.reader import Suite, open_suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.findings.history import Interval
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.tools.repro.issue import issue_of
from opconform_runners.tools.repro.observation import Observation
from opconform_runners.verdicts.results import Result
from tests.conftest import Run

#: What ends code, calls a person, refers to an issue or is HTML, a link or a heading.
HOSTILE = (
    "a ` b ```` @everyone #123 GH-1 <img src=x> **b** [x](https://example.org) \"q\" 'p' é 漢 | \\ $x$\n\n# h\n@all"
)
SPEC = f"""\
op: Split-1
groups:
  - id: hostile
    title: {json.dumps(" ".join(HOSTILE.split()))}
    data: {{shape: [4, 2]}}
    axis: 0
    num_splits: {json.dumps(HOSTILE)}
    expect: {{reject: num_splits.type}}
    twin: {{num_splits: 2}}
"""


@pytest.fixture
def hostile(opconform: Run, tmp_path: Path) -> Suite:
    """A suite whose author wants to be more than quoted."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    return open_suite(tmp_path / "suite")


def issue(suite: Suite, backend: str, said: str, *, interval: Interval | None = None, script: str = "") -> str:
    """The issue of the suite's invalid case, about a backend that says something."""
    [entry] = [entry for entry in suite.entries if entry.expect != "accept"]
    who = Implementation(name=backend, version="1.0", device="CPU", element_types=(), dynamic=True, bindings=())
    result = Result(
        id=entry.id, profile=entry.profile, expect="reject", verdict="fail", reason="accepted-invalid", sentence=said,
        broken=entry.requirements, inputs=said,
    )  # fmt: skip
    launch = replace(Launch(command=backend_command("numpy")), timeout=1.0)
    seen = Observation(result=result, implementation=who)
    return issue_of(suite, entry, seen, script=script, launch=launch, interval=interval)


def tokens(markdown: str) -> Iterator[Token]:
    """What a reader of Markdown sees, with the tables of GitHub."""
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or ()


def headings(markdown: str) -> list[str]:
    """The headings of a text in Markdown."""
    every = [*tokens(markdown)]
    return [after.content for before, after in pairwise(every) if before.type == "heading_open"]


FORMS = {
    "openvino": [
        "OpenVINO Version", "Operating System", "Device used for inference", "Framework", "Model used",
        "Issue description", "Step-by-step reproduction", "Relevant log output", "Issue submission checklist",
    ],
    "onnxruntime": [
        "Describe the issue", "To reproduce", "Urgency", "Platform", "OS Version", "ONNX Runtime Installation",
        "ONNX Runtime Version or Commit ID", "ONNX Runtime API", "Architecture", "Execution Provider",
        "Execution Provider Library Version",
    ],
    "torch": ["What happens", "To reproduce", "Output"],
}  # fmt: skip


@pytest.mark.parametrize("backend", FORMS)
def test_what_others_wrote_is_only_text(hostile: Suite, backend: str) -> None:
    """It adds no heading to those of the form, no HTML and no link, and nothing outside code calls a person."""
    script = f"print({HOSTILE!r})\n# {'`' * 5}"
    text = issue(hostile, backend, HOSTILE, script=script, interval=Interval(first_bad="1 @all", last_bad="2"))
    every = [*tokens(text)]
    shown = " ".join(token.content for token in every if token.type == "text")
    links = [str(token.attrs["href"]) for token in every if token.type == "link_open"]

    assert headings(text)[1:] == FORMS[backend]
    assert re.fullmatch(r"(\[Bug\]: )?Split-1: accepted-invalid \(a b .*\)", headings(text)[0])
    assert {"html_inline", "html_block", "image", "strong_open"} & {token.type for token in every} <= {"strong_open"}
    assert not re.search(r"[@#<`]", shown)
    assert all("github.com/openvinotoolkit" in link or "docs.openvino.ai" in link for link in links)
    assert [token.content for token in every if token.info == "python"] == [script + "\n"]
    assert f"{HOSTILE}\n\nexit code: 0\n" in [token.content for token in every if token.info == "text"]


def test_an_issue_says_which_releases_fail(hostile: Suite) -> None:
    """As the history of the product has them."""
    dated = Interval(last_good="2024.6.0", first_bad="2025.0.0", last_bad="2025.2.0", fails_now=True)

    assert "- **Releases that fail:** since 2025.0.0 (last good 2024.6.0)\n" in issue(
        hostile, "openvino", "x", interval=dated
    )
    assert "Releases" not in issue(hostile, "openvino", "x")


def test_an_issue_tells_how_its_script_ends(hostile: Suite) -> None:
    """Also if it does not print everything."""
    text = issue(hostile, "torch", "x", script="import os\nprint('so far', flush=True)\nos.kill(os.getpid(), 9)")

    assert "so far\n\nexit code: -9 (Killed)\n" in text


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"product": "openvino", "cases": {"CASE": 1}}', '{"product": 1}'])
def test_another_file_is_not_a_history(opconform: Run, small_suite: Path, tmp_path: Path, content: str) -> None:
    """One sentence says so, and what to name."""
    case = open_suite(small_suite).entries[0].id
    (tmp_path / "file.json").write_text(content.replace("CASE", case))
    command = ("repro", case, "openvino", "--suite", small_suite, "--history")

    assert opconform(*command, tmp_path / "file.json", "--as", "issue", code=2).stderr == (
        f"error: {tmp_path}/file.json is missing or not a history of openvino. Name the folder of `opconform history`.\n"
    )
    assert opconform(*command, tmp_path, code=2).stderr == ("error: --history is for an issue. Add --as issue.\n")
