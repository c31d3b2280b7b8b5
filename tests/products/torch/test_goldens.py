"""PyTorch as an oracle of goldens, for operations whose other oracles are in `tests/operations`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Operand
from opconform.operations.arithmetic.broadcasting import stretched
from opconform.tensors.rounding import numbers_of
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Unsupported
from tests.operations import test_binary, test_pools, test_reductions
from tests.operations.test_products import Inference, inferences, is_right

pytestmark = [pytest.mark.ci_only, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

#: PyTorch's functions for operations without rounded results.
BINARY: Mapping[str, str] = {
    "BitwiseAnd-13": "bitwise_and",
    "BitwiseLeftShift-15": "bitwise_left_shift",
    "BitwiseOr-13": "bitwise_or",
    "BitwiseRightShift-15": "bitwise_right_shift",
    "BitwiseXor-13": "bitwise_xor",
    "Greater-1": "gt",
    "GreaterEqual-1": "ge",
    "LessEqual-1": "le",
    "LogicalOr-1": "logical_or",
    "LogicalXor-1": "logical_xor",
    "NotEqual-1": "ne",
}
#: The types for which PyTorch has these functions.
TYPES = ("boolean", *test_binary.FLOATS, "i8", "i16", "i32", "i64", "u8")
#: The inputs of BatchNormInference-5 and of FakeQuantize-1.
CHANNELS = ("data", "gamma", "beta", "mean", "variance")
LIMITED = ("x", "input_low", "input_high", "output_low", "output_high")


@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_tensors_agree_on_the_core(op: str) -> None:
    """On every valid case of the operation alone."""
    import torch

    names = {"bf16": "bfloat16", "boolean": "bool", "u8": "uint8", **{f"f{n}": f"float{n}" for n in (16, 32, 64)}}
    names |= {f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}
    count = 0
    for golden in test_binary.goldens(op):
        inputs = golden.inputs[0]
        if golden.draft.rejected_for is not None or inputs["a"].element_type not in TYPES:
            continue
        operands = {name: Operand(element_type=x.element_type, shape=x.shape, tensor=x) for name, x in inputs.items()}
        pair = stretched(OPERATIONS[op].arguments(operands, golden.draft.attributes))
        kind = getattr(torch, names[pair[0].element_type])
        first, second = (torch.frombuffer(bytearray(x.array.tobytes()), dtype=kind).reshape(x.shape) for x in pair)
        [wanted] = golden.outputs[0]
        actual = getattr(torch, BINARY[op])(first, second)
        stored_bits = actual if actual.dtype == torch.bool else actual.view(getattr(torch, f"int{wanted.type.bits}"))
        assert test_binary.same(wanted, stored_bits.numpy().view(wanted.array.dtype)), golden.draft.id
        count += 1
    assert count > 5


def test_normalization_of_batches_is_within_the_bounds() -> None:
    """BatchNormInference-5 in f32 and f64."""
    import torch

    compared = 0
    for inference in inferences("BatchNormInference-5"):
        if inference.kind.name not in ("f32", "f64") or not inference.output.array.size:
            continue
        data, *channels = (torch.from_numpy(inference.inputs[x].array.copy()) for x in CHANNELS)
        gamma, beta, mean, variance = channels
        eps = inference.attributes["epsilon"]
        actual = torch.nn.functional.batch_norm(data, mean, variance, gamma, beta, eps=eps).numpy()
        assert is_right(inference, actual), inference.case
        compared += 1

    assert compared > 20


def test_normalization_of_groups_is_within_the_bounds() -> None:
    """GroupNormalization-12 in f32 and f64; PyTorch refuses groups of one element."""
    import torch

    compared = 0
    for inference in inferences("GroupNormalization-12"):
        data = inference.inputs["data"].array
        groups, eps = inference.attributes["num_groups"], inference.attributes["epsilon"]
        is_single = prod(data.shape[1:]) == groups
        if inference.kind.name not in ("f32", "f64") or not inference.output.array.size or is_single:
            continue
        tensors = [torch.from_numpy(inference.inputs[x].array.copy()) for x in ("data", "scale", "bias")]
        actual = torch.nn.functional.group_norm(tensors[0], groups, *tensors[1:], eps=eps).numpy()
        assert is_right(inference, actual), inference.case
        compared += 1

    assert compared > 20


def test_ranges_are_those_of_pytorch() -> None:
    """Range-4 of integers, and of floating-point numbers within their bounds; PyTorch refuses empty ones downwards."""
    import torch

    kinds = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
    compared = 0
    for golden in test_reductions.goldens("Range-4"):
        output, kind = golden.outputs[0][0], golden.draft.attributes["output_type"]
        settings = [numbers_of(golden.inputs[0][name])[0] for name in ("start", "stop", "step")]
        is_huge = any(abs(x) > 1 << 53 for x in settings)
        if kind not in kinds or not output.array.size or is_huge or "fractions.cast" in golden.draft.requirements:
            continue
        actual = torch.arange(*settings, dtype=kinds[str(kind)]).numpy()
        assert test_reductions.is_right(golden, [Tensor(element_type=str(kind), array=actual)]), golden.draft.id
        compared += 1
    assert compared > 20


@pytest.mark.parametrize(("scale", "zero", "levels"), [(0.25, 3, 16), (0.1, 128, 256), (3.0, 0, 5)])
def test_quantization_is_within_the_bounds(scale: float, zero: int, levels: int) -> None:
    """Its function of FakeQuantize-1 has the same ranges of inputs and outputs, and 0 as a level."""
    import torch

    x = np.linspace(-20, 20, 257, dtype=np.float32)
    low, high = (np.float32(np.float32(scale) * code) for code in (-zero, levels - 1 - zero))
    tensors = dict(zip(LIMITED, map(np.asarray, (x, low, high, low, high)), strict=True))
    operands = {
        name: Operand(element_type="f32", shape=x.shape, tensor=Tensor(element_type="f32", array=x))
        for name, x in tensors.items()
    }
    operation = OPERATIONS["FakeQuantize-1"]
    [golden] = operation.evaluate(operation.arguments(operands, {"levels": levels}))
    actual = torch.fake_quantize_per_tensor_affine(torch.from_numpy(x), scale, zero, 0, levels - 1).numpy()

    assert is_right(Inference(case="torch", inputs={}, attributes={}, output=golden), actual)


def means(
    data: Tensor,
    pads: Sequence[tuple[int, int]] | None,
    shape: Sequence[int],
    *,
    is_ceil: bool,
    attributes: Mapping[str, Any],
) -> list[Tensor]:
    """The means of PyTorch's windows; `Unsupported` for padding that it does not have."""
    import torch

    if pads is None or not data.type.kind == "float":
        raise Unsupported("PyTorch pads both ends alike, by half of a window at most, and has no means of integers")
    kernel, strides = attributes["kernel"], attributes["strides"]
    of_rank = getattr(torch.nn.functional, f"avg_pool{len(kernel)}d")
    found = of_rank(
        torch.from_numpy(data.array), kernel, strides, [x for x, _ in pads], is_ceil, not attributes["exclude_pad"]
    )
    if attributes["rounding_type"] == "ceil" and found.shape != shape:
        raise Unsupported("PyTorch leaves out a last window that starts behind data")
    return [replace(data, array=found.numpy())]


