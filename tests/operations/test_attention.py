"""ScaledDotProductAttention-13: goldens against mpmath, right kernels within the bounds of every case, and mutants."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from opconform.tensors.tensor import Array
from tests.model.test_exact_values import fraction, on_grid
from tests.operations.test_products import (
    SUMS,
    Inference,
    Kernel,
    Sum,
    brain,
    catches,
    in_order,
    inferences,
    is_right,
    narrow_of,
    numbers,
    stored,
    wide_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OP = "ScaledDotProductAttention-13"


def cases() -> list[Inference]:
    """The inferences with elements."""
    return [x for x in inferences(OP) if x.output.array.size]


def matrices(inference: Inference) -> list[Array]:
    """The queries, keys and values in the dimensions of the batch, in f64."""
    arrays = [numbers(inference.inputs[name]) for name in ("query", "key", "value")]
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    return [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in arrays]


def scale_of(inference: Inference) -> float:
    """The factor of the scores."""
    if "scale" in inference.inputs:
        return float(numbers(inference.inputs["scale"]).reshape(()))
    return float(1 / np.sqrt(inference.inputs["query"].shape[-1]))


def mask_of(inference: Inference) -> Array:
    """What the mask adds, whether it is ignored or not."""
    mask = inference.inputs.get("attention_mask")
    if mask is None:
        return np.zeros(())
    return np.where(mask.array, 0.0, -np.inf) if mask.element_type == "boolean" else numbers(mask)


def causal_of(queries: int, keys: int, shift: int = 0) -> Array:
    """What a causal mask adds."""
    return np.where(np.tri(queries, keys, shift, dtype=bool), 0.0, -np.inf)


def bias_of(inference: Inference, queries: int, keys: int) -> Array:
    """What is added to the scores."""
    return causal_of(queries, keys) if inference.attributes["causal"] else mask_of(inference)


def test_goldens_are_the_exact_results_rounded_once() -> None:
    """To 400 bits."""
    compared = 0
    with mpmath.workprec(400):
        for inference in cases():
            query, key, value = matrices(inference)
            size = query.shape[-1]
            scale = mpmath.mpf(scale_of(inference)) if "scale" in inference.inputs else 1 / mpmath.sqrt(size)
            sizes = (*query.shape[:-1], key.shape[-2])
            bias, golden = np.broadcast_to(bias_of(inference, *sizes[-2:]), sizes), numbers(inference.output)
            for place in np.ndindex(sizes[:-1]):
                keys, values = key[place[:-1]], value[place[:-1]]
                row, added = query[place], bias[place]
                if not all(np.isfinite(x).all() for x in (row, keys, values)) or np.isneginf(added).all():
                    continue
                scores = [
                    mpmath.fsum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in zip(row, x, strict=True))
                    * scale
                    + mpmath.mpf(float(y))
                    for x, y in zip(keys, added, strict=True)
                ]
                powers = [mpmath.exp(x) for x in scores]
                total = mpmath.fsum(powers)
                for column, actual in zip(values.T, golden[place], strict=True):
                    exact = mpmath.fsum(a * mpmath.mpf(float(b)) for a, b in zip(powers, column, strict=True)) / total
                    assert actual == on_grid(inference.kind, fraction(exact), round), inference.case
                    compared += 1

    assert compared > 1_000


def attention(
    inference: Inference,
    total: Sum = in_order,
    wide: Callable[[Any], Any] = wide_of,
    *,
    scales_query: bool = False,
    divides_last: bool = False,
    keeps_parts: bool = True,
    scale: Callable[[Inference], float] = scale_of,
    bias: Callable[[Inference, int, int], Array] = bias_of,
    scales_bias: bool = False,
    axis: int = -1,
    power: Callable[[Array], Array] = lambda x: np.exp(x - x.max(-1, keepdims=True, initial=-np.inf)),
) -> Array:
    """The page's formula in a type, whose parts may be rounded to the element type."""
    query, key, value = (x.astype(wide(inference.kind)) for x in matrices(inference))
    kind = query.dtype.type

    def kept(part: Array) -> Array:
        return np.asarray(part if keeps_parts else part.astype(inference.kind.arithmetic), kind)

    factor, added = kind(scale(inference)), bias(inference, query.shape[-2], key.shape[-2]).astype(kind)
    rows = kept(query * factor) if scales_query else query
    scores = kept(total(rows[..., :, np.newaxis, :], key[..., np.newaxis, :, :]))
    if scales_bias:
        scores = kept((scores + added) * factor)
    else:
        scores = kept((scores if scales_query else kept(scores * factor)) + added)
    powers = np.swapaxes(power(np.swapaxes(scores, axis, -1)), axis, -1).astype(kind)
    along = np.swapaxes(powers, axis, -1)
    sums = np.expand_dims(total(along, np.ones_like(along)), -1)
    columns = np.swapaxes(value, -1, -2)[..., np.newaxis, :, :]
    if divides_last and key.shape[-2]:
        return stored(inference.kind, total(powers[..., np.newaxis, :], columns) / sums)
    shares = kept(np.swapaxes(along / sums, axis, -1))
    return stored(inference.kind, total(shares[..., np.newaxis, :], columns))


