"""Cases as graphs of one operation of TOSA, and the program that executes them in another environment."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import stretched
from opconform.operations.arithmetic.filters import windows_of
from opconform.tensors.exact import rounded
from opconform.tensors.tensor import Array, Tensor

VARIABLE = "OPCONFORM_PYTHON_TOSA"
PROGRAM = Path(__file__).with_name("tosa_program.py")
#: The floating-point types of TOSA, in which it has every operation here.
REALS = ("f32", "f16", "bf16")
#: The operations that it has for i32.
OF_I32 = (
    *(f"{x}-1" for x in ("Abs", "Negative", "Add", "Subtract", "Multiply", "Maximum", "Minimum", "Equal", "Less")),
    "ReduceSum-1",
    "ReduceMax-1",
    "ReduceMin-1",
    *(f"Bitwise{name}-13" for name in ("And", "Or", "Xor")),
)
#: In TOSA's `NanPropagationMode`.
PROPAGATE = 1


@dataclass(frozen=True, kw_only=True)
class Request:
    """A graph of one operation of TOSA; `zeros` are further inputs, such as shifts and zero points."""

    op: str
    attribute: str
    inputs: list[Tensor]
    shape: tuple[int, ...]
    output: str
    attributes: tuple[Any, ...] = ()
    zeros: tuple[tuple[str, tuple[int, ...]], ...] = ()
    restored: Callable[[Array], Array] = lambda array: array


def flat(tensor: Tensor) -> Tensor:
    """A tensor of rank 1, as elements do not depend on their places."""
    return Tensor(element_type=tensor.element_type, array=tensor.array.reshape(-1))


def elements(op: str, tensors: list[Tensor], **further: Any) -> Request:
    """A function of the elements of tensors of one shape."""
    shape, words = tensors[0].shape, op.title().replace("_", "")
    return Request(
        **{"op": op, "attribute": f"{words}Attribute", "output": tensors[0].element_type, **further},
        inputs=[*map(flat, tensors)],
        shape=(prod(shape),),
        restored=lambda array: array.reshape(shape),
    )


def unary(op: str, **further: Any) -> Callable[[Arguments], Request]:
    """The request of a function of one tensor."""
    return lambda arguments: elements(op, [arguments.tensor("data")], **further)


def binary(op: str, *, is_swapped: bool = False, **further: Any) -> Callable[[Arguments], Request]:
    """The request of a function of two tensors, which are broadcast before."""

    def request(arguments: Arguments) -> Request:
        tensors = [*stretched(arguments)]
        return elements(op, tensors[::-1] if is_swapped else tensors, **further)

    return request


def negative(arguments: Arguments) -> Request:
    """A negation, with two zero points."""
    data = arguments.tensor("data")
    return elements("NEGATE", [data], zeros=((data.element_type, (1,)),) * 2)


def clamp(arguments: Arguments) -> Request | None:
    """A clamp, whose limits are bytes of the type."""
    data = arguments.tensor("data")
    if data.type.kind != "float":
        return None
    limits = [rounded(data.type, np.array(float(str(arguments.attribute(name))))) for name in ("min", "max")]
    attributes = ("builder", *([*limit.tobytes()] for limit in limits), PROPAGATE)
    return elements("CLAMP", [data], attributes=attributes)


def reduction(op: str, *further: Any) -> Callable[[Arguments], Request | None]:
    """A reduction of one axis, whose dimension TOSA keeps."""

    def request(arguments: Arguments) -> Request | None:
        data, axes = arguments.tensor("data"), arguments.integers("axes")
        if len(axes) != 1:
            return None
        axis = axes[0] % len(data.shape)
        kept = tuple(1 if place == axis else size for place, size in enumerate(data.shape))
        keep = bool(arguments.attribute("keep_dims"))
        return Request(
            op=op,
            attribute=f"{op.title().replace('_', '')}Attribute",
            inputs=[data],
            shape=kept,
            output=data.element_type,
            attributes=(axis, *further),
            restored=lambda array: array if keep else array.squeeze(axis),
        )

    return request


def matmul(arguments: Arguments) -> Request:
    """A product of matrices in batches. Its output is f32, for which TOSA sums in f32."""
    left, right = (
        np.swapaxes(x, -1, -2) if arguments.attribute(f"transpose_{name}") is True and x.ndim > 1 else x
        for name in "ab"
        for x in (arguments.tensor(name).array,)
    )
    is_row, is_column = left.ndim == 1, right.ndim == 1
    left, right = left[None] if is_row else left, right[:, None] if is_column else right
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    shape = (*batch, *(() if is_row else left.shape[-2:-1]), *(() if is_column else right.shape[-1:]))
    kind = arguments.tensor("a").element_type
    matrices = [np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(prod(batch), *x.shape[-2:]) for x in (left, right)]
    return Request(
        op="MATMUL",
        attribute="MatMulAttribute",
        inputs=[Tensor(element_type=kind, array=np.ascontiguousarray(x)) for x in matrices],
        shape=(*matrices[0].shape[:2], matrices[1].shape[2]),
        output="f32",
        zeros=((kind, (1,)),) * 2,
        restored=lambda array: array.reshape(shape),
    )


def convolution(arguments: Arguments) -> Request | None:
    """A convolution of images, whose windows end at the last element."""
    data, filters = arguments.tensor("data"), arguments.tensor("filters")
    windows = windows_of(arguments)
    if len(windows) != 2 or any(x.room % x.stride for x in windows):
        return None
    pads = [number for window in windows for number in window.added]
    lists = ([window.stride for window in windows], [window.dilation for window in windows])
    zeros = ((data.element_type, (filters.shape[0],)), *((data.element_type, (1,)),) * 2)
    moved = [np.ascontiguousarray(np.moveaxis(x.array, 1, -1)) for x in (data, filters)]
    return Request(
        op="CONV2D",
        attribute="Conv2dAttribute",
        inputs=[Tensor(element_type=data.element_type, array=x) for x in moved],
        shape=(data.shape[0], *(x.number for x in windows), filters.shape[0]),
        output=data.element_type,
        attributes=(pads, *lists, False, "f32"),
        zeros=zeros,
        restored=lambda array: np.moveaxis(array, -1, 1),
    )


def depthwise_convolution(arguments: Arguments) -> Request | None:
    """A convolution of images of which each channel is a group."""
    filters = arguments.tensor("filters").array
    request = convolution(arguments)
    if request is None or filters.shape[0] != arguments.shape("data")[1]:
        return None
    channels, outputs = filters.shape[:2]
    weights = np.ascontiguousarray(np.transpose(filters[:, :, 0], (2, 3, 0, 1)))
    data, kind = request.inputs[0], request.output
    return replace(
        request,
        op="DEPTHWISE_CONV2D",
        attribute="DepthwiseConv2dAttribute",
        inputs=[data, Tensor(element_type=kind, array=weights)],
        shape=(*request.shape[:-1], channels * outputs),
        zeros=((kind, (channels * outputs,)), *request.zeros[1:]),
    )


REQUESTS: Mapping[str, Callable[[Arguments], Request | None]] = {
    **{f"{name.title()}-1": unary(name.upper()) for name in ("abs", "exp", "log", "tanh", "sigmoid", "erf")},
    "Negative-1": negative,
    "Clamp-1": clamp,
    "Add-1": binary("ADD"),
    "Subtract-1": binary("SUB"),
    "Multiply-1": binary("MUL", zeros=(("i8", (1,)),)),
    "Power-1": binary("POW"),
    "Maximum-1": binary("MAXIMUM", attributes=(PROPAGATE,)),
    "Minimum-1": binary("MINIMUM", attributes=(PROPAGATE,)),
    "Equal-1": binary("EQUAL", output="boolean"),
    "Greater-1": binary("GREATER", output="boolean"),
    "GreaterEqual-1": binary("GREATER_EQUAL", output="boolean"),
    "Less-1": binary("GREATER", is_swapped=True, output="boolean"),
    "LessEqual-1": binary("GREATER_EQUAL", is_swapped=True, output="boolean"),
    "LogicalAnd-1": binary("LOGICAL_AND"),
    "LogicalOr-1": binary("LOGICAL_OR"),
    "LogicalXor-1": binary("LOGICAL_XOR"),
    **{f"Bitwise{name}-13": binary(f"BITWISE_{name.upper()}") for name in ("And", "Or", "Xor")},
    "ReduceSum-1": reduction("REDUCE_SUM"),
    "ReduceProd-1": reduction("REDUCE_PRODUCT"),
    "ReduceMax-1": reduction("REDUCE_MAX", PROPAGATE),
    "ReduceMin-1": reduction("REDUCE_MIN", PROPAGATE),
    "ReduceLogicalAnd-1": reduction("REDUCE_ALL"),
    "ReduceLogicalOr-1": reduction("REDUCE_ANY"),
    "MatMul-1": matmul,
    "Convolution-1": convolution,
    "GroupConvolution-1": depthwise_convolution,
}


def run_program(folder: Path, arrays: Mapping[str, Array], **requests: Mapping[str, Any]) -> Any:
    """What the program gives: the outputs of graphs, and the verdicts of checks."""
    python = os.environ.get(VARIABLE) or pytest.skip(f"{VARIABLE} names no interpreter; .ci/ci-only makes one")
    (folder / "requests.json").write_text(json.dumps({"graphs": {}, "checks": {}} | requests))
    named: dict[str, Any] = {**arrays}
    np.savez(folder / "arrays.npz", **named)
    done = subprocess.run([python, PROGRAM, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "outputs.npz"), json.loads((folder / "accepted.json").read_text())
