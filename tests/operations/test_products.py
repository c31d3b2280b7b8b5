"""MatMul-1, convolutions, SoftMax-8 and MVN-6: right kernels are within the bounds of every case, and wrong ones are not."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import prod
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.generation.expansion import expand
from opconform.model.draft import Fill, TensorDraft
from opconform.model.fills import fill
from opconform.model.golden import golden_of
from opconform.operations.arguments import NoGolden, Operand
from opconform.operations.arithmetic.mvn import MVN, _Scale, normalized
from opconform.operations.arithmetic.softmax import softmax as exact_softmax
from opconform.operations.arithmetic.sums import sum_of_products
from opconform.specs.loader import load_specs
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import Exact, Rounded
from opconform.tensors.tensor import Array, Tensor, patterns, with_one_nan
from opconform_runners.verdicts.rounding_error import errors_of
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


CONVOLUTIONS = ("Convolution-1", "GroupConvolution-1")
OPERATIONS = ("MatMul-1", *CONVOLUTIONS, "SoftMax-8", "MVN-6")


#: The sum of the products of the last dimensions of two arrays.
Sum = Callable[[Array, Array], Array]


#: What a kernel computes with, and in which order.
Kernel = Callable[..., Array]


@dataclass(frozen=True, kw_only=True)
class Inference:
    """One inference of a valid case."""

    case: str
    inputs: Mapping[str, Tensor]
    attributes: Mapping[str, Any]
    output: Tensor

    @property
    def kind(self) -> ElementType:
        """The element type of the output."""
        return self.output.type


@cache
def inferences(op: str) -> list[Inference]:
    """The inferences of the valid cases of the core, without contexts."""
    return [*_inferences(op)]


def _inferences(op: str) -> Iterator[Inference]:
    for spec in load_specs([ROOT / "cases" / op]):
        for group in spec.groups:
            if group.settings.profile != "core":
                continue
            for draft in expand(group):
                if draft.rejected_for is None and draft.context == "bare" and draft.op == op:
                    golden = golden_of(draft, 0)
                    attributes = draft.operation.arguments({}, draft.attributes).attributes
                    for inputs, outputs in zip(golden.inputs, golden.outputs, strict=True):
                        yield Inference(case=draft.id, inputs=inputs, attributes=attributes, output=outputs[0])


def numbers(tensor: Tensor) -> Array:
    """The elements as f64, or as Python's integers."""
    if tensor.type.is_integer:
        return np.array(tensor.integers(), object).reshape(tensor.shape)
    with np.errstate(invalid="ignore"):
        return tensor.array.view(tensor.type.arithmetic).astype(np.float64)


def wide_of(kind: ElementType) -> Any:
    """The type in which kernels compute."""
    return object if kind.is_integer else np.float64 if kind.name == "f64" else np.float32


def narrow_of(kind: ElementType) -> Any:
    """The type of the elements themselves."""
    return object if kind.is_integer else kind.arithmetic


def stored(kind: ElementType, array: Array) -> Array:
    """Numbers as a kernel returns them; integers keep their low bits."""
    if kind.is_integer:
        patterns = [int(x) % (1 << kind.bits) for x in np.ravel(array)]
        return np.array(patterns, f"u{kind.storage.itemsize}").view(kind.storage).reshape(np.shape(array))
    with np.errstate(all="ignore"):
        return np.asarray(array, wide_of(kind)).astype(kind.arithmetic).view(kind.storage)


def is_right(inference: Inference, actual: Array) -> bool:
    """Whether an output is within the bounds of a case, bit for bit where it has none."""
    golden = inference.output
    if actual.shape != golden.shape:
        return False
    if inference.kind.is_integer:
        return bool(np.array_equal(actual, golden.array))
    errors = errors_of(golden.array, actual, golden.bounds or (golden.array,) * 2, inference.kind)
    return bool((errors <= 1).all())


def in_order(left: Array, right: Array) -> Array:
    """One product after another."""
    total = np.zeros(np.broadcast_shapes(left.shape, right.shape)[:-1], left.dtype)
    for place in range(left.shape[-1]):
        total = np.asarray(total + left[..., place] * right[..., place], left.dtype)
    return total


def in_reverse(left: Array, right: Array) -> Array:
    """From the last product to the first."""
    return in_order(left[..., ::-1], right[..., ::-1])


