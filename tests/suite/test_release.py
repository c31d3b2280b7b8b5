"""The table of releases: it is true, and a suite that claims to be a release and is not is noticed by every command."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from maintenance.releases import PAGE, release_of, table_text

from opconform.generation.identity.header import SUITE_VERSION
from opconform.suite import release
from opconform.suite.manifest import Header, entry_line
from opconform.suite.reader import open_suite
from tests.conftest import Run
from tests.forgery import forge, seal

#: An operation with few cases in the profile `core`.
OP = "ShapeOf-1"


@pytest.fixture(scope="module")
def released(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases of an operation, as they were released."""
    out = tmp_path_factory.mktemp("released") / "suite"
    opconform("generate", OP, "--profile", "core", "--out", out)
    return out


@pytest.fixture
def suite(released: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return Path(shutil.copytree(released, tmp_path / "suite"))


def test_the_table_of_releases_is_up_to_date(any_suite: Path) -> None:
    """After a change of cases, `python -m maintenance.releases` writes it again; a published row is never changed."""
    suite, table = open_suite(any_suite), json.loads(PAGE.read_text())
    row, profiles = table[SUITE_VERSION], {entry.profile for entry in suite.entries}
    ops = {entry.op for entry in suite.entries}
    of_profiles = {op: {x: row["cases"][op][x] for x in row["cases"][op] if x in profiles} for op in sorted(ops)}

    specified = {name.partition("/")[0] for name in suite.header.specs}  # also those without a case in the profile

    assert release_of(suite) == row | {
        "cases": of_profiles,
        "specs": {op: row["specs"][op] for op in sorted(specified)},
    }
    assert table_text(table) == PAGE.read_text()
    assert suite.release_difference == ""


def without_a_case(suite: Path, change: Callable[[Header], Header] = lambda header: header) -> None:
    """Leave out an invalid case, of which no other one is the twin, under a manifest and a header that agree."""
    entries = open_suite(suite).entries
    left = next(entry for entry in entries if entry.expect != "accept")
    shutil.rmtree(suite / left.id)
    seal(suite, b"".join(entry_line(entry).encode() for entry in entries if entry != left), change)


def with_another_digest(suite: Path) -> None:
    """Change every golden, under a manifest and a header that agree."""
    forge(suite)


@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        (without_a_case, f"the suite has 52 of the 53 cases of release {SUITE_VERSION} with these specs ({OP} has 52 in core, not 53)"),
        (with_another_digest, f"the cases of {OP} in core differ from those of release {SUITE_VERSION}"),
    ],
)  # fmt: skip
def test_a_suite_that_is_not_its_release_is_noticed(
    opconform: Run, suite: Path, tmp_path: Path, tamper: Callable[[Path], None], sentence: str
) -> None:
    """By `verify`, by `export`, which refuses it, and by `run`, whose verdict is incomplete."""
    tamper(suite)
    verified = opconform("verify", suite, code=1)
    exported = opconform("export", suite, "--as", "numpy", "--out", tmp_path / "export", code=1)
    run = opconform("run", suite, "numpy", "--out", tmp_path / "out", code=1)
    again = opconform("report", tmp_path / "out", "--suite", suite, "--markdown", "-", code=1)

    assert f"{suite}: {sentence}.\n" in verified.stdout
    assert f"{suite}: {sentence}. Generate or install it again.\n" in exported.stderr
    assert "INCOMPLETE" in run.stdout
    assert sentence in " ".join(run.stdout.split())
    assert "INCOMPLETE" in again.stdout


@pytest.mark.parametrize("key", ["cases", "digests"])
def test_a_generated_suite_that_is_not_its_release_is_noticed(
    opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """`certify` is incomplete where this machine generates other cases, or fewer, than the release has."""
    table = json.loads(PAGE.read_text())
    cell = table[SUITE_VERSION]["cases"][OP]["core"]
    cell[key] = cell[key] + 1 if key == "cases" else cell[key] | {"openvino": "0" * 16}
    monkeypatch.setattr(release, "_table", lambda: table)
    done = opconform("certify", "numpy", OP, "--profile", "core", "--out", tmp_path / "out", code=1)

    assert "INCOMPLETE" in done.stdout


def renamed(**changes: Any) -> Callable[[Header], Header]:
    """A change of the header."""
    return lambda header: replace(header, **changes)


@pytest.mark.parametrize(
    "change",
    [
        renamed(version="9.9.9"),
        renamed(specs={f"{OP}/mine.yaml": "0" * 64}),
        renamed(seed=7),
        renamed(select=("a*",)),
        renamed(part_of="0" * 64),
    ],
    ids=["version", "specs", "seed", "select", "part"],
)
def test_a_suite_that_does_not_claim_to_be_a_release_is_not_compared(
    suite: Path, change: Callable[[Header], Header]
) -> None:
    """Own specs, a selection and another seed give other cases."""
    without_a_case(suite, change)

    assert open_suite(suite).release_difference == ""


def test_the_cases_of_a_blind_suite_are_counted(suite: Path) -> None:
    """Its digests are others, because it lacks the expected outputs."""
    forge(suite, renamed(blind=True))
    assert open_suite(suite).release_difference == ""
    without_a_case(suite)
    assert "has 52 of the 53 cases" in open_suite(suite).release_difference


def test_a_suite_names_its_cases_by_operation_and_profile(suite: Path) -> None:
    """In `suite.json`; other numbers than the manifest's are refused."""
    cases: Mapping[str, Mapping[str, int]] = open_suite(suite).header.cases
    assert cases == {OP: {"core": 53}}
    for change in ({"cases": {OP: {"core": 54}}}, {"counts": {"accept": 1, "reject": 52}}):
        with pytest.raises(Exception, match=r"does not have the cases that suite\.json counts"):
            seal(suite, (suite / "manifest.jsonl").read_bytes(), renamed(**change))
