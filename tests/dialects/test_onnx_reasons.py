"""What ONNX can express is rendered: its reference evaluator returns the golden of each of these models."""

from pathlib import Path

import onnx
import pytest

from opconform.dialects import DIALECTS, Inexpressible
from tests.dialects.models import check, evaluated, goldens

SPLIT = "op: VariadicSplit-1\ngroups:\n  - id: it\n    title: t\n    data: {shape: [4, 8]}\n"
SLICE = "op: Slice-8\ngroups:\n  - id: it\n    title: t\n    data: {shape: [4]}\n"
RESHAPE = "op: Reshape-1\ngroups:\n  - id: it\n    title: t\n    special_zero: false\n"
PAD = "op: Pad-12\ngroups:\n  - id: it\n    title: t\n    data: {shape: [2, 3]}\n"
GATHER = "op: Gather-8\ngroups:\n  - id: it\n    title: t\n    data: {shape: [4]}\n"
TRANSPOSE = "op: Transpose-1\ngroups:\n  - id: it\n    title: t\n    arg: {shape: [2, 3, 4]}\n"
POOL = "op: AvgPool-14\ngroups:\n  - id: it\n    title: t\n    data: {shape: [1, 2, 3]}\n    exclude_pad: false\n"
ATTENTION = (
    "op: ScaledDotProductAttention-13\ngroups:\n  - id: it\n    title: t\n    query: {shape: [1, 2, 2]}\n"
    "    key: {shape: [1, 2, 2]}\n    value: {shape: [1, 2, 2]}\n    causal: false\n"
)
THEN = "    then: {{op: {}}}\n"
COUNT = SPLIT.replace("VariadicSplit", "Split")

EXPRESSIBLE = {
    "an input with the name of a tensor that the rendering adds": (
        "op: Graph-1\ngroups:\n  - id: it\n    title: t\n    inputs: {x: {shape: [2, 3]}, product_b: {shape: [4, 3]}}\n"
        "    nodes:\n      product: {op: MatMul-1, a: x, b: product_b, transpose_a: false, transpose_b: true}\n"
        "      limited: {op: ReLU-1, data: product}\n    outputs: [limited]\n"
    ),
    "a neighbour behind unknown dimensions": (
        f'{TRANSPOSE}    dynamic: ["?", 3, "?"]\n    input_order: [1, 2, 0]\n    feed: {{arg: {{shape: [5, 3, 1]}}}}\n'
        + THEN.format("Reshape-1, shape: [0, -1], special_zero: true")
    ),
    "a neighbour of constants": (
        f"{TRANSPOSE}    binding: {{arg: constant}}\n    input_order: []\n"
        + THEN.format("Gather-8, indices: [1], axis: -1")
    ),
    "a remainder of a known dimension beside an unknown one": (
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: 1\n    split_lengths: [-1, 3]\n'
    ),
    "a remainder of a known dimension in two feeds": (
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: -1\n    split_lengths: [2, -1]\n    feed: {{data: {{shape: [9, 8]}}}}\n'
    ),
    "a backward start before the first element and a stop behind it": (
        f"{SLICE}    matrix: {{stop: [9, 4, 3, 1, 0, -4]}}\n    start: [-9]\n    stop: ['${{{{ stop }}}}']\n    step: [-1]\n"
    ),
    "the same of no elements": (f"{SLICE.replace('[4]', '[0]')}    start: [-9]\n    stop: [5]\n    step: [-2]\n"),
    "a neighbour check whose axis is a node": (
        f"{SPLIT}    axis: 0\n    split_lengths: [1, 3]\n    context: shape-of\n".replace("[4, 8]", "[4, 1, 3]")
    ),
    "the neighbour check of computed pads": (
        f"{PAD}    pads_begin: [2, 0]\n    pads_end: [3, 1]\n    pad_mode: constant\n    context: shape-of\n"
    ),
}
INEXPRESSIBLE = {
    "a missing input that is an attribute": (
        f"{TRANSPOSE}    expect: {{reject: order.required}}\n",
        "ONNX's perm is an attribute, and may be omitted",
    ),
    "an attribute of another rank": (
        f"{TRANSPOSE}    input_order: {{shape: [1, 3], values: [0, 1, 2]}}\n    expect: {{reject: order.rank}}\n",
        "ONNX's perm is an attribute, and has no shape",
    ),
    "an attribute of another shape": (
        f"{GATHER}    indices: [0]\n    axis: {{shape: [2], values: [0, 0]}}\n    expect: {{reject: axis.shape}}\n",
        "ONNX's axis is an attribute, and has no shape",
    ),
    "an attribute of another type": (
        f"{COUNT}    axis: {{element_type: f32, values: 1}}\n    num_splits: 2\n    expect: {{reject: axis.element-type}}\n",
        "ONNX's axis is an attribute, and has no element type",
    ),
    "a missing part of a joined input": (
        f"{PAD}    pads_begin: [0, 0]\n    pad_mode: constant\n    expect: {{reject: pads_end.required}}\n",
        "ONNX's pads of both ends are one list",
    ),
    "an attribute that is another one in ONNX": (
        f"{RESHAPE.replace('false', '1')}    data: {{shape: [2]}}\n    shape: [2]\n    expect: {{reject: special_zero.spelling}}\n",
        "ONNX's allowzero is an integer, and may be omitted",
    ),
    "an uneven split of a later opset": (
        f"{COUNT}    axis: 1\n    num_splits: 3\n    expect: {{reject: num_splits.divides}}\n",
        "since opset 18, the last of ONNX's `num_outputs` outputs may be smaller",
    ),
    "a filled index that is out of range": (
        f"{GATHER}    indices: {{shape: [6], element_type: i64, fill: ramp}}\n    axis: 0\n",
        "in ONNX, an index that is out of range is an error",
    ),
    "a neighbour's index that is out of range": (
        f"{TRANSPOSE}    input_order: [2, 1, 0]\n" + THEN.format("Gather-8, indices: [4], axis: 0"),
        "in ONNX, an index that is out of range is an error",
    ),
    "a neighbour's remainder of an unknown dimension": (
        f'{TRANSPOSE}    dynamic: ["?", 3, 4]\n    input_order: [1, 2, 0]\n'
        + THEN.format("VariadicSplit-1, axis: 2, split_lengths: [-1, 1]"),
        "ONNX has no -1, and its value is not known when the model is built",
    ),
    "a neighbour of another type": (
        f"{TRANSPOSE}    input_order: [2, 1, 0]\n" + THEN.format("ShapeOf-3, output_type: i32"),
        "ONNX's Shape returns i64",
    ),
    "a remainder of an unknown dimension": (
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: 0\n    split_lengths: [-1, 3]\n',
        "ONNX has no -1, and its value is not known when the model is built",
    ),
    "a backward start before the first element and a stop before it": (
        f"{SLICE}    start: [-9]\n    stop: [-9]\n    step: [-1]\n",
        "ONNX clamps a start before the first element to it, and Python selects nothing",
    ),
    "indices of two types": (
        f"{SLICE}    start: {{element_type: i32, values: [1]}}\n    stop: [4]\n    step: [2]\n",
        "ONNX's indices have the same type",
    ),
    "indices of another type": (
        f"{SLICE}    start: {{element_type: u8, values: [1]}}\n    stop: [4]\n    step: [2]\n",
        "ONNX's Slice takes start of i32 or i64 only",
    ),
    "a last window that starts behind data": (
        f"{POOL}    strides: [2]\n    pads_begin: [1]\n    pads_end: [1]\n    kernel: [2]\n    rounding_type: ceil\n",
        "ONNX's opset 18 does not say whether a last window can start behind data",
    ),
    "a mask that leaves a query no key": (
        f"{ATTENTION}    attention_mask: {{element_type: boolean, shape: [2, 2], values: [0, 1, 0, 0]}}\n",
        "ONNX's result for a query without keys is 0",
    ),
    "lengths of half a byte that are converted": (
        f"{SPLIT}    context: convert\n    axis: {{element_type: i32, values: 0}}\n    split_lengths: {{element_type: u4, values: [1, 3]}}\n",
        "ONNX's Cast does not take u4",
    ),
}


