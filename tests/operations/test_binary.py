"""The operations on two tensors, and Select-1: goldens against numpy, mpmath and ONNX, right variants, and mutants."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from opconform.generation.expansion import expand
from opconform.model.golden import Golden, golden_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import NoGolden, Operand
from opconform.operations.arithmetic.broadcasting import PDPD_ONES, stretched
from opconform.specs.loader import load_specs
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.rounding import nearest
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.constraints import with_constraints
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.backend import FUNCTIONS
from opconform_runners.backends.numpy.binary import BINARY, binary, select
from opconform_runners.backends.numpy.convert import number_array
from opconform_runners.verdicts.comparison import mismatch_of
from opconform_runners.verdicts.rounding_error import errors_of
from tests.conftest import ROOT

FLOATS = ("bf16", "f16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "Add-1": np.add,
    "Subtract-1": np.subtract,
    "Multiply-1": np.multiply,
    "Divide-1": np.divide,
}
#: The operations whose results have bounds.
BOUNDED: Mapping[str, Callable[..., Any]] = {
    "Power-1": np.float_power,
    "SquaredDifference-1": lambda a, b: np.square(a - b),
}


def tensor(kind: str, bits: Sequence[int] | Array) -> Tensor:
    """A list of elements by their bit patterns."""
    storage = ELEMENT_TYPES[kind].storage
    return Tensor(element_type=kind, array=np.array(bits, np.uint64).astype(f"u{storage.itemsize}").view(storage))


def stored(kind: str, values: Any) -> Tensor:
    """A tensor of numbers that a type has."""
    native, storage = ELEMENT_TYPES[kind].arithmetic, ELEMENT_TYPES[kind].storage
    return Tensor(element_type=kind, array=np.asarray(np.array(values).astype(native)).view(storage))


def computed(op: str, first: Tensor, second: Tensor, **attributes: Any) -> Tensor:
    """The golden output."""
    operands = {
        name: Operand(element_type=x.element_type, shape=x.shape, tensor=x)
        for name, x in zip("ab", (first, second), strict=True)
    }
    [output] = OPERATIONS[op].evaluate(OPERATIONS[op].arguments(operands, attributes))
    return output


def same(one: Tensor, array: Array) -> bool:
    """Whether a tensor has some elements; every NaN is the same, and zeros have a sign."""
    kind = one.type.arithmetic
    mine, theirs = one.array.view(kind), np.asarray(array).view(kind)
    both_nan = np.isnan(mine.astype(np.float64)) & np.isnan(theirs.astype(np.float64))
    return bool((both_nan | (mine.view(one.array.dtype) == theirs.view(one.array.dtype))).all())


def patterns(kind: str, least: int = 1) -> st.SearchStrategy[list[int]]:
    """Lists of bit patterns."""
    return st.lists(st.integers(0, (1 << ELEMENT_TYPES[kind].bits) - 1), min_size=least, max_size=6)


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("kind", FLOATS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_floats_are_rounded_once(op: str, kind: str, data: st.DataObject) -> None:
    """As numpy and ml_dtypes do, which compute in the type, or in f32 and round again."""
    bits = data.draw(patterns(kind))
    first, second = tensor(kind, bits), tensor(kind, data.draw(st.permutations(bits)))
    assume(op != "Divide-1" or np.all(number_array(second) != 0))
    native = ELEMENT_TYPES[kind].arithmetic
    with np.errstate(all="ignore"):
        expected = ARITHMETIC[op](first.array.view(native), second.array.view(native))
    assert same(computed(op, first, second), expected)


#: The operations whose integers wrap.
WRAPPED: Mapping[str, Callable[..., Any]] = {
    **{op: of for op, of in ARITHMETIC.items() if op != "Divide-1"},
    **BOUNDED,
    "Power-1": np.power,
}


@pytest.mark.parametrize("op", WRAPPED)
@pytest.mark.parametrize("kind", INTEGERS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_integers_wrap(op: str, kind: str, data: st.DataObject) -> None:
    """As numpy's do."""
    bits = data.draw(patterns(kind))
    others = data.draw(st.permutations(bits))
    first, second = tensor(kind, bits), tensor(kind, [x >> (op == "Power-1") for x in others])  # exponents are positive
    with np.errstate(all="ignore"):
        expected = WRAPPED[op](first.array, second.array)
    assert np.array_equal(computed(op, first, second).array, expected)


