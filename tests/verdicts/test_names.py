"""Which requirement wrong outputs name: that on the wrong output, on the value of the attribute, and not on bits."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.operations import OPERATIONS
from opconform.specs.loader import load_specs
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Array
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import broken_by, first_verdict
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import Run

UNIQUE = "    requirements: [data.bits, unique.ascending]\n    data: {element_type: i64, values: [5, 3, 5, 9]}\n"
BLOCKS = """\
    requirements: [data.bits, blocks.order]
    data: {shape: [1, 3, 1], element_type: i32, values: [[[5], [6], [7]]]}
    block_shape: [1, 2, 1]
    pads_begin: [0, 1, 0]
    pads_end: [0, 0, 0]
"""
TOP = """\
    requirements: [data.bits, values.selected]
    data: {element_type: f32, values: [1, 7, 5]}
    k: 2
    axis: 0
    mode: max
    sort: value
"""
Change = Callable[[list[Array]], Sequence[Array]]


def replaced(number: int, values: list[int]) -> Change:
    """The golden outputs with other values of one of them."""

    def change(outputs: list[Array]) -> Sequence[Array]:
        golden = outputs[number]
        return [*outputs[:number], np.array(values, golden.dtype).reshape(golden.shape), *outputs[number + 1 :]]

    return change


@pytest.mark.parametrize(
    ("op", "keys", "change", "broken"),
    [
        ("Unique-10", UNIQUE, replaced(0, [5, 3, 9]), "unique.ascending"),
        ("Unique-10", UNIQUE, replaced(1, [1, 2, 3]), "indices.first"),
        ("Unique-10", UNIQUE, replaced(1, [1, 77, 3]), "indices.first"),
        ("Unique-10", UNIQUE, replaced(2, [0, 0, 0, 0]), "reverse.places"),
        ("Unique-10", UNIQUE, replaced(3, [1, 1, 1]), "counts.values"),
        ("TopK-11", TOP, replaced(1, [2, 1]), "indices.places"),
        ("SpaceToBatch-2", BLOCKS, replaced(0, [5, 7, 6, 0]), "blocks.order"),  # the padding at the end
        ("SpaceToBatch-2", BLOCKS, replaced(0, [5, 7, 6, 4]), "data.bits"),
        ("SpaceToBatch-2", BLOCKS, replaced(0, [0, 0, 5, 7]), "data.bits"),  # a zero that is no padding
    ],
)
def test_wrong_values_name_what_is_wrong(
    opconform: Run, tmp_path: Path, op: str, keys: str, change: Change, broken: str
) -> None:
    """Indices are no data, and a zero of padding that is at another place has all its bits."""
    (tmp_path / "spec.yaml").write_text(f"op: {op}\ngroups:\n  - id: a\n    title: t\n{keys}")
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    suite = open_suite(tmp_path / "suite")
    [entry] = suite.entries
    outputs = tuple(change([*suite.golden(entry, 0).values()]))
    verdict = first_verdict(
        suite, entry, suite.case(entry), Returned(outputs=(outputs,), element_types=None, seconds=None)
    )

    assert isinstance(verdict, Fail)
    assert broken_by(entry, verdict.reason, verdict.mismatch, suite.header) == (broken,)


def test_a_case_lists_requirements_on_its_own_value_of_an_attribute() -> None:
    """As `reduction.sub`: a group of all reductions lists them all, and a wrong difference is no wrong sum."""
    specs = load_specs([Path("cases") / op for op in ("ScatterNDUpdate-15", "ScatterElementsUpdate-12", "TopK-11")])
    wrong = []
    for group in (group for spec in specs for group in spec.groups if group.settings.profile in ("core", "types")):
        for draft in expand(group):
            given = OPERATIONS[draft.op].arguments({}, draft.attributes).attributes
            values = {
                f"{x.name}.{value}" for x in OPERATIONS[draft.op].attributes for value in x.values if x.type == "enum"
            }
            named = values & {*draft.requirements}
            if draft.rejected_for is None and named - {f"{name}.{value}" for name, value in given.items()}:
                wrong.append(draft.id)

    assert wrong == []


def test_another_type_of_shapeof_is_about_the_output() -> None:
    """And not about the types that data can have."""
    for op in ("ShapeOf-1", "ShapeOf-3"):
        assert requirements_of(op).establishes["element-type"][0] == "outputs.element-type"
