"""Mutants of the operations that compute: the wrong implementations that the tests of their semantics have."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.operations import OPERATIONS
from opconform.operations.arithmetic.elementwise import elements_of, tensor_of
from opconform.operations.operation import Computation
from opconform.suite.manifest import Level
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import with_constraints
from opconform_runners.backends.numpy.backend import FUNCTIONS
from tests.mutants.every.readings import computing
from tests.mutants.row import Call, Hook, MutantRow, refuse
from tests.operations import (
    test_attention,
    test_batch_norm,
    test_binary,
    test_group_norm,
    test_pools,
    test_products,
    test_quantization,
    test_range,
    test_reductions,
    test_rounding,
    test_unary,
)

Function = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Tensor]]

_WIDE, _EXACT = "PaddlePaddle/Paddle#78943", "pytorch/pytorch#198183"
#: Per operation a public report of a wrong result; those of operations on integers and on zeros are reports of others.
_SEEN: Mapping[str, str] = {
    **dict.fromkeys(("AvgPool-1", "AvgPool-14"), "microsoft/onnxruntime#16203"),
    "Convolution-1": "microsoft/onnxscript#3037",
    "CumSum-3": "tensorflow/tensorflow#125978",
    "Divide-1": "ml-explore/mlx#4302",
    "Cos-1": _EXACT,
    "Elu-1": _EXACT,
    "Erf-1": _EXACT,
    "Exp-1": _EXACT,
    "FloorMod-1": "ml-explore/mlx#4302",
    "Gelu-7": "tenstorrent/tt-metal#56517",
    "Log-1": _EXACT,
    "GroupNormalization-12": "NVIDIA/TensorRT#4756",
    "LogSoftmax-5": "deeplearning4j/deeplearning4j#6039",
    "MVN-6": "VeriSilicon/TIM-VX#589",
    "Mish-4": _EXACT,
    "MatMul-1": "JuliaLang/julia#50580",
    **dict.fromkeys(("MaxPool-8", "MaxPool-14"), "pytorch/pytorch#57178"),
    "Power-1": "arrayfire/arrayfire#2304",
    "ReduceL1-4": "tensorflow/tensorflow#125978",
    "ReduceL2-4": "tensorflow/tensorflow#125978",
    "ReduceMax-1": "tenstorrent/tt-metal#44750",
    "ReduceMean-1": "tensorflow/tensorflow#125978",
    "ReduceMin-1": "tenstorrent/tt-metal#44750",
    "ReduceProd-1": "tensorflow/tensorflow#125978",
    "ReduceSum-1": "tensorflow/tensorflow#125978",
    "Sigmoid-1": _EXACT,
    "Sin-1": _EXACT,
    "SoftMax-8": "deeplearning4j/deeplearning4j#6039",
    "SoftPlus-4": _EXACT,
    "SoftSign-9": _EXACT,
    "Swish-4": _EXACT,
    "Tan-1": _EXACT,
    "Tanh-1": "root-project/root#19740",
    "TopK-11": "tensorflow/tensorflow#12003",
}
#: Those that only an interpretation rules out.
_OF_READINGS: Mapping[str, tuple[str, ...]] = {
    "Abs-1": ("the least integer saturates",),
    "Add-1": ("saturation", "denormals lost", "half away from even"),
    "Ceiling-1": ("positive zeros",),
    "BatchNormInference-5": ("computed in the narrow type", "computed in bf16"),
    "Clamp-1": ("a NaN becomes the lower limit",),
    "BitwiseRightShift-15": ("right shift without the sign", "right shift by division"),
    "Cos-1": ("few digits of pi", "integers lose their fractions"),
    "Convolution-1": ("the sum is accumulated in the narrow type", "the sum is accumulated in f32"),
    "Divide-1": ("floor always",),
    "GroupConvolution-1": ("the sum is accumulated in f32",),
    "FakeQuantize-1": (
        *("a NaN is below the range", "computed in the narrow type", "computed in bf16"),
        *("a half is added before codes are rounded down", "levels are those of 8 bits"),
    ),
    "GroupNormalization-12": ("computed in the narrow type", "computed in bf16"),
    "MVN-6": ("the sum is accumulated in f32",),
    "GreaterEqual-1": ("not less",),
    "LessEqual-1": ("not greater",),
    "Maximum-1": ("numbers before NaN", "second of two"),
    "Mod-1": ("positive zeros of remainders",),
    "Negative-1": ("the least integer saturates",),
    "NotEqual-1": ("less or greater",),
    "PReLU-1": ("the second formula",),
    "ScaledDotProductAttention-13": ("the sums are accumulated in the narrow type", "computed in bf16"),
    "ReLU-1": ("minus zero stays",),
    "Sin-1": ("few digits of pi", "integers lose their fractions"),
    "SoftPlus-4": ("the threshold is 5", "0 below -5"),
    "Tan-1": ("few digits of pi",),
}


def _of_elements(op: str, variant: test_unary.Variant) -> Function:
    """A function of the numbers of one tensor."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        [right] = FUNCTIONS[op](inputs, attributes)
        named = {port.name: x for port, x in zip(OPERATIONS[op].inputs, inputs, strict=False)}
        scalars = test_unary.scalars({name: x for name, x in named.items() if x is not None})
        results = np.asarray(variant(elements_of(inputs[0]), right.element_type, **attributes, **scalars))
        return [tensor_of(right.type, results.reshape(right.shape))]

    return call


