"""Issues about failures of the installed OpenVINO."""

import json
import re
from pathlib import Path

import pytest

from opconform.suite.reader import open_suite
from tests.conftest import Run
from tests.products.scripts import interpreter

#: A case with wrong outputs on OpenVINO, and one in which it reads out of bounds.
WRONG, OUT_OF_BOUNDS = "Split-1/element-types/1faf64c2f9", "VariadicSplit-1/remainder-over/17a2d48cd0"


def dated(folder: Path, case: str) -> Path:
    """The folder of a history in which a case fails since 2025.3.0."""
    interval = {"last_good": "2025.2.0", "first_bad": "2025.3.0", "last_bad": "2026.4.1", "first_good": None}
    cases = {case: {"intervals": [{**interval, "fails_now": True}]}}
    (folder / "history.json").write_text(json.dumps({"product": "openvino", "cases": cases}))
    return folder


@pytest.mark.ci_only
def test_an_issue_has_the_script_its_output_and_the_specification(opconform: Run, tmp_path: Path) -> None:
    """Of a finding in the released product, as a maker pastes it; it is written again, and a foreign file is not."""
    interpreter("openvino")
    command = ("repro", WRONG, "openvino", "--as", "issue", "--history", dated(tmp_path, WRONG), "--out")
    written = opconform(*command, tmp_path / "issue.md")
    text = (tmp_path / "issue.md").read_text()

    assert written.stdout == f"{tmp_path}/issue.md: {len(text.splitlines())} lines; the heading is the title\n"
    assert text.startswith("# [Bug]: Split-1: wrong data (data of every element type)\n")
    assert "\n> Every element keeps all its bits in the outputs.\n" in text
    assert re.search(r"\[Detailed Description, [^]]+\]\(https://github\.com/openvinotoolkit/openvino/blob/", text)
    assert "- **Releases that fail:** since 2025.3.0 (last good 2025.2.0)\n" in text
    assert "[PaddlePaddle/Paddle#11443](https://github.com/PaddlePaddle/Paddle/issues/11443)" in text
    assert "\nexpected: 4 outputs\noutput_0[0, 0]: expected -9223372036854775808 " in text
    assert "\nWRONG: 4 of 4 outputs\n\nexit code: 1\n" in text
    assert opconform(*command, tmp_path / "issue.md").stdout == written.stdout
    assert "does not overwrite it" in opconform(*command, tmp_path / "history.json", code=2).stderr


def test_an_issue_about_a_memory_fault_begins_with_how_to_report_it(opconform: Run, tmp_path: Path) -> None:
    """Before the title, so that it is not pasted unread."""
    interpreter("openvino")
    written = opconform("repro", OUT_OF_BOUNDS, "openvino", "--as", "issue", "--history", dated(tmp_path, WRONG))

    assert written.stdout.startswith("> **Do not publish this yet.** This is probably a memory error: report it ")
    assert "\n# [Bug]: VariadicSplit-1: memory fault (" in written.stdout
    assert written.stderr == f"warning: {tmp_path} has no failure of {OUT_OF_BOUNDS}, so the issue has no releases.\n"


def test_there_is_no_issue_about_a_case_that_passes(opconform: Run, small_suite: Path) -> None:
    """Nor without the backend, whose failure it would state."""
    interpreter("openvino")
    [case] = [entry.id for entry in open_suite(small_suite).entries if entry.expect != "accept"][:1]
    command = ("repro", case, "--suite", small_suite, "--as", "issue")

    assert opconform(*command, "openvino", code=2).stderr == (
        f"error: {open_version()} does not fail {case} here, so nothing is written: pass\n"
    )
    assert opconform(*command, "openvino:NOWHERE", code=3).stdout == ""


def open_version() -> str:
    """The installed OpenVINO, as reports name it."""
    import openvino

    return f"openvino {openvino.get_version().partition('-')[0]} on CPU"
