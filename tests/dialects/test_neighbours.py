"""Every operation is rendered where it is not the one under test: behind another one, or in front of it."""

from pathlib import Path

from opconform.dialects import DIALECTS
from opconform.operations import OPERATIONS
from opconform_runners.tools.house.exceptions import is_excepted
from opconform_runners.tools.house.repository import TABLES, can_follow
from tests.dialects.models import evaluated, goldens
from tests.dialects.neighbours import (
    CONVOLVED,
    NEIGHBOURS,
    SOME,
    WITHOUT,
    behind,
    check_convolved,
    check_group,
    check_neighbours,
    convolved,
)
from tests.sampling import subject


def test_the_tables_have_no_operation_that_is_never_behind_another_one() -> None:
    """`tests/tools/test_house.py` says that they have every operation that is."""
    for name, table in (("NEIGHBOURS", NEIGHBOURS), ("CONVOLVED", CONVOLVED)):
        assert [op for op in table if not can_follow(OPERATIONS[op], *TABLES[name]) or is_excepted(op, name)] == []


@SOME
def test_a_neighbour_is_rendered_with_its_own_settings(tmp_path: Path, step: int) -> None:
    """Behind each of the operations."""
    check_neighbours(tmp_path, "onnx", evaluated, step)


@SOME
def test_a_convolution_is_rendered_in_front(tmp_path: Path, step: int) -> None:
    """Of each operation that takes its output."""
    check_convolved(tmp_path, "onnx", evaluated, step)


def test_stablehlo_leaves_out_other_neighbours(tmp_path: Path) -> None:
    """With the operation that it has no rendering of."""
    for neighbour in sorted(WITHOUT["stablehlo"] & {*NEIGHBOURS}):
        with subject(neighbour):
            check_group(tmp_path, behind("Pad-12", neighbour), "Pad-12", "stablehlo", None, needed=neighbour)


def test_a_module_has_the_constants_that_its_operations_take(tmp_path: Path) -> None:
    """The filters, but not the order of a transposition, which is in its line."""
    [golden] = goldens(tmp_path, f"op: Transpose-1\ngroups:\n{convolved('Transpose-1')}")

    assert DIALECTS["stablehlo"].files_of(golden, "it")["stablehlo/model.mlir"].decode() == (
        'module @"it" {\n'
        "  func.func public @main(%arg: tensor<1x2x1x3xf32>) -> (tensor<1x1x3x2xf32>) {\n"
        '    %Filters_0 = stablehlo.constant dense<"0x000000400000803F0000803F00000040"> : tensor<2x2x1x1xf32>\n'
        "    %Convolution_0 = stablehlo.convolution (%arg, %Filters_0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
        "window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        "(tensor<1x2x1x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x1x3xf32>\n"
        "    %Transpose_0 = stablehlo.transpose %Convolution_0, dims = [0, 2, 3, 1] : "
        "(tensor<1x2x1x3xf32>) -> tensor<1x1x3x2xf32>\n"
        "    return %Transpose_0 : tensor<1x1x3x2xf32>\n"
        "  }\n"
        "}\n"
    )


def test_a_tensor_that_a_module_adds_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Also if an input of the graph has the usual one."""
    spec = (
        "op: Graph-1\ngroups:\n  - id: it\n    title: t\n    inputs: {x: {shape: [2]}, b_zero: {shape: [2]}}\n"
        "    nodes: {a: {op: Add-1, a: x, b: b_zero}, b: {op: ReLU-1, data: a}}\n    outputs: [b]\n"
    )
    [golden] = goldens(tmp_path, spec)
    module = DIALECTS["stablehlo"].files_of(golden, "it")["stablehlo/model.mlir"].decode()

    assert [line.split(" =")[0].strip() for line in module.splitlines() if " = " in line] == [
        "%a_0",
        "%b_zero_",
        "%b_0",
    ]
