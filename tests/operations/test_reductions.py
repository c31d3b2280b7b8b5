"""The reductions, CumSum-3 and TopK-11: their goldens against other implementations, right variants, and wrong ones."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.generation.expansion import expand
from opconform.model.golden import Golden, golden_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Operand, Unknown
from opconform.operations.arithmetic.products import product_of
from opconform.operations.arithmetic.sums import is_open, partial_sums, sum_of_products
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import Exact, Result, Rounded, bounded_tensor
from opconform.tensors.tensor import Array, Tensor, patterns, with_one_nan
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.reductions import REDUCTIONS
from opconform_runners.verdicts.comparison import mismatch_of
from tests.sampling import in_line

SUMS = ("ReduceSum-1", "ReduceMean-1", "ReduceProd-1", "ReduceL1-4", "ReduceL2-4", "CumSum-3")
FLOATS = {"bf16", "f16", "f32", "f64"}
Function = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Tensor]]


@cache
def goldens(op: str) -> tuple[Golden, ...]:
    """The goldens of the valid cases of the operation's own groups, in the profiles core and types."""
    groups = [group for spec in load_specs([cases_of(op)]) for group in spec.groups if group.samples is None]
    kept = [group for group in groups if group.settings.profile in ("core", "types")]
    return tuple(
        golden_of(x, 0) for group in kept for x in expand(group) if x.rejected_for is None and len(x.feeds) == 1
    )


def executed(golden: Golden, function: Function) -> Sequence[Tensor]:
    """The outputs of a function for the inputs of a case."""
    operation, [feed] = OPERATIONS[golden.draft.op], golden.inputs
    attributes = operation.arguments({}, golden.draft.attributes).attributes
    return function([feed.get(port.name) for port in operation.inputs if port.name in feed], attributes)


def is_right(golden: Golden, outputs: Sequence[Tensor]) -> bool:
    """Whether outputs are right, or those of another reading."""
    [wanted] = golden.outputs
    types = [tensor.element_type for tensor in wanted]
    if [tensor.element_type for tensor in outputs] != types:
        return False
    arrays = [np.asarray(tensor.array) for tensor in outputs]
    mismatch = mismatch_of([x.array for x in wanted], arrays, types, bounds=[x.bounds for x in wanted])
    if mismatch is None or mismatch.reason == "nan-payload":
        return True
    return all(are_of_readings(tensor, array) for tensor, array in zip(wanted, arrays, strict=True))


def are_of_readings(wanted: Tensor, actual: Array) -> bool:
    """Whether each element is the golden one, or that of another reading."""
    if actual.shape != wanted.shape:
        return False
    values = [with_one_nan(x, wanted.type) for x in (wanted.array, *(x.array for _, x in wanted.otherwise))]
    returned = patterns(with_one_nan(actual, wanted.type))
    return bool(np.logical_or.reduce([patterns(x) == returned for x in values]).all())


@pytest.mark.parametrize("op", REDUCTIONS)
def test_numpy_is_right(op: str) -> None:
    """The row of the numpy backend gives the goldens."""
    assert [golden.draft.id for golden in goldens(op) if not is_right(golden, executed(golden, REDUCTIONS[op]))] == []


def nearest(kind: str, result: Result) -> float:
    """The golden number of a result."""
    return float(bounded_tensor(kind, (), [result]).array)


numbers = st.floats(-1e100, 1e100, allow_subnormal=False) | st.integers(-9, 9).map(float)


@given(st.lists(numbers, min_size=1, max_size=40))
def test_sums_are_those_of_fsum(row: list[float]) -> None:
    """`math.fsum` rounds the exact sum once; zeros of one sign are left out."""
    kind = ELEMENT_TYPES["f64"]
    if is_open(kind, row):
        return
    last = partial_sums(kind, row)[-1]
    assert last == sum_of_products(kind, [Exact(x) for x in row], [Exact(1)] * len(row), is_sum=True)
    assert nearest("f64", last) == math.fsum(row)


