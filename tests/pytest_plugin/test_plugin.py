"""The pytest plugin, as a backend's own repository uses it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.pytest_plugin.repository import Pytest, miniature, outcomes
from tests.suite.installation import install_suite, packed_as


def test_without_its_options_it_does_nothing(run_pytest: Pytest) -> None:
    """Nor does it import anything; `-p opconform` finds it by the name of its entry point."""
    assert outcomes(run_pytest("-q")) == {"passed": 1}
    heavy = "{'numpy', 'pydantic', 'opconform_runners.harness'} & set(sys.modules)"
    code = f"import sys, opconform_runners.pytest_plugin.plugin; print(len({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "0\n"


@pytest.mark.ci_only
def test_cases_are_tests_beside_the_repository_s_own(run_pytest: Pytest, suite: Path) -> None:
    """A perfect backend passes them all, and pytest's own options select among them."""
    options = ("-q", "--opconform-backend", miniature("Perfect"), "--opconform-suite", suite)

    def collected(*more: object) -> str:
        return run_pytest(*options, "--collect-only", *more).stdout.splitlines()[-1].split(" in ")[0]

    assert outcomes(run_pytest(*options)) == {"passed": 7}
    assert outcomes(run_pytest(*options, "opconform::VariadicSplit-1/accepted")) == {"passed": 3}
    assert collected("opconform") == "6 tests collected"
    assert collected("-m", "core") == "3/7 tests collected (4 deselected)"
    assert collected("-m", "lengths.single-remainder", "--strict-markers") == "2/7 tests collected (5 deselected)"
    assert collected("-k", "remainder and not rejected") == "3/7 tests collected (4 deselected)"
    assert collected("--opconform-profile", "types", "opconform") == "1 test collected"


@pytest.mark.ci_only
def test_cases_are_shared_by_the_workers_of_xdist(run_pytest: Pytest, suite: Path) -> None:
    """Each worker runs some of the cases."""
    done = run_pytest("-q", "-n", "2", "--opconform-backend", miniature("Perfect"), "--opconform-suite", suite)

    assert outcomes(done) == {"passed": 7}


