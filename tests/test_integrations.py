"""What other programs read at the top level: the Dockerfile and the hooks of pre-commit."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import opconform as opconform_package
from tests.conftest import ROOT, SMALL_SPEC, Run

[HOOK] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
WRONG_SPEC = SMALL_SPEC.replace("axis: 0", "axs: 0", 1).replace("fill: special", "fill: specal", 1)
MISTAKES = (
    "cases/my wrong.yaml:8:33: fill: 'specal' is not allowed: ",
    "cases/my wrong.yaml:9:5: Unknown key 'axs'. Did you mean 'axis'?",
)
WRONG_CASES = """\
op: VariadicSplit-1
groups:
  - {id: a, title: t, data: {shape: [6]}, axis: 5, split_lengths: [6]}
  - {id: b, title: t, data: {shape: [6]}, axis: 0, split_lengths: [5]}
"""


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and their arguments."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


def test_the_image_has_an_unprivileged_user_and_the_pinned_packages() -> None:
    """Its last stage runs the program; the extra that it installs is one."""
    found = instructions()
    last = found[[name for name, _ in found].index("FROM", 1) :]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [pip] = [argument for name, argument in found if name == "RUN" and " pip install " in argument]
    words = shlex.split(pip)

    assert words[words.index("-c") + 1] == "constraints.txt"
    assert re.fullmatch(r"\.\[(.*)\]", words[-1])[1] in extras  # type: ignore[index]
    assert [argument for name, argument in last if name == "USER"] == ["opconform"]
    assert [name for name, _ in last][-3:] == ["USER", "WORKDIR", "ENTRYPOINT"]
    assert json.loads(last[-1][1]) == ["opconform"]
    assert all(argument.startswith("python:3.12-slim") for name, argument in found if name == "FROM")


def test_the_image_copies_what_the_wheel_is_built_from() -> None:
    """Every path is there, and none is left out of the build context."""
    copied = [path for name, argument in instructions() if name == "COPY" for path in shlex.split(argument)[:-1]]
    context = [path for path in copied if not path.startswith(("-", "/"))]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert all((ROOT / path).exists() for path in context)
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == set(context)
    for path in [*build["only-include"], "README.md", "LICENSE", "constraints.txt"]:
        assert any(Path(path).is_relative_to(source) for source in context), path


def test_the_hook_checks_specs_alone() -> None:
    """Of a repository with its own cases, but neither requirements nor other files."""

    def wants(path: str) -> bool:
        return bool(re.search(HOOK["files"], path)) and not re.search(HOOK["exclude"], path)

    shipped = [path.relative_to(ROOT).as_posix() for path in (ROOT / "cases").rglob("*.yaml")]
    assert wants("cases/Split-1/axis.yaml")
    assert wants("my/specs/a.yaml")
    assert {path for path in shipped if not wants(path)} == {
        path for path in shipped if path.endswith(("/requirements.yaml", "equivalents.yaml")) or "/every/" in path
    }
    assert not wants(".github/workflows/specs.yaml")
    assert f"rev: v{opconform_package.__version__}\n" in (ROOT / "docs" / "specs.md").read_text()


@pytest.mark.parametrize("spec", [SMALL_SPEC, WRONG_SPEC], ids=["right", "wrong"])
def test_the_entry_of_the_hook_reports_every_mistake(opconform: Run, tmp_path: Path, spec: str) -> None:
    """With its place, and with the exit code 2."""
    program, *words = shlex.split(HOOK["entry"])
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "my wrong.yaml").write_text(spec)
    done = opconform(*words, "cases/my wrong.yaml", cwd=tmp_path, code=0 if spec == SMALL_SPEC else 2)

    assert program == "opconform"
    assert all((mistake in done.stderr) == (spec == WRONG_SPEC) for mistake in MISTAKES), done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.suffix != ".yaml" and path.name != "cases"]


def test_the_entry_of_the_hook_reports_every_wrong_case(opconform: Run, tmp_path: Path) -> None:
    """Of every group, as `generate` does."""
    (tmp_path / "spec.yaml").write_text(WRONG_CASES)
    _, *words = shlex.split(HOOK["entry"])
    checked = opconform(*words, "spec.yaml", cwd=tmp_path, code=2).stderr
    generated = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2).stderr

    assert len(checked.splitlines()) == 2
    assert checked == generated


@pytest.mark.ci_only
def test_pre_commit_runs_the_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the specs of another repository, with opconform in an environment that pre-commit makes."""
    repository = tmp_path / "repository"
    (repository / "cases").mkdir(parents=True)
    (repository / "cases" / "my wrong.yaml").write_text(WRONG_SPEC)
    (repository / "cases" / "right.yaml").write_text(
        SMALL_SPEC.replace("VariadicSplit-1", "Split-1").split("groups")[0]
    )
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_CONSTRAINT", str(ROOT / "constraints.txt"))
    for words in ("init -q", "add ."):
        subprocess.run(["git", *words.split()], cwd=repository, check=True)
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), HOOK["id"], "--all-files"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, timeout=300)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "- exit code: 2" in done.stdout
    assert all(mistake in done.stdout for mistake in MISTAKES)
