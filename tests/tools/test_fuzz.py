"""The search for failures: every drawn case has one expectation, and each fault is one small case in a spec."""

import errno
import re
from pathlib import Path
from unittest import mock

import pytest

from opconform.suite.reader import open_suite
from opconform_runners.cli import fuzz
from opconform_runners.tools.fuzz.search import Search
from tests.conftest import IMPORTS_TESTS, Run

MINIATURES = Path(__file__).parents[1] / "miniatures.py"


def test_nothing_is_found_in_a_right_backend(opconform: Run, tmp_path: Path) -> None:
    """Numpy's, on all operations; then nothing is written."""
    done = opconform("fuzz", "numpy", "--tests", 150, "--out", tmp_path / "finds")

    assert done.stdout == "150 cases tested: 150 pass. 0 new findings.\n"
    assert not (tmp_path / "finds").exists()


@pytest.mark.ci_only
def test_a_fault_is_one_small_case_and_known_afterwards(opconform: Run, tmp_path: Path) -> None:
    """Negative zeros are among special values and random bits only; the second search reports nothing new."""
    backend, finds = f"{MINIATURES}:LosesNegativeZero", tmp_path / "finds"
    search = ("fuzz", "--backend", backend, "Split-1", "--tests", 120, "--out", finds)

    first = opconform(*search, code=1)
    again = opconform(*search)
    generated = opconform("generate", finds, "--profile", "fuzz", "--out", tmp_path / "suite")

    assert "Split-1 data.bits: wrong data (value)" in first.stdout
    assert "context" not in first.stdout
    assert first.stderr == ""
    assert again.stdout.splitlines()[-1].endswith("0 new findings, besides 1 known one.")
    assert "1 case" in generated.stdout


@pytest.mark.ci_only
def test_a_changed_nan_violates_an_interpretation(opconform: Run, tmp_path: Path) -> None:
    """Valid cases with floating-point data are about NaNs, too, as shipped ones are."""
    done = opconform("fuzz", f"{MINIATURES}:QuietsNans", "Split-1", "--tests", 120, "--out", tmp_path, code=1)

    assert "1. Split-1 data.nan-payload (interpretation): wrong data (nan-payload)" in done.stdout


@pytest.mark.ci_only
def test_only_declared_operations_are_searched(opconform: Run, tmp_path: Path) -> None:
    """Cases of other operations would be unsupported."""
    (tmp_path / "own.py").write_text(
        f"{IMPORTS_TESTS}from dataclasses import replace\n"
        "from tests.miniatures import Perfect\n"
        "class OnlySplit(Perfect):\n"
        "    def describe(self):\n"
        "        return replace(super().describe(), operations=('Split-1',))\n"
    )

    done = opconform("fuzz", f"{tmp_path / 'own.py'}:OnlySplit", "--tests", 40)

    assert done.stdout == "40 cases tested: 40 pass. 0 new findings.\n"


def test_an_interrupted_search_writes_its_failures(opconform: Run, tmp_path: Path) -> None:
    """They are marked, and the message does not promise that the same command continues."""
    with mock.patch.object(Search, "reduce", side_effect=KeyboardInterrupt):
        done = opconform(
            "fuzz", f"{MINIATURES}:LosesNegativeZero", "Split-1", "--tests", 120, "--out", tmp_path, code=130
        )

    assert ", executed only once; group fuzz-" in done.stdout
    assert (tmp_path / "Split-1.yaml").exists()
    assert done.stderr.endswith(
        "Interrupted. The failures until then are written, not reduced. The same command begins a new search.\n"
    )


@pytest.mark.parametrize("name", ["ReturnsNothing", pytest.param("RefusesInOtherWords", marks=pytest.mark.ci_only)])
def test_a_backend_that_always_fails_has_one_fault(opconform: Run, tmp_path: Path, name: str) -> None:
    """The search ends early and says so; the next one finds nothing new, and does not succeed either."""
    search = ("fuzz", f"{MINIATURES}:{name}", "--tests", 400, "--out", tmp_path)
    first, again = (opconform(*search, "--seed", seed, code=1).stdout for seed in (0, 1))

    early = r"\nThe search ended early, because nearly every case fails: \d+ of the \d+ that passed or failed\."
    assert re.search(rf" 1 new finding\.{early}", first)
    assert re.search(rf" 0 new findings, besides 1 known one\.{early}", again)
    assert first.count("group fuzz-") == 1


