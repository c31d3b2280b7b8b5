"""Pooling: the goldens against another implementation, and wrong variants that the cases catch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest

from opconform.model.golden import Golden
from opconform.operations.arithmetic.windows import Window
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.pools import POOLS
from tests.operations.test_reductions import executed, goldens, is_right

Function = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Tensor]]
AVG_POOLS, MAX_POOLS = ("AvgPool-1", "AvgPool-14"), ("MaxPool-8", "MaxPool-14")
OPERATIONS = (*AVG_POOLS, *MAX_POOLS)


@pytest.mark.parametrize("op", OPERATIONS)
def test_numpy_is_right(op: str) -> None:
    """The row of the numpy backend gives the goldens."""
    assert [golden.draft.id for golden in goldens(op) if not is_right(golden, executed(golden, POOLS[op]))] == []


# Wrong variants.


def right(op: str, inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
    """The outputs of the numpy backend."""
    return POOLS[op](inputs, attributes)


def with_attributes(change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Callable[[str], Function]:
    """The right function for other attributes."""
    return lambda op: lambda inputs, attributes: right(op, inputs, {**attributes, **change(attributes)})


def counting_from_one(op: str) -> Function:
    """The right values, and indices that count from 1."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        values, indices = right(op, inputs, attributes)
        return [values, replace(indices, array=indices.array + indices.array.dtype.type(1))]

    return call


def with_data(change: Callable[[Tensor], Tensor]) -> Callable[[str], Function]:
    """The indices for changed data, and the elements of data there."""

    def made(op: str) -> Function:
        def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
            [data] = inputs
            [_, places] = right(op, [change(data)], {**attributes, "axis": 0, "index_element_type": "i64"})
            [values, indices] = right(op, inputs, attributes)
            bound = max(prod(data.shape[attributes["axis"] :]), 1)
            return [
                replace(values, array=data.array.reshape(-1)[places.array]),
                replace(indices, array=(places.array % bound).astype(indices.array.dtype)),
            ]

        return call

    return made


def through(kind: Any) -> Callable[[Tensor], Tensor]:
    """Elements that pass through another type before they are compared."""

    def change(data: Tensor) -> Tensor:
        is_whole = data.array.dtype.kind in "iu" and data.type.is_integer
        with np.errstate(all="ignore"):
            return replace(data, array=data.array.astype(kind).astype(data.array.dtype)) if is_whole else data

    return change


def negated(data: Tensor) -> Tensor:
    """Elements with another sign."""
    return replace(data, array=-data.array) if data.element_type in ("f32", "f64") else data


def at_least_zero(op: str) -> Function:
    """Elements below 0 become 0 where a window has padding, as if it were zeros."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        values, indices = right(op, inputs, attributes)
        is_padded = any((*attributes["pads_begin"], *attributes["pads_end"])) and attributes["auto_pad"] == "explicit"
        array = np.maximum(values.array, 0) if is_padded and values.element_type == "f32" else values.array
        return [replace(values, array=array), indices]

    return call


def exchanged(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The modes same_upper and same_lower in place of each other."""
    mode = attributes["auto_pad"]
    return {"auto_pad": {"same_upper": "same_lower", "same_lower": "same_upper"}.get(mode, mode)}


def averaging(change: Callable[[Tensor], Tensor]) -> Callable[[str], Function]:
    """The means of changed data."""
    return lambda op: lambda inputs, attributes: right(op, [change(inputs[0])], attributes)


