"""Elements of which several values are legitimate: each is judged by itself."""

import json
import runpy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, array_problems, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform_runners.harness.outcome import Returned
from opconform_runners.tools.dataset import load
from opconform_runners.tools.repro.script import script_of
from opconform_runners.verdicts.judge import broken_by, first_verdict
from opconform_runners.verdicts.verdict import Fail, Own, Pass
from tests.conftest import Run
from tests.tools.test_rounded_scripts import executed

CONVERT = """\
op: Convert-1
groups:
  - {id: fractions, title: t, data: {values: [0.5, 1.5, -2.5, 2.75, 4.0]}, destination_type: i32}
  - {id: beyond, title: t, data: {element_type: i32, values: [300, -1, 256, 7]}, destination_type: u8}
  - {id: infinite, title: t, data: {values: [300.0, .inf, -3.0e9, .nan]}, destination_type: i8}
  - {id: ties, title: t, data: {values: [257, 259, -257, 0.1]}, destination_type: bf16}
"""


SCATTER = """\
op: ScatterElementsUpdate-12
groups:
  - id: three
    title: t
    requirements: [indices.repeated]
    matrix: {type: [i32, f16, string]}
    data: {shape: [2, 3], element_type: "${{ type }}", values: "${{ ['a', 'b', 'c'] * 2 if type == 'string' else [1, 2, 3] * 2 }}"}
    indices: [[1, 1, 1], [1, 1, 1], [1, 1, 1]]
    updates:
      element_type: "${{ type }}"
      values: "${{ [['d', 'e', 'f'], ['g', 'h', 'i'], ['j', 'k', 'l']] if type == 'string' else [[4, 5, 6], [7, 8, 9], [10, 11, 12]] }}"
    axis: 0
"""


