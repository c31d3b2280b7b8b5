"""TensorFlow: what it breaks in `core`, and whose bits come through."""

from pathlib import Path

import pytest

from opconform_runners.verdicts.results import RESULTS, read_written
from tests.conftest import Run
from tests.products.frameworks.checks import check_bits, check_findings

pytestmark = pytest.mark.ci_only


@pytest.mark.timeout(1200)
def test_it_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """Every failure is the framework's."""
    check_findings(opconform, core_suite, tmp_path, "tensorflow")


@pytest.mark.timeout(600)
def test_the_bits_of_every_declared_element_type_come_through(opconform: Run, tmp_path: Path) -> None:
    """Of all of them."""
    check_bits(opconform, tmp_path, "tensorflow", {})


def test_a_message_has_no_lines_of_the_harness(opconform: Run, tmp_path: Path) -> None:
    """An error of a graph begins with the stack of its node, which is longer than a message may be."""
    groups = "  - {id: it, title: t, data: {shape: [2, 3]}, dynamic: all, axes: [1]}\n"
    (tmp_path / "spec.yaml").write_text(f"op: Squeeze-1\ngroups:\n{groups}")
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    opconform("run", tmp_path / "suite", "tensorflow", "--out", tmp_path / "out", code=1)

    [result] = read_written(tmp_path / "out" / RESULTS).results
    expected = "InvalidArgumentError: Graph execution error: Can not squeeze dim[1], expected a dimension of 1, got 3"
    assert result.message == expected
