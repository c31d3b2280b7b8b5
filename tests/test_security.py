"""The promises of SECURITY.md, each with its test. Those about the current folder need processes of their own."""

import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "SECURITY.md").read_text()
OPCONFORM = Path(sys.executable).with_name("opconform")
#: A module that leaves its name and what was started in a file beside the folder.
PLANTED = """\
import sys
with open({mark!r}, "a") as file:
    file.write("{name}: " + " ".join(sys.orig_argv) + "\\n")
raise SystemExit(9)
"""


@pytest.fixture
def planted(tmp_path: Path, small_spec: Path) -> Path:
    """A folder with a spec and a module of each name that anything may import; `mark` beside it names the executed."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "spec.yaml").write_bytes(small_spec.read_bytes())
    for name in {*sys.stdlib_module_names, *packages_distributions()} - {"opconform", "opconform_runners"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(PLANTED.format(mark=str(tmp_path / "mark"), name=name))
    return folder


def executed(planted: Path, *words: object, code: int = 0) -> str:
    """The planted modules that a command executed in their folder."""
    done = subprocess.run([*map(str, words)], cwd=planted, capture_output=True, text=True, check=False, timeout=250)
    mark = planted.with_name("mark")
    found = mark.read_text() if mark.exists() else ""
    assert found or done.returncode == code, done.stdout + done.stderr
    return found


#: Commands that start each kind of process; those that start what the others do are slow, and run in CI only.
COMMANDS = {
    "certify": ("certify", "numpy", "spec.yaml", "--jobs", "2"),
    "python": ("certify", "numpy", "spec.yaml", "--python", sys.executable),
    "generate": ("generate", "spec.yaml", "--out", "../suite", "--jobs", "2"),
    "harness check": ("harness", "check", "--backend", "numpy", "--timeout", "60"),
    "fuzz": ("fuzz", "numpy", "Split-1", "--tests", "20", "--out", "../fuzz"),
}


SLOW = {"harness check", "fuzz"}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.ci_only] if each in SLOW else []) for each in COMMANDS]
)
def test_no_code_of_the_current_folder_runs(planted: Path, name: str) -> None:
    """In no process: neither the command nor its workers, harnesses and interpreters import a module from there."""
    assert executed(planted, OPCONFORM, *COMMANDS[name]) == ""


def test_no_code_of_the_current_folder_runs_under_python_m(planted: Path) -> None:
    """Once opconform has begun; what Python itself imports before that is only safe with `python -P -m`."""
    words = ("generate", "spec.yaml", "--out", "../suite", "--jobs", "2")
    assert executed(planted, sys.executable, "-P", "-m", "opconform", *words) == ""
    runpy = (sys.executable, "-I", "-c", "import runpy, sys; print(*sys.modules)")
    for each in {*subprocess.run(runpy, capture_output=True, text=True, check=True).stdout.split(), "warnings"}:
        (planted / f"{each}.py").unlink(missing_ok=True)
    assert executed(planted, sys.executable, "-m", "opconform", *words, "--seed", "1") == ""


def test_no_code_of_an_untrusted_suite_runs(planted: Path, small_suite: Path) -> None:
    """Though the suite is the current folder."""
    shutil.copytree(small_suite, planted, dirs_exist_ok=True)
    assert executed(planted, OPCONFORM, "run", ".", "numpy", "--out", planted.parent / "out") == ""


def test_a_backend_in_a_file_imports_its_neighbours_and_nothing_else_does(planted: Path, small_suite: Path) -> None:
    """The neighbours, and the file itself, take the place of no other module, whatever their names are."""
    (planted / "kernel.py").write_text("from opconform_runners.backends.numpy import Numpy\nclass Own(Numpy): pass\n")
    for name in ("mine", "numpy"):
        (planted / f"{name}.py").write_text("from kernel import Own\n")
        run = ("run", small_suite, "--backend", f"{name}.py:Own", "--out", f"../{name}")
        assert executed(planted, OPCONFORM, *run) == ""
