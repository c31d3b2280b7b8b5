"""What an accepted violation shows: elements of the outputs that no input has, and no golden output of the twin."""

from pathlib import Path

import numpy as np
import pytest

from opconform.suite.reader import open_suite
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS, first_verdict
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import Run

SPEC = """\
op: Pad-12
groups:
  - id: none
    title: a missing mode is rejected
    requirements: [pad_mode.required]
    data: {shape: [2]}
    pads_begin: [1]
    pads_end: [0]
    expect: {reject: pad_mode.required}
    twin: {pad_mode: constant}
"""


@pytest.mark.parametrize(
    ("added", "dtype", "is_read"), [(0.0, np.float32, False), (7.0, np.float32, True), (7.0, np.float64, False)]
)
def test_elements_of_the_twins_outputs_are_not_read_out_of_bounds(
    opconform: Run, tmp_path: Path, added: float, dtype: type, is_read: bool
) -> None:
    """The operation adds zeros to data, and nothing else; elements of a promoted type have other bits than data."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    suite = open_suite(tmp_path / "suite")
    entry = next(entry for entry in suite.entries if entry.expect != "accept")
    returned = Returned(outputs=((np.array([added, 1, 2], dtype),),), element_types=None, seconds=None)

    verdict = first_verdict(suite, entry, suite.case(entry), returned)

    assert isinstance(verdict, Fail)
    assert (OUT_OF_BOUNDS in verdict.sentence) is is_read
    assert ("with elements that are in no input" in verdict.sentence) is is_read
