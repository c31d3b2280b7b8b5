"""Bounds of rounded outputs in the files of a suite: what is read, what is refused, and what a generation refuses."""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.specs.requirements import requirements_of
from opconform.suite.bounds import are_vague
from opconform.suite.manifest import Stage, entry_line
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.npz import FILE_LIMIT, arrays_of, npz_bytes
from opconform.tensors.tensor import Array
from opconform_runners.tools.dataset import load
from tests.conftest import Run
from tests.forgery import seal

SPEC = """
op: MatMul-1
groups:
  - id: rounded
    title: a sum that is rounded
    requirements: [values.bounded]
    a: {values: [[16777216.0, 1.0, 0.5]]}
    b: {values: [[1.0], [1.0], [3.0]]}
"""


SECOND = """
op: Exp-1
groups:
  - id: second
    title: a second inference
    requirements: [values.bounded]
    data: {values: [0.5, 1.5]}
    dynamic: ["?"]
    feed: {data: {values: [0.25, 0.75, 3.0]}}
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of one case whose output has bounds."""
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite")
    return folder / "suite"


def test_bounds_lie_beside_the_golden_output(suite: Path) -> None:
    """In its element type and shape; `case.json` says how the output is compared."""
    opened = open_suite(suite)
    [entry] = opened.entries
    arrays = opened.arrays(entry, "expected.npz")
    [bounds] = opened.bounds(entry, 0)

    assert {name: (x.dtype, x.shape) for name, x in arrays.items()} == dict.fromkeys(
        (
            "output_0",
            *(f"output_0.{x}" for x in ("lower", "upper", "reduced.lower", "reduced.upper")),
        ),
        (np.dtype(np.float32), (1, 1)),
    )
    [reduced] = opened.reduced(entry, 0)
    assert bounds is not None
    assert reduced is not None
    assert reduced[0] < bounds[0] < arrays["output_0"] < bounds[1] < reduced[1]
    assert [*opened.golden(entry, 0)] == ["output_0"]
    assert opened.case(entry).outputs[0].comparison == "bounds"


def test_a_dataset_has_the_bounds(suite: Path) -> None:
    """In the dtype of the outputs, so that a program can judge its own outputs."""
    [example] = load(suite)
    [[bounds]], [[reduced]] = example.bounds, example.reduced

    assert bounds is not None
    assert reduced is not None
    assert reduced[0] < bounds[0] < example.outputs[0][0] < bounds[1] < reduced[1]
    assert bounds[0].dtype == example.outputs[0][0].dtype == np.float32


def nan(array: Array) -> Array:
    """The array with a NaN."""
    return np.full_like(array, np.nan)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("output_0.lower", lambda x: x * 2, "a golden value of output_0 is outside its bounds"),
        ("output_0.upper", lambda x: -x, "a golden value of output_0 is outside its bounds"),
        ("output_0.upper", nan, "the bounds of output_0 are NaN at other elements than its golden values"),
        ("output_0", nan, "the bounds of output_0 are NaN at other elements than its golden values"),
        (
            "output_0.lower",
            lambda x: x * 0 - np.float32(np.inf),
            "the bounds of output_0 are wider than any rule gives",
        ),
        (
            "output_0.upper",
            lambda x: x * 0 + np.float32(np.inf),
            "the bounds of output_0 are wider than any rule gives",
        ),
        ("output_0.upper", lambda x: x * np.float32(1.5), "the bounds of output_0 are wider than any rule gives"),
        ("output_0.lower", lambda x: x * 0, "the bounds of output_0 are wider than any rule gives"),
        ("output_0.lower", lambda x: x.astype(np.float64), "output_0.lower is stored as float64"),
        ("output_0.lower", lambda x: x[0], "output_0.lower has the shape [1], but case.json says [1, 1]"),
        ("output_0.lower", lambda _: None, "has no array output_0.lower"),
        ("output_0.reduced.lower", lambda _: None, "has no array output_0.reduced.lower"),
        ("output_0.reduced.upper", nan, "the reduced bounds of output_0 are inside its bounds"),
        ("output_0.reduced.lower", lambda x: x * 2, "the reduced bounds of output_0 are inside its bounds"),
        (
            "output_0.reduced.upper",
            lambda x: x * 0 + np.float32(np.inf),
            "the reduced bounds of output_0 are wider than any rule gives",
        ),
    ],
)
def test_wrong_bounds_are_refused(
    opconform: Run, suite: Path, tmp_path: Path, name: str, change: Callable[[Array], Array | None], problem: str
) -> None:
    """By `verify`, and by a run, although the manifest has their digest."""
    copy = tmp_path / "suite"
    shutil.copytree(suite, copy)
    [entry] = open_suite(copy).entries
    arrays = dict(arrays_of(open_suite(copy).read(entry, "expected.npz"), "", limit=FILE_LIMIT))
    changed = change(arrays.pop(name))
    content = npz_bytes(arrays | ({} if changed is None else {name: changed}))
    (copy / entry.id / "expected.npz").write_bytes(content)
    files = {**entry.files, "expected.npz": hashlib.sha256(content).hexdigest()}
    seal(copy, entry_line(replace(entry, files=files)).encode())
    verified, run = (
        opconform("verify", copy, code=1),
        opconform("run", copy, "numpy", "--out", tmp_path / "out", code=1),
    )

    assert problem in verified.stdout + verified.stderr
    assert problem in run.stderr