@pytest.mark.parametrize("what", EXPRESSIBLE)
def test_what_onnx_can_express_is_rendered_and_returns_the_golden(tmp_path: Path, what: str) -> None:
    """The case, and its neighbour check if it has one."""
    for golden in goldens(tmp_path, EXPRESSIBLE[what]):
        check(golden, evaluated)


@pytest.mark.parametrize("what", INEXPRESSIBLE)
def test_what_onnx_cannot_express_is_left_out_with_a_true_reason(tmp_path: Path, what: str) -> None:
    """The neighbours of what it can."""
    spec, reason = INEXPRESSIBLE[what]
    [golden] = goldens(tmp_path, spec)
    with pytest.raises(Inexpressible) as left_out:
        DIALECTS["onnx"].files_of(golden, "it")

    assert left_out.value.reason == reason


@pytest.mark.parametrize("element_type", ["boolean", "string"])
@pytest.mark.parametrize(
    ("op", "keys", "node"),
    [
        ("Clamp-1", "min: 0.5, max: 2", ("Clip", ["data"])),
        (
            "MVN-6",
            "axes: [0], normalize_variance: true, eps: 0.5, eps_mode: inside_sqrt",
            ("LayerNormalization", ["data", "MVN_scale"]),
        ),
    ],
)
def test_a_wrong_element_type_of_data_is_rendered(
    tmp_path: Path, op: str, keys: str, node: tuple[str, list[str]], element_type: str
) -> None:
    """Also where other tensors of the model have the type of data; limits, which are numbers, are left out then."""
    group = f"{{id: it, title: t, data: {{shape: [2], element_type: {element_type}}}, {keys}"
    [golden] = goldens(tmp_path, f"op: {op}\ngroups:\n  - {group}, expect: {{reject: data.element-type}}}}\n")
    [content] = DIALECTS["onnx"].files_of(golden, "it").values()

    assert [(x.op_type, [*x.input]) for x in onnx.load_model_from_string(content).graph.node] == [node]