def test_options_in_a_file_leave_single_tests_alone(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """One line in `pytest.ini` is enough; a path on the command line then means that path."""
    options = f"--opconform-backend {miniature('Perfect')} --opconform-suite {suite}"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = -q {options}\n")

    assert outcomes(run_pytest()) == {"passed": 7}
    assert outcomes(run_pytest("test_own.py")) == {"passed": 1}
    assert outcomes(run_pytest("opconform")) == {"passed": 6}


def test_defaults_are_taken_from_pyproject(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Once an option of the plugin is given, which replaces its own default; the header says what is taken."""
    (tmp_path / "pyproject.toml").write_text("[tool.opconform]\nbackend = 'numpy'\nprofile = 'core'\n")
    taken = run_pytest("--opconform-suite", suite)
    replaced = run_pytest("--opconform-suite", suite, "--opconform-profile", "types", "opconform")

    assert outcomes(run_pytest("-q")) == {"passed": 1}
    assert outcomes(taken)["passed"] == 4
    assert "\nopconform: from pyproject.toml: backend numpy, profile core\n" in taken.stdout
    assert "\nopconform: from pyproject.toml: backend numpy\n" in replaced.stdout
    assert "1 passed" in replaced.stdout
    (tmp_path / "pyproject.toml").write_text("[tool.opconform]\nbackend = 'x.py:Y'\n")
    assert (
        "ERROR: pyproject.toml:2:11: backend: 'x.py:Y' is not allowed" in run_pytest("--opconform-suite", suite).stderr
    )


def test_an_installed_suite_is_named_in_a_file(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Its name is not a path that is relative to the file; another version than the installed one is an error."""
    install_suite(tmp_path, packed_as("2.0.3", suite, tmp_path.with_name("packed.zip")))
    options = f"-q --opconform-backend {miniature('Perfect')} --opconform-suite opconform-suite==2"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")
    assert outcomes(run_pytest()) == {"passed": 7}
    done = run_pytest("--opconform-suite=opconform-suite==1.4")
    assert "opconform-suite 1.4 is wanted, but 2.0.3 is installed." in done.stdout + done.stderr


@pytest.mark.ci_only
def test_paths_in_a_file_are_relative_to_its_folder(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Wherever in the repository pytest is called; what is typed is relative to where that is, as any path is."""
    for folder in ("src", "tests", "tests/src"):
        (tmp_path / folder).mkdir()
    (tmp_path / "test_own.py").rename(tmp_path / "tests" / "test_own.py")
    (tmp_path / "venv").symlink_to(sys.prefix)
    (tmp_path / "suite").symlink_to(suite)
    (tmp_path / "src" / "own.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.miniatures import Perfect\n"
    )
    python = Path("venv", Path(sys.executable).relative_to(sys.prefix))
    options = f"--opconform-backend src/own.py:Perfect --opconform-python {python} --opconform-suite=suite"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = -q {options}\n")
    (tmp_path / "tests" / "src" / "own.py").write_text("raise ValueError('another file of that name')")

    assert outcomes(run_pytest(folder="tests")) == {"passed": 7}
    assert outcomes(run_pytest("test_own.py", folder="tests")) == {"passed": 1}
    assert outcomes(run_pytest("--opconform-suite", "../suite", "opconform", folder="tests")) == {"passed": 6}
    typed = run_pytest("--opconform-backend", "src/own.py:Perfect", folder="tests")
    assert typed.stderr.splitlines()[0] == (
        "ERROR: The backend src/own.py:Perfect cannot be loaded: own.py:1: ValueError: another file of that name."
    )


def test_a_missing_backend_stops_only_cases(run_pytest: Pytest, tmp_path: Path) -> None:
    """Named tests and pytest's help still run."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q --opconform-backend src/own.py:Own\n")
    done = run_pytest(folder="tests")

    assert outcomes(run_pytest("../test_own.py", folder="tests")) == {"passed": 1}
    assert run_pytest("--markers").returncode == 0
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.startswith(f"ERROR: File not found: {Path('..', 'src', 'own.py')}. ")


def test_the_command_line_overrules_the_file(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """A backend there replaces one here; a backend and a harness are not taken together."""
    ini = tmp_path / "pytest.ini"

    ini.write_text(f"[pytest]\naddopts = --opconform-suite={suite} --opconform-backend onnxruntime\n")
    assert outcomes(run_pytest("--opconform-backend=numpy")) == {"passed": 7}
    refused = run_pytest("--opconform-harness", "false").stderr
    assert "Use either --opconform-backend NAME or --opconform-harness COMMAND." in refused


def test_what_failed_last_is_run_again(run_pytest: Pytest, suite: Path) -> None:
    """`--lf` knows the cases by their ids."""
    options = ("-q", "--opconform-backend", miniature("MissesOneOutput"), "--opconform-suite", suite, "opconform")

    assert outcomes(run_pytest(*options)) == {"failed": 5, "skipped": 1}
    assert outcomes(run_pytest(*options, "--lf")) == {"failed": 5, "deselected": 1}


def test_operations_in_a_file_are_selected(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Those of the command line replace them."""
    options = f"--opconform-backend {miniature('SplitsOnly')} --opconform-suite {suite}"
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\naddopts = -q {options} --opconform-select VariadicSplit-1/accepted\n"
    )

    assert outcomes(run_pytest("opconform")) == {"passed": 3}
    assert outcomes(run_pytest("opconform", "--opconform-select", "VariadicSplit-1")) == {"passed": 6}
    assert "matches 'Split-1'." in run_pytest("--opconform-select=Split-1").stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "Use either --opconform-backend NAME or --opconform-harness COMMAND."),
        (
            ("--opconform-harness", "true", "--opconform-python", "python"),
            "--opconform-python works only with --opconform-backend; a harness names its own.",
        ),
        (("--opconform-backend", "nunpy"), "'nunpy' is not a backend. Did you mean 'numpy'? Allowed: "),
        pytest.param(
            ("--opconform-backend", "numpy", "--opconform-profile", "cor"),
            "Profile 'cor' is not in ",
            marks=pytest.mark.ci_only,
        ),
        (
            ("--opconform-backend", "numpy", "opconform::VariadicSplit-1/acepted"),
            " matches 'VariadicSplit-1/acepted'. Did you mean 'VariadicSplit-1/accepted'?\n",
        ),
    ],
)
def test_a_wrong_option_is_reported_in_one_sentence(
    run_pytest: Pytest, suite: Path, options: tuple[str, ...], sentence: str
) -> None:
    """With pytest's own exit code for it."""
    done = run_pytest("--opconform-suite", suite, *options)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.startswith("ERROR: ")
    assert sentence in done.stderr


@pytest.mark.ci_only
def test_the_shipped_cases_are_generated_once(run_pytest: Pytest, tmp_path: Path) -> None:
    """Into pytest's cache, for two workers as for one; the next run takes what is there."""
    options = ("-q", "--opconform-backend", "numpy", "--opconform-profile", "transformer", "-k", "MatMul")
    first = run_pytest(*options, "-n", "2")
    manifest = tmp_path / ".pytest_cache" / "d" / "opconform" / "transformer" / "manifest.jsonl"
    written = manifest.stat().st_mtime_ns
    second = run_pytest(*options)

    assert outcomes(first)["passed"] == outcomes(second)["passed"] > 0
    assert manifest.stat().st_mtime_ns == written


@pytest.mark.ci_only
def test_the_page_s_commands_work(run_pytest: Pytest, opconform: Run, tmp_path: Path) -> None:
    """Each as it stands in `docs/ci.md`, on the cases of two operations, and collected alone."""
    opconform("generate", "Split-1", "VariadicSplit-1", "--profile", "core", "--out", tmp_path / "splits")
    page = (ROOT / "docs" / "ci.md").read_text()
    lines = re.findall(r"^pytest .*$", page, re.MULTILINE)

    assert len(lines) > 4
    for line in lines:
        program, *words = shlex.split(line)
        done = run_pytest(*words, "--opconform-suite", tmp_path / "splits", "--collect-only", "-q")
        assert (program, done.returncode) == ("pytest", 0), done.stdout + done.stderr
        assert "opconform::" in done.stdout
