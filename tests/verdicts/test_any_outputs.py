"""The verdict on any outputs of the right number, shape and type: it exists, and it is the right one."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opconform.suite.bounds import Bounds
from opconform.suite.case import Accept, Output
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, patterns
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.verdict import Fail, Own, Pass
from tests.conftest import Run

_REALS = ("bf16", "f16", "f32", "f64")
SPECS = {
    "Exp-1": "data: {shape: [6], element_type: '${{ type }}', values: [0.0, 1.0, -3.0, 80.0, -9.0, .inf]}",
    "Add-1": """a: {shape: [4], element_type: '${{ type }}', values: [0.1, 1.0, -0.0, .nan]}
    b: {shape: [4], element_type: '${{ type }}', values: [0.2, 3.0, -0.0, 1.0]}""",
    "Transpose-1": """arg: {shape: [2, 3], element_type: '${{ type }}', fill: special}
    input_order: [1, 0]""",
}
REQUIREMENTS = {"Exp-1": "values.bounded", "Add-1": "values.rounded", "Transpose-1": "arg.bits"}


@pytest.fixture(scope="module")
def suites(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Suite]:
    """Cases whose outputs are compared by their bits, as numbers and with bounds, in four types."""
    folder = tmp_path_factory.mktemp("any-outputs")
    for op, inputs in SPECS.items():
        group = f"id: any\n    title: numbers\n    requirements: [{REQUIREMENTS[op]}]"
        matrix = f"matrix: {{type: [{', '.join(_REALS)}]}}"
        (folder / f"{op}.yaml").write_text(f"op: {op}\ngroups:\n  - {group}\n    {matrix}\n    {inputs}\n")
        opconform("generate", folder / f"{op}.yaml", "--out", folder / op)
    return [open_suite(folder / op) for op in SPECS]


def verdict_on(suite: Suite, entry: Entry, *outputs: Array) -> Own:
    """The verdict on the outputs of the only feed."""
    returned = Returned(outputs=(outputs,), element_types=None, seconds=None)
    return first_verdict(suite, entry, suite.case(entry), returned)


def output_of(suite: Suite, entry: Entry) -> tuple[Output, Array, Bounds | None]:
    """The only output of a case: its description, its golden values and its bounds."""
    [output], [bounds] = suite.case(entry).outputs, suite.bounds(entry, 0)
    return output, suite.golden(entry, 0)[output.name], bounds


def numbers(output: Output, array: Array) -> list[float]:
    """The elements as Python's numbers."""
    with np.errstate(invalid="ignore"):
        flat: list[float] = array.view(ELEMENT_TYPES[output.element_type].arithmetic).astype(float).ravel().tolist()
    return flat


def is_right(output: Output, golden: Array, bounds: Bounds | None, actual: Array) -> bool:
    """What the documentation says of the three comparisons."""
    same = (patterns(golden) == patterns(actual)).ravel()
    if output.comparison == "bits" or bounds is None:
        return bool(same.all())
    rows = zip(same, *(numbers(output, x) for x in (golden, actual, *bounds)), strict=True)
    return all(
        is_same or (want != want and got != got) or (low < high and low <= got <= high)  # noqa: PLR0124 - NaN
        for is_same, want, got, low, high in rows
    )


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_outputs_have_the_verdict_that_the_page_says(suites: list[Suite], data: st.DataObject) -> None:
    """Random bits, special values, golden ones, and the ends of bounds and their neighbours, mixed."""
    suite = data.draw(st.sampled_from(suites))
    entry = data.draw(st.sampled_from(suite.entries))
    output, golden, bounds = output_of(suite, entry)
    ends = [patterns(x).ravel().tolist() for x in (golden, *(bounds or ()))]
    most = (1 << 8 * golden.itemsize) - 1
    elements = [
        data.draw(
            st.sampled_from([end[place] for end in ends])
            | st.sampled_from([(end[place] + side) & most for end in ends for side in (1, -1)])
            | st.integers(0, most)
        )
        for place in range(golden.size)
    ]
    actual = np.array(elements, f"u{golden.itemsize}").view(golden.dtype).reshape(golden.shape)
    found = verdict_on(suite, entry, actual)

    assert isinstance(found, Pass | Fail)
    assert isinstance(found, Pass) == is_right(output, golden, bounds, actual)
    if isinstance(found, Fail):
        assert found.reason in ("value", "rounding", "nan-payload")