OTHER_BOUNDS: Mapping[str, tuple[str, Callable[[Mapping[str, Array]], dict[str, Array]], str]] = {
    "extra": (
        "expected.npz",
        lambda x: {**x, "output_1.lower": x["output_0.lower"]},
        "expected.npz has an array output_1.lower, which the case does not declare.",
    ),
    "unordered": (
        "expected.npz",
        lambda x: {**x, "output_0.lower": x["output_0.upper"], "output_0.upper": x["output_0.lower"]},
        "expected.npz: a golden value of output_0 is outside its bounds.",
    ),
    "missing in the second inference": (
        "expected.1.npz",
        lambda x: {"output_0": x["output_0"]},
        "expected.1.npz has no array output_0.lower.",
    ),
    "of another shape in the second inference": (
        "expected.1.npz",
        lambda x: {**x, "output_0.lower": x["output_0.lower"][:1]},
        "expected.1.npz: the bounds of output_0 have another shape than its golden values.",
    ),
    "of a NaN in the second inference": (
        "expected.1.npz",
        lambda x: {**x, "output_0.upper": nan(x["output_0.upper"])},
        "expected.1.npz: the bounds of output_0 are NaN at other elements than its golden values.",
    ),
}


@pytest.mark.parametrize("what", OTHER_BOUNDS)
def test_other_wrong_bounds_are_refused_with_the_file_and_the_array(opconform: Run, tmp_path: Path, what: str) -> None:
    """By `verify`, by a run, and by every form that reads expected outputs; none of them ends in a traceback."""
    file, change, problem = OTHER_BOUNDS[what]
    (tmp_path / "spec.yaml").write_text(SECOND)
    opconform("generate", tmp_path / "spec.yaml", "--dialect", "onnx", "--out", tmp_path / "suite")
    [entry] = open_suite(tmp_path / "suite").entries
    before = open_suite(tmp_path / "suite").read(entry, file)
    content = npz_bytes(change(dict(arrays_of(before, "", limit=FILE_LIMIT))))
    (tmp_path / "suite" / entry.id / file).write_bytes(content)
    files = {**entry.files, file: hashlib.sha256(content).hexdigest()}
    seal(tmp_path / "suite", entry_line(replace(entry, files=files)).encode())
    said = [
        opconform("verify", tmp_path / "suite", code=1),
        opconform("run", tmp_path / "suite", "numpy", "--out", tmp_path / "out", code=1),
        opconform("export", tmp_path / "suite", "--as", "onnx", "--out", tmp_path / "onnx", code=1),
        opconform("repro", entry.id, "onnxruntime", "--suite", tmp_path / "suite", code=1),
    ]

    assert [f"{entry.id}/{problem}" in x.stdout + x.stderr for x in said] == [True] * len(said)


