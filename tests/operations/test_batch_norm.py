"""BatchNormInference-5: goldens against mpmath, right kernels within the bounds of every case, and mutants."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from opconform.tensors.tensor import Array
from tests.model.test_exact_values import fraction, on_grid
from tests.operations.test_products import (
    Inference,
    Kernel,
    brain,
    catches,
    inferences,
    is_right,
    narrow_of,
    numbers,
    reciprocal,
    stored,
    wide_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OP = "BatchNormInference-5"
CHANNELS = ("gamma", "beta", "mean", "variance")


def cases() -> list[Inference]:
    """The inferences with elements."""
    return [x for x in inferences(OP) if x.output.array.size]


def spread(inference: Inference, axis: int = 1) -> list[Array]:
    """The elements, and the numbers of the channel of each of them, in f64."""
    data = numbers(inference.inputs["data"])
    aligned = [-1 if dimension == axis % data.ndim else 1 for dimension in range(data.ndim)]
    return [data, *(np.broadcast_to(numbers(inference.inputs[x]).reshape(aligned), data.shape) for x in CHANNELS)]


def test_goldens_are_the_exact_results_rounded_once() -> None:
    """To 400 bits."""
    compared = 0
    with mpmath.workprec(400):
        for inference in cases():
            eps = mpmath.mpf(inference.attributes["epsilon"])
            rows = zip(numbers(inference.output).ravel(), *(x.ravel() for x in spread(inference)), strict=True)
            for golden, *row in rows:
                if not np.isfinite(row[0]):
                    continue
                x, gamma, beta, mean, variance = (mpmath.mpf(float(number)) for number in row)
                exact = (x - mean) / mpmath.sqrt(variance + eps) * gamma + beta
                assert golden == on_grid(inference.kind, fraction(exact), round)
                compared += 1

    assert compared > 1_000


Formula = Callable[[Array, Array, Array, Array, Array], Array]
Root = Callable[[Array, Any], Array]
#: How kernels compute results of elements, scales, shifts, means and divisors.
FORMULAS: Mapping[str, Formula] = {
    "quotient": lambda x, gamma, beta, mean, root: (x - mean) / root * gamma + beta,
    "reciprocal": lambda x, gamma, beta, mean, root: reciprocal(x - mean, root) * gamma + beta,
    "scale": lambda x, gamma, beta, mean, root: (x - mean) * (gamma / root) + beta,
    "shift": lambda x, gamma, beta, mean, root: x * (gamma / root) + (beta - mean * (gamma / root)),
}
#: How they should not compute them.
WRONG_FORMULAS: Mapping[str, Formula] = {
    "there is no mean": lambda x, gamma, beta, _, root: x / root * gamma + beta,
    "there is no scale": lambda x, _, beta, mean, root: (x - mean) / root + beta,
    "there is no shift": lambda x, gamma, _, mean, root: (x - mean) / root * gamma,
    "the shift is scaled": lambda x, gamma, beta, mean, root: ((x - mean) / root + beta) * gamma,
    "scale and shift are exchanged": lambda x, gamma, beta, mean, root: (x - mean) / root * beta + gamma,
}
#: The divisors of variances and an epsilon that they should not have.
WRONG_ROOTS: Mapping[str, Root] = {
    "there is no epsilon": lambda variance, _: np.sqrt(variance),
    "epsilon is outside": lambda variance, eps: np.sqrt(variance) + eps,
    "there is no root": lambda variance, eps: variance + eps,
    "there is no variance": lambda variance, _: np.ones_like(variance),
}


def normalized(
    inference: Inference,
    formula: Formula = FORMULAS["quotient"],
    *,
    wide: Callable[[Any], Any] = wide_of,
    root: Root = lambda variance, eps: np.sqrt(variance + eps),
    axis: int = 1,
) -> Array:
    """The page's formulas in a type."""
    x, gamma, beta, mean, variance = (column.astype(wide(inference.kind)) for column in spread(inference, axis))
    eps = x.dtype.type(inference.attributes["epsilon"])
    return stored(inference.kind, formula(x, gamma, beta, mean, root(variance, eps)))


@pytest.mark.parametrize("formula", FORMULAS)
def test_right_kernels_are_within_the_bounds(formula: str) -> None:
    """Quotients, products with reciprocals, and scales and shifts that are computed first."""
    assert [x.case for x in cases() if not is_right(x, normalized(x, FORMULAS[formula]))] == []


MUTANTS: Mapping[str, Kernel] = {
    "the channels are the last dimension": partial(normalized, axis=-1),
    "the channels are the first dimension": partial(normalized, axis=0),
    **{name: partial(normalized, formula=formula) for name, formula in WRONG_FORMULAS.items()},
    **{name: partial(normalized, root=root) for name, root in WRONG_ROOTS.items()},
    "computed in the narrow type": partial(normalized, wide=narrow_of),
    "computed in bf16": partial(normalized, wide=brain),
}


@pytest.mark.parametrize("fault", MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_the_core_catches_a_wrong_kernel(fault: str) -> None:
    """At least one inference fails."""
    assert any(catches(x, MUTANTS[fault]) for x in cases())
