"""The README: every command in it works as it stands there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.result_files import report_in
from tests.sampling import WHOLE

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def shell(command: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command as a reader would who has activated the environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(
        ["bash", "-c", command], cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )


def test_the_first_screen_has_the_two_lines() -> None:
    """One line certifies, one line tests, and CI runs the second as it stands there."""
    first, _, second = blocks("sh")[:3]

    assert README.index(second) < len("\n".join(README.splitlines()[:40]))
    assert "certify openvino" in first
    assert "pytest" in second
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.ci_only
def test_the_first_line_certifies_openvino_from_a_clone(clone: Path) -> None:
    """In a copy without anything installed it ends with 1 and the plugin's bugs."""
    said = json.loads((clone / "said.json").read_text())

    assert said["code"] == 1, said["stderr"]
    assert "NOT CONFORMANT, " in said["stdout"]
    shown = " ".join(said["stdout"].split())
    for line in blocks("text")[0].splitlines()[1:]:
        assert " ".join(line.split()) in shown
    assert "with elements that are in no input: the backend probably read out of bounds" in shown
    check_openvino_bugs(report_in(clone / "opconform-out" / "openvino"))


def check_openvino_bugs(report: dict[str, Any]) -> None:
    """The CPU plugin's real bugs are found, each under its requirement: this pins OpenVINO 2026.4.1."""
    failed = [case for case in report["cases"] if case["verdict"] == "fail"]
    inputs = {(failure["inputs"], failure.get("reason")) for failure in failed}
    broken = {name for op in report["requirements"].values() for name, x in op.items() if x["broken"]}

    assert report["conformant"] is False
    assert report["summary"]["error"] == 0
    assert ("data f32[6, 2], axis 0, split_lengths [-1, 9]", "accepted-invalid") in inputs
    assert {"data.bits", "axis.element-type", "lengths.remainder-sum"} <= broken
    for name in ("i64", "u64", "f64"):
        assert any(
            failure["inputs"].startswith(f"data {name}[") and failure["broken"] == ["data.bits"] for failure in failed
        ), name
    assert any("axis f32" in failure["inputs"] and failure["reason"] == "accepted-invalid" for failure in failed)


@pytest.mark.ci_only
def test_every_other_command_works(tmp_path: Path) -> None:
    """In the order of the README, with the files that it shows, each command ends with 0, or as its comment says.

    Before a release with the whole core.
    """
    (tmp_path / "my-cases.yaml").write_text(blocks("yaml")[0])
    _, activation, _, *others = blocks("sh")
    commands = [line for block in others for line in block.splitlines() if line.strip()]

    assert activation == "source .venv/bin/activate\n"  # `shell` has done that
    assert len(commands) > 8
    for command in commands:
        some = (
            command
            if WHOLE
            else command.replace("generate --profile core", "generate Split-1 VariadicSplit-1 --profile core")
        )
        done = shell(some, tmp_path)
        assert done.returncode == int("# exit code 1" in command), f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.ci_only
def test_the_backend_of_the_readme_is_caught(tmp_path: Path) -> None:
    """The example of a backend runs, and fails where it checks nothing."""
    (tmp_path / "just.py").write_text(blocks("python")[0])
    done = shell("opconform certify Split-1 --backend just.py:JustNumpy --out out", tmp_path)

    assert done.returncode == 1, done.stderr
    assert "NOT CONFORMANT, " in done.stdout
    assert "broken: Split-1: axis.shape, axis.element-type, num_splits.type." in " ".join(done.stdout.split())
