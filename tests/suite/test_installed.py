"""Suites that are installed as data, named on the command line as `NAME` or `NAME==VERSION`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import opconform as package
from opconform.generation.identity.header import SUITE_VERSION
from opconform.suite import release
from opconform.suite.reader import open_suite
from tests.conftest import ROOT, Run
from tests.suite.installation import install_suite, operations_of_release, packed_as

Install = Callable[..., Path]


@pytest.fixture(scope="module")
def packed(small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small suite as a zip file of a version that the table of releases does not have."""
    return packed_as("2.0.3", small_suite, tmp_path_factory.mktemp("packed") / "suite.zip")


@pytest.fixture
def install(tmp_path: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs the small suite where Python finds it."""

    def install(**changes: Any) -> Path:
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        return install_suite(tmp_path / "site", packed, **changes)

    return install


@pytest.mark.parametrize("name", ["opconform-suite", "opconform-suite==2", "opconform-suite==2.0", "opconform-suite==2.0.3"])  # fmt: skip
def test_an_installed_suite_is_found_by_its_name(opconform: Run, install: Install, tmp_path: Path, name: str) -> None:
    """Wherever a command reads a suite; messages name it, and not where it is."""
    install()
    run = opconform("run", name, "numpy", "--out", tmp_path / "out")

    assert "CONFORMANT" in run.stdout
    assert "--suite opconform-suite==2.0.3\n" in run.stdout
    assert opconform("verify", name).stdout.startswith("opconform-suite==2.0.3 is intact: ")
    assert "VariadicSplit-1/rejected" in opconform("list", name).stdout
    assert opconform("show", "VariadicSplit-1/rejected/c8611d2f32", "--suite", name).stdout
    assert opconform("report", tmp_path / "out", "--suite", name, "--html", tmp_path / "page.html").stderr == ""
    assert opconform("diff", name, name).stdout == "\nNo case changed.\n"
    assert len([*package.load(name)]) == len(
        open_suite(tmp_path / "site/opconform_suite/opconform-suite-2.0.3.zip").entries
    )


def test_a_file_of_that_name_comes_first(opconform: Run, install: Install, small_suite: Path, tmp_path: Path) -> None:
    """It is what a path always named."""
    install()
    (tmp_path / "opconform-suite").symlink_to(small_suite)
    said = opconform("verify", "opconform-suite", cwd=tmp_path).stdout

    assert said.startswith("opconform-suite is intact: ")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("opconform-suite", "The suite opconform-suite is not installed. Install it with `pip install opconform-suite`."),
        ("opconform-suite==1.4", "Install it with `pip install 'opconform-suite==1.4.*'`."),
        ("their-suite==1.4.0", "The suite their-suite is not installed. Install it with `pip install 'their-suite==1.4.0'`."),
        ("their-suite", "Suite not found: their-suite."),
    ],
)  # fmt: skip
def test_a_suite_that_is_not_installed_is_named(opconform: Run, name: str, sentence: str) -> None:
    """With the command that installs it."""
    assert sentence in opconform("run", name, "numpy", code=2).stderr


@pytest.mark.parametrize("wanted", ["1.4", "2.1", "2.0.30", "3"])
def test_another_version_than_the_installed_one_is_refused(opconform: Run, install: Install, wanted: str) -> None:
    """In a sentence that names both."""
    install()
    said = opconform("run", f"opconform-suite=={wanted}", "numpy", code=2).stderr

    assert (
        f"opconform-suite {wanted} is wanted, but 2.0.3 is installed. `pip install 'opconform-suite=={wanted}" in said
    )


def test_another_format_than_the_one_that_is_read_is_refused(opconform: Run, install: Install) -> None:
    """In a sentence that names both."""
    install(format=3)
    said = opconform("run", "opconform-suite", "numpy", code=1).stderr

    assert said.startswith("error: opconform-suite 2.0.3 has suite format 3, but opconform reads format 2. ")


@pytest.mark.parametrize("command", [("run", "opconform-suite", "numpy"), ("verify", "opconform-suite")])
@pytest.mark.parametrize(
    "changes",
    [{"sha256": "0" * 64}, {"cases": {"VariadicSplit-1": {"core": 1}}}],
    ids=["another zip file", "other cases"],
)
def test_a_changed_suite_is_refused(
    opconform: Run, install: Install, command: tuple[str, ...], changes: dict[str, Any]
) -> None:
    """By every command, before it is read."""
    place = install(**changes)
    said = opconform(*command, code=1).stderr

    assert f"{place} is not what release.json describes: it was changed. Install it again" in said


def test_an_installed_suite_that_is_not_the_whole_release_is_refused(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With cases of other specs, or of one operation: `CONFORMANT` would be that of the release."""
    packed = packed_as(SUITE_VERSION, small_suite, tmp_path / "suite.zip")
    place = install_suite(tmp_path / "site", packed, version=SUITE_VERSION)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    said = opconform("run", "opconform-suite", "numpy", "--out", tmp_path / "out", code=1).stderr

    release_of = f"{place} is not release {SUITE_VERSION} of opconform-suite"

    assert f"{release_of}: it has 6 cases and 1 of {operations_of_release()} operations" in said


def test_the_whole_release_is_the_one_that_may_be_installed() -> None:
    """And no selection, blind suite, or suite of other specs or another seed."""
    table = json.loads((ROOT / "cases" / "releases.json").read_text())[SUITE_VERSION]
    cases = {op: {"core": cells["core"]["cases"]} for op, cells in table["cases"].items() if "core" in cells}
    header = mock.Mock(version=SUITE_VERSION, seed=table["seed"], cases=cases, specs={}, select=(), part_of="")
    header.blind = False
    with mock.patch.object(release, "specs_digests", return_value=table["specs"]):
        assert release.shipped_difference(header) == ""
        for name, value in {"select": ("*",), "part_of": "0", "blind": True, "seed": 1, "cases": {}}.items():
            with mock.patch.object(header, name, value):
                assert release.shipped_difference(header)
    assert "other specs" in release.shipped_difference(header)


def test_a_suite_of_another_version_than_its_description_is_refused(opconform: Run, install: Install) -> None:
    """So that no cases take the version of a release."""
    place = install(version="2.0.0")
    place.rename(place.with_name("opconform-suite-2.0.0.zip"))
    said = opconform("verify", "opconform-suite", code=1).stderr

    assert "opconform-suite-2.0.0.zip is of version 2.0.3, but release.json says 2.0.0. Install it again" in said


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"version": 1}'])
def test_a_suite_without_its_description_is_refused(opconform: Run, install: Install, content: str) -> None:
    """In a sentence."""
    place = install()
    place.with_name("release.json").write_text(content)
    said = opconform("verify", "opconform-suite", code=1).stderr

    assert "release.json is missing or was changed. Install it again with `pip install --force-reinstall" in said
