"""The promises of SECURITY.md, each with its test. Those about the current folder need processes of their own."""

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from opconform_runners.verdicts.results import read_results
from tests.conftest import ROOT, Run
from tests.fake_harnesses import command

PAGE = (ROOT / "SECURITY.md").read_text()
#: Each promise of the page, and the tests of it.
PROMISES = {
    "It cannot run code or leave the expression sandbox": (
        "generation/test_expansion.py::test_no_expression_takes_long_or_reaches_out",
        "specs/test_diagnostics.py::test_a_mistake_is_reported_with_its_place",
        "products/openvino/test_repro.py::test_what_a_spec_says_cannot_become_code",
    ),
    "It cannot take unlimited time or memory": (
        "specs/test_limits.py::test_what_is_too_much_is_a_short_mistake",
        "specs/test_diagnostics.py::test_an_alias_bomb_is_refused_before_it_goes_off",
    ),
    "opconform unpickles nothing": (
        "harness/test_misbehaviour.py::test_a_misbehaviour_costs_one_case",
        "robustness/test_hostile_suites.py::test_verify_reports_a_hostile_suite",
    ),
    "It follows no path out of the folder": (
        "suite/test_suite.py::test_no_path_of_a_manifest_leaves_the_suite",
        "robustness/test_hostile_suites.py::test_verify_reports_a_hostile_suite",
        "robustness/test_hostile_suites.py::test_a_reader_refuses_what_is_not_a_file_of_its_kind",
    ),
    "It checks sizes before it allocates memory": (
        "robustness/test_hostile_suites.py::test_verify_reports_a_hostile_suite",
        "system/test_files.py::test_nothing_is_read_of_a_sparse_file_over_the_limit",
        "tensors/test_npz.py::test_what_is_larger_than_allowed_is_refused",
    ),
    "No code in the folder runs, even if it is the current folder": (
        "test_security.py::test_no_code_of_an_untrusted_suite_runs",
    ),
    "None of its texts becomes code of a script, test or build that opconform writes, or of a command that it prints": (
        "suite/test_names.py::test_no_name_in_a_case_is_code",
        "suite/test_names.py::test_no_name_in_a_header_is_code",
        "tools/test_hostile_names.py::test_no_text_of_a_suite_is_code_of_a_script",
        "products/openvino/test_hostile_names.py::test_no_text_of_a_suite_is_code_of_a_c_test",
        "verdicts/test_command_options.py::test_options_that_a_shell_would_execute_are_refused",
    ),
    "What it writes, leaves or changes while it executes a case does not change the verdict of another case": (
        "harness/test_misbehaviour.py::test_a_misbehaviour_costs_one_case",
    ),
    "It cannot make opconform write outside its scratch folder": (
        "test_security.py::test_nothing_is_written_through_a_link_in_place_of_the_scratch_folder",
        "system/test_temporary.py::test_links_are_removed_and_not_followed",
        "execution/test_outputs.py::test_an_unreadable_output_file_is_reported_in_one_sentence",
    ),
    "No text of a reply delays opconform": (
        "test_foreign_text.py::test_foreign_text_is_searched_in_linear_time",
        "test_foreign_text.py::test_the_texts_of_a_reply_are_cut",
    ),
    "Its processes do not outlive the run": (
        "harness/test_processes.py::test_a_killed_opconform_leaves_neither_processes_nor_files",
        "harness/test_processes.py::test_a_daemon_that_kills_its_supervisor_does_not_outlive_the_harness",
    ),
    "Verification detects any change made after signing": (
        "certificates/test_tampering.py::test_a_certificate_that_is_tampered_with_is_refused",
        "certificates/test_tampering.py::test_any_byte_that_is_changed_is_found",
    ),
    "Terminals, pages and CI logs treat it as text, never as commands": (
        "test_terminal.py::test_what_steers_a_terminal_is_spelled_out",
        "test_terminal.py::test_in_a_workflow_all_text_is_fenced_and_no_line_is_a_command",
        "reports/test_html.py::test_packed_data_cannot_end_a_script_element",
        "reports/test_reports.py::test_a_summary_steers_neither_a_terminal_nor_a_workflow",
    ),
    "Its name and password are neither shown nor kept": (
        "suite/test_buckets.py::test_no_error_or_file_has_the_password_of_a_url",
    ),
    "If it never answers, the command ends": (
        "suite/test_s3.py::test_a_store_that_never_answers_ends_the_command",
        "execution/test_cluster_address.py::test_a_port_without_a_scheduler_is_found_out_in_time",
    ),
    "opconform and installed packages. No process imports a module from the current folder": (
        "test_security.py::test_no_code_of_the_current_folder_runs",
    ),
    "no code of the folder: it can name only an installed backend": (
        "test_configuration.py::test_a_file_names_no_code_of_its_folder",
    ),
    "the file. It may import modules beside it, which replace no installed module": (
        "test_security.py::test_a_backend_in_a_file_imports_its_neighbours_and_nothing_else_does",
    ),
    "`opconform` and `python -P -m opconform` are safe in any folder": (
        "test_security.py::test_no_code_of_the_current_folder_runs_under_python_m",
    ),
}
OPCONFORM = Path(sys.executable).with_name("opconform")
#: A module that leaves its name and what was started in a file beside the folder.
PLANTED = """\
import sys
with open({mark!r}, "a") as file:
    file.write("{name}: " + " ".join(sys.orig_argv) + "\\n")
raise SystemExit(9)
"""


