"""Reports as files: what may be written where, and what belongs together."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opconform.system.text import one_line, printable
from tests.conftest import MINIATURES, Run
from tests.miniatures import HOSTILE


def test_what_does_not_belong_together_is_refused(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Changed results, a report of another run, and no results; nothing is written."""
    source, run = runs / "LosesNegativeZero", tmp_path / "run"
    sentences = []

    def refused(code: int = 1) -> None:
        done = opconform("report", "run", "--junit", "x.xml", cwd=tmp_path, code=code)
        sentences.append(done.stderr)

    refused(2)
    shutil.copytree(source, run)
    (run / "results.jsonl").write_text((source / "results.jsonl").read_text().replace('"value"', '"shape"'))
    refused()
    shutil.copy(source / "results.jsonl", run)
    shutil.copy(runs / "Perfect" / "report.json", run)
    refused()

    assert sentences == [
        "error: Results not found: run. Write them with `opconform run` or `opconform certify`.\n",
        "error: run/results.jsonl was changed after the run. Repeat the run.\n",
        "error: run/report.json does not match run/results.jsonl: it was changed, or is of another run. Repeat the run.\n",
    ]
    assert not (tmp_path / "x.xml").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Raises", "--junit", "-"], "Only the HTML report can show several runs. Name one run for the other formats."),
        (["--junit", "-", "--github"], "Only one format can go to standard output. Name a file for the others."),
        (["--junit", "known.txt/x"], "known.txt/x cannot be written: File exists. Name another file."),
    ],
)
def test_a_wrong_report_command_ends_with_2(opconform: Run, runs: Path, arguments: list[str], sentence: str) -> None:
    """And a sentence."""
    done = opconform("report", "Perfect", *arguments, cwd=runs, code=2)

    assert done.stderr == f"error: {sentence}\n"


def test_foreign_files_are_not_overwritten(opconform: Run, runs: Path, tmp_path: Path) -> None:
    """Not by any format; what an earlier report wrote is, and what is empty."""
    mine = tmp_path / "mine"
    for option in ("html", "junit", "markdown", "badge"):
        mine.write_text("my own words\n")
        done = opconform("report", runs / "Perfect", f"--{option}", mine, code=2)
        assert done.stderr == f"error: opconform did not write {mine} and does not overwrite it. Use another path.\n"
        assert mine.read_text() == "my own words\n"
        mine.write_text("")
        first = opconform("report", runs / "Perfect", f"--{option}", mine).stdout
        assert opconform("report", runs / "IsHostile", f"--{option}", mine).stdout == first
        assert first.endswith(f": {mine}\n")
        mine.unlink()


@pytest.mark.parametrize("option", ["html", "junit"])
def test_a_device_is_written_to_and_not_read(opconform: Run, runs: Path, option: str) -> None:
    """It has no end. In this process /dev/stdout would be pytest's file."""
    command = [sys.executable, "-m", "opconform", "report", str(runs / "Perfect"), f"--{option}", "/dev/stdout"]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    full = opconform("report", runs / "Perfect", f"--{option}", "/dev/full", code=1).stderr

    assert "opconform" in shown
    assert (
        full
        == "error: /dev/full cannot be written: No space left on device. Free some space, or use another location.\n"
    )


def test_one_format_can_go_to_standard_output(opconform: Run, runs: Path) -> None:
    """For the summary of a step, which is appended to."""
    assert opconform("report", runs / "Perfect", "--markdown", "-").stdout.startswith("## ✅ opconform: CONFORMANT")


def test_a_summary_steers_neither_a_terminal_nor_a_workflow(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a backend says is shown as text; in a GitHub workflow no line of it is taken for a command."""
    command = ("run", small_suite, "--backend", f"{MINIATURES}:IsHostile", "--out", tmp_path)
    plain = opconform(*command, code=1).stdout
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    first, *lines, last = opconform(*command, code=1).stdout.splitlines()

    assert "\x1b" in HOSTILE
    assert "\x1b" not in plain
    assert "::stop-commands::" not in plain
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert lines[-4].startswith("Results: ")
    assert not any(line.lstrip().startswith("::") for line in lines)


def test_text_is_spelt_out_where_it_is_not_shown() -> None:
    """Controls, surrogates and marks that turn the direction of text; letters of any script stay."""
    assert printable("naïve 数 \x07\ud800\u202e\x85") == "naïve 数 \\x07\\ud800\\u202e\\x85"
    assert printable("a\tb\r\nc", lines=True) == "a\tb\\r\nc"
    assert one_line(" a\n\n b\x00 ", 300) == "a b\\x00"
    assert one_line("abcdef", 4) == "abc…"
