"""FakeQuantize-1: goldens against fractions, right kernels within the bounds of every case, and mutants."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.operations.arguments import NoGolden, Operand
from opconform.tensors.exact import numbers
from opconform.tensors.tensor import Array, Tensor
from tests.model.test_exact_values import on_grid
from tests.operations.test_products import (
    Inference,
    Kernel,
    brain,
    catches,
    inferences,
    is_right,
    narrow_of,
    stored,
    wide_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OP = "FakeQuantize-1"
LIMITS = ("input_low", "input_high", "output_low", "output_high")


def columns(inference: Inference) -> list[Array]:
    """The elements, and the limits of each of them, in f64."""
    shape = inference.inputs["x"].shape
    return [np.broadcast_to(numbers(inference.inputs[name]), shape) for name in ("x", *LIMITS)]


def exact_level(x: Fraction, limits: tuple[Fraction, ...], levels: int) -> Fraction:
    """The expression of the page, with halves that become even."""
    low, high, least, most = limits
    if x <= min(low, high):
        return least
    if x > max(low, high):
        return most
    return Fraction(round((x - low) / (high - low) * (levels - 1)), levels - 1) * (most - least) + least


def test_goldens_are_the_exact_results_rounded_once() -> None:
    """As fractions; infinities are beyond every limit."""
    compared = 0
    for inference in inferences(OP):
        goldens = numbers(inference.output).ravel().tolist()
        for golden, x, *limits in zip(
            goldens, *(column.ravel().tolist() for column in columns(inference)), strict=True
        ):
            if np.isnan(x):
                assert np.isnan(golden)
                continue
            ends = tuple(map(Fraction, limits))
            number = Fraction(int(np.sign(x)) * 2**1100) if np.isinf(x) else Fraction(x)
            exact = exact_level(number, ends, inference.attributes["levels"])
            assert golden == on_grid(inference.kind, exact, round)
            compared += 1

    assert compared > 2_000


Codes = Callable[[Array, Array, Array, Array], Array]
#: How kernels compute codes before they round them, from elements, both limits, and the last code.
CODES: Mapping[str, Codes] = {
    "divided": lambda x, low, high, last: (x - low) / (high - low) * last,
    "scaled": lambda x, low, high, last: (x - low) * (last / (high - low)),
    "shifted": lambda x, low, high, last: x * (last / (high - low)) + (-low * (last / (high - low))),
}
#: How kernels compute levels of codes, from both limits of outputs, and the last code.
NUMBERS: Mapping[str, Codes] = {
    "shares": lambda code, least, most, last: code / last * (most - least) + least,
    "steps": lambda code, least, most, last: code * ((most - least) / last) + least,
}


def away(x: Array) -> Array:
    """The nearest integers, and the one further from 0 of two."""
    whole = np.trunc(x)
    return np.asarray(whole + np.sign(x) * (np.abs(x - whole) >= x.dtype.type(0.5)))


def quantized(
    inference: Inference,
    codes: Codes = CODES["divided"],
    levels_of: Codes = NUMBERS["shares"],
    *,
    rounded: Callable[[Array], Array] = np.rint,
    wide: Callable[[Any], Any] = wide_of,
    levels: Callable[[int], int] = lambda levels: levels,
    limits: Callable[[Inference], list[Array]] = columns,
    is_below: Callable[[Array, Array, Array], Array] = lambda x, low, high: x <= np.minimum(low, high),
    is_above: Callable[[Array, Array, Array], Array] = lambda x, low, high: x > np.maximum(low, high),
) -> Array:
    """The page's expression in a type."""
    x, low, high, least, most = (column.astype(wide(inference.kind)) for column in limits(inference))
    last = np.asarray(levels(inference.attributes["levels"]) - 1, x.dtype)
    with np.errstate(all="ignore"):
        inside = levels_of(rounded(codes(x, low, high, last)), least, most, last)
        return stored(
            inference.kind, np.select([is_below(x, low, high), is_above(x, low, high)], [least, most], inside)
        )


def clipped(inference: Inference, codes: Codes, levels_of: Codes, **options: Any) -> Array:
    """A kernel that clips elements first, and has no branches; the page's branches where limits are not in order."""
    x, low, high, *_ = columns(inference)
    if (low >= high).any():
        return quantized(inference, codes, levels_of, **options)

    def inside(inference: Inference) -> list[Array]:
        _, low, high, *outputs = columns(inference)
        return [np.clip(x, low, high), low, high, *outputs]

    never = partial(np.zeros_like, dtype=np.bool_)
    return quantized(
        inference,
        codes,
        levels_of,
        limits=inside,
        is_below=lambda x, *_: never(x),
        is_above=lambda x, *_: never(x),
        **options,
    )