def _of_inference(op: str, kernel: test_products.Kernel) -> Function:
    """A kernel of sums of products, which is right where there are no outputs."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
        [right] = FUNCTIONS[op](inputs, attributes)
        named = {port.name: x for port, x in zip(OPERATIONS[op].inputs, inputs, strict=False)}
        inference = test_products.Inference(case="", inputs=named, attributes=attributes, output=right)
        return [Tensor(element_type=right.element_type, array=kernel(inference))] if right.array.size else [right]

    return call


def _functions() -> Iterator[tuple[str, str, Function]]:
    """The wrong functions, with their operations and what is wrong; most are given attributes that are omitted."""
    for op, variants in test_unary.WRONG.items():
        yield from ((op, fault, _of_elements(op, variant)) for fault, variant in variants.items())
    for fault, (op, function) in test_binary.MUTANTS.items():
        yield op, fault, _with_defaults(op, function)
    for (op, fault), function in test_rounding.MUTANTS.items():
        yield op, fault, _with_defaults(op, function)
    for (op, fault), kernel in test_products.MUTANTS.items():
        yield op, fault, _with_defaults(op, _of_inference(op, kernel))
    for module in (test_attention, test_batch_norm, test_group_norm, test_quantization):
        for fault, kernel in module.MUTANTS.items():
            yield module.OP, fault, _with_defaults(module.OP, _of_inference(module.OP, kernel))
    for module in (test_reductions, test_pools, test_range):
        for fault, (made, ops) in module.MUTANTS.items():
            yield from ((op, fault, _with_defaults(op, made(op))) for op in ops)


def _with_defaults(op: str, function: Function) -> Function:
    return lambda inputs, attributes: function(inputs, OPERATIONS[op].arguments({}, attributes).attributes)


def _hook(op: str, function: Function) -> Hook:
    operation = OPERATIONS[op]
    [checked] = with_constraints({op: function}, [operation.declaration]).values()

    def hook(call: Call) -> Any:
        inputs = [call.inputs.get(port.name) for port in operation.inputs]
        while inputs[-1:] == [None]:
            inputs.pop()
        try:
            with np.errstate(all="ignore"):
                return checked(inputs, call.attributes)
        except (ValueError, IndexError, OverflowError) as error:
            return refuse(str(error))

    return hook


def _row(op: str, fault: str, hook: Hook) -> MutantRow:
    level: Level = "interpretation" if fault in _OF_READINGS.get(op, ()) else "normative"
    name = f"computes/{op}/{fault.replace(' ', '-').replace(',', '')}"
    return MutantRow(name, f"{op}: {fault}.", _SEEN.get(op, _WIDE), hook, level=level, ops=(op,))


#: What is right for all types but f64.
_RIGHT = "in f32"
ROWS: tuple[MutantRow, ...] = (
    *(_row(op, fault, _hook(op, function)) for op, fault, function in _functions()),
    *(
        _row(op, fault, computing(of))
        for op, x in OPERATIONS.items()
        if isinstance(x, Computation)
        for fault, of in x.mistakes.items()
        if not fault.endswith(_RIGHT)
    ),
)