@pytest.mark.parametrize("kind", INTEGERS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_integers_are_divided_in_both_ways(kind: str, data: st.DataObject) -> None:
    """The quotient and the remainder of floor division are those of Python, and regular division truncates."""
    bits = data.draw(patterns(kind))
    first, second = tensor(kind, bits), tensor(kind, data.draw(st.permutations(bits)))
    assume(np.all(second.array != 0))
    pairs = list(zip(first.integers(), second.integers(), strict=True))
    assume(all(-a // b <= ELEMENT_TYPES[kind].maximum for a, b in pairs if b == -1))
    whole, rest = computed("Divide-1", first, second).integers(), computed("FloorMod-1", first, second).integers()
    assume(all(a // b <= ELEMENT_TYPES[kind].maximum for a, b in pairs))
    assert list(zip(whole, rest, strict=True)) == [divmod(a, b) for a, b in pairs]
    regular = computed("Divide-1", first, second, m_pythondiv=False).integers()
    quotients = [math.trunc(Fraction(a, b)) for a, b in pairs]
    assert regular == quotients
    rests = computed("Mod-1", first, second).integers()
    assert [q * b + rest for q, (_, b), rest in zip(quotients, pairs, rests, strict=True)] == [a for a, _ in pairs]


@pytest.mark.parametrize(("op", "of"), [("FloorMod-1", operator.mod), ("Mod-1", math.fmod)])
@pytest.mark.parametrize("kind", FLOATS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_remainders_are_those_of_python(
    op: str, of: Callable[[float, float], float], kind: str, data: st.DataObject
) -> None:
    """With the sign of the divisor or of the dividend, also of zeros; rounded once to the type."""
    first, second = (tensor(kind, data.draw(patterns(kind))[:1]) for _ in range(2))
    [a], [b] = number_array(first).tolist(), number_array(second).tolist()
    assume(b != 0 and math.isfinite(a) and not math.isnan(b))
    assert same(computed(op, first, second), stored(kind, [of(a, b)]).array)


@pytest.mark.parametrize("kind", FLOATS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_powers_are_those_of_mpmath(kind: str, data: st.DataObject) -> None:
    """At 200 bits, rounded once; the bounds hold the exact power and are 16 units wide, or 4."""
    first, second = (tensor(kind, data.draw(patterns(kind))[:1]) for _ in range(2))
    [a], [b] = number_array(first).tolist(), number_array(second).tolist()
    assume(math.isfinite(a) and math.isfinite(b) and (a > 0 or (a != 0 and b == int(b))))
    output = computed("Power-1", first, second)
    with mpmath.workprec(200):
        logarithm = mpmath.log(abs(mpmath.mpf(a)), 2) * b
        assume(abs(logarithm) < 2000)
        exact = Fraction(*map(int, mpmath.libmp.to_rational((mpmath.mpf(a) ** mpmath.mpf(b))._mpf_)))
    golden = Fraction(float(number_array(output)[0])) if np.isfinite(number_array(output)[0]) else None
    lower, upper = (number_array(Tensor(element_type=kind, array=x))[0] for x in output.bounds or (output.array,) * 2)
    assert lower <= float(number_array(output)[0]) <= upper
    largest = Fraction(float(ELEMENT_TYPES[kind].layout.max))
    if golden is None:
        assert abs(exact) > largest
    else:
        unit = Fraction(2) ** (max(math.frexp(float(golden))[1] - 1, int(ELEMENT_TYPES[kind].layout.minexp)))
        assert abs(golden - exact) <= unit / 2 ** (int(ELEMENT_TYPES[kind].layout.nmant) + 1) * Fraction(1001, 1000)


def variants(op: str) -> Iterator[Callable[[Tensor, Tensor], Array]]:
    """Right ways to compute, as kernels do: in the type, in f64, exactly, by a fused operation, and in vectors."""
    wide: Mapping[str, Callable[..., Any]] = {**ARITHMETIC, **BOUNDED}
    exact: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
        "Add-1": lambda a, b: a * 1 + b,
        "Subtract-1": lambda a, b: -b * 1 + a,
        "Multiply-1": lambda a, b: a * b + 0,
        "Divide-1": lambda a, b: a / b,
        "SquaredDifference-1": lambda a, b: (a - b) ** 2,
    }

    def rounded(first: Tensor, values: Any) -> Array:
        return result_of(first.element_type, np.asarray(values, np.float64))[0].array

    def of_kind(first: Tensor, second: Tensor) -> Array:
        native = first.type.arithmetic
        of = np.power if op == "Power-1" else wide[op]
        return np.asarray(of(first.array.view(native), second.array.view(native))).view(first.array.dtype)

    def exactly(first: Tensor, second: Tensor, of: Callable[[Any, Any], Any]) -> Array:
        """Finite results other than 0 by another function, and those of special numbers in f64."""
        a, b = number_array(first), number_array(second)
        pairs, plain = zip(a.tolist(), b.tolist(), strict=True), np.asarray(wide[op](a, b))
        is_plain = ~np.isfinite([a, b, plain]).all(0) | (plain == 0)
        return rounded(
            first,
            [x if is_special else of(*pair) for x, is_special, pair in zip(plain, is_plain, pairs, strict=True)],
        )

    yield of_kind
    yield lambda a, b: rounded(a, wide[op](number_array(a), number_array(b)))
    yield lambda a, b: np.concatenate(
        [
            of_kind(*(Tensor(element_type=x.element_type, array=x.array[i : i + 8]) for x in (a, b)))
            for i in range(0, max(a.array.size, 1), 8)
        ]
    )
    if op == "Power-1":
        yield lambda a, b: exactly(a, b, math.pow)
        yield lambda a, b: exactly(a, b, lambda x, y: float(mpmath.power(mpmath.mpf(x), mpmath.mpf(y))))
    else:
        of = exact[op]
        yield lambda a, b: exactly(a, b, lambda x, y: nearest(a.type, of(Fraction(x), Fraction(y))))  # type: ignore[arg-type]
        yield lambda a, b: of_kind(
            Tensor(element_type=a.element_type, array=a.array[::-1]),
            Tensor(element_type=b.element_type, array=b.array[::-1]),
        )[::-1]


@pytest.mark.parametrize("op", [*ARITHMETIC, *BOUNDED])
@pytest.mark.parametrize("kind", FLOATS)
def test_right_variants_pass(op: str, kind: str) -> None:
    """Each of five ways to compute is within the bounds."""
    random = np.random.Generator(np.random.Philox(7))
    first = stored(kind, random.uniform(0.01, 30, 300))
    second = stored(kind, random.uniform(-2.5 if op == "Power-1" else 0.5, 3, 300))
    golden = computed(op, first, second)
    bounds = golden.bounds or (golden.array,) * 2
    for variant in variants(op):
        with np.errstate(all="ignore"):
            errors = errors_of(golden.array, variant(first, second), bounds, golden.type)
        assert errors.max() <= 1, variant


#: The operations that ONNX's own evaluation has of i32, u32 or booleans, by ONNX's names with their attributes.
OF_ONNX: Mapping[str, tuple[str, str]] = {
    "BitwiseAnd-13": ("BitwiseAnd", "i32"),
    "BitwiseLeftShift-15": ('BitShift<direction="LEFT">', "u32"),
    "BitwiseOr-13": ("BitwiseOr", "i32"),
    "BitwiseRightShift-15": ('BitShift<direction="RIGHT">', "u32"),
    "BitwiseXor-13": ("BitwiseXor", "i32"),
    "FloorMod-1": ("Mod", "i32"),
    "Greater-1": ("Greater", "i32"),
    "GreaterEqual-1": ("GreaterOrEqual", "i32"),
    "Less-1": ("Less", "i32"),
    "LessEqual-1": ("LessOrEqual", "i32"),
    "LogicalAnd-1": ("And", "boolean"),
    "LogicalOr-1": ("Or", "boolean"),
    "LogicalXor-1": ("Xor", "boolean"),
    "Maximum-1": ("Max", "i32"),
    "Mod-1": ("Mod<fmod=1>", "i32"),
    "Subtract-1": ("Sub", "i32"),
}


@pytest.mark.parametrize("op", OF_ONNX)
def test_onnx_agrees(op: str) -> None:
    """ONNX's own evaluation of its operations."""
    from onnx import parser
    from onnx.reference import ReferenceEvaluator

    name, kind = OF_ONNX[op]
    a, b = {
        "i32": ([[-5, 7], [5, -8], [2, -3]], [2, -3]),
        "u32": ([[4294967295, 7], [5, 2147483649]], [3, 31]),
        "boolean": ([[False], [True]], [False, True]),
    }[kind]
    first, second = stored(kind, a), stored(kind, b)
    golden = computed(op, first, second)
    types = {"boolean": "bool", "i32": "int32", "u32": "uint32"}
    given_types = ", ".join(
        f"{types[kind]}[{','.join(map(str, x.shape))}] {port}" for port, x in zip("ab", (first, second), strict=True)
    )
    model = parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : 18]> g ({given_types}) => ({types[golden.element_type]}[R,C] y) '
        f"{{ y = {name}(a, b) }}"
    )
    [expected] = ReferenceEvaluator(model).run(None, {"a": first.array, "b": second.array})
    assert np.array_equal(golden.array, expected)


@pytest.mark.parametrize(
    ("op", "element_type", "number", "count"),
    [
        *((f"Bitwise{side}Shift-15", "i32", 1, count) for side in ("Left", "Right") for count in (-1, 32)),
        ("BitwiseRightShift-15", "u8", 1, 8),
        ("BitwiseLeftShift-15", "i32", 1, 31),
        ("BitwiseLeftShift-15", "i8", -65, 1),
    ],
)
def test_shifts_beyond_a_type_have_no_result(op: str, element_type: str, number: int, count: int) -> None:
    """The page leaves the number of shifts and the overflow of signed integers undefined."""
    with pytest.raises(NoGolden, match="undefined"):
        computed(op, stored(element_type, [number]), stored(element_type, [count]))


@pytest.mark.parametrize("op", ["Divide-1", "FloorMod-1", "Mod-1"])
@pytest.mark.parametrize("kind", ["i32", "f32"])
def test_division_by_zero_has_no_result(op: str, kind: str) -> None:
    """Its page leaves it undefined, and so are negative powers of integers other than 1 and -1."""
    with pytest.raises(NoGolden, match="undefined"):
        computed(op, stored(kind, [1, 2]), stored(kind, [1, 0]))
    with pytest.raises(NoGolden, match="undefined"):
        computed("Power-1", stored("i32", [2]), stored("i32", [-1]))
    assert computed("Power-1", stored("i32", [-1, -1]), stored("i32", [-1, -2])).integers() == [-1, 1]


def test_a_product_below_a_type_without_zero_has_no_result() -> None:
    """Libraries have the least number instead, or a NaN."""
    least = stored("f8e8m0", [2.0**-127])

    with pytest.raises(NoGolden, match="near 0"):
        computed("Multiply-1", least, least)
    assert same(computed("Multiply-1", least, stored("f8e8m0", [2.0])), stored("f8e8m0", [2.0**-126]).array)


def test_special_numbers() -> None:
    """NaN, zeros with a sign, and the special cases of pow."""
    nan, inf = math.nan, math.inf
    assert same(
        computed("Maximum-1", stored("f32", [nan, 1, -0.0, 0]), stored("f32", [1, nan, 0, -0.0])),
        stored("f32", [nan, nan, 0, 0]).array,
    )
    assert same(
        computed("Minimum-1", stored("f32", [nan, 1, -0.0, 0]), stored("f32", [1, nan, 0, -0.0])),
        stored("f32", [nan, nan, -0.0, -0.0]).array,
    )
    bases, exponents = [nan, 1, 0, -0.0, -8, inf, -1, 0.5], [0, nan, -1, -1, 1 / 3, -1, inf, -inf]
    assert same(
        computed("Power-1", stored("f64", bases), stored("f64", exponents)),
        stored("f64", [1, 1, inf, -inf, nan, 0, 1, inf]).array,
    )
    assert computed("Equal-1", stored("f32", [nan, 0]), stored("f32", [nan, -0.0])).array.tolist() == [False, True]


@pytest.mark.parametrize("op", [*ARITHMETIC, *BOUNDED])
def test_right_variants_pass_the_core(op: str) -> None:
    """Each of five ways, in every floating-point type."""
    wrong = []
    for golden in goldens(op):
        if golden.draft.rejected_for is not None or golden.outputs[0][0].type.kind != "float":
            continue
        [wanted] = golden.outputs[0]
        operands = {
            name: Operand(element_type=x.element_type, shape=x.shape, tensor=x) for name, x in golden.inputs[0].items()
        }
        pair = stretched(OPERATIONS[op].arguments(operands, golden.draft.attributes))
        flat = [Tensor(element_type=x.element_type, array=x.array.reshape(-1)) for x in pair]
        array, *bounds = (x.reshape(-1) for x in (wanted.array, *(wanted.bounds or (wanted.array,) * 2)))
        for number, variant in enumerate(variants(op)):
            with np.errstate(all="ignore"):
                errors = errors_of(array, variant(*flat), (bounds[0], bounds[1]), wanted.type)
            if errors.size and errors.max() > 1:
                wrong.append((golden.draft.id, number))
    assert wrong == []


# Mutants: wrong implementations, of which the core cases must find each.

FOLDER = ROOT / "cases"


@cache
def goldens(op: str) -> tuple[Golden, ...]:
    """The goldens of the core cases of an operation that consist of it alone, but for large ones."""
    folders = [FOLDER / op / name for name in ("values.yaml", "broadcasts.yaml")]
    groups = [x for spec in load_specs([x for x in folders if x.exists()]) for x in spec.groups]
    drafts = [draft for group in groups if group.settings.profile == "core" for draft in expand(group)]
    small = [
        x
        for x in drafts
        if x.context == "bare"
        and x.then is None
        and max((math.prod(t.shape) for t in x.tensors.values()), default=0) < 4000
    ]
    return tuple(golden_of(draft, 0) for draft in small)


def is_caught(op: str, function: Callable[..., list[Tensor]]) -> bool:
    """Whether a case tells a function from a right one."""
    operation = OPERATIONS[op]
    call = with_constraints({op: function}, [operation.declaration])[op]
    for golden in goldens(op):
        attributes = operation.arguments({}, golden.draft.attributes).attributes
        inputs = [golden.inputs[0].get(port.name) for port in operation.inputs]
        try:
            outputs = call(inputs, attributes)
        except Rejected:
            if golden.draft.rejected_for is None:
                return True
            continue
        if golden.draft.rejected_for is not None:
            return True
        wanted = golden.outputs[0]
        bounds = [x.bounds or ((x.array,) * 2 if x.type.kind == "float" and x.is_computed else None) for x in wanted]
        if mismatch_of(
            [x.array for x in wanted], [x.array for x in outputs], [x.element_type for x in wanted], bounds=bounds
        ):
            return True
    return False


@pytest.mark.parametrize("op", BINARY)
def test_the_numpy_backend_passes(op: str) -> None:
    """And so the mutants below fail for their faults."""
    assert goldens(op)
    assert not is_caught(op, BINARY[op])  # type: ignore[arg-type]


def narrow(of: Callable[..., Any], kind: Any = np.float32) -> Callable[..., Any]:
    """A function that computes integers in a floating-point type, or floats in a narrower one."""
    return lambda a, b, **_: np.nan_to_num(of(a.astype(kind), b.astype(kind)).astype(np.float64))


def rewritten(op: str, change: Callable[[Tensor], Tensor]) -> Callable[..., list[Tensor]]:
    """The right outputs, changed."""
    return lambda inputs, attributes: [change(x) for x in FUNCTIONS[op](inputs, attributes)]


def flushed(output: Tensor) -> Tensor:
    """Denormal numbers become zero."""
    if output.type.kind != "float":
        return output
    numbers = np.abs(number_array(output))
    is_tiny = (numbers > 0) & (numbers < float(output.type.layout.smallest_normal))
    return Tensor(
        element_type=output.element_type, array=np.where(is_tiny, np.zeros((), output.array.dtype), output.array)
    )


def without_tail(output: Tensor) -> Tensor:
    """The elements after the last whole vector of 8 are zero."""
    flat = output.array.reshape(-1).copy()
    flat[flat.size // 8 * 8 :] = 0
    return Tensor(element_type=output.element_type, array=flat.reshape(output.shape))


def saturated(of: Callable[..., Any]) -> Callable[..., list[Tensor]]:
    """Integers beyond the range become the nearest one."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
        right = BINARY["Add-1"](inputs, attributes)
        kind = inputs[0].type
        if not kind.is_integer:
            return list(right)
        first, second = (np.array(x.integers(), object).reshape(x.shape) for x in inputs)
        nearest = np.clip(of(first, second), kind.minimum, kind.maximum)
        patterns = np.array([x % (1 << kind.bits) for x in np.ravel(nearest)], f"u{kind.storage.itemsize}")
        return [Tensor(element_type=kind.name, array=patterns.view(kind.storage).reshape(right[0].shape))]

    return call


def half_away(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Ties of f32 are rounded away from zero."""
    [right] = BINARY["Add-1"](inputs, attributes)
    if right.element_type != "f32":
        return [right]
    with np.errstate(all="ignore"):
        exact = np.add(*map(number_array, inputs))
        up = np.nextafter(right.array, np.copysign(np.float32(np.inf), right.array))
        is_tie = exact - right.array.astype(np.float64) == up.astype(np.float64) - exact
    return [Tensor(element_type="f32", array=np.where(is_tie & np.isfinite(exact), up, right.array))]


def from_left(of: Callable[..., Any]) -> Callable[..., list[Tensor]]:
    """Missing dimensions are added at the end, where that is possible."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
        rank = max(len(x.shape) for x in inputs)
        longer = [
            Tensor(element_type=x.element_type, array=x.array.reshape(x.shape + (1,) * (rank - len(x.shape))))
            for x in inputs
        ]
        return list(binary(of)(longer, attributes))

    return call


def without_rule(of: Callable[..., Any], **options: Any) -> Callable[..., list[Tensor]]:
    """Every rule is numpy's."""
    return lambda inputs, attributes: list(binary(of)(inputs, {**attributes, "auto_broadcast": "numpy", **options}))


def as_types(of: Callable[..., Any], output: str | None = None) -> Callable[..., list[Tensor]]:
    """Inputs of different types are accepted."""
    return lambda inputs, attributes: list(
        binary(of, output)(
            [
                inputs[0],
                Tensor(element_type=inputs[0].element_type, array=inputs[1].array.astype(inputs[0].array.dtype)),
            ],
            attributes,
        )
    )


def quotient(of: Callable[..., Any], integers: Callable[..., Any]) -> Callable[..., list[Tensor]]:
    """Division of floats and of integers by functions that ignore the attribute."""
    return binary(lambda a, b, **_: of(a, b) if a.dtype.kind == "f" else integers(a, b))  # type: ignore[return-value]


def reciprocal(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Floats are multiplied by rounded reciprocals."""
    native = inputs[0].type.arithmetic
    if inputs[0].type.kind != "float":
        return list(BINARY["Divide-1"](inputs, attributes))
    BINARY["Divide-1"](inputs, attributes)
    with np.errstate(all="ignore"):
        first, second = (x.array.view(native) for x in inputs)
        array = np.asarray(first * (np.ones((), native) / second))
    return [Tensor(element_type=inputs[0].element_type, array=array.view(inputs[0].array.dtype))]


def reversed_mask(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The mask is read the wrong way."""
    cond, *rest = inputs
    return list(select([Tensor(element_type="boolean", array=~cond.array), *rest], attributes))


def multiplied_mask(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Elements are multiplied by the mask and added."""
    cond, first, second = inputs
    select(inputs, attributes)
    with np.errstate(all="ignore"):
        mask = cond.array.astype(np.float64)
        return (
            result_of(first.element_type, number_array(first) * mask + number_array(second) * (1 - mask))
            if first.type.kind == "float"
            else list(select(inputs, attributes))
        )


def wide_mask(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The mask may change the shape of the output."""
    cond, first, second = inputs
    if attributes.get("auto_broadcast") != "numpy":
        return list(select(inputs, attributes))
    if first.element_type != second.element_type:
        raise Rejected("build", "types")
    try:
        return [Tensor(element_type=first.element_type, array=np.where(cond.array, first.array, second.array))]
    except ValueError as error:
        raise Rejected("build", "shapes") from error


def shifted_within_range(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Unsigned integers beyond the range become the largest one."""
    [right] = BINARY["BitwiseLeftShift-15"](inputs, attributes)
    if right.type.kind != "unsigned":
        return [right]
    first, second = (np.array(x.integers(), object).reshape(x.shape) for x in inputs)
    return [
        Tensor(
            element_type=right.element_type,
            array=np.asarray(np.minimum(first << second, right.type.maximum), right.array.dtype),
        )
    ]


def shifted_without_sign(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Zeros fill the highest places."""
    [right] = BINARY["BitwiseRightShift-15"](inputs, attributes)
    bits = f"u{right.array.dtype.itemsize}"
    if right.type.bits % 8:
        return [right]
    first, second = (x.array.view(bits) for x in inputs)
    return [Tensor(element_type=right.element_type, array=np.asarray(first >> second).view(right.array.dtype))]


def squared_without_sign(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """A negative difference of unsigned integers is 0."""
    [right] = BINARY["SquaredDifference-1"](inputs, attributes)
    if right.type.kind != "unsigned":
        return [right]
    first, second = (x.array for x in inputs)
    return [Tensor(element_type=right.element_type, array=np.square(np.maximum(first, second) - second))]


def trunc_divide(a: Array, b: Array) -> Array:
    """Division of integers as in C."""
    quotient = np.floor_divide(a, b)
    return (
        np.asarray(quotient + ((np.remainder(a, b) != 0) & ((a < 0) != (b < 0)))) if a.dtype.kind == "i" else quotient
    )


MUTANTS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "integers through f32": ("Add-1", binary(lambda a, b: narrow(np.add)(a, b) if a.dtype.kind != "f" else a + b)),
    "integers through f64": (
        "Add-1",
        binary(lambda a, b: narrow(np.add, np.float64)(a, b) if a.dtype.kind != "f" else a + b),
    ),
    "saturation": ("Add-1", saturated(np.add)),
    "f64 in f32": (
        "Add-1",
        binary(lambda a, b: (a.astype(np.float32) + b.astype(np.float32)) if a.dtype.kind == "f" else a + b),
    ),
    "denormals lost": ("Add-1", rewritten("Add-1", flushed)),
    "half away from even": ("Add-1", half_away),
    "no tail": ("Add-1", rewritten("Add-1", without_tail)),
    "no tail of narrow types": ("Add-1", rewritten("Add-1", lambda x: without_tail(x) if x.type.bits < 32 else x)),
    "ranks aligned at the front": ("Add-1", from_left(np.add)),
    "rules ignored": ("Add-1", without_rule(np.add)),
    "other types accepted": ("Add-1", as_types(np.add)),
    "operands exchanged": ("Subtract-1", binary(lambda a, b: b - a)),
    "second operand negated first": (
        "Subtract-1",
        binary(lambda a, b: a + np.negative(np.maximum(b, -127)) if a.dtype.kind == "i" else a - b),
    ),
    "products through f32": (
        "Multiply-1",
        binary(lambda a, b: narrow(np.multiply)(a, b) if a.dtype.kind != "f" else a * b),
    ),
    "products without overflow": (
        "Multiply-1",
        binary(lambda a, b: np.clip(a * b, -3e38, 3e38) if a.dtype.kind == "f" else a * b),
    ),
    "zero times infinity is zero": (
        "Multiply-1",
        binary(lambda a, b: np.where((a == 0) | (b == 0), 0 * a.dtype.type(0), a * b)),
    ),
    "reciprocal": ("Divide-1", reciprocal),
    "truncation by default": ("Divide-1", quotient(np.divide, trunc_divide)),
    "floor always": ("Divide-1", quotient(np.divide, np.floor_divide)),
    "floor of floats": ("Divide-1", quotient(lambda a, b: np.floor(a / b), np.floor_divide)),
    "quotients through f32": ("Divide-1", quotient(np.divide, lambda a, b: np.floor(narrow(np.divide)(a, b)))),
    "sign of the dividend": ("FloorMod-1", binary(np.fmod)),
    "remainder by the formula": (
        "FloorMod-1",
        binary(lambda a, b: a - np.floor(a / b) * b if a.dtype.kind == "f" else np.remainder(a, b)),
    ),
    "remainder in f32": (
        "FloorMod-1",
        binary(lambda a, b: narrow(np.remainder)(a, b) if a.dtype.kind != "f" else np.remainder(a, b)),
    ),
    "numbers before NaN": ("Maximum-1", binary(np.fmax)),
    "second of two": ("Maximum-1", binary(lambda a, b: np.asarray(np.where(a > b, a, b)))),
    "u64 as i64": (
        "Maximum-1",
        binary(
            lambda a, b: np.maximum(a.view(np.int64), b.view(np.int64)) if a.dtype == np.uint64 else np.maximum(a, b)
        ),
    ),
    "least through f32": (
        "Minimum-1",
        binary(lambda a, b: narrow(np.minimum)(a, b) if a.dtype.kind != "f" else np.minimum(a, b)),
    ),
    "power by a logarithm in f32": (
        "Power-1",
        binary(
            lambda a, b: (
                np.exp(b.astype(np.float32) * np.log(a.astype(np.float32)))
                if a.dtype.kind == "f"
                else np.power(a, np.abs(b))
            )
        ),
    ),
    "power of integers through f32": (
        "Power-1",
        binary(lambda a, b: narrow(np.float_power)(a, b) if a.dtype.kind != "f" else np.float_power(a, b)),
    ),
    "power of integers through f64": ("Power-1", binary(np.float_power)),
    "NaN to the power of 0": (
        "Power-1",
        binary(
            lambda a, b: (
                np.where(np.isnan(a), np.nan, np.float_power(a, b)) if a.dtype.kind == "f" else np.power(a, np.abs(b))
            )
        ),
    ),
    "no negative bases": (
        "Power-1",
        binary(lambda a, b: np.float_power(np.abs(a), b) if a.dtype.kind == "f" else np.power(a, np.abs(b))),
    ),
    "equal bits": ("Equal-1", binary(lambda a, b: a.view(np.uint64) == b.view(np.uint64), "boolean")),
    "equal within a tolerance": (
        "Equal-1",
        binary(lambda a, b: np.abs(a - b) < 1e-6 if a.dtype.kind == "f" else a == b, "boolean"),
    ),
    "equal in f32": ("Equal-1", binary(lambda a, b: a.astype(np.float32) == b.astype(np.float32), "boolean")),
    "unsigned as signed": (
        "Less-1",
        binary(lambda a, b: a.astype(np.int32) < b.astype(np.int32) if a.dtype == np.uint64 else a < b, "boolean"),
    ),
    "less in f64": ("Less-1", binary(lambda a, b: a.astype(np.float64) < b.astype(np.float64), "boolean")),
    "less or equal": ("Less-1", binary(np.less_equal, "boolean")),
    "or": ("LogicalAnd-1", binary(np.logical_or)),
    "exclusive or": ("LogicalAnd-1", binary(np.logical_xor)),
    "both differ": ("LogicalOr-1", binary(np.logical_xor)),
    "one of both": ("LogicalXor-1", binary(np.logical_or)),
    "greater or equal": ("Greater-1", binary(np.greater_equal, "boolean")),
    "less in place of greater": ("Greater-1", binary(np.less, "boolean")),
    "greater by a difference": ("Greater-1", binary(lambda a, b: a - b > 0, "boolean")),
    "not less": ("GreaterEqual-1", binary(lambda a, b: ~(a < b), "boolean")),
    "greater alone": ("GreaterEqual-1", binary(np.greater, "boolean")),
    "greater or equal in f32": (
        "GreaterEqual-1",
        binary(lambda a, b: a.astype(np.float32) >= b.astype(np.float32), "boolean"),
    ),
    "not greater": ("LessEqual-1", binary(lambda a, b: ~(a > b), "boolean")),
    "less alone": ("LessEqual-1", binary(np.less, "boolean")),
    "less or equal in f64": (
        "LessEqual-1",
        binary(lambda a, b: a.astype(np.float64) <= b.astype(np.float64), "boolean"),
    ),
    "less or greater": ("NotEqual-1", binary(lambda a, b: (a < b) | (a > b), "boolean")),
    "not equal in 32 bits": (
        "NotEqual-1",
        binary(
            lambda a, b: (
                (a.astype(np.int32) if a.dtype.kind != "f" else a) != (b.astype(np.int32) if a.dtype.kind != "f" else b)
            ),
            "boolean",
        ),
    ),
    "bits of nonzero integers": ("BitwiseAnd-13", binary(np.logical_and)),
    "and in 32 bits": ("BitwiseAnd-13", binary(lambda a, b: (a & b) & 0xFFFFFFFF)),
    "and through f64": ("BitwiseAnd-13", binary(lambda a, b: a & b.astype(np.float64).astype(np.int64))),
    "sum of bits": ("BitwiseOr-13", binary(np.add)),
    "bits that differ": ("BitwiseOr-13", binary(np.bitwise_xor)),
    "bits of either": ("BitwiseXor-13", binary(np.bitwise_or)),
    "difference of integers": ("BitwiseXor-13", binary(np.not_equal)),
    "left shift in 32 bits": ("BitwiseLeftShift-15", binary(lambda a, b: np.left_shift(a, b) & 0xFFFFFFFF)),
    "left shift by a product in f64": (
        "BitwiseLeftShift-15",
        binary(lambda a, b: (a.astype(np.float64) * np.exp2(b.astype(np.float64))).astype(np.int64)),
    ),
    "left shift that saturates": ("BitwiseLeftShift-15", shifted_within_range),
    "right shift by division": (
        "BitwiseRightShift-15",
        binary(lambda a, b: np.trunc(a / np.exp2(b.astype(np.float64))).astype(np.int64)),
    ),
    "right shift of signed integers alone": (
        "BitwiseRightShift-15",
        binary(lambda a, b: np.right_shift(a.view(np.int64), b.view(np.int64))),
    ),
    "right shift without the sign": ("BitwiseRightShift-15", shifted_without_sign),
    "sign of the divisor": ("Mod-1", binary(np.remainder)),
    "truncated remainder by the formula": (
        "Mod-1",
        binary(lambda a, b: a - np.trunc(a / b) * b if a.dtype.kind == "f" else np.fmod(a, b)),
    ),
    "truncated remainder in f32": (
        "Mod-1",
        binary(lambda a, b: narrow(np.fmod)(a, b) if a.dtype.kind != "f" else np.fmod(a, b)),
    ),
    "positive zeros of remainders": (
        "Mod-1",
        binary(lambda a, b: np.fmod(a, b) + 0.0 if a.dtype.kind == "f" else np.fmod(a, b)),
    ),
    "absolute difference": ("SquaredDifference-1", binary(lambda a, b: np.abs(a - b))),
    "squared sum": ("SquaredDifference-1", binary(lambda a, b: np.square(a + b))),
    "expanded square": (
        "SquaredDifference-1",
        binary(lambda a, b: a.astype(np.float32) ** 2 - 2 * a * b + b**2 if a.dtype.kind == "f" else np.square(a - b)),
    ),
    "squared difference through f32": (
        "SquaredDifference-1",
        binary(lambda a, b: narrow(lambda x, y: np.square(x - y))(a, b) if a.dtype.kind != "f" else np.square(a - b)),
    ),
    "difference of unsigned integers without a sign": ("SquaredDifference-1", squared_without_sign),
    "mask reversed": ("Select-1", reversed_mask),
    "mask multiplied": ("Select-1", multiplied_mask),
    "mask too wide": ("Select-1", wide_mask),
    "selection without a tail": ("Select-1", rewritten("Select-1", without_tail)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str) -> None:
    """By at least one core case of the operation."""
    op, function = MUTANTS[name]
    assert is_caught(op, function)


@pytest.mark.parametrize(
    ("shape", "rule", "is_rejected"),
    [
        ((1, 4), "pdpd", True),
        ((3, 1, 4), "pdpd", True),
        ((3, 1), "pdpd", False),
        ((3, 4), "pdpd", False),
        ((1,), "pdpd", False),
        ((), "pdpd", False),
        ((1, 4), "numpy", False),
    ],
)
def test_the_other_reading_of_pdpd_ones_rejects_ones_before_others(
    shape: tuple[int, ...], rule: str, is_rejected: bool
) -> None:
    """By rule 2 of PDPD, the second shape is a part of the first one; ones at its end are those of `pdpd.last-ones`."""
    operands = {
        "a": Operand(element_type="f32", shape=(3, 3, 4)),
        "b": Operand(element_type="f32", shape=shape),
    }
    given_arguments = OPERATIONS["Add-1"].arguments(operands, {"auto_broadcast": rule})
    assert PDPD_ONES["pdpd.ones"].rejects(given_arguments) is is_rejected
