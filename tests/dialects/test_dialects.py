"""The dialects beside OpenVINO's: each model is what its loader accepts, says what the case says, or is left out."""

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import checker, numpy_helper, printer

from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry
from opconform.suite.reader import Suite, open_suite
from tests.conftest import DIALECTS, EVERY_DIALECT, Run

SPEC = """\
op: VariadicSplit-1
groups:
  - id: remainder
    title: what -1 stands for is written down
    data: {shape: [6, 2]}
    axis: -2
    split_lengths: [1, -1]
  - id: fed
    title: what is fed stays as it is
    data: {shape: [6, 2]}
    dynamic: ["?", 2]
    axis: 0
    split_lengths: [4, 2]
    binding: {split_lengths: parameter}
  - id: folded
    title: a constant keeps its bits
    data: {shape: [2], values: [0x7f800001, 0x80000000]}
    axis: 0
    split_lengths: [1, 1]
    context: folded
  - id: converted
    title: inputs of i32 are converted, and the attribute holds the axis
    data: {shape: [6, 2]}
    axis: {element_type: i32, values: 0}
    split_lengths: {element_type: i32, values: [4, 2]}
    context: convert
  - id: computed
    title: lengths are computed from the shape of data
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [2, 4]
    context: shape-of
  - id: wrong-sum
    title: a wrong sum is a fault everywhere but in slices
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [4, 3]
    expect: {reject: lengths.sum}
    twin: {split_lengths: [4, 2]}
"""


@pytest.fixture(scope="module")
def suite(any_suite: Path) -> Suite:
    """Shipped cases in every dialect."""
    return open_suite(any_suite)


@pytest.fixture(scope="module")
def small(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The cases of the spec above in the same dialects."""
    folder = tmp_path_factory.mktemp("dialects")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", *EVERY_DIALECT)
    return open_suite(folder / "suite")


def entry(suite: Suite, group: str) -> Entry:
    """The first case of a group that is not there as a twin."""
    return next(e for e in suite.entries if f"/{group}/" in e.id)


def model(suite: Suite, entry: Entry) -> onnx.ModelProto:
    """The ONNX model of a case."""
    return onnx.load_model_from_string(suite.read(entry, "onnx/model.onnx"))


def test_every_case_is_rendered_or_left_out_with_a_reason(suite: Suite) -> None:
    """Never both, never neither."""
    for item in suite.entries:
        rendered = {name.split("/")[0] for name in item.files if "/" in name} - {NEIGHBOUR_CHECK}

        assert rendered | set(item.left_out) == set(DIALECTS), item.id
        assert not rendered & set(item.left_out), item.id
        assert all(item.left_out.values())


def test_each_dialect_says_a_good_part_of_the_core(any_core: Path) -> None:
    """A dialect that leaves everything out would pass all the other tests."""
    suite = open_suite(any_core)
    counts = Counter(
        (name.split("/")[0], e.expect == "accept") for e in suite.entries for name in e.files if "/" in name
    )

    assert counts["onnx", True] > len(suite.entries) / 4
    assert counts["onnx", False] > len(suite.entries) / 16
    assert counts["stablehlo", True] > len(suite.entries) / 6
    assert counts["stablehlo", False] == 0


def test_every_onnx_model_passes_the_checker(suite: Suite) -> None:
    """Accepted ones with shape inference, but where it misreads dimensions over 32 bits, and counts of a range that wrap."""
    for item in suite.entries:
        if "onnx/model.onnx" in item.files and item.expect == "accept":
            case = suite.case(item)
            wide = any(size >= 1 << 31 for tensor in case.inputs for size in tensor.shape)
            wide |= item.id.startswith("Range-4/large/")
            checker.check_model(model(suite, item), full_check=not wide)


def test_what_minus_one_stands_for_is_lowered(small: Suite) -> None:
    """The axis stays as it is given."""
    rendered = model(small, entry(small, "remainder"))

    [lengths] = rendered.graph.initializer
    assert numpy_helper.to_array(lengths).tolist() == [1, 5]
    assert rendered.graph.node[0].attribute[0].i == -2


def test_run_time_lengths_are_an_input_of_the_model(small: Suite) -> None:
    """Nothing of a fed case is written into the model."""
    rendered = model(small, entry(small, "fed"))

    assert printer.to_text(rendered) == (
        '<\n   ir_version: 8,\n   opset_import: ["" : 18]\n>\n'
        f'"{entry(small, "fed").id}" (float[?,2] data, int64[2] split_lengths) => (float[?,?] output_0, float[?,?] output_1) {{\n'
        "   output_0, output_1 = Split <axis: int = 0> (data, split_lengths)\n}"
    )


def test_computed_lengths_are_nodes_of_the_model(small: Suite) -> None:
    """Of a converted axis an attribute holds the value, so its conversion is not in the model."""
    converted, computed = (model(small, entry(small, group)).graph.node for group in ("converted", "computed"))

    assert [x.op_type for x in converted] == ["Cast", "Split"]
    assert [(x.name, x.i) for x in converted[1].attribute] == [("axis", 0)]
    assert [x.op_type for x in computed] == ["Shape", "Constant", "Gather", "Constant", "Concat", "Split"]
    assert entry(small, "computed").left_out == {"stablehlo": "ShapeOf-3 has no rendering in this dialect"}


def test_constants_keep_their_bits(small: Suite) -> None:
    """A signalling NaN and a negative zero, in ONNX and in StableHLO."""
    each = entry(small, "folded")
    [data] = [one for one in model(small, each).graph.initializer if one.name == "data"]
    text = small.read(each, "stablehlo/model.mlir").decode()

    assert numpy_helper.to_array(data).view(np.uint32).tolist() == [0x7F800001, 0x80000000]
    assert 'stablehlo.constant dense<"0x0100807F00000080"> : tensor<2xf32>' in text


def test_a_module_of_slices_reads_as_one_expects(small: Suite) -> None:
    """The whole text."""
    each = entry(small, "remainder")

    assert small.read(each, "stablehlo/model.mlir").decode() == (
        f'module @"{each.id}" {{\n'
        "  func.func public @main(%data: tensor<6x2xf32>) -> (tensor<1x2xf32>, tensor<5x2xf32>) {\n"
        "    %VariadicSplit_0 = stablehlo.slice %data [0:1, 0:2] : (tensor<6x2xf32>) -> tensor<1x2xf32>\n"
        "    %VariadicSplit_1 = stablehlo.slice %data [1:6, 0:2] : (tensor<6x2xf32>) -> tensor<5x2xf32>\n"
        "    return %VariadicSplit_0, %VariadicSplit_1 : tensor<1x2xf32>, tensor<5x2xf32>\n"
        "  }\n"
        "}\n"
    )


def test_a_fault_is_rendered_as_it_is_or_not_at_all(small: Suite) -> None:
    """ONNX can say a wrong sum; slices cannot."""
    each = next(one for one in small.entries if one.expect != "accept")

    [lengths] = model(small, each).graph.initializer
    assert numpy_helper.to_array(lengths).tolist() == [4, 3]
    why = "StableHLO's operations cannot have the violation, or its verifier rejects it"
    assert each.left_out == {"stablehlo": why}


def test_a_suite_without_the_backends_dialect_is_refused_in_a_sentence(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """Nothing is run, and the sentence says what to generate."""
    done = opconform("run", small_suite, "--backend", "onnx-reference", "--out", tmp_path, code=2)

    assert done.stderr.splitlines()[-1] == (
        f"error: {small_suite} has models for openvino, but onnx-reference reads onnx. Generate it with --dialect onnx."
    )
