"""The options that results name: opconform prints commands with them to be pasted into a shell."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from opconform_runners.harness.command import backend_command, harness_command
from opconform_runners.verdicts.run_header import CommandOptions
from tests.conftest import Run

OPTIONS: TypeAdapter[str] = TypeAdapter(CommandOptions)


@pytest.mark.parametrize(
    "options",
    [
        "--backend openvino; touch x",
        "--backend openvino $(touch x)",
        "--backend openvino `touch x`",
        "--backend openvino\ntouch x",
        "--backend 'openvino",
        '--backend "open$(vino)"',
        "--backend openvino > x",
    ],
)
def test_options_that_a_shell_would_execute_are_refused(options: str) -> None:
    """A stranger's results name them."""
    with pytest.raises(ValidationError):
        OPTIONS.validate_python(options)


@pytest.mark.parametrize(
    "options",
    [
        "",
        backend_command("numpy").options,
        harness_command("./my-harness --device '0; touch x' $HOME").options,
        harness_command("python 'it''s mine.py'").options,
    ],
)
def test_options_that_opconform_wrote_are_read(options: str) -> None:
    """Also those of a command with characters that a shell reads."""
    assert OPTIONS.validate_python(options) == options


def test_a_report_of_a_strangers_results_prints_no_command_of_theirs(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """Neither in the text nor on the page."""
    opconform("run", small_suite, "numpy", "--out", tmp_path / "run")
    file = tmp_path / "run" / "results.jsonl"
    first, *others = file.read_text().splitlines()
    header = json.loads(first) | {"started": "--backend openvino; touch x"}
    file.write_text("\n".join([json.dumps(header), *others, ""]))
    done = opconform("report", tmp_path / "run", "--suite", small_suite, code=None)

    assert done.returncode != 0
    assert "touch x" not in done.stdout + done.stderr
