"""The action for GitHub: its steps do in a shell what its inputs say, whatever is in them."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import MINIATURES, ROOT, SMALL_SPEC
from tests.workflow import ACTION, act, evaluated, executable

DOCUMENT = yaml.safe_load(ACTION.read_text())
STEPS = DOCUMENT["runs"]["steps"]
#: The steps that run a script, in their order.
KEYS, INSTALL, GENERATE, RUN, REPORT = (step["name"] for step in STEPS if "run" in step)
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

    assert first.codes == dict.fromkeys((KEYS, INSTALL, GENERATE, RUN, REPORT), 0)
    assert done.codes == first.codes, done.printed
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
    assert done.uses["actions/upload-artifact"] == [{"name": "conformance", "path": "conformance-out"}]
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

    assert (done.codes[RUN], done.codes[REPORT]) == (1, 0), done.printed
    assert {path.name for path in folder.iterdir()} == {ODD, "my backend.py", "spec.yaml", "out $(touch x)"} | (
        {"__pycache__"} & {path.name for path in folder.iterdir()}
    )
    assert "b%20%22%C3%A4%27%20%24%28touch%20x%29%20%60touch%20y%60%3B%20%23%20%7C%20%3Ca%3E.txt" in places
    assert done.outputs["results"] == "out $(touch x)"
    [uploaded] = done.uses["github/codeql-action/upload-sarif"]
    assert uploaded["sarif_file"] == "out $(touch x)/opconform.sarif"

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
        assert failed.codes == {KEYS: 0, INSTALL: 0, GENERATE: 2} if name == "backend" else {KEYS: 2}, failed.printed
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

    assert done.codes == {KEYS: 0, INSTALL: 0, RUN: 1, REPORT: 0}, done.printed
    assert done.outputs["verdict"] == "not conformant"
    assert "::error " in done.printed
    assert refused.codes == {KEYS: 0, INSTALL: 0, RUN: 2}
    assert "`certify` has fixed rules." in refused.printed
    assert suite.codes == {KEYS: 0, INSTALL: 0, RUN: 1, REPORT: 0}
    assert "actions/upload-artifact" not in suite.uses


@pytest.mark.ci_only
def test_a_suite_is_not_certified(folder: Path) -> None:
    """Before anything is installed; the message says what to do."""
    done = act(folder, backend="numpy", command="certify", suite="suite.zip")

    assert done.codes == {KEYS: 2}
    assert done.printed.startswith("The input suite is for the command run. certify generates its own suite, ")


@pytest.mark.ci_only
def test_a_suite_and_an_environment_are_cached(folder: Path) -> None:
    """They are saved as soon as they are made, so that a job that fails has them, and used by the next job."""
    inputs: dict[str, Any] = {"backend": f"{MINIATURES}:AcceptsEverything", "specs": "spec.yaml"}
    first = act(folder, **inputs)
    restored = {"environment": {"cache-hit": "true"}, "suite": {"cache-hit": "true"}}
    second = act(folder, given=restored, **inputs)
    given_suite = act(folder, backend="numpy", suite="conformance-out", out="third")

    saved = first.uses["actions/cache/save"]
    assert first.codes == {KEYS: 0, INSTALL: 0, GENERATE: 0, RUN: 1, REPORT: 0}, first.printed
    assert saved == first.uses["actions/cache/restore"]
    assert [Path(x["path"]).name for x in saved] == ["opconform", saved[1]["key"]]
    assert (Path(saved[1]["path"]) / "suite" / "suite.json").is_file()
    assert second.codes == {KEYS: 0, INSTALL: 0, RUN: 1, REPORT: 0}, second.printed
    assert (second.uses["actions/cache/restore"], "actions/cache/save" in second.uses) == (saved, False)
    assert len(given_suite.uses["actions/cache/restore"]) == 1


def keys_of(folder: Path, **inputs: str) -> dict[str, str]:
    """The keys of the caches for some inputs, in the folder of a repository."""
    command = [sys.executable, "-I", str(ROOT / ".ci" / "cache_keys.py")]
    done = subprocess.run(
        command, cwd=folder, env={"COMMAND": "run", **inputs}, capture_output=True, text=True, check=True
    )
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def test_a_key_stands_for_all_that_decides_a_suite(folder: Path) -> None:
    """The specs, the profiles, the backend and its file; a suite of a harness, whose dialects no file says, has no key."""
    inputs = {"BACKEND": "own.py:Own", "SPECS": "spec.yaml\nSplit-1", "PROFILE": "core"}
    (folder / "own.py").write_text("first")
    first = keys_of(folder, **inputs)
    others = [keys_of(folder, **inputs | {name: "other"}) for name in (*inputs, "PACKAGES")]
    (folder / "notes.txt").write_text("neither a spec nor a module")
    same = keys_of(folder, **inputs)
    (folder / "own.py").write_text("second")
    others.append(keys_of(folder, **inputs))
    (folder / "spec.yaml").write_text("second")
    others.append(keys_of(folder, **inputs))

    assert same == first
    assert all(re.fullmatch(r"opconform-(environment|suite)-[0-9a-f]{32}", key) for key in first.values())
    assert len({x["suite"] for x in (first, *others)}) == 1 + len(others)
    assert {name for x in others for name in x} == {"environment", "suite"}
    for without in ({"HARNESS": "./mine"}, {"SUITE": "suite.zip"}, {"COMMAND": "certify"}):
        assert keys_of(folder, **inputs | without).keys() == {"environment"}


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("backend", "target"), [("openvino:CPU", f"{ROOT}[openvino]"), ("x.py:Y", str(ROOT)), ("", str(ROOT))]
)
def test_opconform_is_installed_with_the_extra_of_the_backend(tmp_path: Path, backend: str, target: str) -> None:
    """From the checkout of the action, with its versions, beside the packages of the user."""
    [step] = [step for step in STEPS if step.get("name") == "Install opconform"]
    executable(tmp_path / "opconform" / "bin" / "python", 'printf "%s\\n" "$@"')
    environment = {"PYTHON": "true", "BACKEND": backend, "PACKAGES": "./a b\nc>=1", "GITHUB_ACTION_PATH": str(ROOT)}
    environment |= {"RUNNER_TEMP": str(tmp_path), "PATH": "/usr/bin:/bin", "RESTORED": ""}
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


@pytest.mark.ci_only
@pytest.mark.parametrize(("packages", "installed"), [("", []), ("./a b", ["./a b"])])
def test_only_packages_of_the_user_are_installed_in_a_cached_environment(
    tmp_path: Path, packages: str, installed: list[str]
) -> None:
    """Since a folder may have changed."""
    [step] = [step for step in STEPS if step.get("name") == INSTALL]
    executable(tmp_path / "opconform" / "bin" / "python", 'printf "%s\\n" "$@"')
    environment = {"PYTHON": "false", "BACKEND": "openvino", "PACKAGES": packages, "GITHUB_ACTION_PATH": str(ROOT)}
    environment |= {"RUNNER_TEMP": str(tmp_path), "PATH": "/usr/bin:/bin", "RESTORED": "true"}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[6:] == installed
