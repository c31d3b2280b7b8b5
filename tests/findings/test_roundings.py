"""The likely causes of wrongly rounded outputs, computed from the inputs."""

from pathlib import Path

import numpy as np
import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.findings.causes.roundings import rounding_causes
from tests.conftest import Run

SPEC = """
op: MatMul-1
groups:
  - id: rounded
    title: a sum that is rounded
    requirements: [values.bounded]
    a: {shape: [3, 40], element_type: f64, fill: small}
    b: {shape: [4, 40], element_type: f64, fill: small}
    transpose_b: true
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite of one product of matrices."""
    folder = tmp_path_factory.mktemp("roundings")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite")
    return open_suite(Path(folder / "suite"))


def causes(suite: Suite, change: object) -> list[str]:
    """The causes of the outputs that a function of both matrices gives."""
    [entry] = suite.entries
    inputs = suite.arrays(entry, "inputs.npz")
    output = change(inputs["a"], inputs["b"].T)  # type: ignore[operator]
    return rounding_causes(suite.case(entry), inputs, {"output_0": np.asarray(output, np.float64)})


def test_a_narrow_type_is_named(suite: Suite) -> None:
    """The widest one whose results, within their bounds, are the outputs."""
    found = causes(suite, lambda a, b: a.astype(np.float16) @ b.astype(np.float16))

    assert found == ["As if computed in f16", "As if computed in bf16"]


def test_a_missing_element_is_named(suite: Suite) -> None:
    """And a transposition that is ignored where the shapes allow it."""
    assert causes(suite, lambda a, b: a[:, :-1] @ b[:-1]) == ["As if the last element of each sum were missing"]


def test_other_outputs_have_no_cause(suite: Suite) -> None:
    """Nothing is guessed."""
    assert causes(suite, lambda a, b: 2 * (a @ b)) == []
