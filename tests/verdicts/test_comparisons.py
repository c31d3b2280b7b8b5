"""Verdicts on outputs whose numbers are compared: what is excused by another reading, and what is not."""

import numpy as np
import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import broken_by, first_verdict
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import Run

SPEC = """\
op: ReLU-1
groups:
  - {id: zeros, title: zeros, requirements: [values.zero], data: {values: [-0.0, 1.0]}}
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A case that another reading gives other outputs of."""
    folder = tmp_path_factory.mktemp("zeros")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


@pytest.mark.parametrize(
    ("outputs", "reason", "broken"),
    [
        ([[-0.0, 1.0]], "value", ("values.zero",)),
        ([[-0.0, 1.0], [-0.0, 1.0]], "count", ("outputs.count",)),
        ([[1e-5, 1.0]], "value", ("values.exact",)),
    ],
)
def test_only_the_outputs_of_another_reading_are_excused(
    suite: Suite, outputs: list[list[float]], reason: str, broken: tuple[str, ...]
) -> None:
    """One output more is not, and a number for an exact zero has no right digits."""
    [entry] = suite.entries
    arrays = tuple(np.array(output, np.float32) for output in outputs)
    verdict = first_verdict(
        suite, entry, suite.case(entry), Returned(outputs=(arrays,), element_types=None, seconds=None)
    )

    assert isinstance(verdict, Fail)
    assert (verdict.reason, broken_by(entry, verdict.reason, verdict.mismatch, suite.header)) == (reason, broken)
