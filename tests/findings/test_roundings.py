"""The likely causes of wrongly rounded outputs, computed from the inputs."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.findings.causes.roundings import rounding_causes
from tests.conftest import Run

SPECS = {
    "MatMul-1": """
op: MatMul-1
groups:
  - id: rounded
    title: a sum that is rounded
    requirements: [values.bounded]
    a: {shape: [3, 40], element_type: f64, fill: small}
    b: {shape: [4, 40], element_type: f64, fill: small}
    transpose_b: true
""",
    "ReduceSum-1": """
op: ReduceSum-1
groups:
  - id: rounded
    title: a sum that is rounded
    requirements: [values.bounded]
    data: {shape: [5, 40], element_type: f32, fill: fractions}
    axes: {shape: [1], values: [1]}
""",
    "Tanh-1": """
op: Tanh-1
groups:
  - id: rounded
    title: numbers of a range
    requirements: [values.bounded]
    data: {shape: [400], element_type: f32, fill: fractions}
""",
    "Exp-1": """
op: Exp-1
groups:
  - id: rounded
    title: small results
    requirements: [values.bounded]
    data: {shape: [6], element_type: f32, values: [1.0, -50.0, -86.5, -88.5, -95.0, -100.0]}
""",
    "Divide-1": """
op: Divide-1
groups:
  - id: rounded
    title: denormal numbers
    requirements: [values.rounded]
    a: {shape: [3], element_type: f32, values: [1.0, 1.0e-38, 2.0]}
    b: {shape: [3], element_type: f32, values: [1.0e-38, 3.0, 3.0]}
""",
    "Add-1": """
op: Add-1
groups:
  - id: zeros
    title: negative zeros
    requirements: [values.rounded]
    a: {shape: [3], element_type: f32, values: [-0.0, 1.0, -0.0]}
    b: {shape: [3], element_type: f32, values: [-0.0, 2.0, -0.0]}
""",
    "Erf-1": """
op: Erf-1
groups:
  - id: small
    title: numbers near 0
    requirements: [values.bounded]
    data: {shape: [4], element_type: f32, values: [0.00001, -0.00002, 0.00003, 0.00004]}