def undivided(op: str) -> Function:
    """The sums of windows of the size of the kernel, in place of their means."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        [means] = right(op, inputs, attributes)
        size = means.array.dtype.type(prod(attributes["kernel"]))
        return [replace(means, array=means.array * size) if means.element_type in ("f32", "f64") else means]

    return call


def ones(attributes: Mapping[str, Any]) -> tuple[int, ...]:
    """1 per spatial dimension."""
    return (1,) * len(attributes["kernel"])


#: Per wrong variant: how it is made, and the operations whose cases must catch it.
MUTANTS: Mapping[str, tuple[Callable[[str], Function], Sequence[str]]] = {
    "dilations are ignored": (with_attributes(lambda a: {"dilations": ones(a)}), MAX_POOLS),
    "strides are those of the last dimension": (
        with_attributes(lambda a: {"strides": a["strides"][-1:] * len(a["strides"])}),
        OPERATIONS,
    ),
    "the pads of both ends are exchanged": (
        with_attributes(lambda a: {"pads_begin": a["pads_end"], "pads_end": a["pads_begin"]}),
        OPERATIONS,
    ),
    "the pads of the beginning are at both ends": (
        with_attributes(lambda a: {"pads_end": a["pads_begin"]}),
        OPERATIONS,
    ),
    "the pads are used in every mode": (with_attributes(lambda _: {"auto_pad": "explicit"}), OPERATIONS),
    "the modes same_upper and same_lower are exchanged": (with_attributes(exchanged), OPERATIONS),
    "the number of windows is rounded down": (with_attributes(lambda _: {"rounding_type": "floor"}), OPERATIONS),
    "the number of windows is rounded up": (
        with_attributes(lambda a: {"rounding_type": a["rounding_type"].replace("floor", "ceil")}),
        OPERATIONS,
    ),
    "ceil_torch is ceil": (
        with_attributes(lambda a: {"rounding_type": a["rounding_type"][:5].rstrip("_")}),
        ("AvgPool-14", "MaxPool-14"),
    ),
    "zeros never count": (with_attributes(lambda _: {"exclude_pad": True}), AVG_POOLS),
    "zeros always count": (with_attributes(lambda _: {"exclude_pad": False}), AVG_POOLS),
    "sums in place of means": (undivided, AVG_POOLS),
    "means of integers through f32": (averaging(through(np.float32)), AVG_POOLS),
    "means of integers through f64": (averaging(through(np.float64)), AVG_POOLS),
    "means of integers through i32": (averaging(through(np.int32)), AVG_POOLS),
    "padding is zeros": (at_least_zero, MAX_POOLS),
    "the smallest element": (with_data(negated), MAX_POOLS),
    "integers through f32": (with_data(through(np.float32)), MAX_POOLS),
    "integers through f64": (with_data(through(np.float64)), MAX_POOLS),
    "integers through i32": (with_data(through(np.int32)), MAX_POOLS),
    "unsigned as signed": (
        with_data(lambda x: replace(x, array=x.array ^ (1 << (x.type.bits - 1))) if x.type.kind == "unsigned" else x),
        MAX_POOLS,
    ),
    "indices count from 1": (counting_from_one, MAX_POOLS),
    "the axis is 0": (with_attributes(lambda _: {"axis": 0}), MAX_POOLS),
    "the axis is 2": (with_attributes(lambda _: {"axis": 2}), MAX_POOLS),
    "a negative axis is 0": (with_attributes(lambda a: {"axis": max(a["axis"], 0)}), MAX_POOLS),
    "indices of i32 always": (with_attributes(lambda _: {"index_element_type": "i32"}), MAX_POOLS),
    "indices of i64 always": (with_attributes(lambda _: {"index_element_type": "i64"}), MAX_POOLS),
}


@pytest.mark.parametrize(("name", "op"), [(name, op) for name, (_, ops) in MUTANTS.items() for op in ops])
def test_wrong_variants_are_caught(name: str, op: str) -> None:
    """A case of the profile core fails, and not by another reading."""
    function = MUTANTS[name][0](op)

    def is_caught(golden: Golden) -> bool:
        try:
            return not is_right(golden, executed(golden, function))
        except Rejected:
            return True

    assert any(is_caught(golden) for golden in goldens(op) if golden.draft.profile == "core"), name


@pytest.mark.parametrize(
    ("rounding", "pads", "number"),
    [
        ("floor", (0, 0), 2),
        ("ceil", (0, 0), 3),
        ("ceil", (1, 1), 4),
        ("ceil_torch", (1, 1), 3),
        ("ceil_torch", (0, 3), 3),
    ],
)
def test_the_numbers_of_windows(rounding: str, pads: tuple[int, int], number: int) -> None:
    """Of windows of 2 elements with the stride 2 in 5 elements, by the formulas of the page."""
    window = Window(length=5, size=2, stride=2, dilation=1, pads=pads, auto_pad="explicit", rounding=rounding)
    assert window.number == number
