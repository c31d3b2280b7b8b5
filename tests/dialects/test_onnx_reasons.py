"""What ONNX can express is rendered: ONNX Runtime loads each of these models and returns the golden."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import checker

from opconform.dialects import DIALECTS, Inexpressible
from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import Golden, control_of, golden_of
from opconform.specs.loader import load_specs

SPLIT = "op: VariadicSplit-1\ngroups:\n  - id: it\n    title: t\n    data: {shape: [4, 8]}\n"
SLICE = "op: Slice-8\ngroups:\n  - id: it\n    title: t\n    data: {shape: [4]}\n"
RESHAPE = "op: Reshape-1\ngroups:\n  - id: it\n    title: t\n    special_zero: false\n"
PAD = "op: Pad-12\ngroups:\n  - id: it\n    title: t\n    data: {shape: [2, 3]}\n"

EXPRESSIBLE = {
    "a remainder of a known dimension beside an unknown one": (
        "onnx",
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: 1\n    split_lengths: [-1, 3]\n',
    ),
    "a remainder of a known dimension in two feeds": (
        "onnx13",
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: -1\n    split_lengths: [2, -1]\n    feed: {{data: {{shape: [9, 8]}}}}\n',
    ),
    "a backward start before the first element and a stop behind it": (
        "onnx",
        f"{SLICE}    matrix: {{stop: [9, 4, 3, 1, 0, -4]}}\n    start: [-9]\n    stop: ['${{{{ stop }}}}']\n    step: [-1]\n",
    ),
    "the same of no elements": (
        "onnx",
        f"{SLICE.replace('[4]', '[0]')}    start: [-9]\n    stop: [5]\n    step: [-2]\n",
    ),
    "a 0 at a dimension of 0": (
        "onnx13",
        f"{RESHAPE}    data: {{shape: [2, 0, 3]}}\n    shape: [7, 0, 2]\n",
    ),
    "a control whose axis is a node": (
        "onnx",
        f"{SPLIT}    axis: 0\n    split_lengths: [1, 3]\n    context: shape-of\n".replace("[4, 8]", "[4, 1, 3]"),
    ),
    "the control of computed pads": (
        "onnx",
        f"{PAD}    pads_begin: [2, 0]\n    pads_end: [3, 1]\n    pad_mode: constant\n    context: shape-of\n",
    ),
}
INEXPRESSIBLE = {
    "a remainder of an unknown dimension": (
        "onnx",
        f'{SPLIT}    dynamic: ["?", 8]\n    axis: 0\n    split_lengths: [-1, 3]\n',
        "ONNX has no -1, and its value is not known when the model is built",
    ),
    "a backward start before the first element and a stop before it": (
        "onnx",
        f"{SLICE}    start: [-9]\n    stop: [-9]\n    step: [-1]\n",
        "ONNX clamps a start before the first element to it, and Python selects nothing",
    ),
    "indices of two types": (
        "onnx",
        f"{SLICE}    start: {{element_type: i32, values: [1]}}\n    stop: [4]\n    step: [2]\n",
        "ONNX's indices have the same type",
    ),
    "indices of another type": (
        "onnx",
        f"{SLICE}    start: {{element_type: u8, values: [1]}}\n    stop: [4]\n    step: [2]\n",
        "ONNX's indices are i32 or i64",
    ),
    "lengths of half a byte that are converted": (
        "onnx",
        f"{SPLIT}    context: convert\n    axis: 0\n    split_lengths: {{element_type: u4, values: [1, 3]}}\n",
        "ONNX's Cast does not take u4",
    ),
    "a 0 at another dimension": (
        "onnx13",
        f"{RESHAPE}    data: {{shape: [2, 0]}}\n    shape: [0, 2]\n",
        "before opset 14, a 0 always copies a dimension",
    ),
    "a 0 at an unknown dimension": (
        "onnx13",
        f'{RESHAPE}    data: {{shape: [2, 0]}}\n    dynamic: [2, "?"]\n    shape: [7, 0]\n',
        "before opset 14, a 0 always copies a dimension",
    ),
}


def drafts(folder: Path, spec: str) -> Iterator[Draft]:
    """The cases of a spec."""
    (folder / "spec.yaml").write_text(spec)
    [loaded] = load_specs([folder / "spec.yaml"])
    return expand(loaded.groups[0])


def check_runs(golden: Golden, dialect: str) -> None:
    """Check that a case's model is valid, and that ONNX Runtime returns its golden for each feed."""
    runtime = pytest.importorskip("onnxruntime")
    [content] = DIALECTS[dialect].files_of(golden, "it").values()
    checker.check_model(onnx.load_model_from_string(content), full_check=True)
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    for inputs, outputs in zip(golden.inputs, golden.outputs, strict=True):
        found = session.run(None, {name: _typed(inputs[name]) for name in names})
        assert [each.shape for each in found] == [each.shape for each in outputs]
        for actual, expected in zip(found, outputs, strict=True):
            np.testing.assert_array_equal(actual, _typed(expected), strict=True)


def _typed(tensor: object) -> np.ndarray:
    from opconform.tensors.tensor import Tensor

    assert isinstance(tensor, Tensor)
    dtype = {"f32": np.float32, "i64": np.int64, "i32": np.int32}[tensor.element_type]
    return tensor.array.view(dtype)


@pytest.mark.parametrize("what", EXPRESSIBLE)
def test_what_onnx_can_express_is_rendered_and_returns_the_golden(tmp_path: Path, what: str) -> None:
    """The case, and its control if it has one."""
    dialect, spec = EXPRESSIBLE[what]
    for each in drafts(tmp_path, spec):
        golden = golden_of(each, seed=0)
        control = control_of(golden)
        with warnings.catch_warnings(action="ignore"):
            check_runs(golden, dialect)
            if control is not None:
                check_runs(control, dialect)


@pytest.mark.parametrize("what", INEXPRESSIBLE)
def test_what_onnx_cannot_express_is_left_out_with_a_true_reason(tmp_path: Path, what: str) -> None:
    """The neighbours of what it can."""
    dialect, spec, reason = INEXPRESSIBLE[what]
    [draft] = drafts(tmp_path, spec)
    with pytest.raises(Inexpressible) as left_out:
        DIALECTS[dialect].files_of(golden_of(draft, seed=0), "it")

    assert left_out.value.reason == reason
