"""Models of older opsets of ONNX: they compute what those of the default one do, or are left out with a true reason."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import onnx
import pytest

from opconform.dialects import DIALECTS, Inexpressible
from opconform.model.golden import Golden
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Array
from tests.conftest import Run
from tests.dialects.models import check, evaluated, goldens, native

OPSETS = {"onnx-13": 13, "onnx-17": 17}
#: A case of each operation that an older opset writes otherwise.
SPECS = {
    "ReduceMean-1": "data: {shape: [2, 3, 4], fill: small}, axes: [1, -1], keep_dims: true",
    "ReduceMax-1": "data: {shape: [2, 3, 4], element_type: u8}, axes: [0], keep_dims: false",
    "ReduceMin-1": "data: {shape: [2, 3, 4], element_type: i8}, axes: [1]",
    "ReduceL1-4": "data: {shape: [2, 3], fill: small}, axes: [0], keep_dims: true",
    "ReduceL2-4": "data: {shape: [2, 1], fill: small}, axes: [1]",
    "ReduceProd-1": "data: {shape: [2, 3], element_type: i32}, axes: [1], keep_dims: false",
    "ReduceSum-1": "data: {shape: [2, 3], fill: small}, axes: [1], keep_dims: false, binding: {axes: parameter}",
    "Split-1": "data: {shape: [2, 6]}, axis: 1, num_splits: 3",
    "VariadicSplit-1": "data: {shape: [2, 6]}, axis: 1, split_lengths: [1, -1]",
    "Reshape-1": "data: {shape: [2, 6]}, shape: [0, 3, -1], special_zero: true",
    "Squeeze-1": "data: {shape: [1, 6]}, axes: [0]",
    "Unsqueeze-1": "data: {shape: [6]}, axes: [0]",
    "Pad-12": "data: {shape: [2, 3]}, pads_begin: [1, 0], pads_end: [0, 2], pad_mode: reflect",
    "ScatterNDUpdate-3": "data: {shape: [4]}, indices: [[1], [3]], updates: {shape: [2]}",
}
#: What an opset cannot express, and why.
INEXPRESSIBLE = [
    (
        *("onnx-17", "ReduceMean-1", "data: {shape: [2]}, axes: [0], keep_dims: false, binding: {axes: parameter}"),
        "ONNX's axes are an attribute in opset 17, and cannot be supplied at run time",
    ),
    (
        *("onnx-17", "ReduceMax-1", "data: {shape: [2]}, axes: {shape: [0], values: []}, keep_dims: false"),
        "in opset 17, an empty list of axes is all dimensions",
    ),
    (
        *("onnx-13", "Reshape-1", "data: {shape: [0, 2]}, shape: [2, 0], special_zero: false"),
        "in opset 13, a size of 0 copies a dimension",
    ),
    (
        *("onnx-13", "MVN-6", "data: {shape: [2, 3]}, axes: [1], normalize_variance: true, eps: 1e-5"),
        "ONNX has no LayerNormalization in opset 13",
    ),
    (
        *("onnx-17", "Split-1", "data: {shape: [4]}, axis: 0, num_splits: -1, expect: {reject: num_splits.positive}"),
        "ONNX's Split has no num_outputs in opset 17",
    ),
    (
        *("onnx-13", "Add-1", "a: {shape: [2], element_type: i8}, b: {shape: [2], element_type: i8}"),
        "ONNX's Add does not take i8 in opset 13",
    ),
    (
        "onnx-17",
        "ScatterElementsUpdate-12",
        "data: {shape: [2]}, indices: [0], updates: {shape: [1]}, axis: 0, reduction: min",
        "ONNX's ScatterElements has no reduction min in opset 17",
    ),
]


def _spec(op: str, keys: str) -> str:
    eps = ", eps_mode: inside_sqrt" if op == "MVN-6" else ""
    return f"op: {op}\ngroups:\n  - {{id: it, title: t, {keys}{eps}}}\n"


def _of_onnxruntime(golden: Golden, dialect: str) -> Iterator[Sequence[Array]]:
    onnxruntime = pytest.importorskip("onnxruntime")
    [content] = DIALECTS[dialect].files_of(golden, "it").values()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    for inputs in golden.inputs:
        yield session.run(None, {source.name: native(inputs[source.name]) for source in session.get_inputs()})


@pytest.mark.parametrize("dialect", OPSETS)
@pytest.mark.parametrize("op", SPECS)
def test_a_model_of_an_older_opset_returns_the_golden(tmp_path: Path, op: str, dialect: str) -> None:
    """The checker accepts it, and the reference evaluator and ONNX Runtime compute it."""
    [golden] = goldens(tmp_path, _spec(op, SPECS[op]))
    [content] = DIALECTS[dialect].files_of(golden, "it").values()

    assert onnx.load_model_from_string(content).opset_import[0].version == OPSETS[dialect]
    check(golden, partial(evaluated, dialect=dialect))
    check(golden, partial(_of_onnxruntime, dialect=dialect))


@pytest.mark.parametrize(("dialect", "op", "keys", "reason"), INEXPRESSIBLE)
def test_what_an_older_opset_lacks_is_left_out_with_its_reason(
    tmp_path: Path, dialect: str, op: str, keys: str, reason: str
) -> None:
    """Opset 18 has it."""
    [golden] = goldens(tmp_path, _spec(op, keys))
    with pytest.raises(Inexpressible) as left_out:
        DIALECTS[dialect].files_of(golden, "it")

    assert left_out.value.reason == reason
    assert DIALECTS["onnx"].files_of(golden, "it")


def test_a_backend_that_reads_onnx_reads_an_older_opset(opconform: Run, tmp_path: Path) -> None:
    """Also in packs; `onnx:13` names the dialect, too."""
    (tmp_path / "spec.yaml").write_text(
        "op: Split-1\ngroups:\n  - {id: it, title: t, matrix: {size: [2, 4, 6]}, requirements: [outputs.order],\n"
        '     data: {shape: [2, "${{ size }}"]}, axis: 1, num_splits: 2}\n'
    )
    opconform("generate", tmp_path / "spec.yaml", "--dialect", "onnx:13", "--out", tmp_path / "suite")
    opconform("run", tmp_path / "suite", "openvino-onnx", "--out", tmp_path / "out", code=None)
    results = (tmp_path / "out" / "results.jsonl").read_text()

    assert open_suite(tmp_path / "suite").header.dialects == {"onnx-13": "onnx-13/model.onnx"}
    assert results.count('"verdict":"pass"') == 3
    assert '"pack":"counted"' in results
