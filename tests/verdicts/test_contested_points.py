"""Points that a page leaves open, or states although a reading was once excused: which level their requirements have."""

from pathlib import Path

import numpy as np
import pytest

from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import broken_by, first_verdict
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import Run

SCATTERED = """
    data: {{element_type: {kind}, values: {data}}}
    indices: [[0], [1], [2]]
    updates: {{element_type: {kind}, values: {updates}}}
    reduction: {reduction}
"""
ADDED = """
    data: {{element_type: {kind}, values: {data}}}
    output_size: [1, 3]
    kernel_size: [1, 2]
    strides: [1, 1]
    dilations: [1, 1]
    pads_begin: [0, 0]
    pads_end: [0, 0]
"""


def judged(opconform: Run, folder: Path, op: str, keys: str, output: list[float]) -> tuple[str, ...]:
    """The requirements that some elements break, as the only output of a case."""
    (folder / "spec.yaml").write_text(f"op: {op}\ngroups:\n  - id: a\n    title: t{keys}")
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite")
    suite = open_suite(folder / "suite")
    [entry] = suite.entries
    case = suite.case(entry)
    kind = ELEMENT_TYPES[case.outputs[0].element_type]
    array = np.array(output).astype(kind.arithmetic).view(kind.storage).reshape(case.outputs[0].shape)
    verdict = first_verdict(suite, entry, case, Returned(outputs=((array,),), element_types=None, seconds=None))
    if not isinstance(verdict, Fail):
        return ()
    return broken_by(entry, verdict.reason, verdict.mismatch, suite.header)


@pytest.mark.parametrize(
    ("output", "broken"),
    [
        ([-56, 3, 56], ()),  # the low bits
        ([127, 3, -128], ("reduction.wrap",)),
        ([127, 3, 56], ("reduction.wrap",)),
        ([127, 4, 56], ("indices.replaced",)),
    ],
)
def test_a_sum_beyond_the_type_is_open(
    opconform: Run, tmp_path: Path, output: list[float], broken: tuple[str, ...]
) -> None:
    """Of ScatterNDUpdate-15; an element that is not open is wrong."""
    keys = SCATTERED.format(kind="i8", data=[100, 1, -100], updates=[100, 2, -100], reduction="sum")
    assert judged(opconform, tmp_path, "ScatterNDUpdate-15", keys, output) == broken


@pytest.mark.parametrize(
    ("output", "broken"),
    [
        ([np.nan, np.nan, 2.0], ()),
        ([5.0, np.nan, 2.0], ("reduction.nan",)),  # std::min(update, element)
        ([np.nan, 1.0, 2.0], ("reduction.nan",)),  # Python's min(element, update)
        ([5.0, 1.0, 2.0], ("reduction.nan",)),
    ],
)
def test_a_nan_among_the_numbers_of_a_minimum_is_open(
    opconform: Run, tmp_path: Path, output: list[float], broken: tuple[str, ...]
) -> None:
    """Either is NaN, or the number, in each element."""
    keys = SCATTERED.format(kind="f32", data="[.nan, 1, 2]", updates="[5, .nan, 3]", reduction="min")
    assert judged(opconform, tmp_path, "ScatterNDUpdate-15", keys, output) == broken


@pytest.mark.parametrize(
    ("output", "broken"),
    [
        ([100, -54, 1], ()),
        ([100, 127, 1], ("blocks.wrap",)),
        ([100, 99, 1], ("blocks.added",)),  # the last block wins
        ([100, 103, 1], ("blocks.added",)),  # the first block wins
    ],
)
def test_blocks_of_col2im_are_added(
    opconform: Run, tmp_path: Path, output: list[float], broken: tuple[str, ...]
) -> None:
    """The page leaves one meaning of combining, so a block that replaces another one is wrong; overflow is open."""
    keys = ADDED.format(kind="i8", data=[[100, 103], [99, 1]]) + "    requirements: [blocks.added]\n"
    assert judged(opconform, tmp_path, "Col2Im-15", keys, output) == broken


def test_types_of_two_inputs_that_may_be_a_set_are_an_interpretation() -> None:
    """T_IDX of StringTensorPack-15 is one type or a set, as elsewhere."""
    assert requirements_of("StringTensorPack-15").by_id["ends.same-type"].level == "interpretation"


def test_one_shift_for_a_scalar_axis_is_open(opconform: Run, tmp_path: Path) -> None:
    """The page writes a scalar shift as a list of one element, and its description rules that out."""
    (tmp_path / "spec.yaml").write_text(
        "op: Roll-7\ngroups:\n  - {id: a, title: t, requirements: [shift.direction], data: {shape: [3]}, shift: [1], axes: 0}\n"
    )
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    suite = open_suite(tmp_path / "suite")

    assert [broken_by(entry, "rejected-valid", None, suite.header) for entry in suite.entries] == [
        ("shift.one-element",)
    ]