def in_lanes(left: Array, right: Array, width: int = 8) -> Array:
    """Eight sums at once, which are added in the end."""
    lanes = [in_order(left[..., lane::width], right[..., lane::width]) for lane in range(width)]
    stacked = np.stack(lanes, -1)
    return in_order(stacked, np.ones_like(stacked))


def in_pairs(left: Array, right: Array) -> Array:
    """Halves, and halves of halves."""
    if left.shape[-1] <= 2:
        return in_order(left, right)
    middle = left.shape[-1] // 2
    first, second = in_pairs(left[..., :middle], right[..., :middle]), in_pairs(left[..., middle:], right[..., middle:])
    return np.asarray(first + second, left.dtype)


def fused(left: Array, right: Array) -> Array:
    """Products that are not rounded before they are added."""
    if left.dtype == object:
        return in_order(left, right)
    wide = np.longdouble if left.dtype == np.float64 else np.float64
    total = np.zeros(np.broadcast_shapes(left.shape, right.shape)[:-1], left.dtype)
    for place in range(left.shape[-1]):
        exact = total.astype(wide) + left[..., place].astype(wide) * right[..., place].astype(wide)
        total = exact.astype(left.dtype)
    return total


def in_double(left: Array, right: Array) -> Array:
    """A sum in f64, which is rounded to the type of the factors."""
    wide = left.dtype if left.dtype == object else np.float64
    return in_pairs(left.astype(wide), right.astype(wide)).astype(left.dtype)


SUMS: Mapping[str, Sum] = {
    "in order": in_order,
    "in reverse": in_reverse,
    "in lanes": in_lanes,
    "in pairs": in_pairs,
    "fused": fused,
    "in f64": in_double,
}


def matmul(inference: Inference, total: Sum = in_order, wide: Callable[[ElementType], Any] = wide_of) -> Array:
    """MatMul-1 in a type, by a sum of products."""
    matrices = []
    for name in "ab":
        x, kind = numbers(inference.inputs[name]), inference.kind
        x = np.swapaxes(x, -1, -2) if inference.attributes[f"transpose_{name}"] and x.ndim > 1 else x
        matrices.append(x.astype(wide(kind)))
    a, b = matrices
    rows = (a if a.ndim > 1 else a[np.newaxis])[..., :, np.newaxis, :]
    columns = np.swapaxes(b if b.ndim > 1 else b[:, np.newaxis], -1, -2)[..., np.newaxis, :, :]
    output = total(rows, columns)
    output = output if a.ndim > 1 else output[..., 0, :]
    return stored(inference.kind, output if b.ndim > 1 else output[..., 0])