def test_a_right_and_a_wrong_sum_have_an_error(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """The result of a case has the largest error divided by its bound."""
    opconform("run", suite, "numpy", "--out", tmp_path / "right")
    lines = (tmp_path / "right" / "results.jsonl").read_text()

    assert '"error":0.0' in lines


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            "{shape: [2000, 2000], fill: small}",
            "{shape: [2000, 2000], fill: small}",
            "over the limit of 4,000,000; use smaller",
        ),
        (
            "{element_type: bf16, values: [[1000.5, 1, 1, 1]]}",
            "{element_type: bf16, values: [[1], [-1000.5], [1], [0.0078125]]}",
            "the bounds of its results are as wide as the results, so that it proves nothing",
        ),
    ],
)
def test_a_spec_that_proves_nothing_or_takes_too_long_is_refused(
    opconform: Run, tmp_path: Path, a: str, b: str, said: str
) -> None:
    """With the place of the group."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"op: MatMul-1\ngroups:\n  - id: group\n    title: a title\n    a: {a}\n    b: {b}\n")
    done = opconform("generate", spec, "--out", tmp_path / "suite", code=2)

    assert said in done.stderr
    assert f"{spec}:" in done.stderr
    assert "group 'group'" in done.stderr


def test_the_goldens_of_all_groups_are_tried(opconform: Run, tmp_path: Path) -> None:
    """The mistakes of a batch of cases come at once."""
    spec = tmp_path / "spec.yaml"
    group = (
        "  - {{id: {}, title: t, a: {{element_type: bf16, values: [[1000.5, 1, 1, 1]]}},\n"
        "     b: {{element_type: bf16, values: [[1], [-1000.5], [1], [{}]]}}}}\n"
    )
    spec.write_text(f"op: MatMul-1\ngroups:\n{group.format('first', 0.0078125)}{group.format('second', 0.015625)}")
    said = opconform("generate", spec, "--out", tmp_path / "suite", code=2).stderr

    assert [line.partition("group '")[2].partition("'")[0] for line in said.splitlines()] == ["first", "second"]
    assert not (tmp_path / "suite").exists()


@pytest.mark.parametrize(
    ("element_type", "golden", "lower", "upper", "expected"),
    [
        ("f32", [1, 0], [0.9, -0.2], [1.1, 0.2], False),
        ("f32", [1, 0], [0.9, -0.25], [1.1, 0.2], True),
        ("f16", [1, 0], [0.9, -0.9], [1.1, 0.9], False),
        ("f16", [1, 0], [0, 0], [1, 0], True),
        ("f16", [0, 0], [-6e-5, 0], [6e-5, 0], False),
        ("f64", [0.0], [-1.0], [1.0], True),
        ("f32", [3e38, 1], [0, 1], [np.inf, 1], False),
        ("f32", [3e37, 1], [0, 1], [np.inf, 1], True),
        ("f32", [np.inf, np.nan, 1], [np.inf, np.nan, 1], [np.inf, np.nan, 1], False),
        ("f32", [], [], [], False),
    ],
)
def test_bounds_are_vague_where_a_result_of_nothing_would_be_right(
    element_type: str, golden: list[float], lower: list[float], upper: list[float], *, expected: bool
) -> None:
    """Infinite, unless the result may overflow, or as wide as the largest result."""
    kind = ELEMENT_TYPES[element_type]
    arrays = [np.array(x, kind.arithmetic).view(kind.storage) for x in (golden, lower, upper)]

    assert are_vague(kind, arrays[0], (arrays[1], arrays[2])) is expected


def test_rounded_results_need_a_requirement_on_rounding(
    opconform: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, a deviation would break a normative requirement, and nobody would notice."""
    requirements = requirements_of("MatMul-1")
    stages: dict[Stage, tuple[str, ...]] = {
        name: ids for name, ids in requirements.establishes.items() if name != "rounding"
    }
    without = replace(requirements, establishes=stages)
    monkeypatch.setattr("opconform.generation.case_files.requirements_of", lambda _: without)
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "op: MatMul-1\ngroups:\n  - {id: a, title: t, a: {values: [[0.1, 0.7]]}, b: {values: [[0.3], [0.9]]}}\n"
    )
    said = opconform("generate", spec, "--jobs", 1, "--out", tmp_path / "suite", code=2).stderr

    assert "`establishes` in the requirements of MatMul-1 has no `rounding`" in said
