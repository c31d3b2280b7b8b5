"""Defaults in `pyproject.toml`: where they are found, which commands use them, and what is wrong in a file."""

from pathlib import Path

import pytest

from opconform.errors import OpconformError
from opconform_runners.configuration import Defaults, defaults_at
from tests.conftest import MINIATURES, Run

TABLE = """\
[project]
name = "theirs"

[tool.opconform]
backend = "numpy"
profile = ["core", "types"]
baseline = "conformance/known.txt"
claims = "conformance/support.yaml"
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a subfolder, and a table of defaults above the repository that does not count."""
    (tmp_path / "pyproject.toml").write_text("[tool.opconform]\nbackend = 'torch'\n")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "sub" / "inner").mkdir(parents=True)
    return tmp_path / "repository"


def test_the_nearest_table_of_the_repository_counts(repository: Path) -> None:
    """With paths relative to its file; a file without the table is passed over."""
    inner = repository / "sub" / "inner"
    (repository / "pyproject.toml").write_text(TABLE)
    (repository / "sub" / "pyproject.toml").write_text("[tool.other]\n")

    assert defaults_at(inner) == Defaults(
        file="../../pyproject.toml",
        backend=("numpy",),
        profile=("core", "types"),
        baseline=Path("../../conformance/known.txt"),
        claims=Path("../../conformance/support.yaml"),
    )
    assert defaults_at(inner).only(backend=True, profile=False).note == "from ../../pyproject.toml: backend numpy"
    (inner / "pyproject.toml").write_text("[tool.opconform]\n")
    assert defaults_at(inner) == Defaults(file="pyproject.toml")
    assert defaults_at(inner).note == ""


def test_nothing_above_a_repository_or_a_folder_outside_one_counts(repository: Path) -> None:
    """A shared folder above may be another user's."""
    assert defaults_at(repository) == Defaults()
    (repository / ".git").rmdir()
    assert defaults_at(repository / "sub") == Defaults()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[tool.opconform]\nbackend = 'numpy'\nbasline = 'a'\n",
            "pyproject.toml:3:1: Unknown key 'basline'. Did you mean 'baseline'? Allowed: backend, baseline, claims, profile.",
        ),
        (
            "[tool.opconform]\nprofile = 5\n  claims = ['a']",
            (
                "pyproject.toml:2:11: profile: 5 is not allowed: it must be a string or a list.\n"
                "pyproject.toml:3:12: claims: ['a'] is not allowed: it must be a string."
            ),
        ),
        (
            "[tool.opconform]\n\n'backend' = 'numpyy'\n",
            (
                "pyproject.toml:3:13: backend: 'numpyy' is not allowed: it must be the name of an installed backend. "
                "Name a file or a library with --backend on the command line."
            ),
        ),
        ("[tool]\nopconform = 5\n", "pyproject.toml: tool.opconform is not a table. Write [tool.opconform]."),
        (
            "[tool.opconform]\nbackend\n",
            "pyproject.toml:2:8: This is not TOML: Expected '=' after a key in a key/value pair.",
        ),
        ("a = " + "[" * 100_000, "pyproject.toml has values that are nested too deeply."),
        ("\udcff", "pyproject.toml is not UTF-8. Save the file as UTF-8."),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    """And what is allowed."""
    (tmp_path / "pyproject.toml").write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(OpconformError) as raised:
        defaults_at(tmp_path)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("backend", ["evil.py:Backend", "evil:Backend", "os.path:join", "openvino:X=./evil.so", "all"])
def test_a_file_names_no_code_of_its_folder(tmp_path: Path, backend: str) -> None:
    """Only an installed backend."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.opconform]\nbackend = '{backend}'\n")

    with pytest.raises(OpconformError, match="it must be the name of an installed backend"):
        defaults_at(tmp_path)


def test_run_says_what_it_takes_from_the_file(opconform: Run, small_suite: Path, repository: Path) -> None:
    """What the command line has replaces it, and what cannot be used with the command line is left out."""
    (repository / "pyproject.toml").write_text(
        "[tool.opconform]\nbackend = 'numpy'\nprofile = 'core'\nbaseline = 'known.txt'\n"
    )
    (repository / "known.txt").write_text("VariadicSplit-1/accepted/*  value\n")
    miniature = f"{MINIATURES}:LosesNegativeZero"
    sub = repository / "sub"
    taken = opconform("run", small_suite, "--out", "a", cwd=sub, code=1)
    named = opconform("run", small_suite, miniature, "--profile", "core", "--out", "b", cwd=sub)
    several = opconform("run", small_suite, "numpy", miniature, "--out", "c", cwd=sub, code=1)
    recorded = opconform("run", small_suite, "--record", "d.zip", cwd=sub)
    certified = opconform("certify", small_suite.parent / "small.yaml", "--out", "e", cwd=sub)

    assert taken.stderr == "note: from ../pyproject.toml: backend numpy, profile core, baseline ../known.txt\n"
    assert "VariadicSplit-1/accepted/" in taken.stdout
    assert named.stderr == "note: from ../pyproject.toml: baseline ../known.txt\n"
    assert "NOTHING NEW" in named.stdout
    assert several.stderr == "note: from ../pyproject.toml: profile core\n"
    assert "note: from ../pyproject.toml: backend numpy, profile core\n" in recorded.stderr
    assert "note: from ../pyproject.toml: backend numpy, profile core\n" in certified.stderr
    assert "\nCONFORMANT, " in certified.stdout


def test_a_default_can_be_updated(opconform: Run, small_suite: Path, repository: Path) -> None:
    """As if it were on the command line."""
    (repository / "pyproject.toml").write_text("[tool.opconform]\nbaseline = 'known.txt'\n")
    miniature = f"{MINIATURES}:LosesNegativeZero"
    opconform("run", small_suite, miniature, "--update-baseline", "--out", "a", cwd=repository)

    assert (repository / "known.txt").read_text().count("VariadicSplit-1/accepted/") == 4