def test_the_ends_of_bounds_are_right_and_what_is_beyond_them_is_wrong(suites: list[Suite]) -> None:
    """By one unit in the last place, at each element alone."""
    seen = 0
    for suite in suites:
        for entry in suite.entries:
            output, golden, bounds = output_of(suite, entry)
            assert verdict_on(suite, entry, golden) == Pass(error=None if bounds is None else 0.0)
            for end, to in zip(bounds or (), (-np.inf, np.inf), strict=False):
                assert isinstance(verdict_on(suite, entry, end), Pass)
                for place, number in enumerate(numbers(output, end)):
                    if not np.isfinite(number):
                        continue
                    beyond = golden.copy().ravel()
                    beyond[place] = neighbour(output, end.ravel()[place : place + 1], to)[0]
                    assert isinstance(verdict_on(suite, entry, beyond.reshape(golden.shape)), Fail)
                    seen += 1

    assert seen > 0


def neighbour(output: Output, end: Array, to: float) -> Array:
    """The next number of the type towards an infinity."""
    kind = ELEMENT_TYPES[output.element_type]
    if kind.name != "bf16":
        return np.asarray(np.nextafter(end, end.dtype.type(to)))
    wide = (end.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if wide[0] == 0:
        return np.array([0x8001 if to < 0 else 1], np.uint16)
    step = np.array([1 if (wide[0] > 0) == (to > 0) else -1]).astype(np.uint16)
    return np.asarray(end + step)


FILLS: Mapping[str, float] = {
    "nan": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "zero": -0.0,
    "least": 1e-310,
}


def filled(output: Output, golden: Array, number: float) -> Iterator[Array]:
    """Outputs with a number in place of all elements, and of the last one; a denormal number is the least one."""
    kind = ELEMENT_TYPES[output.element_type]
    native = np.array([number], kind.arithmetic).view(golden.dtype)[0] if number != FILLS["least"] else None
    element = golden.dtype.type(0) if native is None else native
    if native is None:
        element = np.array([1], f"u{golden.itemsize}").view(golden.dtype)[0]
    yield np.full(golden.shape, element)
    last = golden.copy().reshape(-1)
    last[-1:] = element
    yield last.reshape(golden.shape)


@pytest.mark.parametrize("name", FILLS)
def test_special_numbers_anywhere_have_a_verdict(any_core: Path, name: str) -> None:
    """Of every operation, element type and comparison, with and without the declaration to flush denormal numbers."""
    suite, seen = open_suite(any_core), set[tuple[str, str, str]]()
    for entry in suite.entries:
        case = suite.case(entry)
        if not isinstance(case.expect, Accept) or case.feeds > 1 or len(case.outputs) > 1:
            continue
        [output] = case.outputs
        key = (entry.op, output.element_type, output.comparison)
        kind = ELEMENT_TYPES[output.element_type]
        if key in seen or kind.kind != "float" or kind.native is None or 0 in output.shape:
            continue
        seen.add(key)
        [bounds] = suite.bounds(entry, 0)
        golden = suite.golden(entry, 0)[output.name]
        for actual in filled(output, golden, FILLS[name]):
            returned = Returned(outputs=((actual,),), element_types=None, seconds=None)
            found = first_verdict(suite, entry, case, returned)
            assert isinstance(found, Pass) == is_right(output, golden, bounds, actual), entry.id
            assert isinstance(first_verdict(suite, entry, case, returned, flushes=True), Pass | Fail), entry.id

    assert {op for op, *_ in seen} >= {"Concat-1", "Divide-1", "Sqrt-1"}
