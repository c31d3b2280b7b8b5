"""The `tvm` backend: Apache TVM reads the rendered ONNX model, compiles it with LLVM and executes it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from opconform.errors import UsageError
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, full_names
from opconform_runners.backends.exceptions import Translation
from opconform_runners.backends.onnx_dialect import CARRIED, MAPPED

#: The target of each device.
_TARGETS = {"CPU": "llvm"}

#: The element types that TVM carries, of those that ONNX's operators take.
_CARRIED = tuple(x for x in CARRIED if x != "string")

_NAMES = {str(ELEMENT_TYPES[x].native): x for x in _CARRIED}

_TRANSLATION = Translation(
    not_implemented=re.compile(r"not (yet )?supported|unknown dtype|only (applies to|support)|sorted must be"),
    # the exceptions of TVM's checks, and of its Python frontend where it has no checks
    errors=(ValueError, TypeError, RuntimeError, KeyError, IndexError, AttributeError, AssertionError),
    noise=re.compile(r"In ir\.Op\(.*?support_level=\d+\), "),
)

#: The operations that ONNX has, except `Col2Im` and `ReverseSequence`, which the frontend does not read.
_OPERATIONS = """
    Abs-1 Add-1 AvgPool-1 AvgPool-14 BatchNormInference-5 BitwiseAnd-13 BitwiseLeftShift-15 BitwiseNot-13
    BitwiseOr-13 BitwiseRightShift-15 BitwiseXor-13 Broadcast-1 Broadcast-3 Ceiling-1 Clamp-1 Concat-1
    Convert-1 ConvertLike-1 Convolution-1 Cos-1 CumSum-3 DepthToSpace-1 Divide-1 Elu-1 Equal-1 Erf-1 Exp-1
    Floor-1 FloorMod-1 Gather-1 Gather-7 Gather-8 GatherElements-6 GatherND-5 GatherND-8 Greater-1
    GreaterEqual-1 GroupConvolution-1 HSwish-4 HardSigmoid-1 IsInf-10 IsNaN-10 Less-1 LessEqual-1 Log-1
    LogSoftmax-5 LogicalAnd-1 LogicalNot-1 LogicalOr-1 LogicalXor-1 MVN-6 MatMul-1 Maximum-1 Minimum-1 Mish-4
    Mod-1 Multiply-1 Negative-1 NonZero-3 PReLU-1 Pad-1 Pad-12 Power-1 Range-4 ReLU-1 ReduceL1-4 ReduceL2-4
    ReduceMax-1 ReduceMean-1 ReduceMin-1 ReduceProd-1 ReduceSum-1 Reshape-1 Round-5 ScatterElementsUpdate-12
    ScatterElementsUpdate-3 ScatterNDUpdate-15 ScatterNDUpdate-3 Select-1 ShapeOf-1 ShapeOf-3 Sigmoid-1 Sign-1
    Sin-1 Slice-8 SoftMax-8 SoftPlus-4 SoftSign-9 SpaceToDepth-1 Split-1 Sqrt-1 Squeeze-1 Squeeze-15
    Subtract-1 Tan-1 Tanh-1 Tile-1 TopK-11 Transpose-1 Unique-10 Unsqueeze-1 VariadicSplit-1
"""

_ENTRY = "main"


class Tvm:
    """TVM's ONNX frontend, its compiler and its virtual machine, with their default settings."""

    def __init__(self, device: str = "CPU") -> None:
        if device not in _TARGETS:
            raise UsageError(f"The backend tvm has no device {device!r}. Allowed: {', '.join(_TARGETS)}.")
        self._name = device
        self._target = tvm.target.Target(_TARGETS[device])
        self._device = tvm.cpu()

    def describe(self) -> Implementation:
        """What the backend is and can do, as measured on the CPU."""
        return Implementation(
            name="tvm",
            version=str(tvm.__version__),
            device=self._name,
            dialects=("onnx",),
            element_types=_CARRIED,
            operations=tuple(_OPERATIONS.split()),
            dynamic=True,
            bindings=("constant",),
            mapped=full_names(MAPPED),
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - the model suffices
        """The outputs of each feed, all on one compiled module."""
        proto = onnx.load(str(model))
        with _TRANSLATION.at("build"):
            module = from_onnx(proto)
            names = [parameter.name for parameter in module[_ENTRY].params]
            machine = relax.VirtualMachine(tvm.compile(module, self._target), self._device)
        outputs: list[Outputs] = []
        for feed in feeds:
            arguments = [self._given(feed[name]) for name in names]
            with _TRANSLATION.at("run"):
                results = machine[_ENTRY](*arguments)
                values = [results] if isinstance(results, tvm.runtime.Tensor | tvm.runtime.ShapeTuple) else results
                arrays = [_array(value) for value in values]  # fails for a negative dimension
            names_of = ((_NAMES[dtype], array) for dtype, array in arrays)
            outputs.append(
                [Tensor(element_type=x, array=array.view(ELEMENT_TYPES[x].storage)) for x, array in names_of]
            )
        return outputs

    def _given(self, tensor: Tensor) -> tvm.runtime.Tensor:
        return tvm.runtime.tensor(tensor.array.view(tensor.type.arithmetic), self._device)


def _array(value: Any) -> tuple[str, Array]:
    """The element type and the elements of an output; ONNX's `Shape` becomes a tuple of integers."""
    if isinstance(value, tvm.runtime.ShapeTuple):
        return "int64", np.array([*value], np.int64)
    return str(value.dtype), value.numpy()
