"""The four tasks of the README, in the environment that its first line makes, outside the checkout."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
#: What narrows a command that would take a minute: words at its end.
NARROWED = {
    "opconform certify numpy --profile core": "Split-1 VariadicSplit-1",
    "opconform generate --profile core": "Split-1 VariadicSplit-1",
    "pytest -p opconform": "--opconform-suite suite",
}


def section(title: str) -> str:
    """A section of the README."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(title: str) -> list[str]:
    """The commands of a section."""
    return [line for block in blocks(section(title), "sh") for line in block.splitlines() if line]


def narrowed(command: str) -> str:
    """A command of the README with fewer cases."""
    [*words] = [more for beginning, more in NARROWED.items() if command.startswith(beginning)]
    return " ".join([command.partition("#")[0].rstrip(), *words])


@pytest.fixture(scope="module")
def environment(clone: Path) -> Path:
    """A fresh environment with opconform's wheel and OpenVINO."""
    return clone / ".venv"


def install(environment: Path, *words: str) -> None:
    """Install packages in the versions that CI uses."""
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, *words], check=True, capture_output=True)


def shell(command: str, environment: Path, folder: Path, code: int = 0) -> str:
    """Run a command in a folder, as a user who has activated the environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST_", "VIRTUAL_"))}
    kept["PATH"] = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.ci_only
def test_the_four_tasks_of_the_readme_work_with_the_wheel(environment: Path, tmp_path: Path) -> None:
    """Certify, write cases, add a backend, and put it into CI; README's first line has its own test."""

    def run(command: str, code: int = 0) -> str:
        return shell(narrowed(command), environment, tmp_path, code)

    where = run('python -c "import opconform; print(opconform.__file__)"')
    assert where.startswith(str(environment))

    certify, *signing = [x for x in commands("Certify a backend") if "onnxruntime" not in x and " backends" not in x]
    assert "\nCONFORMANT, " in run(certify)
    [extra] = re.findall(r"Signing needs an extra: `pip install '(.*?)'`", README)
    install(environment, extra, "pytest")
    for command in signing:
        run(command)

    [spec] = blocks(section("Add cases, operations and dialects"), "yaml")
    (tmp_path / "my-cases.yaml").write_text(spec)
    for command in commands("Add cases, operations and dialects"):
        assert " cases (" in run(command)

    [backend] = blocks(section("Add a backend"), "python")
    (tmp_path / "file.py").write_text(backend)
    broken = run("opconform certify Split-1 --profile core --backend file.py:JustNumpy", code=1)
    assert "NOT CONFORMANT, " in broken
    run(next(command for command in commands("Generate a dataset") if command.endswith("--out suite")))
    for command in commands("Use it in CI"):
        run(command)
    assert (tmp_path / "junit.xml").exists()
    run("opconform export suite --as ctest --out kit")
    assert (tmp_path / "kit" / "CMakeLists.txt").exists()


@pytest.mark.ci_only
def test_an_interpreter_without_numpy_is_refused(environment: Path, tmp_path: Path) -> None:
    """In one sentence."""
    venv.create(tmp_path / "bare")
    bare = tmp_path / "bare" / "bin" / "python"
    opconform = str(environment / "bin" / "opconform")
    command = [opconform, "certify", "--backend", "numpy", "--python", str(bare), "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 3
    assert done.stderr.startswith("error: numpy cannot be used: numpy is not installed in ")
