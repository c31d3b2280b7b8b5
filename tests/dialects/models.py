"""The models of a spec's cases, and the loaders that execute them."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import checker
from onnx.reference import ReferenceEvaluator

from opconform.dialects import DIALECTS
from opconform.generation.expansion import expand
from opconform.model.golden import Golden, golden_of, neighbour_check_of
from opconform.specs.loader import load_specs
from opconform.tensors.tensor import Array, Tensor


def goldens(folder: Path, spec: str) -> Iterator[Golden]:
    """The cases of a spec."""
    (folder / "spec.yaml").write_text(spec)
    [loaded] = load_specs([folder / "spec.yaml"])
    return (golden_of(draft, seed=0) for group in loaded.groups for draft in expand(group))


def check(golden: Golden, dialect: str) -> None:
    """Check that the loaders of a dialect accept the models of a case and of its neighbour check, and return the goldens."""
    neighbour_check = neighbour_check_of(golden)
    with warnings.catch_warnings(action="ignore"):
        for model in (golden, *([] if neighbour_check is None else [neighbour_check])):
            _check_onnx(model) if dialect == "onnx" else _check_openvino(model)


def _check_onnx(golden: Golden) -> None:
    """With ONNX's checker and its shape inference, ONNX Runtime and ONNX's reference evaluator."""
    [content] = DIALECTS["onnx"].files_of(golden, "it").values()
    model = onnx.load_model_from_string(content)
    checker.check_model(model, full_check=True)
    runtime, evaluator = pytest.importorskip("onnxruntime"), ReferenceEvaluator(model)
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [source.name for source in session.get_inputs()]
    for number, inputs in enumerate(golden.inputs):
        fed = {name: _typed(inputs[name]) for name in names}
        for run in (session.run, evaluator.run):
            _compare(golden, number, [*run(None, fed)])


def _check_openvino(golden: Golden) -> None:
    files = DIALECTS["openvino"].files_of(golden, "it")
    core, weights = openvino.Core(), np.frombuffer(files["openvino/model.bin"] or b"\0", np.uint8)
    model = core.read_model(files["openvino/model.xml"], openvino.Tensor(weights))
    compiled = core.compile_model(model, "CPU")
    for number, inputs in enumerate(golden.inputs):
        results = compiled({source.any_name: _typed(inputs[source.any_name]) for source in compiled.inputs})
        _compare(golden, number, [results[output] for output in compiled.outputs])


def _compare(golden: Golden, feed: int, outputs: list[Array]) -> None:
    for actual, expected in zip(outputs, golden.outputs[feed], strict=True):
        if expected.bounds is None:
            np.testing.assert_array_equal(actual, _typed(expected), strict=True)
        else:
            assert (actual.dtype, actual.shape) == (_typed(expected).dtype, expected.shape)
            lower, upper = (x.view(expected.type.arithmetic) for x in expected.bounds)
            np.testing.assert_array_less(actual, np.nextafter(upper, np.inf))
            np.testing.assert_array_less(np.nextafter(lower, -np.inf), actual)


def _typed(tensor: Tensor) -> Array:
    return tensor.array.view(tensor.type.arithmetic)
