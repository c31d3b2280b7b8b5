"""The adequacy of cases: mutants of the semantics that they kill, and conditions that they show to matter."""

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform.adequacy.mutations import mutations_of
from opconform.adequacy.trials import loaded, modules_of
from opconform.operations import OPERATIONS
from opconform.operations.operation import Arguments, Operand, Rejection
from opconform_runners.cli.adequacy import command

SOURCE = """\
def violations(count, size):
    if count < 1 and size:
        return ["num_splits.positive"]
    return [each for each in (count, size) if any(each)]
"""

THIN = """\
op: Split-1
groups:
  - id: one
    title: one case
    requirements: [outputs.order]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 2
"""


def test_every_kind_of_expression_is_mutated() -> None:
    """Comparisons, boolean operators, conditions, constants, calls and returns, one at a time."""
    found = {(each.before, each.after) for each in mutations_of(SOURCE, "module")}

    assert found >= {
        ("count < 1", "count <= 1"),
        ("count < 1", "count >= 1"),
        ("count < 1 and size", "count < 1 or size"),
        ("count < 1 and size", "True and size"),
        ("count < 1 and size", "count < 1 and True"),
        ("if count < 1 and size", "if not (count < 1 and size)"),
        ("if count < 1 and size", "if True"),
        ("1", "2"),
        ("1", "0"),
        ("any(each)", "all(each)"),
        ("return ['num_splits.positive']", "return []"),
        ("for each in (count, size) if any(each)", "for each in (count, size) if False"),
    }
    assert all(ast.unparse(each.tree) != ast.unparse(ast.parse(SOURCE)) for each in mutations_of(SOURCE, "module"))


def test_a_mutation_names_the_requirements_beside_it() -> None:
    """Those in the expression, or else those of its function."""
    found = {each.names for each in mutations_of(SOURCE, "module")}

    assert found == {("num_splits.positive",)}


def test_the_modules_of_an_operation_are_those_that_hold_its_semantics() -> None:
    """Its own after those that it imports; what all operations share is left out."""
    assert list(modules_of(("VariadicSplit-1",))) == ["axis", "variadic_split"]


def test_a_changed_module_changes_nothing_that_is_in_use() -> None:
    """The mutant accepts an axis that is missing; the semantics in use do not."""
    tree = ast.parse(modules_of(("Split-1",))["axis"].read_text().replace('return ["axis.required"]', "return []"))
    mutant = loaded(("Split-1",), {"axis": tree})["Split-1"]
    arguments = Arguments(inputs={"data": Operand(element_type="f32", shape=(6,))}, attributes={"num_splits": 2})
    refused = []
    for operation in (mutant, OPERATIONS["Split-1"]):
        with pytest.raises(Rejection) as rejection:
            operation.infer(arguments)
        refused.append(rejection.value.requirements)

    assert refused == [(), ("axis.required",)]


def test_thin_cases_leave_survivors_and_conditions(tmp_path: Path) -> None:
    """One valid case pins down next to nothing, and the command says so."""
    (tmp_path / "thin.yaml").write_text(THIN)
    done = CliRunner().invoke(command, [str(tmp_path / "thin.yaml"), "--strict"])

    assert done.exit_code == 1
    assert "Split-1: 1 inferences" in done.stdout
    assert "survives  split.py:" in done.stdout
    assert "(num_splits.positive)" in done.stdout
    assert "not shown  axis.py:" in done.stdout


def test_json_says_which_cases_show_a_condition(tmp_path: Path) -> None:
    """The invalid case and its twin."""
    spec = tmp_path / "pair.yaml"
    spec.write_text(
        THIN + "  - id: uneven\n    title: two\n    data: {shape: [6, 2]}\n    axis: 0\n    num_splits: 4\n"
        "    expect: {reject: num_splits.divides}\n    twin: {num_splits: 3}\n"
    )
    done = CliRunner().invoke(command, [str(spec), "--json"])
    shown = [each for each in json.loads(done.stdout)["conditions"] if each["condition"] == "size % count"]

    assert done.exit_code == 0
    assert [[case.rpartition("/")[0] for case in each["cases"]] for each in shown] == [
        ["Split-1/uneven", "Split-1/uneven"]
    ]