@pytest.mark.parametrize("name", ["SupportsNothing", "FailsEveryTime"])
def test_a_search_in_which_no_case_is_decided_does_not_succeed(opconform: Run, tmp_path: Path, name: str) -> None:
    """Nothing was tested."""
    done = opconform("fuzz", f"{MINIATURES}:{name}", "Split-1", "--tests", 9, "--out", tmp_path, code=1)

    assert done.stdout.endswith("0 new findings.\nNot tested, because no case passed or failed: everything.\n")


@pytest.mark.ci_only
def test_a_named_operation_that_is_not_tested_is_no_success(opconform: Run, tmp_path: Path) -> None:
    """Others that pass do not make up for it."""
    (tmp_path / "own.py").write_text(
        f"{IMPORTS_TESTS}from tests.miniatures import Perfect, SupportsNothing\n"
        "class SkipsSplit(Perfect):\n"
        "    def run(self, case, *given):\n"
        "        return (SupportsNothing() if case.op == 'Split-1' else Perfect()).run(case, *given)\n"
    )

    done = opconform("fuzz", f"{tmp_path / 'own.py'}:SkipsSplit", "Split-1", "Slice-8", "--tests", 60, code=1)

    assert done.stdout.endswith("Not tested, because no case passed or failed: Split-1.\n")


@pytest.mark.ci_only
def test_what_a_full_disk_left_out_is_written_by_the_next_search(opconform: Run, tmp_path: Path) -> None:
    """The specs of finds are written first; the suite may fail."""
    search = ("fuzz", f"{MINIATURES}:LosesNegativeZero", "Split-1", "--tests", 120, "--out", tmp_path)
    with mock.patch.object(fuzz, "write_findings_suite", side_effect=OSError(errno.ENOSPC, "No space left on device")):
        opconform(*search, code=1)
    assert not (tmp_path / "suite").exists()

    opconform(*search)

    assert len(open_suite(tmp_path / "suite").entries) == 1


def test_a_misspelt_operation_is_not_a_backend(opconform: Run) -> None:
    """The operation that is meant is named."""
    done = opconform("fuzz", "numpy", "Splt-1", code=2)

    assert "'Splt-1' is neither a backend nor an operation. Did you mean 'Split-1'?" in done.stderr


OWN = """# ours
op: Split-1
groups:
  # the axes
  - id: axes
    title: A group of several cases
    matrix: {axis: [0, 1]}
    data: {shape: [2, 2]}
    axis: ${{ axis }}
    num_splits: 2
"""


@pytest.mark.ci_only
def test_finds_are_appended_to_the_specs_of_the_folder(opconform: Run, tmp_path: Path) -> None:
    """What the specs have is kept as it is, and every case of a group is known."""
    (tmp_path / "Split-1.yaml").write_text(OWN)
    (tmp_path / "notes.yaml").write_text("]")

    done = opconform("fuzz", f"{MINIATURES}:LosesNegativeZero", "Split-1", "--tests", 120, "--out", tmp_path, code=1)
    listed = opconform("list", tmp_path / "suite", "--cases")

    assert "1 new finding.\n2 known cases did not fail this time.\n" in done.stdout
    assert (tmp_path / "Split-1.yaml").read_text().startswith(f"{OWN}  - id: fuzz-")
    assert "axes" in listed.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("]", "Split-1.yaml:1:1: "),
        (OWN.replace("Split-1", "VariadicSplit-1").replace("num_splits: 2", "split_lengths: [1, 1]"), "has cases of"),
        (OWN.replace("op: Split-1\n", "") + "op: Split-1\n", "does not end with a list of groups"),
    ],
)
def test_a_spec_that_cannot_be_extended_is_refused_first(
    opconform: Run, tmp_path: Path, text: str, message: str
) -> None:
    """A search whose finds cannot be written would be in vain."""
    (tmp_path / "Split-1.yaml").write_text(text)

    done = opconform("fuzz", "numpy", "Split-1", "--tests", 1, "--out", tmp_path, code=2)

    assert message in done.stderr
    assert (tmp_path / "Split-1.yaml").read_text() == text


def test_a_file_is_refused_as_folder(opconform: Run, tmp_path: Path) -> None:
    """Before the search."""
    (tmp_path / "file").touch()

    done = opconform("fuzz", "numpy", "--tests", 1, "--out", tmp_path / "file" / "finds", code=2)

    assert f"{tmp_path / 'file'} is not a folder that can be written to" in done.stderr