@given(st.lists(st.floats(0.25, 4) | st.sampled_from([-3.0, -1.0, 0.5]), min_size=1, max_size=40))
def test_products_are_exact(row: list[float]) -> None:
    """The golden product is the exact one, rounded once; its bounds have the product in the order of the list."""
    result = product_of(ELEMENT_TYPES["f64"], row)
    exact = math.prod(map(Fraction, row), start=Fraction(1))
    assert nearest("f64", result) == float(exact)
    assert isinstance(result, Rounded)
    assert result.right[0] <= Exact(math.prod(row)) <= result.right[1]


@pytest.mark.parametrize(
    ("factors", "result"), [([math.inf, 0.0], math.nan), ([-math.inf, 2.0], -math.inf), ([-0.0, 5.0], -0.0)]
)
def test_products_of_special_numbers(factors: list[float], result: float) -> None:
    """Those of IEEE 754."""
    assert repr(product_of(ELEMENT_TYPES["f32"], factors)) == repr(result)


@pytest.mark.parametrize(
    "factors", [[1e30, 1e30, 1e-30], [1e-30, 1e-30, 1e30], [1e30, 1e30, 0.0], [math.inf, 1e-30, 1e-30]]
)
def test_products_that_the_order_decides_have_no_result(factors: list[float]) -> None:
    """They overflow or underflow in some order."""
    with pytest.raises(NoGolden):
        product_of(ELEMENT_TYPES["f32"], factors)


@pytest.mark.parametrize(
    ("kind", "row", "divisor", "is_left_out"),
    [
        ("f32", [3e38, 3e38, -3e38], 1, True),
        ("f32", [3e38, 3e38], 1, False),
        ("f32", [3e38, 3e38], 2, True),
        ("f16", [60000.0, 60000.0, -60000.0], 1, False),
        ("f32", [-0.0, -0.0], 1, True),
        ("f32", [-0.0, 1.0], 1, False),
        ("f32", [math.inf, 3e38, 3e38], 1, True),
    ],
)
def test_sums_that_the_order_decides_are_left_out(kind: str, row: list[float], divisor: int, is_left_out: bool) -> None:
    """They overflow in some order, or are zeros with a sign."""
    assert is_open(ELEMENT_TYPES[kind], row, divisor) is is_left_out


@pytest.mark.parametrize(
    "op", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "CumSum", "TopK"]
)
def test_goldens_contain_the_results_of_the_reference_implementation_of_onnx(op: str) -> None:
    """In f32 and i32, where both define the result."""
    helper, reference = pytest.importorskip("onnx.helper"), pytest.importorskip("onnx.reference")
    name, count = next(x for x in REDUCTIONS if x.startswith(op)), 0
    left_out = {"values.nan", "values.zeros", "values.empty", "axes.aliases", "axes.empty", "axes.empty-zeros"}
    left_out.add("axes.empty-signs")
    types = ("f32",) if op in ("ReduceMean", "ReduceL2") else ("f32", "i32")  # its means and norms of integers wrap
    for golden in goldens(name):
        [feed] = golden.inputs
        attributes = OPERATIONS[name].arguments({}, golden.draft.attributes).attributes
        data, setting = feed["data"], next((x for key, x in feed.items() if key != "data"), None)
        if data.element_type not in types or setting is None or golden.draft.requirements[0] in left_out:
            continue
        if op == "TopK" and (attributes["sort"] != "value" or attributes["stable"] is False):
            continue
        given_setting = setting.array.reshape(-1) if op != "CumSum" else setting.array
        if op == "CumSum":
            named: dict[str, Any] = {key: int(bool(x)) for key, x in attributes.items()}
        elif op == "TopK":
            named = {"axis": attributes["axis"], "largest": int(attributes["mode"] == "max")}
        else:
            named = {"keepdims": int(bool(attributes["keep_dims"]))}
        outputs = ["y", "z"][: len(golden.outputs[0])]
        node = helper.make_node(op, ["data", "setting"], outputs, **named)
        with np.errstate(all="ignore"):
            results = reference.ReferenceEvaluator(node).run(None, {"data": data.array, "setting": given_setting})
        tensors = [
            Tensor(element_type=x.element_type, array=np.asarray(y, x.type.storage))
            for x, y in zip(golden.outputs[0], results, strict=True)
        ]
        if name == "TopK-11":  # its order of equal elements differs
            tensors = [tensors[0], golden.outputs[0][1]]
        assert is_right(golden, tensors), golden.draft.id
        count += 1
    assert count > 3