@pytest.fixture(scope="module")
def converted(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Conversions of numbers that the destination type lacks."""
    folder = tmp_path_factory.mktemp("convert")
    (folder / "spec.yaml").write_text(CONVERT)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite")
    return open_suite(folder / "suite")


def judged(suite: Suite, group: str, elements: Sequence[float]) -> tuple[Own, tuple[str, ...]]:
    """The verdict on the elements of the only output of a case, and the requirements that it breaks."""
    [entry] = [entry for entry in suite.entries if f"/{group}/" in entry.id]
    case = suite.case(entry)
    [output] = case.outputs
    kind = ELEMENT_TYPES[output.element_type]
    array = np.array(elements).astype(kind.arithmetic).view(kind.storage).reshape(output.shape)
    verdict = first_verdict(suite, entry, case, Returned(outputs=((array,),), element_types=None, seconds=None))
    if isinstance(verdict, Fail):
        return verdict, broken_by(entry, verdict.reason, verdict.mismatch, suite.header)
    return verdict, ()


@pytest.mark.parametrize(
    ("group", "elements", "broken"),
    [
        ("fractions", [0, 1, -2, 2, 4], []),
        ("fractions", [1, 2, -3, 3, 4], ["fractions.dropped"]),  # half away from zero, as std::round
        ("fractions", [0, 2, -2, 3, 4], ["fractions.dropped"]),  # half to even
        ("fractions", [1, 2, -2, 3, 4], ["fractions.dropped"]),  # half up
        ("fractions", [1, 1, -2, 2, 4], ["fractions.dropped"]),  # a block rounded, and the rest not
        ("fractions", [7, 1, -2, 2, 4], ["values.lacking"]),
        ("fractions", [0, 1, -2, 2, 5], ["values.exact"]),
        ("beyond", [44, 255, 0, 7], []),
        ("beyond", [255, 255, 255, 7], ["integers.wrap"]),
        ("beyond", [255, 255, 0, 7], ["integers.wrap"]),  # clamped, then wrapped
        ("beyond", [45, 255, 0, 7], ["values.lacking"]),
        ("beyond", [44, 0, 0, 7], ["values.negative"]),  # clamped against the rule of the page
        ("beyond", [255, 0, 255, 7], ["integers.wrap", "values.negative"]),
        ("beyond", [44, 1, 0, 7], ["values.negative"]),
        ("infinite", [127, 127, -128, 0], []),
        ("infinite", [44, 127, -128, -128], ["floats.clamped", "floats.nan"]),
        ("infinite", [44, 0, -1, 127], ["floats.clamped", "floats.nan"]),
        ("ties", [256, 260, -256, 0.10009765625], []),
        ("ties", [258, 260, -258, 0.10009765625], ["floats.nearest"]),  # ties up in magnitude, as + 0x8000
        ("ties", [256, 258, -256, 0.099609375], ["floats.nearest"]),
        ("ties", [262, 260, -256, 0.10009765625], ["values.lacking"]),
    ],
)
def test_a_number_that_the_type_lacks_is_read_by_itself(
    converted: Suite, group: str, elements: list[float], broken: list[str]
) -> None:
    """A kernel may round one element in one way and the next one in another, and never breaks `values.exact` by it."""
    verdict, names = judged(converted, group, elements)

    assert isinstance(verdict, Fail if broken else Pass)
    assert [*names] == broken


@pytest.fixture(scope="module")
def scattered(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Three updates of one slice, in three element types."""
    folder = tmp_path_factory.mktemp("scatter")
    (folder / "spec.yaml").write_text(SCATTER)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--dialect", "openvino", "--dialect", "onnx")
    return open_suite(folder / "suite")


#: The second row of the output, and whether each of its elements is an update of it.
ROWS = [
    ([10, 11, 12], True),
    ([4, 5, 6], True),
    ([4, 8, 12], True),  # threads that write elements in any order
    ([7, 11, 6], True),
    ([1, 2, 3], False),
    ([5, 4, 6], False),  # updates of other elements
    ([21, 24, 27], False),
]
LETTERS = dict(enumerate("abcdefghijkl", 1))


def rows_of(suite: Suite, entry: Entry, row: list[int]) -> Array:
    """An output of a case with this second row, in its element type."""
    [output] = suite.case(entry).outputs
    kind = ELEMENT_TYPES[output.element_type]
    rows = [[1, 2, 3], row]
    if kind.kind == "string":
        return np.array([[LETTERS.get(x, "zz") for x in numbers] for numbers in rows])
    return np.array(rows).astype(kind.arithmetic).view(kind.storage)


@pytest.mark.parametrize(("row", "is_right"), ROWS)
def test_each_element_may_have_any_of_its_updates(scattered: Suite, row: list[int], *, is_right: bool) -> None:
    """And nothing else."""
    for entry in scattered.entries:
        output = rows_of(scattered, entry, row)
        verdict = first_verdict(
            scattered, entry, scattered.case(entry), Returned(outputs=((output,),), element_types=None, seconds=None)
        )

        assert isinstance(verdict, Pass if is_right else Fail), entry.id


def test_an_exported_comparison_knows_every_right_element(scattered: Suite, opconform: Run, tmp_path: Path) -> None:
    """The one of `export --as numpy`; ONNX's runner has no such comparison."""
    opconform("export", scattered.store.root, "--as", "numpy", "--out", tmp_path / "numpy")
    comparison = runpy.run_path(str(tmp_path / "numpy" / "comparison.py"))
    refused = opconform("export", scattered.store.root, "--as", "onnx", "--out", tmp_path / "onnx", code=1).stderr
    for entry in scattered.entries:
        document = json.loads(scattered.read(entry, "case.json"))["expect"]["accept"][0]
        expected = scattered.arrays(entry, "expected.npz")
        judged = [comparison["is_right"](document, expected, rows_of(scattered, entry, row)) for row, _ in ROWS]

        assert judged == [is_right for _, is_right in ROWS]
    assert "elements have several right values" in refused


def test_a_program_that_loads_a_suite_gets_every_right_element(scattered: Suite) -> None:
    """In the type of the output."""
    examples = {example.case.outputs[0].element_type: example for example in load(scattered.store.root)}
    [values] = examples["f16"].also[0]

    assert values is not None
    assert values.dtype == np.float16
    assert values[:, 1].tolist() == [[7, 8, 9], [4, 5, 6]]


@pytest.mark.parametrize("row", [row for row, _ in ROWS])
def test_a_script_ends_as_the_verdict_says(scattered: Suite, tmp_path: Path, row: list[int]) -> None:
    """For numbers and for strings."""
    for entry in scattered.entries:
        (tmp_path / "script.py").write_text(script_of(scattered, entry, "onnxruntime", (), None))
        code, _ = executed(str(tmp_path / "script.py"), [[rows_of(scattered, entry, row)]])

        assert code == (not {tuple(x): is_right for x, is_right in ROWS}[tuple(row)])


@pytest.mark.parametrize("values", ["also", "otherwise"])
def test_a_reader_refuses_other_values_that_do_not_fit(scattered: Suite, converted: Suite, values: str) -> None:
    """Their number is declared, and they have the shape of the output."""
    suite = {"also": scattered, "otherwise": converted}[values]
    entry = next(x for x in suite.entries if getattr(suite.case(x).outputs[0], values))
    case, arrays = suite.case(entry), suite.arrays(entry, "expected.npz")
    name = f"output_0.{values}"

    for changed in ({name: arrays[name][:1, :1]}, {name: arrays[name][:0]}, {}):
        others = {key: array for key, array in arrays.items() if key != name} | changed
        assert [*array_problems("it", "expected.npz", others, case)]


def test_a_released_suite_has_the_elements_of_other_readings(converted: Suite) -> None:
    """One array per reading, beside the golden values."""
    [entry] = [entry for entry in converted.entries if "/ties/" in entry.id]
    [output] = converted.case(entry).outputs
    [values] = converted.otherwise(entry, 0)

    assert entry.readings.elements == ("floats.nearest",)
    assert output.otherwise == ("floats.nearest",) * 2
    assert values is not None
    assert values.shape == (2, 4)
