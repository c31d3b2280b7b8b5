"""What a harness refuses by declarations, and which requirements that are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor
from opconform_runners.backends import constraints
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.constraints import check_declared, covers, resolved, with_constraints
from opconform_runners.backends.numpy.backend import FUNCTIONS, Numpy
from tests.conftest import Run

SPLIT, PAD = (OPERATIONS[name].declaration for name in ("Split-1", "Pad-12"))
DATA = Tensor(element_type="f32", array=np.zeros((4, 2), np.float32))
AXIS = Tensor(element_type="i64", array=np.array(0))


@pytest.mark.parametrize(
    ("inputs", "attributes", "requirement"),
    [
        ([DATA], {"num_splits": 2}, "axis.required"),
        ([DATA, DATA], {"num_splits": 2}, "axis.shape"),
        ([DATA, replace(AXIS, element_type="f64")], {"num_splits": 2}, "axis.element-type"),
        ([DATA, AXIS], {}, "num_splits.required"),
        ([DATA, AXIS], {"num_splits": "2"}, "num_splits.type"),
    ],
)
def test_a_function_is_not_called_with_what_its_declaration_does_not_allow(
    inputs: list[Tensor], attributes: dict[str, Attribute], requirement: str
) -> None:
    """The first violation is named; arguments without one reach the function."""
    functions = with_constraints(FUNCTIONS, [SPLIT])
    with pytest.raises(Rejected, match=f"the arguments violate {requirement}") as refusal:
        functions["Split-1"](inputs, attributes)

    assert (refusal.value.stage, refusal.value.requirement) == ("build", requirement)
    assert functions["Concat-1"] is FUNCTIONS["Concat-1"]
    assert len(functions["Split-1"]([DATA, AXIS], {"num_splits": 2})) == 2


def test_only_named_constraints_of_known_inputs_are_checked() -> None:
    """The others are left to the framework."""
    inputs = {"data": DATA, "axis": DATA}
    with pytest.raises(Rejected, match=r"num_splits\.required"):
        check_declared(SPLIT, inputs, {}, ["Split-1:num_splits"])
    with pytest.raises(Rejected, match=r"axis\.shape"):
        check_declared(SPLIT, inputs, {}, ["Split-1"])

    check_declared(SPLIT, inputs, {}, ["Split-1:axis.required", "Split-1:data", "Pad-12"])
    check_declared(SPLIT, inputs, {}, ["Split-1:axis"], unknown=["axis"])


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("Split-1", True),
        ("Split-1:axis", True),
        ("Split-1:axis.rank", True),
        ("Split-1:ax", False),
        ("Split", False),
        ("Split-1:axis.r", False),
    ],
)
def test_a_name_covers_what_is_below_it(name: str, covered: bool) -> None:
    """An operation its words, and a word its requirements."""
    assert covers([name], "Split-1:axis.rank") is covered


@pytest.mark.parametrize("op", shipped_operations())
def test_the_requirements_of_every_constraint_exist(op: str) -> None:
    """So every shipped declaration can be mapped as a whole."""
    known = {requirement.id for requirement in requirements_of(op).requirements}
    constrained = {*constraints.constraint_ids(OPERATIONS[op].declaration)}

    assert constrained
    assert constrained - known == set()


def test_names_above_requirements_are_resolved() -> None:
    """Those of operations that the suite does not declare stand for nothing."""
    mapped = ("Split-1:axis.range", "Pad-12:pad_mode", "Split-1:axis", "Tile-1", "Tile-1:repeats.negative")

    assert resolved(replace(Numpy().describe(), mapped=mapped), [SPLIT, PAD]).mapped == (
        *("Split-1:axis.range", "Tile-1:repeats.negative"),
        *("Split-1:axis.required", "Split-1:axis.shape", "Split-1:axis.element-type"),
        *("Pad-12:pad_mode.required", "Pad-12:pad_mode.values", "Pad-12:pad_mode.spelling"),
    )


MAPS = """\
from dataclasses import replace
from opconform_runners.backends.numpy.backend import Numpy


class Mapping(Numpy):
    def describe(self):
        return replace(super().describe(), mapped=("VariadicSplit-1:lengths", "VariadicSplit-1:axis.range"))
"""


def test_a_run_lists_what_the_names_of_a_backend_stand_for(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """By the declarations of the suite."""
    (tmp_path / "maps.py").write_text(MAPS)
    opconform("run", small_suite, "--backend", f"{tmp_path}/maps.py:Mapping", "--out", tmp_path / "out", code=None)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    lengths = [f"VariadicSplit-1:lengths.{name}" for name in ("required", "rank", "element-type")]

    assert report["implementation"]["mapped"] == ["VariadicSplit-1:axis.range", *lengths]