# Right variants: kernels that add and multiply in another order, or in a wider type.


def in_order(row: Array, of: Any) -> Any:
    """One element after the other."""
    total = row[0]
    for x in row[1:]:
        total = of(total, x)
    return total


def in_blocks(row: Array, of: Any) -> Any:
    """Sixteen lanes, as in a vector register, which are reduced at the end."""
    lanes = [in_order(row[lane::16], of) for lane in range(min(16, len(row)))]
    return in_order(np.array(lanes, row.dtype), of)


def pairwise(row: Array, of: Any) -> Any:
    """Halves of halves."""
    return row[0] if len(row) == 1 else of(pairwise(row[: len(row) // 2], of), pairwise(row[len(row) // 2 :], of))


def in_f64(row: Array, of: Any) -> Any:
    """In a wider type."""
    return in_order(row.astype(np.float64), of)


VARIANTS: Mapping[str, Callable[[Array, Any], Any]] = {
    "in order": in_order,
    "in reverse": lambda row, of: in_order(row[::-1], of),
    "in blocks": in_blocks,
    "pairwise": pairwise,
    "in f64": in_f64,
}


def floating(op: str, variant: Callable[[Array, Any], Any], dtype: Any = None, *, divides: bool = True) -> Function:
    """A kernel that reduces numbers in f32 or wider, or in another dtype."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        data = inputs[0]
        if not data.array.size or (op != "CumSum-3" and not inputs[1].integers()):
            return REDUCTIONS[op](inputs, attributes)
        kind, array = data.type, data.array.view(data.type.arithmetic)
        wide = dtype(kind) if dtype else np.float64 if kind.name == "f64" else np.float32
        of = np.multiply if op == "ReduceProd-1" else np.add
        if op == "CumSum-3":
            return cumulated(inputs, attributes, array.astype(wide), lambda row: variant(row, of))
        axes = sorted({axis % array.ndim for axis in inputs[1].integers()})
        rows = np.moveaxis(array, axes, range(-len(axes), 0))
        rows = rows.reshape(*rows.shape[: rows.ndim - len(axes)], -1).astype(wide)
        terms = {"ReduceL1-4": np.abs, "ReduceL2-4": np.square}.get(op, lambda x: x)
        results = np.empty(rows.shape[:-1], np.float64 if variant is in_f64 else wide)
        for place in np.ndindex(results.shape):
            total = variant(terms(rows[place].astype(np.float64) if variant is in_f64 else rows[place]), of)
            if op == "ReduceMean-1":
                count = total.dtype.type(rows.shape[-1])
                total = total / count if divides else total * (total.dtype.type(1) / count)
            results[place] = np.sqrt(total) if op == "ReduceL2-4" else total
        shape = [1 if axis in axes else size for axis, size in enumerate(array.shape)]
        return [stored(kind, results.reshape(shape) if attributes["keep_dims"] else results)]

    return call


def cumulated(inputs: Sequence[Any], attributes: Mapping[str, Any], array: Array, total: Any) -> Sequence[Tensor]:
    """The cumulative sums by a function that sums a list."""
    axis = inputs[1].integers()[0] if len(inputs) > 1 and inputs[1] is not None else 0
    rows = np.moveaxis(array, axis, -1)
    rows = rows[..., ::-1] if attributes["reverse"] else rows
    sums = np.zeros(rows.shape, np.float64)
    for *place, end in np.ndindex(rows.shape):
        row = rows[tuple(place)][: end + (not attributes["exclusive"])]
        sums[(*place, end)] = total(row) if len(row) else 0.0
    sums = sums[..., ::-1] if attributes["reverse"] else sums
    return [stored(inputs[0].type, np.moveaxis(sums, -1, axis))]


def stored(kind: ElementType, array: Array) -> Tensor:
    """Numbers in the storage dtype of a type, rounded once."""
    array = np.asarray(array, order="C")
    array = array.astype(np.float32) if kind.bits < 64 else array
    return Tensor(element_type=kind.name, array=array.astype(kind.native).view(kind.storage).reshape(array.shape))


def floats(op: str) -> Iterator[Golden]:
    """The cases of floating-point numbers without many elements."""
    for golden in goldens(op):
        data = golden.inputs[0]["data"]
        if data.element_type in FLOATS and data.array.size < (600 if op == "CumSum-3" else 3000):
            yield golden


@pytest.mark.parametrize("op", in_line(SUMS, "ReduceMean-1", "ReduceSum-1"))
@pytest.mark.parametrize("name", VARIANTS)
def test_right_variants_are_right(op: str, name: str) -> None:
    """No bound accuses another order or a wider type."""
    with np.errstate(all="ignore"):
        wrong = [x.draft.id for x in floats(op) if not is_right(x, executed(x, floating(op, VARIANTS[name])))]
    assert wrong == []


def test_a_mean_by_the_reciprocal_of_the_count_is_right() -> None:
    """The bound allows it."""
    function = floating("ReduceMean-1", in_order, divides=False)
    with np.errstate(all="ignore"):
        assert [x.draft.id for x in floats("ReduceMean-1") if not is_right(x, executed(x, function))] == []


# Wrong variants, which the shipped cases must catch.


def right(op: str, inputs: Sequence[Any], attributes: Mapping[str, Any], **changes: Any) -> Sequence[Tensor]:
    """The right outputs for other attributes."""
    return REDUCTIONS[op](inputs, {**attributes, **changes})


def on_data(change: Callable[[Tensor, Sequence[int]], Tensor]) -> Callable[[str], Function]:
    """The right function for other data."""
    return lambda op: (
        lambda inputs, attributes: right(op, [change(inputs[0], axes_of(inputs)), *inputs[1:]], attributes)
    )


def axes_of(inputs: Sequence[Any]) -> Sequence[int]:
    """The axes from the front; the axis of CumSum-3."""
    integers = inputs[1].integers() if len(inputs) > 1 and inputs[1] is not None else [0]
    return [axis % len(inputs[0].shape) for axis in integers]


def without_last(tensor: Tensor, axes: Sequence[int]) -> Tensor:
    """Data without the last element along the last reduced axis."""
    if not axes or tensor.shape[axes[-1]] < 2:
        return tensor
    return replace(tensor, array=np.delete(tensor.array, -1, axes[-1]))


def through(dtype: Any) -> Callable[[str], Function]:
    """Elements that are converted to a floating-point type, and back."""

    def change(tensor: Tensor, _: Sequence[int]) -> Tensor:
        if not tensor.type.is_integer:
            return tensor
        array = tensor.array.astype(dtype).astype(np.float64)
        limits = np.iinfo(tensor.array.dtype)
        inside = [min(max(int(x), limits.min), limits.max) for x in array.reshape(-1)]
        return replace(tensor, array=np.array(inside, tensor.array.dtype).reshape(tensor.shape))

    return on_data(change)


def truncated(tensor: Tensor, _: Sequence[int]) -> Tensor:
    """The low 32 bits, as i32."""
    wide = tensor.array.dtype.kind in "iu" and tensor.array.dtype.itemsize > 4
    return replace(tensor, array=tensor.array.astype(np.int32).astype(tensor.array.dtype)) if wide else tensor


def next_axis(op: str) -> Function:
    """The axes after the right ones."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        rank = len(inputs[0].shape)
        axes = np.array([(axis + 1) % rank for axis in inputs[1].integers()], np.int64)
        return right(op, [inputs[0], Tensor(element_type="i64", array=axes)], attributes)

    return call


def narrow(op: str) -> Function:
    """The accumulator has the type of data."""
    function = floating(op, in_order, lambda kind: kind.native)
    return lambda inputs, attributes: (
        function(inputs, attributes) if inputs[0].element_type in FLOATS else right(op, inputs, attributes)
    )


def keeping(keeps: bool) -> Callable[[str], Function]:
    """keep_dims as a constant."""
    return lambda op: lambda inputs, attributes: right(op, inputs, attributes, keep_dims=keeps)


def squeezed(op: str) -> Function:
    """A list of axes without any reduces all dimensions."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        rank = len(inputs[0].shape)
        axes = inputs[1].integers() or [*range(rank)]
        return right(op, [inputs[0], Tensor(element_type="i64", array=np.array(axes, np.int64))], attributes)

    return call


def mean_by(count: Callable[[Array, Sequence[int]], int]) -> Callable[[str], Function]:
    """The sum in f32, divided by another count."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        [tensor] = right("ReduceSum-1", inputs, attributes)
        if inputs[0].element_type != "f32" or not inputs[1].integers():
            return right("ReduceMean-1", inputs, attributes)
        return [
            replace(tensor, array=np.asarray(tensor.array / np.float32(count(inputs[0].array, inputs[1].integers()))))
        ]

    return lambda _: call


def wrapped_mean(_: str) -> Function:
    """The sum wraps in the type of data before it is divided."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        if not inputs[0].type.is_integer or not inputs[1].integers():
            return right("ReduceMean-1", inputs, attributes)
        [total] = right("ReduceSum-1", inputs, attributes)
        count = math.prod(inputs[0].shape[axis] for axis in axes_of(inputs))
        means = [int(x / count) for x in total.array.reshape(-1).astype(object)]
        return [replace(total, array=np.array(means, total.array.dtype).reshape(total.shape))]

    return call


def extreme_from(start: Callable[[ElementType], float]) -> Callable[[str], Function]:
    """The accumulator starts at a number."""

    def wrong(op: str) -> Function:
        of = np.maximum if op == "ReduceMax-1" else np.minimum

        def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
            [tensor] = right(op, inputs, attributes)
            if not inputs[1].integers() or tensor.type.bits < 16:
                return [tensor]
            array = np.asarray(tensor.array).view(tensor.type.arithmetic)
            started = np.asarray(of(array, np.array(start(tensor.type)).astype(array.dtype)), array.dtype)
            return [replace(tensor, array=started.view(tensor.type.storage))]

        return call

    return wrong


def flipped_sign(tensor: Tensor, _: Sequence[int]) -> Tensor:
    """Unsigned elements as signed ones, in whose order their highest bit is a sign."""
    if tensor.type.kind != "unsigned":
        return tensor
    return replace(tensor, array=tensor.array ^ tensor.array.dtype.type(1 << (tensor.type.bits - 1)))


def other(of: str) -> Callable[[str], Function]:
    """Another reduction, where axes are given."""

    def wrong(op: str) -> Function:
        return lambda inputs, attributes: right(of if inputs[1].integers() else op, inputs, attributes)

    return wrong


def without_root(op: str) -> Function:
    """The square of a norm of numbers."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        [tensor] = right(op, inputs, attributes)
        is_squared = tensor.element_type == "f32" and inputs[1].integers()
        return [replace(tensor, array=np.asarray(tensor.array**2)) if is_squared else tensor]

    return call


def as_signed(op: str) -> Function:
    """Unsigned elements are compared as signed ones."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        tensor, *rest = right(op, [flipped_sign(inputs[0], ()), *inputs[1:]], attributes)
        return [flipped_sign(tensor, ()) if axes_of(inputs) or op == "TopK-11" else inputs[0], *rest]

    return call


def with_attributes(change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Callable[[str], Function]:
    """The right function for other attributes."""
    return lambda op: lambda inputs, attributes: right(op, inputs, change(attributes))


def not_turned_back(op: str) -> Function:
    """A reverse sum that stays in the order in which it was computed."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        [tensor] = right(op, inputs, attributes)
        return [replace(tensor, array=np.flip(tensor.array, axes_of(inputs)[0])) if attributes["reverse"] else tensor]

    return call


def selected(change: Callable[[Array, Array, Mapping[str, Any]], Any]) -> Callable[[str], Function]:
    """The right values and indices along the last axis, of which a fault makes others."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        outputs = right("TopK-11", inputs, attributes)
        axis = attributes["axis"]
        values, indices = (np.moveaxis(np.asarray(x.array), axis, -1) for x in outputs)
        arrays = change(values, indices, attributes)
        return [
            replace(x, array=np.ascontiguousarray(np.moveaxis(y, -1, axis)))
            for x, y in zip(outputs, arrays, strict=True)
        ]

    return lambda _: call


def next_one(_: str) -> Function:
    """The elements after the best one."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        [k] = inputs[1].integers()
        if k >= inputs[0].shape[attributes["axis"]]:
            return right("TopK-11", inputs, attributes)
        more = [inputs[0], Tensor(element_type="i64", array=np.array(k + 1))]
        outputs = right("TopK-11", more, {**attributes, "sort": "value"})
        return [replace(x, array=np.take(x.array, range(1, k + 1), attributes["axis"])) for x in outputs]

    return call


def last_of_equal(_: str) -> Function:
    """Of equal elements, the last ones."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        data, axis = inputs[0], attributes["axis"]
        flipped = replace(data, array=np.ascontiguousarray(np.flip(data.array, axis)))
        values, indices = right("TopK-11", [flipped, inputs[1]], {**attributes, "sort": "value"})
        places = np.asarray(data.shape[axis] - 1 - indices.array, indices.array.dtype)
        if attributes["sort"] == "index":
            places = np.sort(places, axis)
        array = np.take_along_axis(data.array, places.astype(np.int64), axis)
        return [replace(values, array=array), replace(indices, array=places)]

    return call


def is_value(attributes: Mapping[str, Any]) -> bool:
    """Whether the elements are in the order of their values."""
    return bool(attributes["sort"] == "value")


LOGICAL = ("ReduceLogicalAnd-1", "ReduceLogicalOr-1")
SUMMED = ("ReduceSum-1", "ReduceMean-1", "ReduceL1-4", "ReduceL2-4")
NUMERIC = (*SUMMED, "ReduceMax-1", "ReduceMin-1", "ReduceProd-1")
REDUCE = (*NUMERIC, *LOGICAL)
#: Per wrong variant: how it is made, and the operations whose cases must catch it.
MUTANTS: Mapping[str, tuple[Callable[[str], Function], Sequence[str]]] = {
    "an accumulator in the type of data": (narrow, (*SUMMED, "CumSum-3")),
    "a missing last element": (on_data(without_last), REDUCE),
    "the next axis": (next_axis, REDUCE),
    "kept dimensions are removed": (keeping(keeps=False), REDUCE),
    "removed dimensions are kept": (keeping(keeps=True), REDUCE),
    "no axes reduce all dimensions": (squeezed, REDUCE),
    "integers through f32": (through(np.float32), (*NUMERIC, "CumSum-3", "TopK-11")),
    "integers through f64": (through(np.float64), (*NUMERIC, "CumSum-3", "TopK-11")),
    "integers through i32": (on_data(truncated), (*NUMERIC, "CumSum-3", "TopK-11")),
    "a mean by one element too few": (
        mean_by(lambda array, axes: max(1, math.prod(array.shape[x] for x in axes) - 1)),
        ("ReduceMean-1",),
    ),
    "a mean by all elements": (mean_by(lambda array, _: array.size or 1), ("ReduceMean-1",)),
    "a mean by the sizes of repeated axes": (
        mean_by(lambda array, axes: math.prod(array.shape[x] for x in axes) or 1),
        ("ReduceMean-1",),
    ),
    "a mean whose sum wraps": (wrapped_mean, ("ReduceMean-1",)),
    "the smallest element": (other("ReduceMin-1"), ("ReduceMax-1",)),
    "the largest element": (other("ReduceMax-1"), ("ReduceMin-1",)),
    "the sum without absolute values": (other("ReduceSum-1"), ("ReduceL1-4",)),
    "the sum of the absolute values": (other("ReduceL1-4"), ("ReduceL2-4",)),
    "any in place of all": (other("ReduceLogicalOr-1"), ("ReduceLogicalAnd-1",)),
    "all in place of any": (other("ReduceLogicalAnd-1"), ("ReduceLogicalOr-1",)),
    "a norm without its root": (without_root, ("ReduceL2-4",)),
    "a maximum of at least 0": (extreme_from(lambda _: 0), ("ReduceMax-1",)),
    "a minimum of at most 0": (extreme_from(lambda _: 0), ("ReduceMin-1",)),
    "a minimum of at most the largest finite number": (
        extreme_from(lambda kind: float(kind.layout.max) if kind.kind == "float" else kind.maximum),
        ("ReduceMin-1",),
    ),
    "a maximum of at least the least finite number": (
        extreme_from(lambda kind: float(kind.layout.min) if kind.kind == "float" else kind.minimum),
        ("ReduceMax-1",),
    ),
    "unsigned as signed": (as_signed, ("ReduceMax-1", "ReduceMin-1", "TopK-11")),
    "exclusive is ignored": (with_attributes(lambda a: {**a, "exclusive": False}), ("CumSum-3",)),
    "reverse is ignored": (with_attributes(lambda a: {**a, "reverse": False}), ("CumSum-3",)),
    "exclusive and reverse are exchanged": (
        with_attributes(lambda a: {"exclusive": a["reverse"], "reverse": a["exclusive"]}),
        ("CumSum-3",),
    ),
    "exclusive by default": (with_attributes(lambda a: {**a, "exclusive": True}), ("CumSum-3",)),
    "a reverse sum is not turned back": (not_turned_back, ("CumSum-3",)),
    "the elements after the best one": (next_one, ("TopK-11",)),
    "the last of equal elements": (last_of_equal, ("TopK-11",)),
    "the other mode": (with_attributes(lambda a: {**a, "mode": "min" if a["mode"] == "max" else "max"}), ("TopK-11",)),
    "the order of indices is ignored": (
        with_attributes(lambda a: {**a, "sort": "value"}),
        ("TopK-11",),
    ),
    "the order of values is ignored": (with_attributes(lambda a: {**a, "sort": "index"}), ("TopK-11",)),
    "indices of i64 by default": (with_attributes(lambda a: {**a, "index_element_type": "i64"}), ("TopK-11",)),
    "indices of i32 always": (with_attributes(lambda a: {**a, "index_element_type": "i32"}), ("TopK-11",)),
    "ascending where descending": (
        selected(lambda x, y, a: (x[..., ::-1], y[..., ::-1]) if is_value(a) else (x, y)),
        ("TopK-11",),
    ),
    "indices of the sorted elements": (
        selected(lambda x, y, _: (x, np.broadcast_to(np.arange(y.shape[-1], dtype=y.dtype), y.shape))),
        ("TopK-11",),
    ),
    "indices that count from 1": (selected(lambda x, y, _: (x, y + y.dtype.type(1))), ("TopK-11",)),
    "the last axis always": (with_attributes(lambda a: {**a, "axis": -1}), ("TopK-11",)),
}


@pytest.mark.parametrize(("name", "op"), [(name, op) for name, (_, ops) in MUTANTS.items() for op in ops])
def test_wrong_variants_are_caught(name: str, op: str) -> None:
    """A case of the profile core fails, and not by another reading."""
    function = MUTANTS[name][0](op)

    def is_caught(golden: Golden) -> bool:
        try:
            with np.errstate(all="ignore"):
                return not is_right(golden, executed(golden, function))
        except Rejected:
            return True

    assert any(is_caught(golden) for golden in goldens(op) if golden.draft.profile == "core"), name


# Clauses that no case can show.


def arguments(op: str, data: Tensor, **attributes: Attribute) -> Arguments:
    """Arguments with K as 2, or the axis 0."""
    inputs = {"data": Operand(element_type=data.element_type, shape=data.shape, tensor=data)}
    name, number = ("k", 2) if op == "TopK-11" else ("axes", 0)
    shape = () if name == "k" else (1,)
    setting = Tensor(element_type="i64", array=np.full(shape, number, np.int64))
    inputs[name] = Operand(element_type="i64", shape=shape, integers=(number,), tensor=setting)
    return OPERATIONS[op].arguments(inputs, attributes)


def f32(*elements: float) -> Tensor:
    """A list of f32."""
    return Tensor(element_type="f32", array=np.array(elements, np.float32))


@pytest.mark.parametrize(
    ("op", "data", "attributes"),
    [
        ("ReduceMax-1", f32(), {}),
        ("ReduceMin-1", f32(), {}),
        ("ReduceL2-4", f32(1.8e19, -3e18), {}),
        ("ReduceSum-1", f32(3e38, 3e38, -3e38), {}),
        ("ReduceMean-1", Tensor(element_type="i32", array=np.zeros(0, np.int32)), {}),
        ("ReduceProd-1", f32(1e30, 1e30, 1e-30), {}),
        ("TopK-11", f32(*range(7), math.nan), {"axis": 0, "mode": "max", "sort": "value", "stable": True}),
        ("TopK-11", f32(*[1] * 9), {"axis": 0, "mode": "max", "sort": "value"}),
        ("TopK-11", f32(*range(7)), {"axis": 0, "mode": "max", "sort": "value"}),
    ],
)
def test_what_pages_leave_open_has_no_golden(op: str, data: Tensor, attributes: dict[str, Attribute]) -> None:
    """Where the elements decide it, there is one."""
    given_arguments = arguments(op, data, **attributes)
    if data.shape == (7,):
        assert OPERATIONS[op].evaluate(given_arguments)[1].array.tolist() == [6, 5]
        return
    with pytest.raises(NoGolden):
        OPERATIONS[op].evaluate(given_arguments)


@pytest.mark.parametrize(
    ("sort", "ours", "others"),
    [
        ("value", [1, 2], [[0, 1], [0, 2], [1, 0], [2, 0], [2, 1]]),
        ("index", [1, 2], [[0, 1], [0, 2]]),
    ],
)
def test_a_nan_is_larger_than_every_number_or_anywhere(sort: str, ours: list[int], others: list[list[int]]) -> None:
    """By the other reading of nan.largest, any two elements are selected, by index in the order of their indices."""
    given_arguments = arguments("TopK-11", f32(1, math.nan, 2), axis=0, mode="max", sort=sort, stable=True)
    assert OPERATIONS["TopK-11"].evaluate(given_arguments)[1].array.tolist() == ours
    computes = OPERATIONS["TopK-11"].readings["nan.largest"].computes
    assert [compute(given_arguments)[1].array.tolist() for compute in computes[: len(others)]] == others
    with pytest.raises(Unknown):
        computes[len(others)](given_arguments)
