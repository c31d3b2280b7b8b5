"""Hostile suites and results: every one is reported, and nothing blocks, takes the memory or ends in a traceback."""

import resource
import shutil
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from opconform.errors import OpconformError
from opconform.suite.verification import problems_of
from opconform_runners.certificates.certificate import read_certificate
from opconform_runners.certificates.keys import read_private, read_public, write_pair
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.log.record import open_record
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.baseline import read_baseline
from opconform_runners.verdicts.results import read_results
from tests.conftest import Run
from tests.robustness import attempts, seeded
from tests.robustness.hostile_suites import BLOCKING, HOSTILE, packed
from tests.robustness.processes import run

SPEC = """\
op: Split-1
groups:
  - id: halves
    title: two halves
    data: {shape: [4, 2]}
    axis: 0
    num_splits: 2
  - id: indivisible
    title: three parts of four
    data: {shape: [4, 2]}
    axis: 0
    num_splits: 3
    expect: {reject: num_splits.divides}
    twin: {num_splits: 2}
"""
#: What takes seconds to write.
LARGE = ("a zip file that unpacks to 4 GiB", "a zip file with inputs of 512 MiB")
#: The memory that a command may take, in bytes.
MEMORY = 4 << 30
READERS: Mapping[str, Callable[[Path], object]] = {
    "results.jsonl": read_results,
    "report.json": lambda path: read_report(path.parent),
    "certificate.json": lambda path: read_certificate(path, read_public(path.with_name("me.pub"))),
    "outputs.zip": lambda path: KeptOutputs(path.parent),
    "record.zip": open_record,
    "baseline.txt": read_baseline,
    "other.key": read_private,
    "other.pub": read_public,
}


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three cases."""
    folder = tmp_path_factory.mktemp("suites")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


def copied(suite: Path, place: Path) -> Path:
    """A copy of a suite."""
    shutil.copytree(suite, place)
    return place


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.ci_only) if what in LARGE else what for what in HOSTILE]
)
def test_verify_reports_a_hostile_suite(tmp_path: Path, suite: Path, what: str) -> None:
    """One sentence or more, and no other exception."""
    faults = list(problems_of(HOSTILE[what](copied(suite, tmp_path / "suite"))))

    assert faults
    assert all(len(fault) < 1_000 for fault in faults)


@pytest.mark.ci_only
@pytest.mark.parametrize("what", seeded("suites").sample(sorted(HOSTILE), min(attempts(12), len(HOSTILE))))
def test_every_command_ends_with_a_hostile_suite(tmp_path: Path, suite: Path, what: str) -> None:
    """In limited time and memory: `verify` reports it, and the others refuse it or end normally."""
    hostile = HOSTILE[what](copied(suite, tmp_path / "suite"))
    bounded = partial(run, limit=partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, MEMORY)))

    assert bounded("verify", hostile).returncode != 0
    bounded("list", hostile)
    bounded("export", hostile, "--as", "gtest", "--out", tmp_path / "kit")
    bounded("run", hostile, "--backend", "numpy", "--out", tmp_path / "out")


@pytest.mark.ci_only
@pytest.mark.parametrize("kind", BLOCKING)
@pytest.mark.parametrize("name", ["results.jsonl", "report.json", "outputs.zip", "certificate.json"])
def test_every_command_ends_with_hostile_results(
    opconform: Run, tmp_path: Path, suite: Path, name: str, kind: str
) -> None:
    """A file of a run that blocks or never ends."""
    out, other, key = tmp_path / "run", tmp_path / "other", tmp_path / "me"
    opconform("certificate", "keygen", key)
    opconform("run", suite, "--backend", "numpy", "--out", out)
    shutil.copytree(out, other)
    BLOCKING[kind](other / name)
    opconform("report", other, "--suite", suite, code=None)
    opconform("diff", out, other, code=None)
    signed = opconform("certificate", "sign", other, "--suite", suite, "--key", key.with_suffix(".key"), code=None)

    assert signed.returncode != 0
    assert "Traceback" not in signed.stderr


def test_a_suite_packed_anew_is_whole(tmp_path: Path, suite: Path) -> None:
    """The hostile suites differ from it in what makes them hostile."""
    assert not list(problems_of(copied(suite, tmp_path / "suite")))
    assert not list(problems_of(packed(suite, tmp_path / "suite.zip")))


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.ci_only)])
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_no_changed_byte_is_accepted(tmp_path: Path, suite: Path, kind: str, count: int) -> None:
    """A zip file's own metadata may change where every member stays."""
    place = copied(suite, tmp_path / "suite") if kind == "folder" else packed(suite, tmp_path / "suite.zip")
    files = sorted(path for path in place.rglob("*") if path.is_file()) or [place]
    draws, whole = seeded(kind), members(place)
    for _ in range(attempts(count)):
        path = draws.choice(files)
        content = path.read_bytes()
        at, bit = draws.randrange(len(content)), 1 << draws.randrange(8)
        path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])

        assert list(problems_of(place)) or members(place) == whole, f"byte {at} of {path.name}"
        path.write_bytes(content)


def members(suite: Path) -> Mapping[str, bytes] | None:
    """The files of a suite by path, or None where `zipfile` cannot read it."""
    if suite.is_dir():
        return {str(path): path.read_bytes() for path in suite.rglob("*") if path.is_file()}
    try:
        with zipfile.ZipFile(suite) as archive:
            return {member.filename: archive.read(member) for member in archive.infolist()}
    except Exception:  # noqa: BLE001 - zipfile raises many kinds of errors for a damaged file
        return None


@pytest.mark.parametrize("kind", BLOCKING)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_what_is_not_a_file_of_its_kind(tmp_path: Path, name: str, kind: str) -> None:
    """Pipes, devices, folders or huge files: nothing blocks, and nothing is read without end."""
    write_pair(tmp_path / "me")
    BLOCKING[kind](tmp_path / name)
    with pytest.raises(OpconformError) as raised:
        READERS[name](tmp_path / name)

    assert len(str(raised.value)) < 500
