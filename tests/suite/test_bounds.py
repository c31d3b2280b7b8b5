"""Bounds of rounded outputs in the files of a suite: what is read, what is refused, and what a generation refuses."""

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.manifest import entry_line
from opconform.suite.reader import open_suite
from opconform.tensors.npz import FILE_LIMIT, arrays_of, npz_bytes
from opconform.tensors.tensor import Array
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
        ("output_0", "output_0.lower", "output_0.upper"), (np.dtype(np.float32), (1, 1))
    )
    assert bounds is not None
    assert bounds[0] < arrays["output_0"] < bounds[1]
    assert [*opened.golden(entry, 0)] == ["output_0"]
    assert opened.case(entry).outputs[0].comparison == "bounds"


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
        ("output_0.lower", lambda x: x.astype(np.float64), "output_0.lower is stored as float64"),
        ("output_0.lower", lambda x: x[0], "output_0.lower has the shape [1], but case.json says [1, 1]"),
        ("output_0.lower", lambda _: None, "has no array output_0.lower"),
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
