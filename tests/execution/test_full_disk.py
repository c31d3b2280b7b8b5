"""A full disk is one sentence and exit code 1; what was found before is kept, and nothing half-written is left."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform.errors import DiskError
from opconform_runners.cli.run import command as run
from opconform_runners.execution import worker as executing
from opconform_runners.harness.processes import scratch as scratch_paths
from opconform_runners.reports.report_file import read_report
from tests.fake_harnesses import command

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def own_error(suite: Path, out: Path) -> list[str]:
    """A run of a harness that fails on one case."""
    return [str(suite), "--harness", command("says an error"), "--timeout", "60", "--out", str(out)]


def test_a_full_temporary_folder_ends_the_run_with_its_results_so_far(
    small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness may fail; the case has no verdict until the command continues."""
    for module in (executing, scratch_paths):
        monkeypatch.setattr(module, "is_full", lambda _: True)
    done = CliRunner().invoke(run, own_error(small_suite, tmp_path))
    monkeypatch.undo()
    report = read_report(tmp_path)
    again = CliRunner().invoke(run, own_error(small_suite, tmp_path))

    assert isinstance(done.exception, DiskError)
    assert "cannot be written: No space left on device. Free some space, or use another location." in str(
        done.exception
    )
    assert "No space left on device" in report.unfinished
    assert 0 < len(report.results) < 6
    assert {result.verdict for result in report.results} == {"pass"}
    assert again.exit_code == 1
    assert "5 of 6 cases supported" in again.stdout


def test_a_case_that_fills_the_disk_costs_no_other_case(
    small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are removed, so that there is room again."""
    monkeypatch.setattr(executing, "is_full", lambda _: True)
    done = CliRunner().invoke(run, own_error(small_suite, tmp_path))
    report = read_report(tmp_path)

    assert done.exit_code == 1
    assert "the disk of the temporary folder was full while the case was executed" in {
        result.sentence for result in report.results
    }
    assert report.missing == ()


def unmeasured() -> dict[str, str]:
    """The environment of a process that writes no coverage, which would not fit either."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def test_keygen_leaves_no_part_of_a_key(tmp_path: Path) -> None:
    """In a process of its own, which may write files of no more than a hundred bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    program = [str(Path(sys.executable).with_name("opconform")), "certificate", "keygen", str(tmp_path / "me")]
    done = subprocess.run(program, preexec_fn=limit, env=unmeasured(), capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert (
        done.stderr
        == f"error: {tmp_path} cannot be written: File too large. Free some space, or use another location.\n"
    )
    assert list(tmp_path.iterdir()) == []
