"""The models of a spec's cases, and how those of ONNX are executed without a product."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import checker
from onnx.reference import ReferenceEvaluator

from opconform.dialects import DIALECTS
from opconform.generation.expansion import expand
from opconform.model.golden import Golden, golden_of, neighbour_check_of
from opconform.specs.loader import load_specs
from opconform.tensors.tensor import Array, Tensor

#: Loads the model of a case, and executes each of its inferences.
Loader = Callable[[Golden], Iterable[Sequence[Array]]]


def goldens(folder: Path, spec: str) -> Iterator[Golden]:
    """The cases of a spec."""
    (folder / "spec.yaml").write_text(spec)
    [loaded] = load_specs([folder / "spec.yaml"])
    return (golden_of(draft, seed=0) for group in loaded.groups for draft in expand(group))


def check(golden: Golden, load: Loader) -> None:
    """Check that a loader accepts the models of a case and of its neighbour check, and returns the goldens."""
    neighbour_check = neighbour_check_of(golden)
    with warnings.catch_warnings(action="ignore"):
        for model in (golden, *([] if neighbour_check is None else [neighbour_check])):
            for expected, outputs in zip(model.outputs, load(model), strict=True):
                compare(expected, outputs)


def evaluated(golden: Golden, dialect: str = "onnx") -> Iterator[Sequence[Array]]:
    """A model of ONNX, which its checker and shape inference accept, in its reference evaluator."""
    [content] = DIALECTS[dialect].files_of(golden, "it").values()
    model = onnx.load_model_from_string(content)
    checker.check_model(model, full_check=True)
    evaluator = ReferenceEvaluator(model)
    for inputs in golden.inputs:
        yield [*evaluator.run(None, {name: native(inputs[name]) for name in evaluator.input_names})]


def native(tensor: Tensor) -> Array:
    """The elements in the type that numpy or ml_dtypes has for them."""
    return tensor.array.view(tensor.type.arithmetic)


def compare(expected: Sequence[Tensor], outputs: Sequence[Array]) -> None:
    """Check that outputs are the golden ones, or within their bounds."""
    for tensor, actual in zip(expected, outputs, strict=True):
        if tensor.bounds is None:
            np.testing.assert_array_equal(actual, native(tensor), strict=True)
        else:
            assert (actual.dtype, actual.shape) == (native(tensor).dtype, tensor.shape)
            lower, upper = (x.view(tensor.type.arithmetic) for x in tensor.bounds)
            np.testing.assert_array_less(actual, np.nextafter(upper, np.inf))
            np.testing.assert_array_less(np.nextafter(lower, -np.inf), actual)
