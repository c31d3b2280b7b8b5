"""Hostile suites: `verify` reports every one of them, and nothing blocks, takes the memory or ends in a traceback."""

from pathlib import Path

import pytest
from benchmarks.robustness.hostile_suites import HOSTILE, a_suite, changed_bytes, copied, packed

from opconform.suite.verification import faults_of

#: What takes seconds to write.
LARGE = ("a zip file that unpacks to 4 GiB", "a zip file with inputs of 512 MiB")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three cases."""
    return a_suite(tmp_path_factory.mktemp("suites"))


@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=pytest.mark.ci_only) if each in LARGE else each for each in HOSTILE]
)
def test_verify_reports_a_hostile_suite(tmp_path: Path, suite: Path, what: str) -> None:
    """One sentence or more, and no other exception."""
    faults = list(faults_of(HOSTILE[what](copied(suite, tmp_path / "suite"))))

    assert faults
    assert all(len(each) < 1_000 for each in faults)


def test_a_suite_packed_anew_is_whole(tmp_path: Path, suite: Path) -> None:
    """The hostile suites differ from it in what makes them hostile."""
    assert not list(faults_of(copied(suite, tmp_path / "suite")))
    assert not list(faults_of(packed(suite, tmp_path / "suite.zip")))


def test_no_changed_byte_is_accepted(tmp_path: Path, suite: Path) -> None:
    """Neither of a folder nor of a zip file."""
    folder = copied(suite, tmp_path / "suite")
    tried = [*changed_bytes(folder, 40), *changed_bytes(packed(suite, tmp_path / "suite.zip"), 40)]

    assert [each for each in tried if each.outcome != "held"] == []
