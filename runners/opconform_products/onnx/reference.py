"""The backend `onnx-reference`: ONNX's checker with its shape inference, then its reference evaluator."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import checker, shape_inference
from onnx.reference import ReferenceEvaluator

from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, full_names
from opconform_runners.backends.exceptions import short_message
from opconform_runners.backends.onnx_dialect import CARRIED, MAPPED

#: The element types by ONNX's numbers.
_ELEMENT_TYPES = {
    onnx.TensorProto.DataType.Value(element_type.onnx): element_type
    for element_type in ELEMENT_TYPES.values()
    if element_type.onnx
}


class OnnxReference:
    """The ONNX package's own checks and evaluation of a model."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="onnx-reference",
            version=onnx.__version__,
            dialects=("onnx",),
            element_types=CARRIED,
            dynamic=True,
            bindings=("constant", "parameter"),
            mapped=full_names(MAPPED),
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - the model suffices
        """The outputs of each feed."""
        loaded = onnx.load(str(model))
        try:
            checker.check_model(loaded, full_check=True)
            evaluator = ReferenceEvaluator(loaded)
        except (checker.ValidationError, shape_inference.InferenceError) as error:
            raise Rejected("build", short_message(error)) from error
        declared = [_ELEMENT_TYPES[x.type.tensor_type.elem_type] for x in loaded.graph.output]
        outputs: list[Outputs] = []
        for feed in feeds:
            tensors = {name: feed[name] for name in evaluator.input_names}
            inputs = {
                name: tensor.array if tensor.type.kind == "string" else tensor.array.view(tensor.type.arithmetic)
                for name, tensor in tensors.items()
            }
            try:
                results = evaluator.run(None, inputs)
            except Exception as error:  # the evaluator is Python over numpy, and raises any exception
                raise Rejected("run", f"{type(error).__name__}: {short_message(error)}") from error
            outputs.append([_output(np.asarray(result), kind) for result, kind in zip(results, declared, strict=True)])
        return outputs


def _output(array: Array, declared: ElementType) -> Tensor:
    kind = next(
        (element_type for element_type in ELEMENT_TYPES.values() if element_type.native == array.dtype), declared
    )
    if kind.storage.kind == "U":
        return Tensor(element_type=kind.name, array=array.astype(np.str_))
    return Tensor(element_type=kind.name, array=np.asarray(array, order="C").view(kind.storage))