def convolution(inference: Inference, total: Sum = in_order, wide: Callable[[ElementType], Any] = wide_of) -> Array:
    """A convolution in a type, by a sum of the products of each window; that of groups as one for each of them."""
    whole, by_group = (inference.inputs[name].array for name in ("data", "filters"))
    if by_group.ndim > whole.ndim:
        pairs = zip(np.split(whole, len(by_group), 1), by_group, strict=True)
        parts = [changed(inference, {"data": data, "filters": filters}) for data, filters in pairs]
        return np.concatenate([convolution(part, total, wide) for part in parts], 1)
    attributes, kind = inference.attributes, inference.kind
    data, filters = (numbers(inference.inputs[name]).astype(wide(kind)) for name in ("data", "filters"))
    lists = [attributes[name] for name in ("strides", "pads_begin", "pads_end", "dilations")]
    pads, counts, mode = [(0, 0), (0, 0)], [], attributes["auto_pad"]
    for length, size, stride, begin, end, dilation in zip(data.shape[2:], filters.shape[2:], *lists, strict=True):
        extent = (size - 1) * dilation + 1
        added = max((-(-length // stride) - 1) * stride + extent - length, 0)
        few, many = added // 2, added - added // 2
        ends = {"explicit": (begin, end), "valid": (0, 0), "same_upper": (few, many), "same_lower": (many, few)}[mode]
        pads.append(ends)
        counts.append((length + sum(ends) - extent) // stride + 1)
    padded = np.pad(data, pads)
    windows = []
    for place in product(*map(range, counts)):
        entries = [
            slice(index * stride, index * stride + (size - 1) * dilation + 1, dilation)
            for index, stride, dilation, size in zip(place, lists[0], lists[3], filters.shape[2:], strict=True)
        ]
        windows.append(padded[(slice(None), slice(None), *entries)].reshape(len(data), 1, 1, prod(filters.shape[1:])))
    rows = filters.reshape(1, len(filters), 1, -1)[..., : prod(filters.shape[1:])]
    output = total(np.broadcast_to(rows, (1, len(filters), 1, prod(filters.shape[1:]))), np.concatenate(windows, 2))
    return stored(kind, output.reshape(len(data), len(filters), *counts))


def softmax(
    inference: Inference,
    total: Sum = in_order,
    wide: Callable[[ElementType], Any] = wide_of,
    *,
    subtracts: bool = True,
    axis: int | None = None,
    power: Callable[[Array], Array] = np.exp,
    quotient: Callable[[Array, Array], Array] = np.divide,
) -> Array:
    """SoftMax-8 in a type, by a sum of exponentials."""
    along = inference.attributes["axis"] if axis is None else axis
    data = np.moveaxis(numbers(inference.inputs["data"]).astype(wide(inference.kind)), along, -1)
    with np.errstate(all="ignore"):
        largest = data.max(-1, keepdims=True, initial=-np.inf) if subtracts else np.zeros_like(data[..., :1])
        powers = power((data - largest).astype(data.dtype)).astype(data.dtype)
        output = quotient(powers, total(powers, np.ones_like(powers))[..., np.newaxis])
    return stored(inference.kind, np.moveaxis(output, -1, along))


def log_softmax(
    inference: Inference, *, subtracts: bool = True, axis: int | None = None, log: Callable[[Array], Array] = np.log
) -> Array:
    """LogSoftmax-5 in a type, by the formulas that its page recommends."""
    along = inference.attributes["axis"] if axis is None else axis
    data = np.moveaxis(numbers(inference.inputs["data"]).astype(wide_of(inference.kind)), along, -1)
    with np.errstate(all="ignore"):
        rests = data - data.max(-1, keepdims=True, initial=-np.inf) if subtracts else data
        output = rests - log(np.exp(rests).sum(-1, keepdims=True))
    return stored(inference.kind, np.moveaxis(output, -1, along))


def mvn(
    inference: Inference,
    total: Sum = in_order,
    wide: Callable[[ElementType], Any] = wide_of,
    *,
    count: Callable[[int], int] = lambda count: count,
    variance_of: Callable[[Array, Array, Sum], Array] | None = None,
    axes_of: Callable[[tuple[int, ...], int], tuple[int, ...]] = lambda axes, _: axes,
    quotient: Callable[[Array, Array], Array] = np.divide,
    **changes: Any,
) -> Array:
    """MVN-6 in a type, by two sums."""
    attributes = {**inference.attributes, **changes}
    data = numbers(inference.inputs["data"]).astype(wide(inference.kind))
    axes = axes_of(tuple(axis % data.ndim for axis in inference.inputs["axes"].integers()), data.ndim)
    last = tuple(range(data.ndim - len(axes), data.ndim))
    moved = np.moveaxis(data, axes, last)
    rows = moved.reshape(*moved.shape[: data.ndim - len(axes)], prod(moved.shape[data.ndim - len(axes) :]))
    size = data.dtype.type(rows.shape[-1])
    with np.errstate(all="ignore"):
        differences = rows - quotient(total(rows, np.ones_like(rows)), size)[..., np.newaxis]
        output = differences
        if attributes["normalize_variance"]:
            squares = variance_of or (lambda _, differences, total: total(differences, differences))
            variance = quotient(squares(rows, differences, total), data.dtype.type(count(rows.shape[-1])))
            eps = data.dtype.type(attributes["eps"])
            is_inside = attributes["eps_mode"] == "inside_sqrt"
            root = np.sqrt(variance + eps) if is_inside else np.sqrt(variance) + eps
            output = quotient(differences, root[..., np.newaxis])
    return stored(inference.kind, np.moveaxis(output.reshape(moved.shape), last, axes))


KERNELS: Mapping[str, Kernel] = {
    "MatMul-1": matmul,
    **dict.fromkeys(CONVOLUTIONS, convolution),
    "SoftMax-8": softmax,
    "MVN-6": mvn,
}


@pytest.mark.parametrize("order", SUMS)
@pytest.mark.parametrize("op", OPERATIONS)
def test_right_kernels_are_within_the_bounds(op: str, order: str) -> None:
    """Sums in every order, which are rounded as real kernels round them."""
    wrong = [x.case for x in inferences(op) if x.output.array.size and not is_right(x, KERNELS[op](x, SUMS[order]))]

    assert wrong == []


def reciprocal(dividend: Array, divisor: Array) -> Array:
    """A quotient as a product with a rounded reciprocal."""
    return np.asarray(dividend * (dividend.dtype.type(1) / divisor))


def shifted(rows: Array, _: Array, _total: Sum) -> Array:
    """The sum of the squares of differences by Welford's algorithm, in one pass."""
    mean, squares = np.zeros_like(rows[..., 0]), np.zeros_like(rows[..., 0])
    for place in range(rows.shape[-1]):
        change = rows[..., place] - mean
        mean = mean + change / rows.dtype.type(place + 1)
        squares = squares + change * (rows[..., place] - mean)
    return np.asarray(squares)


@pytest.mark.parametrize(
    ("op", "kernel"),
    [
        ("SoftMax-8", partial(softmax, quotient=reciprocal)),
        ("MVN-6", partial(mvn, quotient=reciprocal)),
        ("MVN-6", partial(mvn, variance_of=shifted)),
    ],
    ids=["softmax-by-a-reciprocal", "mvn-by-reciprocals", "mvn-by-welford"],
)
def test_other_right_kernels_are_within_the_bounds(op: str, kernel: Kernel) -> None:
    """Products with reciprocals in place of quotients, and a variance from one pass over the elements."""
    assert [x.case for x in inferences(op) if x.output.array.size and not is_right(x, kernel(x))] == []


def test_a_right_logarithm_of_softmax_is_within_the_bounds() -> None:
    """So that the wrong ones fail for what their names say."""
    assert [x.case for x in inferences("LogSoftmax-5") if x.output.array.size and not is_right(x, log_softmax(x))] == []


@pytest.mark.parametrize("op", OPERATIONS)
def test_each_operation_has_rounded_and_exact_cases(op: str) -> None:
    """Bounds differ where results are rounded, and are equal on exact data, but for quotients of exponentials."""
    bounded = [x.case for x in inferences(op) if x.output.bounds is not None]
    exact = [x.case for x in inferences(op) if x.output.bounds is None and x.output.array.size]

    assert len(bounded) > 8
    assert len(exact) > (0 if op == "SoftMax-8" else 15)
    assert 60 < len(inferences(op)) < 200


def without_last(left: Array, right: Array, when: Callable[[int], bool] = (1).__lt__) -> Array:
    """A sum without its last product, if it has so many."""
    count = left.shape[-1] - when(left.shape[-1])
    return in_order(left[..., :count], right[..., :count])


def without_tail(left: Array, right: Array, width: int) -> Array:
    """A sum of whole vectors of products alone."""
    count = left.shape[-1] // width * width
    return in_order(left[..., :count], right[..., :count])


def saturated(left: Array, right: Array) -> Array:
    """A sum of integers that stays in the range of i8."""
    total = in_order(left, right)
    return np.clip(total, -128, 127) if left.dtype == object else total


def changed(inference: Inference, tensors: Mapping[str, Array] | None = None, **attributes: Any) -> Inference:
    """An inference with other elements or attributes."""
    inputs = {
        name: Tensor(element_type=x.element_type, array=(tensors or {}).get(name, x.array))
        for name, x in inference.inputs.items()
    }
    merged = {**inference.attributes, **attributes}
    return Inference(case=inference.case, inputs=inputs, attributes=merged, output=inference.output)


def read_in_other_order(inference: Inference) -> Array:
    """A second matrix that is read along columns."""
    b = inference.inputs["b"].array
    other = np.swapaxes(b.reshape(*b.shape[:-2], b.shape[-1], b.shape[-2]), -1, -2) if b.ndim > 1 else b
    return matmul(changed(inference, {"b": other}))


def transposed_vector(inference: Inference) -> Array:
    """A first vector that becomes a column if it is transposed."""
    a = inference.inputs["a"].array
    is_column = inference.attributes["transpose_a"] and a.ndim == 1
    return matmul(changed(inference, {"a": a[np.newaxis]} if is_column else {}))


def first_matrix_alone(inference: Inference) -> Array:
    """The first of the right matrices, for all left ones."""
    b = inference.inputs["b"].array
    return matmul(
        changed(inference, {"b": np.broadcast_to(b.reshape(-1, *b.shape[-2:])[0], b.shape)} if b.ndim > 2 else {})
    )


def repeated_batches(inference: Inference) -> Array:
    """The batches in the other order."""
    output = matmul(inference)
    batch = output.shape[:-2]
    return output.reshape(*batch[::-1], *output.shape[-2:]).swapaxes(0, 1) if len(batch) == 2 else output


def other_lists(inference: Inference, *names: str) -> Array:
    """A list in the order of the dimensions from the last one, or two lists in each other's place."""
    if len(names) == 1:
        backwards: dict[str, Any] = {names[0]: inference.attributes[names[0]][::-1]}
        return convolution(changed(inference, **backwards))
    first, second = names
    exchanged: dict[str, Any] = {first: inference.attributes[second], second: inference.attributes[first]}
    return convolution(changed(inference, **exchanged))


def ones(inference: Inference, name: str) -> Array:
    """A list of ones in place of another."""
    other: dict[str, Any] = {name: (1,) * len(inference.attributes[name])}
    return convolution(changed(inference, **other))


def other_mode(inference: Inference, **modes: str) -> Array:
    """A mode in place of another one."""
    mode = inference.attributes["auto_pad"]
    return convolution(changed(inference, auto_pad=modes.get(mode, mode)))


def flipped(inference: Inference) -> Array:
    """A convolution, and not a cross-correlation."""
    filters, spatial = inference.inputs["filters"].array, len(inference.attributes["strides"])
    return convolution(changed(inference, {"filters": np.flip(filters, tuple(range(-spatial, 0)))}))


def exchanged_channels(inference: Inference) -> Array:
    """Filters whose input and output channels are exchanged in memory."""
    filters = inference.inputs["filters"].array
    other: Array = np.swapaxes(filters.reshape(filters.shape[1], filters.shape[0], *filters.shape[2:]), 0, 1)
    return convolution(changed(inference, {"filters": other}))


def first_group_alone(inference: Inference) -> Array:
    """The filters of the first group, for all groups."""
    filters = inference.inputs["filters"].array
    return convolution(changed(inference, {"filters": np.broadcast_to(filters[0], filters.shape)}))


def last_group_first(inference: Inference) -> Array:
    """The outputs of the groups from the last one."""
    groups, output = len(inference.inputs["filters"].array), convolution(inference)
    return np.concatenate(np.split(output, groups, 1)[::-1], 1)


def single(kind: ElementType) -> Any:
    """f32 for every floating-point type."""
    return object if kind.is_integer else np.float32


def brain(kind: ElementType) -> Any:
    """bf16, in which some processors compute f32."""
    return object if kind.is_integer else ml_dtypes.bfloat16


def through_floats(inference: Inference, kernel: Kernel) -> Array:
    """Integers that are converted to f32 and back."""
    if not inference.kind.is_integer:
        return kernel(inference)
    doubled = Tensor(element_type="f32", array=np.zeros(0, np.float32))
    inputs = {
        name: Tensor(element_type="f32", array=np.array(numbers(x), np.float32)) for name, x in inference.inputs.items()
    }
    rounded = kernel(Inference(case=inference.case, inputs=inputs, attributes=inference.attributes, output=doubled))
    return stored(inference.kind, np.array([int(x) for x in rounded.ravel()], object).reshape(rounded.shape))


def difference_of_squares(rows: Array, _differences: Array, total: Sum) -> Array:
    """The mean of the squares less the square of the mean."""
    sum_, count = total(rows, np.ones_like(rows)), rows.dtype.type(rows.shape[-1])
    return np.asarray(np.maximum(total(rows, rows) - sum_ * sum_ / count, 0))


def truncated_power(data: Array) -> Array:
    """Exponentials that are 0 below -10."""
    return np.where(data < -10, 0, np.exp(data))


def table_power(data: Array) -> Array:
    """Exponentials from a table with steps of 1 / 256."""
    return np.exp(np.round(data * 256) / 256)


#: What is wrong with a kernel of a convolution, and its outputs.
CONVOLVED: Mapping[str, Kernel] = {
    "filters are reversed": flipped,
    "the pads are exchanged": lambda x: other_lists(x, "pads_begin", "pads_end"),
    "the strides are reversed": lambda x: other_lists(x, "strides"),
    "the dilations are reversed": lambda x: other_lists(x, "dilations"),
    "the first pads are reversed": lambda x: other_lists(x, "pads_begin"),
    "the last pads are reversed": lambda x: other_lists(x, "pads_end"),
    "dilations are ignored": lambda x: ones(x, "dilations"),
    "strides are ignored": lambda x: ones(x, "strides"),
    "strides and dilations are exchanged": lambda x: other_lists(x, "strides", "dilations"),
    "same_upper is same_lower": lambda x: other_mode(x, same_upper="same_lower"),
    "same_lower is same_upper": lambda x: other_mode(x, same_lower="same_upper"),
    "valid is explicit": lambda x: other_mode(x, valid="explicit"),
    "explicit is valid": lambda x: other_mode(x, explicit="valid"),
    "explicit is same_upper": lambda x: other_mode(x, explicit="same_upper"),
    "sums of integers are those of i8": partial(convolution, total=saturated),
    "integers are computed in f32": partial(through_floats, kernel=convolution),
}
#: What is wrong with a kernel of an operation, and its outputs.
MUTANTS: Mapping[tuple[str, str], Kernel] = {
    **{
        (op, f"the sum is accumulated in {name}"): partial(KERNELS[op], wide=wide)
        for op in OPERATIONS
        for name, wide in (("the narrow type", narrow_of), ("f32", single), ("bf16", brain))
    },
    **{(op, "the last element of a sum is missing"): partial(KERNELS[op], total=without_last) for op in OPERATIONS},
    **{
        (op, f"the last element of {count} is missing"): partial(
            KERNELS[op], total=partial(without_last, when=count.__eq__)
        )
        for op in ("MatMul-1", "SoftMax-8", "MVN-6")
        for count in (8, 9, 16, 17, 32, 33, 64, 65)
    },
    **{
        (op, f"the tail behind vectors of {width} is missing"): partial(
            KERNELS[op], total=partial(without_tail, width=width)
        )
        for op in OPERATIONS
        for width in (4, 8, 16, 32)
    },
    ("MatMul-1", "the second matrix is read along columns"): read_in_other_order,
    ("MatMul-1", "a vector is transposed"): transposed_vector,
    ("MatMul-1", "only the first matrix is used"): first_matrix_alone,
    ("MatMul-1", "batches are exchanged"): repeated_batches,
    ("MatMul-1", "the first matrix is not transposed"): lambda x: matmul(changed(x, transpose_a=False)),
    ("MatMul-1", "the second matrix is not transposed"): lambda x: matmul(changed(x, transpose_b=False)),
    ("MatMul-1", "every matrix is transposed"): lambda x: matmul(changed(x, transpose_b=True)),
    ("MatMul-1", "sums of integers are those of i8"): partial(matmul, total=saturated),
    ("MatMul-1", "integers are computed in f32"): partial(through_floats, kernel=matmul),
    **{(op, fault): kernel for op in CONVOLUTIONS for fault, kernel in CONVOLVED.items()},
    ("Convolution-1", "channels are exchanged"): exchanged_channels,
    ("GroupConvolution-1", "the filters of the first group are those of all"): first_group_alone,
    ("GroupConvolution-1", "the groups are in reverse"): last_group_first,
    ("SoftMax-8", "the largest element is not subtracted"): partial(softmax, subtracts=False),
    ("SoftMax-8", "the axis is the last one"): partial(softmax, axis=-1),
    ("SoftMax-8", "the axis is the second one"): partial(softmax, axis=1),
    ("SoftMax-8", "the axis is counted from the front"): lambda x: softmax(x, axis=abs(x.attributes["axis"])),
    ("SoftMax-8", "small exponentials are 0"): partial(softmax, power=truncated_power),
    ("SoftMax-8", "exponentials are those of a table"): partial(softmax, power=table_power),
    ("SoftMax-8", "exponentials are those of base 2"): partial(softmax, power=np.exp2),
    ("LogSoftmax-5", "the largest element is not subtracted"): partial(log_softmax, subtracts=False),
    ("LogSoftmax-5", "the axis is the last one"): partial(log_softmax, axis=-1),
    ("LogSoftmax-5", "the axis is the first one"): partial(log_softmax, axis=0),
    ("LogSoftmax-5", "logarithms are those of base 2"): partial(log_softmax, log=np.log2),
    ("MVN-6", "eps is outside of the square root"): partial(mvn, eps_mode="outside_sqrt"),
    ("MVN-6", "eps is inside the square root"): partial(mvn, eps_mode="inside_sqrt"),
    ("MVN-6", "there is no eps"): partial(mvn, eps=0.0),
    ("MVN-6", "the variance is always normalized"): partial(mvn, normalize_variance=True),
    ("MVN-6", "the variance is never normalized"): partial(mvn, normalize_variance=False),
    ("MVN-6", "the variance is an estimate"): partial(mvn, count=lambda count: max(count - 1, 1)),
    ("MVN-6", "the variance is a sum"): partial(mvn, count=lambda _: 1),
    ("MVN-6", "the variance is a difference of squares"): partial(mvn, variance_of=difference_of_squares),
    ("MVN-6", "the axes are the other ones"): partial(
        mvn, axes_of=lambda axes, rank: tuple(axis for axis in range(rank) if axis not in axes)
    ),
    ("MVN-6", "only the first axis is used"): partial(mvn, axes_of=lambda axes, _: axes[:1]),
    ("MVN-6", "the axes are those of channels"): partial(mvn, axes_of=lambda _, rank: tuple(range(1, rank))),
}


def catches(inference: Inference, mutant: Kernel) -> bool:
    """Whether a wrong kernel fails an inference; an exception is a failure, too."""
    try:
        with np.errstate(all="ignore"):
            return not is_right(inference, mutant(inference))
    except (ValueError, IndexError, OverflowError):
        return True


@pytest.mark.parametrize(("op", "fault"), MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_the_core_catches_a_wrong_kernel(op: str, fault: str) -> None:
    """At least one inference fails."""
    assert any(catches(x, MUTANTS[op, fault]) for x in inferences(op) if x.output.array.size)


_SMALL = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=6)


@given(_SMALL)
def test_softmax_agrees_with_mpmath(elements: list[float]) -> None:
    """To 150 bits."""
    with mpmath.workprec(200):
        powers = [mpmath.exp(mpmath.mpf(x)) for x in elements]
        expected = [power / mpmath.fsum(powers) for power in powers]
        results: Any = exact_softmax(ELEMENT_TYPES["f32"], [Exact(x) for x in elements])
        exact = [mpmath.mpf(int(x.numerator)) / int(x.denominator) for x, *_ in results]
        assert all(abs(x - y) <= abs(y) * mpmath.mpf(2) ** -150 for x, y in zip(exact, expected, strict=True))


@given(_SMALL, st.sampled_from([0.5, 1e-6]), st.booleans())
def test_mvn_agrees_with_mpmath(elements: list[float], eps: float, is_inside: bool) -> None:
    """To 120 bits of the largest result."""
    with mpmath.workprec(400):
        mean = mpmath.fsum(elements) / len(elements)
        differences = [x - mean for x in elements]
        variance = mpmath.fsum(x * x for x in differences) / len(elements)
        divisor = mpmath.sqrt(variance + eps) if is_inside else mpmath.sqrt(variance) + eps
        scale = _Scale(Exact(eps), is_inside, int)
        results: Any = normalized(ELEMENT_TYPES["f32"], [Exact(x) for x in elements], scale)
        exact = [mpmath.mpf(int(x.numerator)) / int(x.denominator) for x, *_ in results]
        limit = mpmath.mpf(2) ** -120 * max(1, *map(abs, exact))
        assert all(abs(x - y / divisor) <= limit for x, y in zip(exact, differences, strict=True))


def pair_of(kind: ElementType, left: list[Exact], right: list[Exact]) -> tuple[Exact, Exact]:
    """A sum of products of numbers, and the error that is right."""
    result = sum_of_products(kind, left, right)
    assert isinstance(result, Rounded)
    return result.exact, Exact(result.right[1]) - result.exact


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), max_size=8))
def test_sums_are_exact(pairs: list[tuple[float, float]]) -> None:
    """As fractions."""
    exact, _ = pair_of(ELEMENT_TYPES["f64"], [Exact(a) for a, _ in pairs], [Exact(b) for _, b in pairs])

    assert Fraction(int(exact.numerator), int(exact.denominator)) == sum(Fraction(a) * Fraction(b) for a, b in pairs)


@pytest.mark.parametrize(
    ("left", "right", "total"), [(np.inf, 1e308, np.inf), (np.inf, -1e-300, -np.inf), (np.nan, 1, np.nan)]
)
def test_finite_products_do_not_change_an_infinity(left: float, right: float, total: float) -> None:
    """As large as they are, if the type has them."""
    large = Exact(2) ** 511
    result = sum_of_products(ELEMENT_TYPES["f64"], [left, large], [Exact(right), -large])

    assert patterns(np.array(result)) == patterns(np.array(total))


def test_an_infinity_beside_a_product_beyond_the_type_is_open() -> None:
    """The product becomes an infinity, of the other sign in the worst case, and their sum a NaN."""
    huge = Exact(1.7e308)
    with pytest.raises(NoGolden, match="decides whether an infinite sum is a NaN"):
        sum_of_products(ELEMENT_TYPES["f64"], [np.inf, huge], [Exact(1), -huge])


def test_a_sum_of_zeros_has_either_sign() -> None:
    """An accumulator that begins with the first product returns a negative zero."""
    zeros = [Exact(0)] * 3
    exact, allowed = pair_of(ELEMENT_TYPES["f32"], zeros, zeros)

    assert exact == 0
    assert 0 < allowed < 1e-44


def test_a_convolution_behind_a_convolution_is_another_node() -> None:
    """Its outputs are not those of the node under test."""
    groups = [x for spec in load_specs([ROOT / "cases" / "Convolution-1"]) for x in spec.groups]
    drafts = [x for group in groups if group.id == "behind-a-convolution" for x in expand(group)]
    golden = golden_of(next(x for x in drafts if x.tensors["data"].shape == (2, 3, 5, 7)), 0)
    names = [node.name for node in golden.graph.nodes]

    assert len({*names}) == len(names) == 3
    assert golden.outputs[0][0].shape == (2, 4, 4, 3)


@pytest.mark.parametrize("element_type", ["bf16", "f16", "f32", "f64"])
def test_every_nan_has_the_same_bits_in_a_digest(element_type: str) -> None:
    """Also a negative one with a payload; numbers keep theirs."""
    kind = ELEMENT_TYPES[element_type]
    numbers_ = np.array([1.5, -np.nan, np.nan, -0.0]).astype(kind.arithmetic)
    bits = with_one_nan(numbers_.view(kind.storage), kind).view(f"u{kind.storage.itemsize}").tolist()

    assert bits[1] == bits[2]
    assert [bits[0], bits[3]] == numbers_.view(f"u{kind.storage.itemsize}")[[0, 3]].tolist()


def filled(element_type: str, count: int, by: Fill) -> Tensor:
    """A list of elements that a fill makes."""
    return fill(TensorDraft(element_type=element_type, shape=(count,), fill=by), "key")


@pytest.mark.parametrize("element_type", ["bf16", "f16", "f32", "f64"])
def test_fractions_are_from_one_to_two(element_type: str) -> None:
    """With random fractions."""
    elements = numbers(filled(element_type, 99, "fractions"))

    assert ((elements >= 1) & (elements < 2)).all()
    assert len({*elements.tolist()}) > 50


@pytest.mark.parametrize("element_type", ["bf16", "f16", "f32", "f64"])
def test_normal_numbers_are_of_both_signs_around_0(element_type: str) -> None:
    """As those of a network: few are large, and the type has digits enough for most of them to differ."""
    elements = numbers(filled(element_type, 4_000, "normal"))

    assert abs(elements.mean()) < 0.1
    assert 1.1 < elements.std() < 1.2
    assert 3 < np.abs(elements).max() < 4
    assert len({*elements.tolist()}) > 200


def test_integers_have_no_fractions() -> None:
    """They are the small ones of the fill `exact`."""
    assert filled("i8", 11, "fractions").array.tolist() == filled("i8", 11, "exact").array.tolist()


def test_an_infinity_beside_a_product_that_overflows_has_no_certain_sum() -> None:
    """It is a NaN if the product becomes an infinity of the other sign."""
    kind, large, infinity = ELEMENT_TYPES["f64"], Exact(1e200), -math.inf

    with pytest.raises(NoGolden, match="NaN"):
        sum_of_products(kind, [large, infinity], [large, Exact(1)])
    assert sum_of_products(kind, [large, infinity], [Exact(1), Exact(1)]) == infinity


@pytest.mark.parametrize("normalize_variance", [False, True])
def test_a_negative_zero_less_a_mean_of_zero_has_no_certain_sign(normalize_variance: bool) -> None:
    """It is negative if a kernel adds to a positive zero, and positive if it begins with the first element."""

    def evaluated(*elements: float) -> list[float]:
        data = Tensor(element_type="f32", array=np.array(elements, np.float32))
        inputs = {
            "data": Operand(element_type="f32", shape=data.shape, tensor=data),
            "axes": Operand(element_type="i64", shape=(1,), integers=(0,)),
        }
        given = MVN.arguments(
            inputs, {"normalize_variance": normalize_variance, "eps": 1.0, "eps_mode": "outside_sqrt"}
        )
        [output] = MVN.evaluate(given)
        return [float(x) for x in output.array]

    for elements in ((-0.0,), (-0.0, 1.0, -1.0)):
        with pytest.raises(NoGolden, match="undefined"):
            evaluated(*elements)
    assert np.signbit(evaluated(0.0, 1.0, -1.0)).tolist() == [False, False, True]
    assert evaluated(-0.0, 2.0)[0] < 0
