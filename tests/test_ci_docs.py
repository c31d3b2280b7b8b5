"""The workflows of `docs/ci.md`, run on some operations, and the commands of `docs/baselines.md`."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import junitparser
import pytest
import yaml

import opconform
from opconform_runners.verdicts.baseline import parse_baseline
from tests.conftest import MINIATURES, ROOT, interpreter_with
from tests.workflow import ACTION, act

#: Those that workflows are run on: ONNX Runtime does not support some of their cases, and fails others by wrong outputs.
OPERATIONS = ("Pad-12", "Split-1", "VariadicSplit-1")
INSTALL = re.compile(r'python -m pip install -c constraints.txt "\.\[(\w+)\]"')


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def lines(page: str) -> list[str]:
    """The commands of a page, in its order, but for pytest's."""
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("opconform ")]


def of_some(command: str) -> str:
    """A command whose suite has some operations; that of all of them takes minutes."""
    return command.replace("generate --profile core", f"generate {' '.join(OPERATIONS)} --profile core")


def shell(command: str, cwd: Path, code: int, **variables: str) -> str:
    """Run a step as a runner does, with this environment's opconform."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, **variables},
    )
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def without_installing(commands: list[str]) -> list[str]:
    """The steps after the first, which installs an extra that there is."""
    first, *others = commands
    found = INSTALL.fullmatch(first)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert found is not None, first
    assert found[1] in project["optional-dependencies"]
    return others


@pytest.mark.ci_only
def test_the_workflows_find_nothing_new(tmp_path: Path) -> None:
    """The baseline is written, both workflows pass with it, and every report that they hand on is there."""
    interpreter_with("onnxruntime", "")
    github, gitlab = (yaml.safe_load(block) for block in blocks("ci.md", "yaml"))
    making, running, verifying, comparing = map(of_some, lines("ci.md"))
    folder = tmp_path / "repository"
    folder.mkdir()
    for command in (making, running, verifying):
        shell(command, folder, 0)
    checkout, action = github["jobs"]["conformance"]["steps"]
    done = act(folder, **action["with"], specs="\n".join(OPERATIONS))

    assert checkout == {"uses": "actions/checkout@v4"}
    assert action["uses"].partition("@")[0].endswith("/opconform")
    assert f"@v{opconform.__version__}" in action["uses"]
    assert [*done.codes.values()] == [0, 0, 0, 0, 0], done.printed
    assert "NOTHING NEW" in done.printed
    assert "::notice title=opconform%3A known failures::" in done.printed
    assert done.summary.startswith("## ✅ opconform: nothing new (not conformant, ")
    assert done.outputs["verdict"] == "not conformant"
    assert {path.name for path in (folder / "conformance-out").iterdir()} == {
        "opconform.sarif",
        "outcomes.jsonl",
        "outputs.zip",
        "junit.xml",
        "report.html",
        "report.json",
        "results.jsonl",
        "suite.txt",
    }

    job = gitlab["conformance"]
    for command in [*without_installing(job["script"]), *job["after_script"]]:
        shell(of_some(command), folder, 0)
    junit = junitparser.JUnitXml.fromfile(str(folder / job["artifacts"]["reports"]["junit"]))

    assert (junit.failures, junit.errors) == (0, 0)
    assert junit.skipped > 0
    assert shell(comparing, folder, 0) == "No case changed.\n"


def test_every_input_and_output_of_the_action_is_documented() -> None:
    """And no other one."""
    page = (ROOT / "docs" / "ci.md").read_text()
    tables = page.partition("## The action")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    action = yaml.safe_load(ACTION.read_text())

    assert sorted(re.findall(r"`([^`]+)`", "".join(first))) == sorted([*action["inputs"], *action["outputs"]])


@pytest.mark.ci_only
def test_the_commands_of_the_baselines_page(tmp_path: Path) -> None:
    """With a backend that has failures, they end as the page says."""
    backend = "from tests.miniatures import MissesOneOutput as MyBackend\n"
    (tmp_path / "my_backend.py").write_text(
        f"import sys\nsys.path.insert(0, {str(MINIATURES.parents[1])!r})\n{backend}"
    )
    codes = (0, 0, 0, 0)
    shown = [shell(line, tmp_path, code) for line, code in zip(lines("baselines.md"), codes, strict=True)]

    assert "NOTHING NEW" in shown[2]
    assert shown[3] == "No case changed.\n"


def test_the_file_of_the_baselines_page_is_one() -> None:
    """With a flaky case."""
    [text] = blocks("baselines.md", "text")
    baseline = parse_baseline(text, "known.txt")

    assert [line.reason for line in baseline.lines] == ["accepted-invalid", "value", "crash", "pass", "unsupported"]