def test_each_promise_of_the_page_has_a_test() -> None:
    """Every sentence about an input is in the table, and every test that the table names is there."""
    rows = PAGE.split("| input | guarantee |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    sentences = [word for row in rows for word in row.strip("| ").split(" | ")[1].split(". ")]
    for test in {test for tests in PROMISES.values() for test in tests}:
        file, _, name = test.partition("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(), test

    assert all(sentence in PROMISES for sentence in sentences), set(sentences) - PROMISES.keys()
    assert all(promise in PAGE for promise in PROMISES), [promise for promise in PROMISES if promise not in PAGE]


def test_nothing_is_written_through_a_link_in_place_of_the_scratch_folder(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases that follow get a folder of their own."""
    for name in ("foreign", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "foreign" / "kept").write_text("kept")
    monkeypatch.setenv("OPCONFORM_TEST_MARK", str(tmp_path / "foreign"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    harness = command("links its scratch folder")
    opconform("run", small_suite, "--harness", harness, "--timeout", "60", "--out", tmp_path / "out", code=1)
    verdicts = [read_result.verdict for read_result in read_results(tmp_path / "out" / "results.jsonl")]

    assert sorted(verdicts) == ["fail", "pass", "pass", "pass", "pass", "pass"]
    assert [(path.name, path.read_text()) for path in (tmp_path / "foreign").iterdir()] == [("kept", "kept")]


@pytest.fixture
def planted(tmp_path: Path, small_spec: Path) -> Path:
    """A folder with a spec and a module of each name that anything may import; `mark` beside it names the executed."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "spec.yaml").write_bytes(small_spec.read_bytes())
    for name in {*sys.stdlib_module_names, *packages_distributions()} - {
        "opconform",
        "opconform_runners",
        "opconform_products",
    }:
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


#: `certify` generates, too, and starts a harness.
SLOW = {"generate", "python", "harness check", "fuzz"}


@pytest.mark.parametrize("name", [pytest.param(c, marks=[pytest.mark.ci_only] if c in SLOW else []) for c in COMMANDS])
def test_no_code_of_the_current_folder_runs(planted: Path, name: str) -> None:
    """In no process: neither the command nor its workers, harnesses and interpreters import a module from there."""
    assert executed(planted, OPCONFORM, *COMMANDS[name]) == ""


@pytest.mark.ci_only
def test_no_code_of_the_current_folder_runs_under_python_m(planted: Path) -> None:
    """Once opconform has begun; what Python itself imports before that is only safe with `python -P -m`."""
    words = ("generate", "spec.yaml", "--out", "../suite", "--jobs", "2")
    assert executed(planted, sys.executable, "-P", "-m", "opconform", *words) == ""
    runpy = (sys.executable, "-I", "-c", "import runpy, sys; print(*sys.modules)")
    for word in {*subprocess.run(runpy, capture_output=True, text=True, check=True).stdout.split(), "warnings"}:
        (planted / f"{word}.py").unlink(missing_ok=True)
    assert executed(planted, sys.executable, "-m", "opconform", *words, "--seed", "1") == ""


def test_no_code_of_an_untrusted_suite_runs(planted: Path, small_suite: Path) -> None:
    """Though the suite is the current folder."""
    shutil.copytree(small_suite, planted, dirs_exist_ok=True)
    assert executed(planted, OPCONFORM, "run", ".", "numpy", "--out", planted.parent / "out") == ""


@pytest.mark.ci_only
def test_a_backend_in_a_file_imports_its_neighbours_and_nothing_else_does(planted: Path, small_suite: Path) -> None:
    """The neighbours, and the file itself, take the place of no other module, whatever their names are."""
    (planted / "kernel.py").write_text(
        "from opconform_runners.backends.numpy.backend import Numpy\nclass Own(Numpy): pass\n"
    )
    for name in ("mine", "numpy"):
        (planted / f"{name}.py").write_text("from kernel import Own\n")
        run = ("run", small_suite, "--backend", f"{name}.py:Own", "--out", f"../{name}")
        assert executed(planted, OPCONFORM, *run) == ""
