"""Kernels that misread a requirement: a failure that equals the mistake breaks this requirement and no other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Array
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import broken_by, first_verdict
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import Run

SPECS: Mapping[str, str] = {
    "Gelu-7": """
op: Gelu-7
groups:
  - id: modes
    title: both modes, and the default one
    requirements: [values.function]
    matrix: {mode: [erf, tanh]}
    data: {values: [-3.5, -2.25, -1.5, -0.75, 0.3, 0.9, 1.7, 2.4, 3.1]}
    approximation_mode: ${{ mode }}
  - id: default
    title: the default mode
    requirements: [values.function]
    data: {values: [-3.5, -2.25, -1.5, -0.75, 0.3, 0.9, 1.7, 2.4, 3.1]}
""",
    "MVN-6": """
op: MVN-6
groups:
  - id: slices
    title: slices of a few elements
    requirements: [axes.negative]
    data: {shape: [3, 5], fill: normal}
    axes: [-1]
    normalize_variance: true
    eps: 0.5
    eps_mode: inside_sqrt
  - id: special-values
    title: infinities and NaN
    requirements: [values.special]
    data: {values: [[1, inf, 2, 3], [.nan, 1, 2, 3], [1, 2, 3, 4]]}
    axes: [1]
    normalize_variance: true
    eps: 0.5
    eps_mode: inside_sqrt
""",
    "FloorMod-1": """
op: FloorMod-1
groups:
  - id: signs
    title: remainders of every sign
    requirements: [auto_broadcast.default]
    matrix: {element_type: [f32, i32]}
    a: {element_type: "${{ element_type }}", values: [7, -7, 7, -7]}
    b: {element_type: "${{ element_type }}", values: [3, 3, -3, -3]}
  - id: values
    title: remainders of every sign, of which the values count
    requirements: [values.exact]
    a: {element_type: i64, values: [7, -7, 7, -7]}
    b: {element_type: i64, values: [3, 3, -3, -3]}
""",
    "TopK-11": """
op: TopK-11
groups:
  - id: ties
    title: equal elements
    requirements: [axis.negative]
    data: {values: [[1.0, 2.0, 1.0, 2.0]]}
    k: 3
    axis: -1
    mode: max
    sort: value
    stable: true
""",
}


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The cases of the specs."""
    folder = tmp_path_factory.mktemp("mistakes")
    for op, spec in SPECS.items():
        (folder / f"{op}.yaml").write_text(spec)
    opconform("generate", *(folder / f"{op}.yaml" for op in SPECS), "--out", folder / "suite", "--jobs", "1")
    return open_suite(Path(folder / "suite"))


def case_of(suite: Suite, group: str, **attributes: Any) -> tuple[Entry, Case, Mapping[str, Array]]:
    """The case of a group whose node has some attributes, and its inputs."""
    for entry in suite.entries:
        case = suite.case(entry)
        if f"/{group}/" in entry.id and attributes.items() <= case.attributes.items():
            return entry, case, suite.arrays(entry, "inputs.npz")
    raise LookupError(group)


def broken(suite: Suite, entry: Entry, outputs: Sequence[Any]) -> tuple[str, ...]:
    """The requirements that outputs break; none if they are right."""
    golden = suite.golden(entry, 0)
    arrays = tuple(np.asarray(x).astype(golden[f"output_{n}"].dtype) for n, x in enumerate(outputs))
    outcome = Returned(outputs=(arrays,), element_types=None, seconds=None)
    verdict = first_verdict(suite, entry, suite.case(entry), outcome)
    return broken_by(entry, verdict.reason, verdict.mismatch, suite.header) if isinstance(verdict, Fail) else ()


@pytest.mark.parametrize(
    ("group", "attributes", "other", "requirement"),
    [
        ("modes", {"approximation_mode": "erf"}, {"approximation_mode": "tanh"}, "values.function"),
        ("modes", {"approximation_mode": "tanh"}, {"approximation_mode": "erf"}, "values.tanh"),
        ("default", {}, {"approximation_mode": "tanh"}, "approximation_mode.default"),
    ],
)
def test_gelu_in_the_other_mode_breaks_the_requirement_on_the_mode(
    suite: Suite, group: str, attributes: Mapping[str, str], other: Mapping[str, str], requirement: str
) -> None:
    """Although both modes differ by less than reduced arithmetic does; a less accurate one only deviates."""
    entry, _, _ = case_of(suite, group, **attributes)
    golden = suite.golden(entry, 0)["output_0"]
    twin, _, _ = case_of(suite, "modes", **other)
    wrong = suite.golden(twin, 0)["output_0"]

    assert broken(suite, entry, [golden]) == ()
    assert broken(suite, entry, [golden * np.float32(1.0001)]) == ("values.bounded",)
    assert broken(suite, entry, [wrong]) == (requirement,)
    assert broken(suite, entry, [wrong * np.float32(1 + 2.0**-23)]) == (requirement,)


def test_the_variance_of_a_sample_breaks_the_requirement_on_the_count(suite: Suite) -> None:
    """And eps at the other side of the square root breaks the one on the mode; a wrong axis breaks what it did before."""
    entry, _, inputs = case_of(suite, "slices")
    data = inputs["data"].astype(np.float64)
    differences = data - data.mean(1, keepdims=True)
    squares = (differences**2).sum(1, keepdims=True)

    assert broken(suite, entry, [differences / np.sqrt(squares / 5 + 0.5)]) == ()
    assert broken(suite, entry, [differences / np.sqrt(squares / 4 + 0.5)]) == ("variance.count",)
    assert broken(suite, entry, [differences / (np.sqrt(squares / 5) + 0.5)]) == ("eps_mode.inside",)
    assert broken(suite, entry, [differences]) == ("axes.negative",)


def test_a_lost_nan_breaks_no_requirement_on_a_mistake_that_it_does_not_show(suite: Suite) -> None:
    """A case lists the mistakes that other outputs of it would show."""
    entry, _, _ = case_of(suite, "special-values")
    lost = np.nan_to_num(suite.golden(entry, 0)["output_0"])

    assert {"variance.count", "eps_mode.inside"} <= {*entry.requirements}
    assert broken(suite, entry, [lost]) == ("values.mean",)


@pytest.mark.parametrize("number", [0, 1])
def test_a_remainder_with_the_sign_of_the_dividend_breaks_the_requirement_on_the_sign(
    suite: Suite, number: int
) -> None:
    """And not the one that the case happens to list; another wrong remainder does."""
    entry = [x for x in suite.entries if x.op == "FloorMod-1"][number]

    assert broken(suite, entry, [[1, 2, -2, -1]]) == ()
    assert broken(suite, entry, [[1, -1, 1, -1]]) == ("values.sign",)
    assert broken(suite, entry, [[5, 2, -2, -1]]) == ("auto_broadcast.default",)


def test_a_wrong_remainder_where_signs_differ_is_no_wrong_sign(suite: Suite) -> None:
    """An i64 that is computed in f64 may have any value there; the case tests values."""
    entry, _, _ = case_of(suite, "values")

    assert broken(suite, entry, [[1, 0, -2, -1]]) == ("values.exact",)
    assert broken(suite, entry, [[1, -1, 1, -1]]) == ("values.sign",)


def test_the_last_ones_of_equal_elements_break_the_requirement_on_their_order(suite: Suite) -> None:
    """And not the one on the axis."""
    entry, _, _ = case_of(suite, "ties")

    assert broken(suite, entry, [[[2, 2, 1]], [[1, 3, 0]]]) == ()
    assert broken(suite, entry, [[[2, 2, 1]], [[3, 1, 2]]]) == ("stable.order",)