def test_attention_is_within_the_bounds() -> None:
    """ScaledDotProductAttention-13 in f32 and f64, but for queries without keys, whose shares are zeros in PyTorch."""
    import torch

    compared = 0
    for inference in inferences("ScaledDotProductAttention-13"):
        inputs = (
            {name: torch.from_numpy(x.array.copy()) for name, x in inference.inputs.items()}
            if (inference.kind.name in ("f32", "f64"))
            else {}
        )
        if not inputs or not inference.output.array.size or np.isnan(inference.output.array).any():
            continue
        mask, scale = (inputs.get(name) for name in ("attention_mask", "scale"))
        is_causal = bool(inference.attributes["causal"])
        actual = torch.nn.functional.scaled_dot_product_attention(
            *(inputs[name] for name in ("query", "key", "value")),
            attn_mask=None if is_causal or mask is None or not mask.ndim else mask,
            is_causal=is_causal,
            scale=None if scale is None else float(scale),
        )
        assert is_right(inference, actual.numpy()), inference.case
        compared += 1

    assert compared > 50


def pooled(shape: Sequence[int], inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The outputs of PyTorch, which pads both ends alike; other data are padded before, and their indices moved."""
    import torch

    [data] = inputs
    kernel, strides = attributes["kernel"], attributes["strides"]
    dilations = attributes.get("dilations") or (1,) * len(kernel)
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    mode, sizes = attributes["auto_pad"], data.shape[2:]
    added = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in zip(sizes, strides, spans, strict=True)]
    pads = {
        "explicit": [*zip(attributes["pads_begin"], attributes["pads_end"], strict=True)],
        "valid": [(0, 0)] * len(kernel),
        "same_upper": [(x // 2, x - x // 2) for x in added],
        "same_lower": [(x - x // 2, x // 2) for x in added],
    }[mode]
    is_own = all(x == y and 2 * x <= span for (x, y), span in zip(pads, spans, strict=True))
    is_ceil = attributes["rounding_type"] != "floor" and not mode.startswith("same")
    if "exclude_pad" in attributes:
        return means(data, pads if is_own else None, shape, is_ceil=is_ceil, attributes=attributes)
    least = -np.inf if data.array.dtype.kind == "f" else np.iinfo(data.array.dtype).min
    array = data.array if is_own else np.pad(data.array, [(0, 0), (0, 0), *pads], constant_values=least)
    of_rank = getattr(torch.nn.functional, f"max_pool{len(kernel)}d")
    padding = [x for x, _ in pads] if is_own else 0
    found = of_rank(torch.from_numpy(array), kernel, strides, padding, dilations, is_ceil, True)
    values, places = (x.numpy()[tuple(map(slice, shape))] if not is_own else x.numpy() for x in found)
    if not is_own:
        at = np.unravel_index(places, array.shape[2:])
        places = np.ravel_multi_index([x - begin for x, (begin, _) in zip(at, pads, strict=True)], sizes)
    channels = np.arange(prod(data.shape[:2])).reshape(*data.shape[:2], *[1] * len(kernel))
    indices = (places + channels * prod(sizes)) % prod(data.shape[attributes["axis"] :])
    kind = attributes["index_element_type"]
    return [replace(data, array=values), Tensor(element_type=kind, array=indices.astype(kind.replace("i", "int")))]


@pytest.mark.parametrize("op", test_pools.OPERATIONS)
def test_pools_are_those_of_pytorch(op: str) -> None:
    """For the types that numpy and PyTorch have."""
    count = 0
    for golden in test_reductions.goldens(op):
        data, shape = golden.inputs[0]["data"], golden.outputs[0][0].shape
        if data.element_type not in ("f32", "f64", "i8", "u8", "i32", "i64") or 0 in data.shape:
            continue
        try:
            outputs = test_reductions.executed(golden, partial(pooled, shape))
        except Unsupported:
            continue
        assert test_reductions.is_right(golden, outputs), golden.draft.id
        count += 1
    assert count > 40
