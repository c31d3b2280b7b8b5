"""The pytest plugin, as a backend's own repository uses it."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests import fake_harnesses
from tests.conftest import MINIATURES, ROOT, Run
from tests.harness.test_faults import RAISES
from tests.in_process import served_in_process

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]

OWN = """\
def test_their_own():
    pass
"""
SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: lengths, one of which several miniatures do not bear
    profile: core
    requirements: [lengths.remainder]
    matrix:
      lengths: [[-1, 1, 2], [1, 2, -1], [2, 2, 2]]
    data: {shape: [6, 2], fill: special}
    axis: 0
    split_lengths: ${{ lengths }}
  - id: rejected
    title: at most one -1
    profile: robustness
    requirements: [lengths.single-remainder]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [-1, -1, 2]
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: [2, 2, 2]}
  - id: nans
    title: a NaN's payload
    profile: types
    requirements: [data.nan-payload]
    data: {shape: [16], fill: special}
    axis: 0
    split_lengths: [8, 8]
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six cases: four accepted of one group and its twin, one rejected, one with NaNs."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


def nested(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], written: Path) -> None:
    """Become a pytest in a folder, and write to files what it prints."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(written / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    with served_in_process():
        sys.exit(pytest.main(list(arguments)))


@pytest.fixture
def run_pytest(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Pytest:
    """A pytest process in a repository with one test: the plugin takes part in pytest's start.

    It loads no other plugin, and is forked from a process that has imported opconform, which takes a second.
    """
    (tmp_path / "test_own.py").write_text(OWN)
    written = tmp_path_factory.mktemp("printed")
    context = get_context("forkserver")
    context.set_forkserver_preload(["opconform_runners.pytest_plugin.conformance"])

    def run(*arguments: object, folder: str = ".") -> "subprocess.CompletedProcess[str]":
        plugins = ["--assert=plain", "-p", "opconform", *(("-p", "xdist") if "-n" in arguments else ())]
        words = [*plugins, *(str(argument) for argument in arguments)]
        environment = {name: x for name, x in os.environ.items() if not name.startswith("PYTEST_")}
        environment |= {"COLUMNS": "300", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        process = context.Process(target=nested, args=(words, tmp_path / folder, environment, written))
        process.start()
        process.join()
        printed, told = ((written / name).read_text() for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(words, process.exitcode or 0, printed, told)

    return run


def outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    """What the last line of pytest counts."""
    return {
        name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].split(" in ")[0])
    }


def miniature(name: str) -> str:
    """A faulty backend."""
    return f"{MINIATURES}:{name}"


def test_without_its_options_it_does_nothing(run_pytest: Pytest) -> None:
    """Nor does it import anything; `-p opconform` finds it by the name of its entry point."""
    assert outcomes(run_pytest("-q")) == {"passed": 1}
    heavy = "{'numpy', 'pydantic', 'opconform_runners.harness'} & set(sys.modules)"
    code = f"import sys, opconform_runners.pytest_plugin.plugin; print(len({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "0\n"


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


def test_a_crash_costs_only_its_case_and_is_described(run_pytest: Pytest, suite: Path) -> None:
    """The twin that crashed makes its case inconclusive; the message is a sentence, and holds no traceback."""
    done = run_pytest("-rfs", "--opconform-backend", miniature("Aborts"), "--opconform-suite", suite, "opconform")
    [failed] = re.findall(r"_+ (VariadicSplit-1/accepted\[\S+\]) _+\n(.*?)(?=\n_|\n=)", done.stdout, re.DOTALL)

    assert outcomes(done) == {"failed": 2, "passed": 3, "skipped": 1}
    assert "Traceback" not in done.stdout
    assert failed[1].splitlines()[:2] == [
        "data f32[6, 2], axis 0, split_lengths [2, 2, 2]: crash: the backend process was terminated by SIGSEGV; end of its standard error: about to fall over",
        "requirement: lengths.remainder (normative): A length of -1, at any position, takes all remaining elements of the dimension.",
    ]
    assert failed[0] == "VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]"
    again = r"--select VariadicSplit-1/accepted/(\w{10}) --out again/\1"
    assert re.search(f"--backend {miniature('Aborts')} {again}$", failed[1].splitlines()[2])
    assert "inconclusive: its twin VariadicSplit-1/rejected/" in done.stdout


def test_a_process_that_ends_late_is_an_error_and_no_failure(run_pytest: Pytest, suite: Path) -> None:
    """At the test of the case that was not answered, which passes alone; the cases before it are named."""
    done = run_pytest("-q", "--opconform-backend", miniature("EndsLater"), "--opconform-suite", suite)

    assert outcomes(done) == {"passed": 7, "errors": 3}
    assert "ERROR at teardown of VariadicSplit-1/" in done.stdout
    assert "the backend process was terminated by SIGSEGV; this did not recur with VariadicSplit-1/" in done.stdout
    assert done.returncode == 1


@pytest.mark.ci_only
def test_an_error_that_does_not_recur_is_a_warning(run_pytest: Pytest, suite: Path) -> None:
    """With the case and its message."""
    done = run_pytest("-q", "--opconform-backend", miniature("RaisesLater"), "--opconform-suite", suite)

    assert outcomes(done)["passed"] == 7
    assert "ended in an error, and not when it was executed again alone: miniatures.py:" in done.stdout
    assert done.returncode == 0


def test_what_failed_last_is_run_again(run_pytest: Pytest, suite: Path) -> None:
    """`--lf` knows the cases by their ids."""
    options = ("-q", "--opconform-backend", miniature("MissesOneOutput"), "--opconform-suite", suite, "opconform")

    assert outcomes(run_pytest(*options)) == {"failed": 5, "skipped": 1}
    assert outcomes(run_pytest(*options, "--lf")) == {"failed": 5, "deselected": 1}


def test_a_case_is_named_by_what_it_is(run_pytest: Pytest, suite: Path) -> None:
    """Its node id, its case id and a part of either select it; `--deselect` takes the same patterns."""
    options = ("-q", "--opconform-backend", miniature("Perfect"), "--opconform-suite", suite, "--collect-only")
    shown = run_pytest(*options, "opconform::VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]").stdout
    case = next((suite / "VariadicSplit-1" / "nans").iterdir()).name
    left = run_pytest(*options, "opconform", "--deselect", "opconform::VariadicSplit-1/accepted").stdout
    wrong = run_pytest(*options, "--deselect", "opconform::VariadicSplit-1/acepted").stderr

    assert shown.splitlines()[0] == "opconform::VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]"
    assert "1 test collected" in shown
    assert run_pytest(*options, "-k", case).stdout.splitlines()[-1].startswith("1/7 tests collected")
    assert "3/6 tests collected (3 deselected)" in left
    assert "Did you mean 'VariadicSplit-1/accepted'?" in wrong


def test_a_baseline_makes_known_failures_expected(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Others fail, and so does a case that passes although the baseline expects it to fail."""
    (tmp_path / "known.txt").write_text(
        "VariadicSplit-1/accepted/*  count  # https://example.org/1\nVariadicSplit-1/nans/* value\n"
    )
    options = ("-rfx", "--opconform-suite", suite, "--opconform-baseline", "known.txt", "opconform")
    missing = run_pytest("--opconform-backend", miniature("MissesOneOutput"), *options)
    perfect = run_pytest("--opconform-backend", miniature("Perfect"), *options)
    (tmp_path / "known.txt").write_text("VariadicSplit-1/acepted/* count\n")
    stale = run_pytest("--opconform-backend", miniature("Perfect"), *options)

    assert outcomes(missing) == {"failed": 2, "xfailed": 3, "skipped": 1}
    assert "known.txt:1 expects count" in missing.stdout
    assert "known.txt:2 expects value" in missing.stdout
    assert outcomes(perfect) == {"failed": 4, "passed": 2}
    assert stale.stderr.startswith(
        "ERROR: known.txt:1: no case matches 'VariadicSplit-1/acepted/*'. Delete the line, or"
    )


def test_lost_support_fails_against_a_baseline(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Without one, it is skipped."""
    (tmp_path / "known.txt").write_text("")
    options = ("--opconform-backend", miniature("SupportsSome"), "--opconform-suite", suite, "-rf", "opconform")
    lost = run_pytest("--opconform-baseline", "known.txt", *options)

    assert outcomes(lost) == {"failed": 2, "passed": 3, "skipped": 1}
    assert "no longer supported: not today; the baseline does not expect it" in lost.stdout
    assert outcomes(run_pytest(*options)) == {"passed": 3, "skipped": 3}


def test_operations_in_a_file_are_selected(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Those of the command line replace them."""
    options = f"--opconform-backend {miniature('SplitsOnly')} --opconform-suite {suite}"
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\naddopts = -q {options} --opconform-select VariadicSplit-1/accepted\n"
    )

    assert outcomes(run_pytest("opconform")) == {"passed": 3}
    assert outcomes(run_pytest("opconform", "--opconform-select", "VariadicSplit-1")) == {"passed": 6}
    assert "matches 'Split-1'." in run_pytest("--opconform-select=Split-1").stderr


@pytest.mark.ci_only
def test_a_hang_ends_at_the_timeout(run_pytest: Pytest, suite: Path) -> None:
    """And the next case has a harness again."""
    options = ("--opconform-backend", miniature("Hangs"), "--opconform-suite", suite, "--opconform-timeout", "1")
    done = run_pytest(*options, "-k", "accepted")

    assert outcomes(done) == {"failed": 1, "passed": 2, "deselected": 4}
    assert "timeout: no answer within 1 second\n" in done.stdout


def test_another_reading_fails_only_with_strict(run_pytest: Pytest, suite: Path) -> None:
    """A case that breaks only an interpretation is expected to fail."""
    options = ("-rx", "--opconform-backend", miniature("QuietsNans"), "--opconform-suite", suite, "-k", "nans")
    done = run_pytest(*options)

    assert outcomes(done) == {"xfailed": 1, "deselected": 6}
    assert "not counted: data.nan-payload" in done.stdout
    assert outcomes(run_pytest(*options, "--opconform-strict")) == {"failed": 1, "deselected": 6}


def test_a_harness_that_fails_is_an_error_and_no_failure(run_pytest: Pytest, suite: Path) -> None:
    """Of a backend in Python, and of a harness in any language."""
    python = run_pytest("-q", "--opconform-backend", miniature("Raises"), "--opconform-suite", suite, "-m", "core")
    command = fake_harnesses.command("says an error")
    other = run_pytest("-q", "--opconform-harness", command, "--opconform-suite", suite, "-m", "core")

    assert outcomes(python) == {"passed": 2, "deselected": 4, "error": 1}
    assert f"harness error: miniatures.py:{RAISES}: KeyError: 'lost'" in python.stdout
    assert outcomes(other)["error"] == 1
    assert "harness error: out of paper" in other.stdout


def test_what_is_not_supported_is_skipped_with_its_reason(run_pytest: Pytest, suite: Path) -> None:
    """And so is the case whose twin is not."""
    done = run_pytest(
        "-rs", "--opconform-backend", miniature("SupportsNothing"), "--opconform-suite", suite, "opconform"
    )

    assert outcomes(done) == {"skipped": 6}
    assert "unsupported: not today" in done.stdout


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
    options = ("-q", "--opconform-backend", "numpy", "--opconform-profile", "core", "-k", "page-example")
    first = run_pytest(*options, "-n", "2")
    manifest = tmp_path / ".pytest_cache" / "d" / "opconform" / "core" / "manifest.jsonl"
    written = manifest.stat().st_mtime_ns
    second = run_pytest(*options)

    assert outcomes(first)["passed"] == outcomes(second)["passed"] > 0
    assert manifest.stat().st_mtime_ns == written


@pytest.mark.ci_only
def test_the_page_s_commands_work(run_pytest: Pytest) -> None:
    """Each as it stands in `docs/ci.md`, on the profile that is quickest, and collected alone."""
    page = (ROOT / "docs" / "ci.md").read_text()
    lines = re.findall(r"^pytest .*$", page, re.MULTILINE)

    assert len(lines) > 4
    for line in lines:
        program, *words = shlex.split(line)
        done = run_pytest(*words, "--opconform-profile", "core", "--collect-only", "-q")
        assert (program, done.returncode) == ("pytest", 0), done.stdout + done.stderr
        assert "opconform::" in done.stdout
