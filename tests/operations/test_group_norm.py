"""GroupNormalization-12: goldens against mpmath and ONNX's reference, right kernels within the bounds, and mutants."""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import Any

import mpmath
import numpy as np
import pytest

from opconform.tensors.tensor import Array
from tests.model.test_exact_values import fraction, on_grid
from tests.operations.test_batch_norm import FORMULAS, WRONG_FORMULAS, WRONG_ROOTS, Formula, Root
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

OP = "GroupNormalization-12"


def cases() -> list[Inference]:
    """The inferences with elements."""
    return [x for x in inferences(OP) if x.output.array.size]


def grouped(array: Array, groups: int) -> Array:
    """The elements of each group in a row."""
    return array.reshape(array.shape[0] * groups, prod(array.shape[1:]) // groups)


def spread(inference: Inference, name: str) -> Array:
    """The number of the channel of each element, in f64."""
    data = inference.inputs["data"].array
    aligned = [-1 if dimension == 1 else 1 for dimension in range(data.ndim)]
    return np.broadcast_to(numbers(inference.inputs[name]).reshape(aligned), data.shape)


def test_goldens_are_the_exact_results_rounded_once() -> None:
    """To 400 bits."""
    compared = 0
    with mpmath.workprec(400):
        for inference in cases():
            eps, groups = mpmath.mpf(inference.attributes["epsilon"]), inference.attributes["num_groups"]
            columns = [
                grouped(x, groups).tolist()
                for x in (
                    numbers(inference.inputs["data"]),
                    spread(inference, "scale"),
                    spread(inference, "bias"),
                    numbers(inference.output),
                )
            ]
            for elements, scale, bias, goldens in zip(*columns, strict=True):
                if not np.isfinite(elements).all():
                    assert np.isnan(goldens).all()
                    continue
                exact = [mpmath.mpf(x) for x in elements]
                mean = mpmath.fsum(exact) / len(exact)
                root = mpmath.sqrt(mpmath.fsum((x - mean) ** 2 for x in exact) / len(exact) + eps)
                for x, gamma, beta, golden in zip(exact, scale, bias, goldens, strict=True):
                    result = (x - mean) / root * mpmath.mpf(gamma) + mpmath.mpf(beta)
                    assert golden == on_grid(inference.kind, fraction(result), round)
                    compared += 1

    assert compared > 1_000


def test_results_of_the_reference_of_onnx_are_near() -> None:
    """In opset 21, whose scale has a number for each channel; it subtracts squares in f32, which need small numbers."""
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    compared = 0
    for inference in cases():
        data = numbers(inference.inputs["data"])
        if inference.kind.name not in ("f32", "f64") or not (np.abs(data) < 100).all():
            continue
        groups, epsilon = inference.attributes["num_groups"], inference.attributes["epsilon"]
        kind = {"f32": "float", "f64": "double"}[inference.kind.name]
        kinds = ", ".join(f"{kind}[{','.join(map(str, x.shape))}] {name}" for name, x in inference.inputs.items())
        model = onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["" : 21]> g ({kinds}) => ({kind} y) '
            f"{{ y = GroupNormalization<num_groups = {groups}, epsilon = {epsilon}>(data, scale, bias) }}"
        )
        [actual] = ReferenceEvaluator(model).run(None, {name: x.array for name, x in inference.inputs.items()})
        assert np.allclose(actual, numbers(inference.output), rtol=1e-4, atol=1e-4), inference.case
        compared += 1

    assert compared > 10


def normalized(
    inference: Inference,
    formula: Formula = FORMULAS["quotient"],
    total: Sum = in_order,
    *,
    wide: Callable[[Any], Any] = wide_of,
    root: Root = lambda variance, eps: np.sqrt(variance + eps),
    groups_of: Callable[[int, int], int] = lambda groups, _: groups,
    count: Callable[[int], int] = lambda count: count,
    order: Callable[[Array, int], Array] = lambda array, _: array,
    back: Callable[[Array, int], Array] = lambda array, _: array,
) -> Array:
    """The page's formula in a type."""
    data = numbers(inference.inputs["data"])
    given = inference.attributes["num_groups"]
    groups = groups_of(given, data.shape[1])
    columns = [order(x, given) for x in (data, spread(inference, "scale"), spread(inference, "bias"))]
    rows, scale, bias = (grouped(x.astype(wide(inference.kind)), groups) for x in columns)
    kind = rows.dtype.type
    mean = (total(rows, np.ones_like(rows)) / kind(rows.shape[-1]))[..., np.newaxis]
    differences = rows - mean
    variance = (total(differences, differences) / kind(max(count(rows.shape[-1]), 1)))[..., np.newaxis]
    results = formula(rows, scale, bias, mean, root(variance, kind(inference.attributes["epsilon"])))
    return stored(inference.kind, back(np.asarray(results).reshape(columns[0].shape), given))


@pytest.mark.parametrize("order", SUMS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_right_kernels_are_within_the_bounds(formula: str, order: str) -> None:
    """Sums in every order, quotients, products with reciprocals, and scales and shifts that are computed first."""
    kernel = partial(normalized, formula=FORMULAS[formula], total=SUMS[order])
    assert [x.case for x in cases() if not is_right(x, kernel(x))] == []


def interleaved(array: Array, groups: int) -> Array:
    """Data whose groups have every so many channels."""
    apart = array.reshape(array.shape[0], array.shape[1] // groups, groups, *array.shape[2:])
    return np.moveaxis(apart, 2, 1).reshape(array.shape)


def joined(array: Array, groups: int) -> Array:
    """The inverse."""
    apart = array.reshape(array.shape[0], groups, array.shape[1] // groups, *array.shape[2:])
    return np.moveaxis(apart, 2, 1).reshape(array.shape)


def per_group(inference: Inference) -> Array:
    """The scale and bias of the first channels, for one group each, as in opset 18 of ONNX."""
    groups, tensors = inference.attributes["num_groups"], dict(inference.inputs)
    for name in ("scale", "bias"):
        array = tensors[name].array
        repeated = np.repeat(array[:groups], len(array) // groups)
        tensors[name] = type(tensors[name])(element_type=tensors[name].element_type, array=repeated)
    return normalized(Inference(case="", inputs=tensors, attributes=inference.attributes, output=inference.output))


MUTANTS: Mapping[str, Kernel] = {
    "every channel is a group": partial(normalized, groups_of=lambda _, channels: channels),
    "all channels are one group": partial(normalized, groups_of=lambda *_: 1),
    "groups have every so many channels": partial(normalized, order=interleaved, back=joined),
    "there are as many channels in a group as groups": partial(
        normalized, groups_of=lambda groups, channels: channels // groups
    ),
    "scales and biases are those of groups": per_group,
    "the variance is that of a sample": partial(normalized, count=lambda count: count - 1),
    **{name: partial(normalized, formula=formula) for name, formula in WRONG_FORMULAS.items()},
    **{name: partial(normalized, root=root) for name, root in WRONG_ROOTS.items()},
    "computed in the narrow type": partial(normalized, wide=narrow_of),
    "computed in bf16": partial(normalized, wide=brain),
}


@pytest.mark.parametrize("fault", MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_the_core_catches_a_wrong_kernel(fault: str) -> None:
    """At least one inference fails."""
    assert any(catches(x, MUTANTS[fault]) for x in cases())