@pytest.mark.parametrize("order", SUMS)
def test_sums_in_any_order_are_within_the_bounds(order: str) -> None:
    """In f32 for narrow types."""
    assert [x.case for x in cases() if not is_right(x, attention(x, SUMS[order]))] == []


RIGHT: Mapping[str, Kernel] = {
    "the query is scaled": partial(attention, scales_query=True),
    "the last sum is divided": partial(attention, divides_last=True),
    "parts are rounded to the element type": partial(attention, keeps_parts=False),
    "the exponential has the base 2": partial(
        attention,
        power=lambda x: np.exp2((x - x.max(-1, keepdims=True, initial=-np.inf)) * x.dtype.type(np.log2(np.e))),
    ),
}


@pytest.mark.parametrize("way", RIGHT, ids=lambda word: word.replace(" ", "-"))
def test_right_kernels_are_within_the_bounds(way: str) -> None:
    """Other orders of the scale and of the division, and parts in the element type."""
    assert [x.case for x in cases() if not is_right(x, RIGHT[way](x))] == []


def _without(inference: Inference, name: str) -> Inference:
    inputs = {key: x for key, x in inference.inputs.items() if key != name}
    return Inference(case=inference.case, inputs=inputs, attributes=inference.attributes, output=inference.output)


def _inverted(inference: Inference, queries: int, keys: int) -> Array:
    mask = inference.inputs.get("attention_mask")
    is_other = mask is not None and mask.element_type == "boolean" and not inference.attributes["causal"]
    return np.where(mask_of(inference), 0.0, -np.inf) if is_other else bias_of(inference, queries, keys)


def _number(inference: Inference, queries: int, keys: int) -> Array:
    mask = inference.inputs.get("attention_mask")
    is_other = mask is not None and mask.element_type == "boolean" and not inference.attributes["causal"]
    return mask.array.astype(float) if is_other and mask is not None else bias_of(inference, queries, keys)


def _shifted(shift: Callable[[int, int], int]) -> Callable[[Inference, int, int], Array]:
    def bias(inference: Inference, queries: int, keys: int) -> Array:
        if not inference.attributes["causal"]:
            return mask_of(inference)
        return causal_of(queries, keys, shift(queries, keys))

    return bias


MUTANTS: Mapping[str, Kernel] = {
    "there is no scale": partial(attention, scale=lambda _: 1.0),
    "a given scale is ignored": lambda x: attention(x, scale=lambda y: scale_of(_without(y, "scale"))),
    "the scale is the reciprocal of the length": partial(
        attention, scale=lambda x: scale_of(x) if "scale" in x.inputs else 1 / x.inputs["query"].shape[-1]
    ),
    "the scale is that of the values": partial(
        attention, scale=lambda x: scale_of(x) if "scale" in x.inputs else 1 / np.sqrt(x.inputs["value"].shape[-1] or 1)
    ),
    "the scale loses its sign": partial(attention, scale=lambda x: abs(scale_of(x))),
    "a scale of 0 is none": partial(attention, scale=lambda x: scale_of(x) or scale_of(_without(x, "scale"))),
    "there is no mask": partial(
        attention, bias=lambda x, *sizes: causal_of(*sizes) if x.attributes["causal"] else np.zeros(())
    ),
    "true leaves a key out": partial(attention, bias=_inverted),
    "a mask of booleans is added": partial(attention, bias=_number),
    "the mask is scaled": partial(attention, scales_bias=True),
    "causal is ignored": partial(attention, bias=lambda x, *_: np.zeros(()) if x.attributes["causal"] else mask_of(x)),
    "the mask is applied besides causal": partial(attention, bias=lambda x, *sizes: bias_of(x, *sizes) + mask_of(x)),
    "the last query has all keys": partial(attention, bias=_shifted(lambda queries, keys: keys - queries)),
    "the diagonal is left out": partial(attention, bias=_shifted(lambda *_: -1)),
    "the diagonal is the next one": partial(attention, bias=_shifted(lambda *_: 1)),
    "the softmax is along the queries": partial(attention, axis=-2),
    "the softmax subtracts nothing": partial(attention, power=np.exp),
    "the last key is lost": partial(
        attention, power=lambda x: np.exp(x - x.max(-1, keepdims=True)) * (np.arange(x.shape[-1]) < x.shape[-1] - 1)
    ),
    "the sums are accumulated in the narrow type": partial(attention, wide=narrow_of),
    "computed in bf16": partial(attention, wide=brain),
}


@pytest.mark.parametrize("fault", MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_the_core_catches_a_wrong_kernel(fault: str) -> None:
    """At least one inference fails."""
    assert any(catches(x, MUTANTS[fault]) for x in cases() if x.inputs["key"].shape[-2])
