"""The backend `openvino-reference`: OpenVINO's own evaluation of a model, without a plugin."""

import re
from collections.abc import Sequence
from pathlib import Path

from opconform.suite.declarations import DeclaredCase
from opconform_products.openvino.backend import (
    NAMED,
    check_types,
    output_of,
    tensor_of,
    translated,
    type_of,
    version,
)
from opconform_products.openvino.runtime import ov, read_model
from opconform_runners.backends.backend import Implementation, Inputs, Outputs

#: The operations that OpenVINO evaluates for no element type; a failed evaluation of another one is a rejection.
_NOT_EVALUATED = frozenset(
    {
        "AvgPool-1",
        "AvgPool-14",
        "BatchNormInference-5",
        "Col2Im-15",
        "ConvertLike-1",
        "Convolution-1",
        "Elu-1",
        "ExtractImagePatches-3",
        "GatherElements-6",
        "GatherND-5",
        "GatherND-8",
        "GatherTree-1",
        "GroupConvolution-1",
        "GroupNormalization-12",
        "LogSoftmax-5",
        "ReverseSequence-1",
        "Roll-7",
        "ScaledDotProductAttention-13",
        "SliceScatter-15",
        "StringTensorPack-15",
        "StringTensorUnpack-15",
        "Unique-10",
    }
)
#: The operations that OpenVINO evaluates for some element types.
_NOT_EVERY_TYPE = frozenset(
    {
        "Abs-1",
        "Add-1",
        "BitwiseAnd-13",
        "BitwiseLeftShift-15",
        "BitwiseOr-13",
        "BitwiseRightShift-15",
        "BitwiseXor-13",
        "Ceiling-1",
        "BitwiseNot-13",
        "Clamp-1",
        "Cos-1",
        "CumSum-3",
        "Divide-1",
        "Equal-1",
        "Erf-1",
        "Exp-1",
        "Floor-1",
        "FakeQuantize-1",
        "FloorMod-1",
        "Gelu-7",
        "Greater-1",
        "GreaterEqual-1",
        "HSigmoid-5",
        "HSwish-4",
        "HardSigmoid-1",
        "IsFinite-10",
        "IsInf-10",
        "IsNaN-10",
        "Less-1",
        "LessEqual-1",
        "Log-1",
        "LogicalOr-1",
        "LogicalXor-1",
        "LogicalNot-1",
        "MVN-6",
        "MatMul-1",
        "MaxPool-14",
        "MaxPool-8",
        "Maximum-1",
        "Minimum-1",
        "Mod-1",
        "Mish-4",
        "Multiply-1",
        "Negative-1",
        "NonZero-3",
        "NotEqual-1",
        "PReLU-1",
        "Power-1",
        "ReLU-1",
        "ReduceL1-4",
        "ReduceL2-4",
        "ReduceMax-1",
        "ReduceMean-1",
        "ReduceMin-1",
        "ReduceProd-1",
        "ReduceSum-1",
        "Round-5",
        "Select-1",
        "Sigmoid-1",
        "Sin-1",
        "Sign-1",
        "SoftMax-8",
        "SoftPlus-4",
        "SoftSign-9",
        "Sqrt-1",
        "SquaredDifference-1",
        "Subtract-1",
        "Swish-4",
        "Tan-1",
        "Tanh-1",
        "TopK-11",
    }
)
#: In the message of a failed evaluation: the operation, without its version.
_FAILED = re.compile(r"Evaluation failed on opset\d+::(\w+)")


class OpenVINOReference:
    """`Model.evaluate`, which constant folding also uses, with the plugins' shape inference."""

    def __init__(self) -> None:
        self._core = ov.Core()

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="openvino-reference",
            version=version(),
            dialects=("openvino",),
            element_types=NAMED,
            dynamic=True,
            bindings=("constant", "parameter"),
        )

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> list[Outputs]:
        """The outputs of each feed, all of one model."""
        with translated(case, "build"):
            read = read_model(self._core, model)
        check_types(read.outputs)
        outputs: list[Outputs] = []
        for feed in feeds:
            inputs = [tensor_of(feed[port.any_name]) for port in read.inputs]
            results = [_space(port, case) for port in read.outputs]
            with translated(case, "run"):
                _evaluate(case, read, results, inputs)
            outputs.append([output_of(result) for result in results])
        return outputs


def _evaluate(case: DeclaredCase, model: ov.Model, results: Sequence[ov.Tensor], inputs: Sequence[ov.Tensor]) -> None:
    try:
        is_evaluated = model.evaluate(results, inputs)
    except RuntimeError as error:
        if (failed := _FAILED.search(str(error))) is not None and (why := _gap(case, failed[1])) is not None:
            raise NotImplementedError(f"Not Implemented: OpenVINO does not evaluate {why}") from error
        raise
    if not is_evaluated:
        raise NotImplementedError("Not Implemented: Model.evaluate returned false")


def _gap(case: DeclaredCase, failed: str) -> str | None:
    """What OpenVINO does not evaluate, if the failed evaluation of an operation is not a rejection."""
    if (other := next((name for name in _NOT_EVALUATED if name.rpartition("-")[0] == failed), None)) is not None:
        return other
    ops = [node.op for node in case.graph.nodes] if case.tests_graph else [case.op]
    for op in ops:
        if op in _NOT_EVERY_TYPE:
            return f"{op} of this element type"
    return next((op for op in ops if op in _NOT_EVALUATED), None)


def _space(port: ov.Output, case: DeclaredCase) -> ov.Tensor:
    """An output for the evaluation to resize; if the model has no static type, of the first tensor input's type."""
    if port.element_type.is_static():
        return ov.Tensor(port.element_type, ov.Shape([0]))
    types = [input_.element_type for input_ in case.inputs if input_.role == "data"] or ["f32"]
    return ov.Tensor(type_of(types[0]), ov.Shape([0]))
