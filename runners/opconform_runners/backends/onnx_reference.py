"""The backend `onnx-reference`: ONNX's checker with its shape inference, then its reference evaluator."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import checker, shape_inference
from onnx.reference import ReferenceEvaluator

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Implementation, Inputs, Outputs, Rejected
from opconform_runners.backends.onnx_split import CARRIED, MAPPED

_LONGEST = 400


class OnnxReference:
    """What the ONNX package itself makes of a model."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="onnx-reference",
            version=onnx.__version__,
            dialects=("onnx", "onnx13"),
            element_types=CARRIED,
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            mapped=MAPPED,
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> list[Outputs]:
        """The outputs of each feed.

        Raises:
            Rejected: The checker refuses the model (`build`), or the evaluator fails (`run`).
        """
        loaded = onnx.load(str(model))
        try:
            checker.check_model(loaded, full_check=True)
            evaluator = ReferenceEvaluator(loaded)
        except (checker.ValidationError, shape_inference.InferenceError) as fault:
            raise Rejected("build", _shortened(fault)) from fault
        outputs: list[Outputs] = []
        for feed in feeds:
            given = {name: _array(feed[name]) for name in evaluator.input_names}
            try:
                results = evaluator.run(None, given)
            except Exception as fault:  # the evaluator is plain Python over numpy, and raises whatever these raise
                raise Rejected("run", f"{type(fault).__name__}: {_shortened(fault)}") from fault
            outputs.append([_output(np.asarray(each), case.inputs[0].element_type) for each in results])
        return outputs


def _shortened(fault: Exception) -> str:
    return " ".join(str(fault).split())[:_LONGEST]


def _array(tensor: Tensor) -> Array:
    return tensor.array if tensor.type.kind == "string" else tensor.array.view(tensor.type.arithmetic)


def _output(array: Array, element_type: str) -> Tensor:
    kinds = [each for each in ELEMENT_TYPES.values() if each.native == array.dtype]
    kind = kinds[0] if kinds else ELEMENT_TYPES[element_type]
    if kind.storage.kind == "U":
        return Tensor(element_type=kind.name, array=array.astype(np.str_))
    return Tensor(element_type=kind.name, array=np.ascontiguousarray(array).view(kind.storage))
