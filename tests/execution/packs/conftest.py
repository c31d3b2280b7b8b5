"""A suite of splits with models in two dialects, most of which may be packed."""

from pathlib import Path

import pytest

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import Suite, open_suite

SPEC = """\
op: Split-1
groups:
  - id: packed
    title: cases that may be packed
    requirements: [outputs.order]
    matrix: {count: "${{ range(1, 9) }}", kind: [f32, i32, bf16]}
    data: {shape: [2, "${{ 2 * count }}"], element_type: "${{ kind }}", fill: bits}
    axis: 1
    num_splits: ${{ count }}
  - id: bound
    title: a setting input at run time
    requirements: [outputs.order]
    matrix: {axis: [0, 1, -1]}
    data: {shape: [4, 4], element_type: u8, fill: bits}
    axis: ${{ axis }}
    num_splits: 2
    binding: parameter
  - id: feeds
    title: two feeds
    requirements: [outputs.order]
    matrix: {axis: [0, 1]}
    data: {shape: [4, 4], fill: bits}
    axis: ${{ axis }}
    num_splits: 2
    dynamic: all
    feed: {data: {shape: [8, 4]}}
  - id: empty-feed
    title: a second feed without elements
    requirements: [outputs.order]
    data: {shape: [4, 4]}
    axis: 0
    num_splits: 2
    dynamic: all
    feed: {data: {shape: [4, 0]}}
  - id: empty
    title: no elements
    requirements: [outputs.order]
    data: {shape: [0, 4]}
    axis: 1
    num_splits: 2
  - id: large
    title: many elements
    requirements: [outputs.order]
    data: {shape: [2, 20000]}
    axis: 0
    num_splits: 2
  - id: rejected
    title: an axis that is out of range
    requirements: [axis.range]
    matrix: {axis: [2, 3]}
    data: {shape: [4, 4]}
    axis: ${{ axis }}
    num_splits: 2
    expect: {reject: axis.range}
    twin: {axis: 1}
"""


def splits_suite(folder: Path) -> Suite:
    """The suite, generated."""
    (folder / "splits.yaml").write_text(SPEC)
    generate(load_specs([folder / "splits.yaml"]), folder / "suite", Options(dialects=("openvino", "onnx")))
    return open_suite(folder / "suite")


@pytest.fixture(scope="session")
def splits_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the suite."""
    return Path(str(splits_suite(tmp_path_factory.mktemp("packs")).store.root))


@pytest.fixture
def splits(splits_place: Path) -> Suite:
    """The suite."""
    return open_suite(splits_place)
