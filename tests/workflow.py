"""Steps of a GitHub action or workflow, executed in a shell as a runner of GitHub does."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT

ACTION = ROOT / "action.yml"
OPCONFORM = Path(sys.executable).with_name("opconform")

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|!|\(|\)|cancelled\(\)|[\w.-]+)\s*")
_WORDS = {"&&": " and ", "||": " or ", "!": " not ", "cancelled()": "False"}


def evaluated(text: str, context: Mapping[str, Any]) -> Any:
    """An expression of GitHub without its braces; a name that is not in the context is empty."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text), text
    python = [
        _WORDS.get(token, token if token in ("==", "!=", "(", ")") else "") or _value(token, context)
        for token in tokens
    ]
    return eval("".join(python))  # noqa: S307 - only literals and operators are left


def _value(token: str, context: Mapping[str, Any]) -> str:
    if token.startswith("'"):
        return repr(token[1:-1].replace("''", "'"))
    value: Any = context
    for part in token.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return repr(value)


def substituted(text: object, context: Mapping[str, Any]) -> str:
    """A text of a workflow with its expressions replaced by their values."""
    return _EXPRESSION.sub(lambda match: str(evaluated(match[1], context)), str(text))


@dataclass(kw_only=True)
class Executed:
    """What the steps of an action did.

    Attributes:
        codes: The exit codes of the executed steps in the shell, by name.
        uses: The inputs of each use of an action, by action without version.
        printed: The standard output and error of the steps.
        summary: The job summary.
        outputs: The outputs of the action.
    """

    codes: dict[str, int] = field(default_factory=dict)
    uses: dict[str, list[Mapping[str, str]]] = field(default_factory=dict)
    printed: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def execute_action(
    inputs: Mapping[str, str],
    folder: Path,
    temporary: Path,
    *,
    python: Path,
    given: Mapping[str, Mapping[str, str]],
    event: Mapping[str, Any] | None = None,
) -> Executed:
    """Execute the steps of the action in a folder; `python` is what `actions/setup-python` installs.

    Only a step whose condition asks for it is executed after one that failed. Actions of GitHub are only noted, and
    give the outputs `given`.
    """
    action = yaml.safe_load(ACTION.read_text())
    assert inputs.keys() <= action["inputs"].keys()
    steps: dict[str, Any] = {"python": {"outputs": {"python-path": str(python)}}}
    steps |= {name: {"outputs": outputs} for name, outputs in given.items()}
    context = {
        "inputs": {name: inputs.get(name, described["default"]) for name, described in action["inputs"].items()},
        "steps": steps,
        "runner": {"temp": str(temporary)},
        "github": {"event_name": "push", "repository": "us/ours", "actor": "someone", **(event or {})},
    }
    done = Executed()
    for step in action["runs"]["steps"]:
        condition = step.get("if", "${{ '' == '' }}").strip()[3:-2]
        is_stopped = any(done.codes.values()) and "cancelled()" not in condition
        if is_stopped or not evaluated(condition, context):
            continue
        if "uses" in step:
            values = {name: substituted(value, context) for name, value in step["with"].items()}
            done.uses.setdefault(step["uses"].partition("@")[0], []).append(values)
            continue
        environment = {name: substituted(value, context) for name, value in step["env"].items()}
        outputs = _run(step, folder, temporary, environment, done)
        steps[step.get("id", step["name"])] = {"outputs": outputs}
    done.outputs = {name: substituted(output["value"], context) for name, output in action["outputs"].items()}
    return done


def _run(
    step: Mapping[str, Any], folder: Path, temporary: Path, environment: Mapping[str, str], done: Executed
) -> dict[str, str]:
    """Execute a step in a shell, and return its outputs."""
    assert step["shell"] == "bash"
    written, summary = temporary / "output", temporary / "summary.md"
    written.write_text("")
    summary.write_text("")
    known = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "RUNNER_", "PYTEST_"))
    }
    known |= {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(written), "GITHUB_STEP_SUMMARY": str(summary)}
    known |= {"RUNNER_TEMP": str(temporary), "GITHUB_ACTIONS": "true", **environment}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    ended = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False, timeout=300)
    done.codes[step["name"]] = ended.returncode
    done.printed += ended.stdout + ended.stderr
    done.summary += summary.read_text()
    return dict(line.split("=", 1) for line in written.read_text().splitlines())


def act(
    folder: Path,
    *,
    event: dict[str, Any] | None = None,
    given: Mapping[str, Mapping[str, str]] | None = None,
    **inputs: str,
) -> Executed:
    """Execute the action in a folder with this environment's opconform, without pip; actions give no or some outputs."""
    temporary = folder.with_name(f"{folder.name}-temporary")
    scripts = {
        "opconform": f'exec {OPCONFORM} "$@"',
        "python": f'[ "$1 $2" = "-m pip" ] || exec {sys.executable} "$@"',
        "makes-no-environment": f'[ "$1 $2" = "-m venv" ] || exec {sys.executable} "$@"',
    }
    for name, line in scripts.items():
        executable(temporary / "opconform" / "bin" / name, line)
    python = temporary / "opconform" / "bin" / "makes-no-environment"
    names = {name.replace("_", "-"): value for name, value in inputs.items()}
    return execute_action(names, folder, temporary, python=python, given=given or {}, event=event)


def executable(place: Path, line: str) -> None:
    """Write a script of one line."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{line}\n")
    place.chmod(0o755)
