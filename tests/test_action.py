"""The action for GitHub: its steps do in a shell what its inputs say, whatever is in them."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import MINIATURES, ROOT, SMALL_SPEC
from tests.workflow import ACTION, act, evaluated, executable

DOCUMENT = yaml.safe_load(ACTION.read_text())
STEPS = DOCUMENT["runs"]["steps"]
#: The event of a pull request from a fork.
FORK = {"event_name": "pull_request", "event": {"pull_request": {"head": {"repo": {"full_name": "them/fork"}}}}}
#: A name with what a shell, YAML, a URI and Markdown read as their own.
ODD = "b \"ä' $(touch x) `touch y`; # | <a>.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a spec."""
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "spec.yaml").write_text(SMALL_SPEC)
    return tmp_path / "repository"


def test_no_text_of_a_user_is_part_of_a_script() -> None:
    """Inputs reach a script only in its environment, and every input is used. Actions of others are the ones that were read."""
    text = ACTION.read_text()

    assert not [step["name"] for step in STEPS if "${{" in step.get("run", "")]
    assert "secrets" not in text
    for name in DOCUMENT["inputs"]:
        assert re.search(rf"inputs\.{name}\b", text), name
    assert all(re.search(r"@[0-9a-f]{40}$", step["uses"]) for step in STEPS if "uses" in step)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("!cancelled() && steps.run.outputs.results", "out"),
        ("inputs.a != 'b' || (inputs.c == 'it''s')", True),
        ("inputs.missing && 'x'", ""),
    ],
)
def test_expressions_are_evaluated_as_github_does(expression: str, value: object) -> None:
    """Those that the action uses."""
    context = {"inputs": {"a": "b", "c": "it's"}, "steps": {"run": {"outputs": {"results": "out"}}}}
    assert evaluated(expression, context) == value


@pytest.mark.ci_only
def test_a_backend_is_run_with_a_baseline(folder: Path) -> None:
    """Everything that another job may want is there; a fork's pull request only lacks the upload that needs to write."""
    backend = f"{MINIATURES}:LosesNegativeZero"
    updating = "--baseline=known.txt\n--update-baseline"
    first = act(folder, backend=backend, specs="spec.yaml", out="before", arguments=updating)
    done = act(folder, backend=backend, specs="spec.yaml", baseline="known.txt", code_scanning="true", event=FORK)

    assert [*first.codes.values()] == [0, 0, 0]
    assert [*done.codes.values()] == [0, 0, 0], done.printed
    assert "NOTHING NEW" in done.printed
    assert done.summary.startswith("## ✅ opconform: nothing new")
    assert done.outputs == {
        "verdict": "not conformant",
        "results": "conformance-out",
        "sarif": "conformance-out/opconform.sarif",
    }
    assert {"report.html", "junit.xml", "opconform.sarif", "results.jsonl"} <= {
        path.name for path in (folder / "conformance-out").iterdir()
    }
    assert done.uses["actions/upload-artifact"] == {"name": "conformance", "path": "conformance-out"}
    assert "github/codeql-action/upload-sarif" not in done.uses


@pytest.mark.ci_only
def test_inputs_are_text_and_never_code(folder: Path) -> None:
    """Quotes, spaces, newlines and commands in them reach opconform as they are."""
    (folder / ODD).write_text("Split-1/none/*  value  # $(touch z)\n")
    (folder / "my backend.py").write_text(
        f"import sys\nsys.path.append({str(ROOT)!r})\nfrom tests.miniatures import IsHostile\n"
    )
    done = act(
        folder,
        backend="my backend.py:IsHostile",
        specs="spec.yaml",
        select="VariadicSplit-1/accepted/*\n\nlengths.single-remainder",
        baseline=ODD,
        out="out $(touch x)",
        code_scanning="true",
    )
    document = json.loads((folder / "out $(touch x)" / "opconform.sarif").read_text())
    places = [x["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for x in document["runs"][0]["results"]]

    assert [*done.codes.values()] == [0, 1, 0], done.printed
    assert {path.name for path in folder.iterdir()} == {ODD, "my backend.py", "spec.yaml", "out $(touch x)"} | (
        {"__pycache__"} & {path.name for path in folder.iterdir()}
    )
    assert "b%20%22%C3%A4%27%20%24%28touch%20x%29%20%60touch%20y%60%3B%20%23%20%7C%20%3Ca%3E.txt" in places
    assert done.outputs["results"] == "out $(touch x)"
    assert done.uses["github/codeql-action/upload-sarif"]["sarif_file"] == "out $(touch x)/opconform.sarif"

    (folder / "suite").mkdir()
    (folder / "suite" / "manifest.jsonl").touch()
    damaged = act(folder, backend="numpy", suite="suite", out="damaged")
    assert (damaged.codes["Run the backend"], damaged.outputs["results"]) == (1, ""), damaged.printed

    refused = {
        "out": act(folder, backend="numpy", specs="spec.yaml", out="a\nresults=b"),
        "backend": act(folder, backend="$(touch x)\nnumpy", specs="spec.yaml"),
        "command": act(folder, backend="numpy", command="run; touch x"),
    }
    for name, failed in refused.items():
        assert [*failed.codes.values()] == [0, 2], (name, failed.printed)
        assert failed.outputs == {"verdict": "", "results": "", "sarif": ""}
        assert "actions/upload-artifact" not in failed.uses
    assert not {"x", "y", "z"} & {path.name for path in folder.iterdir()}


@pytest.mark.ci_only
def test_a_backend_is_certified(folder: Path) -> None:
    """Under fixed rules, so that a baseline is refused; a given suite is run with all its cases."""
    backend = f"{MINIATURES}:AcceptsEverything"
    done = act(folder, backend=backend, command="certify", specs="spec.yaml", profile="core\nfunctional")
    refused = act(folder, backend=backend, command="certify", specs="spec.yaml", baseline="a", out="other")
    suite = act(folder, backend=backend, suite="conformance-out/suite", out="third", artifact="")

    assert [*done.codes.values()] == [0, 1, 0], done.printed
    assert done.outputs["verdict"] == "not conformant"
    assert "::error " in done.printed
    assert [*refused.codes.values()] == [0, 2]
    assert "`certify` has fixed rules." in refused.printed
    assert [*suite.codes.values()] == [0, 1, 0]
    assert "actions/upload-artifact" not in suite.uses


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("backend", "target"), [("openvino:CPU", f"{ROOT}[openvino]"), ("x.py:Y", str(ROOT)), ("", str(ROOT))]
)
def test_opconform_is_installed_with_the_extra_of_the_backend(tmp_path: Path, backend: str, target: str) -> None:
    """From the checkout of the action, with its versions, beside the packages of the user."""
    [step] = [step for step in STEPS if step.get("name") == "Install opconform"]
    executable(tmp_path / "opconform" / "bin" / "python", 'printf "%s\\n" "$@"')
    environment = {"PYTHON": "true", "BACKEND": backend, "PACKAGES": "./a b\nc>=1", "GITHUB_ACTION_PATH": str(ROOT)}
    environment |= {"RUNNER_TEMP": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == [
        *shlex.split("-m pip install -q -c"),
        f"{ROOT}/constraints.txt",
        target,
        "./a b",
        "c>=1",
    ]