""",
}
Change = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@pytest.fixture(scope="module")
def suites(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Suite]:
    """A suite of one case per operation."""
    folder = tmp_path_factory.mktemp("roundings")
    for op, text in SPECS.items():
        (folder / f"{op}.yaml").write_text(text)
        opconform("generate", folder / f"{op}.yaml", "--out", folder / op)
    return {op: open_suite(Path(folder / op)) for op in SPECS}


def causes(suite: Suite, change: Change) -> list[str]:
    """The causes of the output that a function of the inputs gives."""
    [entry] = suite.entries
    case, inputs = suite.case(entry), suite.arrays(entry, "inputs.npz")
    [output] = case.outputs
    with np.errstate(all="ignore"):
        array = np.asarray(change(inputs), inputs[case.inputs[0].name].dtype)
    return [*rounding_causes(case, inputs, suite.golden(entry, 0), {output.name: array})]


def test_a_narrow_type_is_named(suites: dict[str, Suite]) -> None:
    """The one that has the outputs as numbers, and whose results, within their bounds, they are."""
    found = causes(suites["MatMul-1"], lambda x: x["a"].astype(np.float16) @ x["b"].T.astype(np.float16))

    assert found == ["As if computed in f16"]


def test_outputs_of_another_type_have_no_such_cause(suites: dict[str, Suite]) -> None:
    """Their bits are no elements of the type of the case."""
    suite = suites["Tanh-1"]
    [entry] = suite.entries
    golden = suite.golden(entry, 0)
    actual = {name: array.astype(np.float64) for name, array in golden.items()}

    assert [*rounding_causes(suite.case(entry), suite.arrays(entry, "inputs.npz"), golden, actual)] == []


def test_a_narrow_type_of_inputs_is_named(suites: dict[str, Suite]) -> None:
    """If the outputs are not its numbers."""
    found = causes(suites["ReduceSum-1"], lambda x: x["data"].astype(np.float16).astype(np.float32).sum(-1))

    assert found == ["As if inputs were rounded to f16"]


def test_a_missing_element_is_named(suites: dict[str, Suite]) -> None:
    """And a transposition that is ignored where the shapes allow it."""
    found = causes(suites["MatMul-1"], lambda x: x["a"][:, :-1] @ x["b"].T[:-1])

    assert found == ["As if the last element of each sum were missing"]


@pytest.mark.parametrize("op", ["MatMul-1", "ReduceSum-1"])
def test_the_missing_end_of_a_sum_is_named(suites: dict[str, Suite], op: str) -> None:
    """As many elements as are left of 40 by vectors of 9, which no loop adds."""
    ways: dict[str, Change] = {
        "MatMul-1": lambda x: x["a"][:, :-4] @ x["b"].T[:-4],
        "ReduceSum-1": lambda x: x["data"][:, :-4].sum(1, dtype=np.float64),
    }

    assert causes(suites[op], ways[op]) == ["As if the last 4 elements of each sum were missing"]


@pytest.mark.parametrize("op", ["MatMul-1", "ReduceSum-1"])
def test_a_narrow_accumulator_is_named(suites: dict[str, Suite], op: str) -> None:
    """The inputs are exact, and each partial sum is rounded."""

    def of_products(x: Mapping[str, np.ndarray]) -> np.ndarray:
        total = np.zeros((3, 4), np.float16)
        for a, b in zip(x["a"].T, x["b"].T, strict=True):
            total = (total + np.multiply.outer(a, b)).astype(np.float16)
        return total

    def of_elements(x: Mapping[str, np.ndarray]) -> np.ndarray:
        total = np.zeros(5, np.float16)
        for column in x["data"].T:
            total = (total + column.astype(np.float64)).astype(np.float16)
        return total

    ways = {"MatMul-1": of_products, "ReduceSum-1": of_elements}

    assert "As if accumulated in f16" in causes(suites[op], ways[op])


@pytest.mark.parametrize(("entries", "choice"), [(256, "nearest"), (64, "nearest"), (1024, "lower"), (128, "linear")])
def test_a_table_is_named(suites: dict[str, Suite], entries: int, choice: str) -> None:
    """The number of its entries, its range, and how an entry is chosen."""

    def by_table(x: Mapping[str, np.ndarray]) -> np.ndarray:
        places = np.linspace(-8, 8, entries)
        steps = np.clip(x["data"].astype(np.float64) + 8, 0, 16) / (places[1] - places[0])
        if choice == "linear":
            return np.asarray(np.interp(x["data"], places, np.tanh(places)))
        index = np.rint(steps) if choice == "nearest" else np.floor(steps)
        return np.asarray(np.tanh(places)[index.astype(int)])

    [found, *_] = causes(suites["Tanh-1"], by_table)

    assert found == f"As if by a table of {entries} entries from -8 to 8, {choice}"


def test_a_function_that_is_flushed_is_named(suites: dict[str, Suite]) -> None:
    """Exponentials that are denormal numbers, or earlier than that."""

    def exp(x: Mapping[str, np.ndarray], least: float) -> np.ndarray:
        return np.where(x["data"] < least, 0, np.exp(x["data"].astype(np.float64)))

    assert causes(suites["Exp-1"], lambda x: exp(x, -87))[:2] == [
        "As if denormal results were flushed to zero",
        "As if the function were flushed to zero below -86.5",
    ]
    assert causes(suites["Exp-1"], lambda x: exp(x, -60))[0] == "As if the function were flushed to zero below -50"


def test_denormal_inputs_that_are_flushed_are_named(suites: dict[str, Suite]) -> None:
    """A quotient by one is an infinity."""
    flushed = causes(suites["Divide-1"], lambda _: np.array([np.inf, 0, 2 / 3]))

    assert flushed == ["As if denormal inputs were flushed to zero"]


def test_zeros_that_lost_their_sign_are_no_narrow_type(suites: dict[str, Suite]) -> None:
    """Though they equal, as numbers, what a narrow type gives."""
    assert causes(suites["Add-1"], lambda x: x["a"] + x["b"] + 0.0) == []


def test_errors_near_0_are_no_table(suites: dict[str, Suite]) -> None:
    """A line through 0 fits them, and so would tables of any size."""
    assert causes(suites["Erf-1"], lambda x: x["data"] * 1.1283) == []


@pytest.mark.parametrize("op", SPECS)
def test_other_outputs_have_no_cause(suites: dict[str, Suite], op: str) -> None:
    """Nothing is guessed."""
    [entry] = suites[op].entries
    golden = suites[op].golden(entry, 0)["output_0"]

    assert causes(suites[op], lambda _: np.full(golden.shape, 0.3)) == []
    assert causes(suites[op], lambda _: 1.5 * golden) == []