@pytest.mark.parametrize("kernel", [quantized, clipped])
@pytest.mark.parametrize(("codes", "levels_of"), [*product(CODES, NUMBERS)])
@pytest.mark.parametrize("rounded", [np.rint, away])
def test_right_kernels_are_within_the_bounds(
    kernel: Kernel, codes: str, levels_of: str, rounded: Callable[[Array], Array]
) -> None:
    """Both formulas, with elements that are clipped first or not, and halves that become even or not."""
    cases = [x for x in inferences(OP) if x.output.array.size]
    wrong = [x.case for x in cases if not is_right(x, kernel(x, CODES[codes], NUMBERS[levels_of], rounded=rounded))]

    assert wrong == []


def one_for_all(inference: Inference) -> list[Array]:
    """The limits of the first element."""
    x, *limits = columns(inference)
    return [x, *(np.full_like(limit, limit.ravel()[0]) for limit in limits)]


def from_the_front(inference: Inference) -> list[Array]:
    """Limits whose dimensions are those of the elements from the front."""
    x = numbers(inference.inputs["x"])
    limits = (numbers(inference.inputs[name]) for name in LIMITS)
    aligned = (limit.reshape(limit.shape + (1,) * (x.ndim - limit.ndim)) for limit in limits)
    return [x, *(np.broadcast_to(limit, x.shape) for limit in aligned)]


def exchanged(inference: Inference) -> list[Array]:
    """The limits of outputs in the other order."""
    x, low, high, least, most = columns(inference)
    return [x, low, high, most, least]


def of_inputs(inference: Inference) -> list[Array]:
    """The limits of inputs in place of those of outputs."""
    x, low, high, *_ = columns(inference)
    return [x, low, high, low, high]


def without_tail(inference: Inference) -> Array:
    """Elements behind whole vectors of 8, which keep their values."""
    result, x = quantized(inference).ravel(), inference.inputs["x"].array.ravel()
    whole = len(result) // 8 * 8
    return np.concatenate([result[:whole], x[whole:]]).reshape(inference.output.shape)


MUTANTS: Mapping[str, Kernel] = {
    "codes are rounded down": partial(quantized, rounded=np.floor),
    "a half is added before codes are rounded down": partial(
        quantized, rounded=lambda x: np.floor(x + x.dtype.type(0.5))
    ),
    "codes are not rounded": partial(quantized, rounded=lambda x: x),
    "codes are the results": partial(quantized, levels_of=lambda code, *_: code),
    "there is one level more": partial(quantized, levels=lambda levels: levels + 1),
    "there is one level fewer": partial(quantized, levels=lambda levels: max(levels - 1, 2)),
    "there are always 256 levels": partial(quantized, levels=lambda _: 256),
    "levels are those of 8 bits": partial(quantized, levels=lambda levels: min(levels, 256)),
    "the limits of outputs are exchanged": partial(quantized, limits=exchanged),
    "the limits of outputs are those of inputs": partial(quantized, limits=of_inputs),
    "the limits of the first element are those of all": partial(quantized, limits=one_for_all),
    "limits are repeated from the front": partial(quantized, limits=from_the_front),
    "elements below the range are not clipped": partial(quantized, is_below=lambda x, *_: np.zeros_like(x, np.bool_)),
    "elements above the range are not clipped": partial(quantized, is_above=lambda x, *_: np.zeros_like(x, np.bool_)),
    "an element at equal limits is above them": partial(
        quantized, is_below=lambda x, low, high: x < np.minimum(low, high)
    ),
    "limits are compared in their order": partial(
        quantized, is_below=lambda x, low, _: x <= low, is_above=lambda x, _, high: x > high
    ),
    "a NaN is below the range": partial(quantized, is_below=lambda x, low, high: ~(x > np.minimum(low, high))),
    "the tail behind vectors of 8 is missing": without_tail,
    "computed in the narrow type": partial(quantized, wide=narrow_of),
    "computed in bf16": partial(quantized, wide=brain),
}


@pytest.mark.parametrize("fault", MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_the_core_catches_a_wrong_kernel(fault: str) -> None:
    """At least one inference fails."""
    assert any(catches(x, MUTANTS[fault]) for x in inferences(OP) if x.output.array.size)


@pytest.mark.parametrize("limit", [np.inf, np.nan])
def test_limits_that_are_no_numbers_have_no_golden(limit: float) -> None:
    """The formula has no level for them."""
    operands = {
        name: Operand(element_type="f32", shape=(), tensor=Tensor(element_type="f32", array=np.array(x, np.float32)))
        for name, x in zip(("x", *LIMITS), (1, 0, limit, 0, 1), strict=True)
    }
    operation = OPERATIONS[OP]
    with pytest.raises(NoGolden, match="undefined"):
        operation.evaluate(operation.arguments(operands, {"levels": 2}))
