"""`opconform new`: what it writes works as it stands."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

METADATA = "Metadata-Version: 2.1\nName: mirror-1\nVersion: 0.1.0\n"


def printed(stdout: str) -> list[list[str]]:
    """The commands that `new` advises, as words."""
    return [shlex.split(line) for line in stdout.partition("Try it:\n")[2].splitlines()]


def test_a_new_backend_is_the_guides_and_runs(opconform: Run, tmp_path: Path) -> None:
    """The guide shows the template; the case of numpy's own reading of a missing axis fails."""
    said = opconform("new", "backend", "my-concat", cwd=tmp_path)
    checking, certifying = printed(said.stdout)
    guide = (ROOT / "docs" / "new-backend.md").read_text()
    select = ("--select", "Concat-1/page-example*")

    assert f"`my_concat.py`:\n\n```python\n{(tmp_path / 'my_concat.py').read_text()}```" in guide
    assert checking == ["opconform", "harness", "check", "--backend", "my_concat.py:MyConcat"]
    opconform("generate", "Concat-1", *select, "--out", "suite", cwd=tmp_path)
    ran = opconform("run", "suite", "--backend", certifying[2], "--out", "out", cwd=tmp_path)
    assert ran.stdout.count("without failing cases") == 1
    assert certifying[:4] == ["opconform", "certify", "my_concat.py:MyConcat", "Concat-1"]


def test_a_new_harness_speaks_the_protocol_without_opconform(opconform: Run, tmp_path: Path) -> None:
    """It passes the core cases of its operation in the types that it has."""
    said = opconform("new", "harness", "my-harness", cwd=tmp_path)
    _, generating, running = printed(said.stdout)
    code = (tmp_path / "my_harness.py").read_text()

    assert not re.search(r"^(import|from) opconform", code, re.MULTILINE)
    opconform(*generating[1:], "--select", "Concat-1/a*", cwd=tmp_path)
    harness = f"{sys.executable} my_harness.py"
    ran = opconform(*(harness if x.endswith("my_harness.py") else x for x in running[1:]), cwd=tmp_path)
    assert "CONFORMANT, " in ran.stdout
    assert "NOT CONFORMANT" not in ran.stdout


@pytest.mark.ci_only
def test_a_new_harness_and_a_new_backend_obey_every_rule(opconform: Run, tmp_path: Path) -> None:
    """`harness check` says so."""
    backend = printed(opconform("new", "backend", "my-concat", cwd=tmp_path).stdout)[0]
    opconform("new", "harness", "my-harness", cwd=tmp_path)

    opconform(*backend[1:], cwd=tmp_path)
    opconform("harness", "check", "--harness", f"{sys.executable} my_harness.py", cwd=tmp_path)


Package = Callable[..., Path]


@pytest.fixture
def package(opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """The package of a new operation, installed as an editable one is: its metadata and its folder are on the path."""

    def made(*options: str) -> Path:
        opconform("new", "operation", "Mirror-1", *options, cwd=tmp_path)
        project = tmp_path / "mirror-1"
        declared = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"]
        metadata = tmp_path / "site" / "mirror_1-0.1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(METADATA)
        lines = [f"[{group}]\nMirror-1 = {points['Mirror-1']}\n" for group, points in declared.items()]
        (metadata / "entry_points.txt").write_text("".join(lines))
        monkeypatch.setenv("PYTHONPATH", f"{metadata.parent}:{project}", prepend=":")
        return project

    return made


def command_line(*words: str, folder: Path) -> tuple[int, str, str]:
    """Run the command line in a process, which finds the distributions that are on its path as it starts."""
    done = subprocess.run(
        [sys.executable, "-m", "opconform", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("options", "count"), [((), 39), (("--computing",), 20)], ids=["movement", "computing"])
def test_the_first_run_of_a_new_operation_ends_in_a_verdict(
    package: Package, options: tuple[str, ...], count: int
) -> None:
    """By numpy, of which the package has the function; entry points are found as a process starts."""
    folder = package(*options).parent
    code, generated, _ = command_line("generate", "Mirror-1", "--out", "suite", folder=folder)
    assert (code, generated.partition(" cases ")[0]) == (0, f"suite: {count}")
    code, ran, _ = command_line("run", "suite", "--backend", "numpy", "--out", "out", folder=folder)

    assert code == 0, ran
    assert (
        f"CONFORMANT, {count} of {count} cases supported: {count} pass, and no normative requirement is broken." in ran
    )


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "12  accepted: every axis, counted from the front and from the end\n"),
        (("--computing",), "5  accepted: numbers of every type\n"),
    ],
    ids=["movement", "computing"],
)
def test_a_new_operation_is_found_once_it_is_installed(package: Package, options: tuple[str, ...], line: str) -> None:
    """By the commands that `new` prints; its cases tell all of its mutants apart."""
    folder = package(*options).parent

    code, listed, said = command_line("list", "Mirror-1", folder=folder)
    assert (code, said) == (0, "")
    assert line in listed
    code, adequate, _ = command_line("adequacy", "Mirror-1", "--strict", folder=folder)
    assert code == 0, adequate
    code, generated, _ = command_line("generate", "Mirror-1", "--out", "suite", folder=folder)
    assert code == 0, generated
    code, verified, _ = command_line("verify", "suite", folder=folder)
    assert code == 0, verified


@pytest.mark.ci_only
def test_the_house_has_no_rules_for_the_operation_of_a_package(package: Package) -> None:
    """Its author decides."""
    code, _, said = command_line("list", "--house", "Mirror-1", folder=package().parent)

    assert code == 2
    assert said.startswith("error: 'Mirror-1' is not the name of an operation that opconform ships, ")


def test_a_broken_entry_point_costs_one_sentence(package: Package) -> None:
    """The others can be used."""
    folder = package().parent
    [file] = (folder / "site").glob("*/entry_points.txt")
    file.write_text(f"{file.read_text()}[opconform.operations]\nBroken-1 = nowhere:OPERATION\n")
    code, listed, said = command_line("list", "Mirror-1", "--cases", folder=folder)

    assert code == 0
    assert "\nMirror-1/axis/" in listed
    assert said == (
        "warning: The entry point Broken-1 of mirror-1 (opconform.operations) is not used: nowhere:OPERATION cannot be "
        "imported: ModuleNotFoundError: No module named 'nowhere'.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("backend", "My Runtime"), "'My Runtime' is not a valid name."),
        (("harness", "../x"), "'../x' is not a valid name."),
        (("backend", "numpy"), "numpy is the name of a Python keyword or of an installed module. Use another name."),
        (("backend", "class"), "class is the name of a Python keyword or of an installed module. Use another name."),
        (("operation", "Split-1"), "The operation Split-1 exists already. Use another name."),
        (
            ("operation", "mirror"),
            "'mirror' is not the name of an operation. Name one with a version, as in Mirror-1.",
        ),
        (("backend", "taken"), "taken.py exists already, and is not overwritten. Use another name, or move it."),
        (("operation", "Taken-1"), "taken-1 exists already, and is not overwritten. Use another name, or move it."),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(
    opconform: Run, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """In a sentence; nothing is written, and nothing is replaced."""
    (tmp_path / "taken.py").write_text("mine")
    (tmp_path / "taken-1").mkdir()
    done = opconform("new", *words, cwd=tmp_path, code=2)

    assert f"error: {sentence}" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken-1", "taken.py"]
    assert (tmp_path / "taken.py").read_text() == "mine"


def test_nothing_new_is_written_into_a_suite(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """It would not verify any longer."""
    (tmp_path / "suite").symlink_to(small_suite)
    done = opconform("new", "backend", "mine-too", cwd=tmp_path / "suite", code=2)

    assert "it is part of the suite" in done.stderr
    assert not (small_suite / "mine_too.py").exists()
