"""Bounds of graphs that compute with rounded results: whatever a right chain of kernels gives is inside.

The kernels round each result to its type, to a wider one or not at all, and sum in several orders.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from opconform.model.evaluation import evaluated
from opconform.operations.arguments import NoGolden, Rejection
from opconform.suite.case import Attribute, Graph, Node
from opconform.tensors.exact import numbers
from opconform.tensors.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


class Kernel(NamedTuple):
    """How a chain is computed: the type of arithmetic and of intermediate results, and the order of sums."""

    arithmetic: type
    kept: type
    order: Callable[[Array], Array]

    def total(self, array: Array) -> Array:
        """The sum along the last axis, one element after the other."""
        ordered = self.order(np.moveaxis(array, -1, 0))
        result = np.zeros(array.shape[:-1], self.arithmetic)
        for part in ordered:
            result = (result + part).astype(self.arithmetic)
        return result


def _softmax(kernel: Kernel, x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / kernel.total(powers)[..., None])


def _log_softmax(kernel: Kernel, x: Array) -> Array:
    differences = x - x.max(-1, keepdims=True)
    return np.asarray(differences - np.log(kernel.total(np.exp(differences)))[..., None])


def _mvn(kernel: Kernel, x: Array) -> Array:
    centred = x - kernel.total(x)[..., None] / x.dtype.type(x.shape[-1])
    variance = kernel.total(centred * centred) / x.dtype.type(x.shape[-1])
    return np.asarray(centred / np.sqrt(variance + x.dtype.type(1e-5))[..., None])


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x), x.dtype)


def _h_sigmoid(x: Array) -> Array:
    return np.asarray(np.clip(x + x.dtype.type(3), x.dtype.type(0), x.dtype.type(6)) / x.dtype.type(6))


def _gelu(_: Kernel, x: Array) -> Array:
    return np.asarray(x / 2 * (1 + _erf(x / np.sqrt(x.dtype.type(2)))))


def _quantized(_: Kernel, x: Array) -> Array:
    low, high, least, most = (x.dtype.type(LIMITS[name]) for name in ("low", "high", "least", "most"))
    codes = np.rint((np.clip(x, low, high) - low) / (high - low) * 4)
    return np.asarray(codes / x.dtype.type(4) * (most - least) + least, x.dtype)


def _normalized_by_channels(_: Kernel, x: Array) -> Array:
    gamma, beta, mean, variance = (np.array(values, x.dtype) for values in CHANNELS.values())
    scale = gamma / np.sqrt(variance + x.dtype.type(1e-5))
    return np.asarray(x * scale + (beta - mean * scale))


def _normalized_by_groups(kernel: Kernel, x: Array) -> Array:
    scale, bias = (np.array(CHANNELS[name], x.dtype) for name in ("gamma", "beta"))
    rows = _mvn(kernel, x.reshape(x.shape[0] * 2, -1)).reshape(x.shape)
    return np.asarray(rows * scale + bias)


def _attended(kernel: Kernel, x: Array) -> Array:
    """Each row as a query, a key and a value."""
    scores = kernel.total(x[:, None, :] * x[None, :, :]) / np.sqrt(x.dtype.type(x.shape[-1]))
    shares = _softmax(kernel, scores)
    return kernel.total(shares[:, None, :] * x.T[None, :, :])


class Step(NamedTuple):
    """A node of a chain: what a kernel computes, and the names of its other inputs, which are constants or a matrix."""

    op: str
    of: Callable[..., Array]
    second: str | None = None
    attributes: Mapping[str, Attribute] = {}


#: Constants of the type of a chain: numbers of channels, and limits.
CHANNELS = {
    "gamma": [0.7, -1.1, 2.0, 0.5],
    "beta": [0.1, 0.0, -1.3, 2.0],
    "mean": [0.3, -0.2, 0.0, 1.5],
    "variance": [1.7, 0.4, 1.0, 3.1],
}
LIMITS = {"low": -1.5, "high": 1.25, "least": -1.0, "most": 2.0}
STEPS = (
    Step("Add-1", lambda _, x, y: x + y, "b"),
    Step("Subtract-1", lambda _, x, y: x - y, "b"),
    Step("Multiply-1", lambda _, x, y: x * y, "b"),
    Step("Divide-1", lambda _, x, y: x / y, "b"),
    Step("SquaredDifference-1", lambda _, x, y: (x - y) ** 2, "b"),
    Step("Maximum-1", lambda _, x, y: np.maximum(x, y), "b"),
    Step("Minimum-1", lambda _, x, y: np.minimum(x, y), "b"),
    Step("MatMul-1", lambda k, x, y: k.total(x[:, None, :] * y.T[None]), "b"),
    Step("ReduceSum-1", lambda k, x: k.total(x)[..., None], "axes", {"keep_dims": True}),
    Step("ReduceMean-1", lambda k, x: k.total(x)[..., None] / x.dtype.type(x.shape[-1]), "axes", {"keep_dims": True}),
    Step("ReduceMax-1", lambda _, x: x.max(-1, keepdims=True), "axes", {"keep_dims": True}),
    Step("ReduceMin-1", lambda _, x: x.min(-1, keepdims=True), "axes", {"keep_dims": True}),
    Step("ReduceL1-4", lambda k, x: k.total(np.abs(x))[..., None], "axes", {"keep_dims": True}),
    Step("ReduceL2-4", lambda k, x: np.sqrt(k.total(x * x))[..., None], "axes", {"keep_dims": True}),
    Step("Abs-1", lambda _, x: np.abs(x)),
    Step("Negative-1", lambda _, x: -x),
    Step("ReLU-1", lambda _, x: np.maximum(x, x.dtype.type(0))),
    Step("Clamp-1", lambda _, x: np.clip(x, x.dtype.type(-0.7), x.dtype.type(0.8)), None, {"min": -0.7, "max": 0.8}),
    Step("Floor-1", lambda _, x: np.floor(x)),
    Step("Ceiling-1", lambda _, x: np.ceil(x)),
    Step("Round-5", lambda _, x: np.rint(x), None, {"mode": "half_to_even"}),
    Step("Sign-1", lambda _, x: np.sign(x)),
    Step("PReLU-1", lambda _, x, y: np.where(x < 0, x * y, x), "b"),
    Step("HardSigmoid-1", lambda _, x: np.clip(x * x.dtype.type(0.25) + x.dtype.type(0.5), 0, 1), "quarter half"),
    Step("HSigmoid-5", lambda _, x: _h_sigmoid(x)),
    Step("HSwish-4", lambda _, x: x * _h_sigmoid(x)),
    Step("Sqrt-1", lambda _, x: np.sqrt(x)),
    Step("Exp-1", lambda _, x: np.exp(x)),
    Step("Log-1", lambda _, x: np.log(x)),
    Step("Tanh-1", lambda _, x: np.tanh(x)),
    Step("Erf-1", lambda _, x: _erf(x)),
    Step("Sigmoid-1", lambda _, x: 1 / (1 + np.exp(-x))),
    Step("Gelu-7", _gelu, None, {"approximation_mode": "erf"}),
    Step("Sin-1", lambda _, x: np.sin(x)),
    Step("Cos-1", lambda _, x: np.cos(x)),
    Step("Tan-1", lambda _, x: np.tan(x)),
    Step("SoftPlus-4", lambda _, x: np.logaddexp(x, x.dtype.type(0))),
    Step("Elu-1", lambda _, x: np.where(x > 0, x, x.dtype.type(0.7) * (np.exp(x) - 1)), None, {"alpha": 0.7}),
    Step("Swish-4", lambda _, x: x / (1 + np.exp(-x))),
    Step("Mish-4", lambda _, x: x * np.tanh(np.log1p(np.exp(x)))),
    Step("SoftSign-9", lambda _, x: x / (1 + np.abs(x))),
    Step("LogSoftmax-5", _log_softmax, None, {"axis": 1}),
    Step("SoftMax-8", _softmax, None, {"axis": 1}),
    Step("MVN-6", _mvn, "axes", {"normalize_variance": True, "eps": 1e-5, "eps_mode": "inside_sqrt"}),
    Step("BatchNormInference-5", _normalized_by_channels, " ".join(CHANNELS), {"epsilon": 1e-5}),
    Step("GroupNormalization-12", _normalized_by_groups, "gamma beta", {"num_groups": 2, "epsilon": 1e-5}),
    Step("ScaledDotProductAttention-13", _attended, "", {"causal": False}),
    Step("FakeQuantize-1", _quantized, " ".join(LIMITS), {"levels": 5}),
    Step("Power-1", lambda _, x: x**2, "two"),
    Step("CumSum-3", lambda k, x: np.stack([k.total(x[:, : n + 1]) for n in range(x.shape[-1])], -1), "axis", {}),
    Step("Transpose-1", lambda _, x: np.ascontiguousarray(x.T), "turned"),
)
CONSTANTS = {"axes": [1], "axis": 1, "turned": [1, 0]}


@st.composite
def chains(draw: st.DrawFn) -> tuple[str, list[Step], Array, list[Array]]:
    """An element type, two to four steps, their input, and a square matrix for each."""
    element_type = draw(st.sampled_from(sorted(TYPES)))
    steps = [draw(st.sampled_from(STEPS)) for _ in range(draw(st.integers(2, 4)))]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.01, 1.0, 8.0]))
    arrays = [(random.standard_normal((4, 4)) * scale).astype(TYPES[element_type]) for _ in range(len(steps) + 1)]
    return element_type, steps, arrays[0], arrays[1:]


def constants(element_type: str) -> dict[str, Tensor]:
    """The constants of the element type."""
    values = {"two": 2, "quarter": 0.25, "half": 0.5, **LIMITS, **CHANNELS}
    return {name: tensor(element_type, np.array(value, TYPES[element_type])) for name, value in values.items()}


def golden(element_type: str, steps: list[Step], x: Array, others: list[Array]) -> Tensor:
    """The output of a chain, with its bounds."""
    inputs = {"x": tensor(element_type, x), **constants(element_type)}
    inputs |= {name: tensor("i64", np.array(values, np.int64)) for name, values in CONSTANTS.items()}
    nodes: list[Node] = []
    for number, (step, other) in enumerate(zip(steps, others, strict=True)):
        inputs[f"y{number}"] = tensor(element_type, other)
        second = (f"y{number}",) if step.second == "b" else tuple((step.second or "").split())
        first = nodes[-1].outputs if nodes else ("x",)
        nodes.append(
            Node(
                name=f"n{number}",
                op=step.op,
                inputs=(*first, *second),
                outputs=(f"n{number}",),
                attributes=step.attributes,
            )
        )
    return evaluated(Graph(nodes=tuple(nodes), outputs=nodes[-1].outputs), inputs, follows_errors=True)[
        nodes[-1].outputs[0]
    ]


def tensor(element_type: str, array: Array) -> Tensor:
    """An exact tensor."""
    return Tensor(element_type=element_type, array=array)


def computed(kernel: Kernel, element_type: str, steps: list[Step], x: Array, others: list[Array]) -> Array:
    """The output of a chain by a kernel, rounded to its type in the end."""
    for step, other in zip(steps, others, strict=True):
        seconds: tuple[Array, ...] = (other.astype(kernel.arithmetic),) if step.second == "b" else ()
        x = step.of(kernel, x.astype(kernel.arithmetic), *seconds).astype(kernel.kept)
    return np.asarray(x.astype(TYPES[element_type]))


ORDERS: tuple[Callable[[Array], Array], ...] = (lambda x: x, lambda x: x[::-1], lambda x: np.roll(x[::-1], 1, 0))


def kernels(element_type: str) -> list[Kernel]:
    """Kernels that are right for a type."""
    wide = {"f16": np.float32}.get(element_type, TYPES[element_type])
    ways = {(wide, TYPES[element_type]), (wide, wide), (np.float64, np.float64), (np.float64, TYPES[element_type])}
    return [Kernel(*way, order) for way in ways for order in ORDERS]


@settings(max_examples=60, deadline=None)
@given(chains())
def test_right_kernels_are_inside(chain: tuple[str, list[Step], Array, list[Array]]) -> None:
    """Any right kernel's result is inside the bounds of a chain, and these are inside the reduced ones."""
    try:
        output = golden(*chain)
    except (NoGolden, Rejection):  # a pole may be inside, or a matrix does not fit
        assume(False)
    right = output.bounds or (output.array, output.array)
    lower, upper, least, most = (numbers(tensor(chain[0], x)) for x in (*right, *(output.reduced or right)))
    for kernel in kernels(chain[0]):
        with np.errstate(all="ignore"):
            result = computed(kernel, *chain).astype(np.float64)
        inside = (least <= lower) & (lower <= result) & (result <= upper) & (upper <= most)
        assert (inside | (np.isnan(lower) & np.isnan(result))).all(), (kernel, result, lower, upper)


def evaluated_nodes(nodes: list[Node], **inputs: Array) -> dict[str, Tensor]:
    """The tensors of a graph whose last node is its output."""
    names = {np.float16: "f16", np.float32: "f32", np.int64: "i64"}
    tensors = {name: tensor(names[array.dtype.type], array) for name, array in inputs.items()}
    return evaluated(Graph(nodes=tuple(nodes), outputs=nodes[-1].outputs), tensors, follows_errors=True)


def f32(*values: float) -> Array:
    """Numbers of f32."""
    return np.array(values, np.float32)


def node(name: str, op: str, *inputs: str, **attributes: Attribute) -> Node:
    """A node with one output, which has its name."""
    return Node(name=name, op=op, inputs=inputs, outputs=(name,), attributes=attributes)


@pytest.mark.parametrize(
    ("op", "x", "value"),
    [
        ("Exp-1", [0, 0], 1),
        ("Sigmoid-1", [0, 0], 0.5),
        ("Sigmoid-1", [np.inf, np.inf], 1),
        ("Sqrt-1", [4, 4], 2),
        ("Log-1", [1, 1], 0),
        ("Tanh-1", [0, 0], 0),
        ("Tanh-1", [-np.inf, -np.inf], -1),
        ("Erf-1", [0, 0], 0),
        ("Gelu-7", [0, 0], 0),
        ("Sin-1", [0, 0], 0),
        ("Cos-1", [0, 0], 1),
        ("SoftPlus-4", [20, 20], 20),
        ("SoftSign-9", [0, 0], 0),
        ("Floor-1", [1.5, 1.25], 1),
        ("Sign-1", [np.inf, 0.5], 1),
    ],
)
def test_exact_values_go_on_as_exact_data(op: str, x: list[float], value: float) -> None:
    """Where a function is exact, the next node computes with an exact number."""
    nodes = [node("value", op, "x"), node("sum", "Add-1", "value", "one")]
    output = evaluated_nodes(nodes, x=f32(*x), one=f32(1, 2))["sum"]
    assert output.bounds is None
    assert output.array.tolist() == [1 + value, 2 + value]


def test_a_fused_product_and_sum_is_right() -> None:
    """The product may be rounded or not, and the golden is the result without rounding."""
    x = np.array([1 + 2.0**-12], np.float32)
    nodes = [node("square", "Multiply-1", "x", "x"), node("rest", "Subtract-1", "square", "y")]
    output = evaluated_nodes(nodes, x=x, y=np.array([1 + 2.0**-11], np.float32))["rest"]
    assert output.array.tolist() == [2.0**-24]
    assert output.bounds is not None
    assert output.bounds[0] <= x * x - np.float32(1 + 2.0**-11) <= output.bounds[1]


def test_a_conversion_to_a_narrow_type_always_rounds() -> None:
    """A kernel that drops the conversion is not right, but of less accurate ones."""
    nodes = [
        node("third", "Divide-1", "x", "three"),
        node("narrow", "Convert-1", "third", destination_type="f16"),
        node("wide", "Convert-1", "narrow", destination_type="f32"),
        node("last", "Negative-1", "wide"),
    ]
    output = evaluated_nodes(nodes, x=f32(1), three=f32(3))["last"]
    lower, upper = output.bounds or (output.array, output.array)
    assert lower == upper == -np.float32(np.float16(1 / 3))
    assert output.reduced is not None
    assert output.reduced[0] < np.float32(-1 / 3) < output.reduced[1]


def test_a_movement_keeps_what_its_elements_can_be() -> None:
    """The zero of a pad is exact, and a moved element has its own interval."""
    nodes = [
        node("third", "Divide-1", "x", "three"),
        node("padded", "Pad-1", "third", "begin", "end", pad_mode="constant"),
        node("sum", "ReduceSum-1", "padded", "axes"),
    ]
    inputs: dict[str, Array] = {"begin": np.array([1]), "end": np.array([1]), "axes": np.array([0])}
    output = evaluated_nodes(nodes, x=f32(1, 2), three=f32(3), **inputs)["sum"]
    assert output.array == 1
    assert output.bounds is not None
    assert output.bounds[0] < 1 < output.bounds[1]


@pytest.mark.parametrize(("op", "filters"), [("Convolution-1", (4, 4, 1, 2)), ("GroupConvolution-1", (2, 3, 2, 1, 2))])
def test_a_convolution_of_rounded_numbers_has_bounds(op: str, filters: tuple[int, ...]) -> None:
    """Sums of products of quotients in f64 and f32 are inside, beside zeros, too."""
    random = np.random.default_rng(1)
    x, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((1, 4, 2, 3), filters))
    lists = {"strides": (1, 1), "pads_begin": (0, 1), "pads_end": (1, 0), "dilations": (1, 1)}
    nodes = [node("third", "Divide-1", "x", "three"), node("last", op, "third", "w", **lists)]
    output = evaluated_nodes(nodes, x=x, three=f32(3), w=weights)["last"]
    assert output.bounds is not None
    lower, upper = (numbers(tensor("f32", end)) for end in output.bounds)
    for wide in (np.float32, np.float64):
        padded = np.pad((x / f32(3)).astype(wide), [(0, 0), (0, 0), (0, 1), (1, 0)])
        by_group = weights.astype(wide).reshape(-1, *filters[-4:])
        parts = np.split(padded, len(by_group), 1)
        windows = [np.stack([x[..., :-1], x[..., 1:]], -1) for x in parts]
        sums = [np.einsum("nihwk,oik->nohw", a, b[:, :, 0]) for a, b in zip(windows, by_group, strict=True)]
        result = np.concatenate(sums, 1).astype(np.float32).astype(np.float64)
        assert ((lower <= result) & (result <= upper)).all()
    assert (lower < upper).any()


@pytest.mark.parametrize(
    ("op", "of_a_half_and_a_quarter"),
    [
        *((op, [True, False]) for op in ("Less-1", "LessEqual-1")),
        *((op, [False, True]) for op in ("Greater-1", "GreaterEqual-1")),
        ("Equal-1", [False, False]),
        ("NotEqual-1", [True, True]),
    ],
)
def test_bounds_can_decide_a_comparison(op: str, of_a_half_and_a_quarter: list[bool]) -> None:
    """Far from the other number, every right kernel finds the same one less."""
    nodes = [node("third", "Divide-1", "x", "three"), node("compared", op, "third", "other")]
    output = evaluated_nodes(nodes, x=f32(1), three=f32(3), other=f32(0.5, 0.25))["compared"]
    assert output.array.tolist() == of_a_half_and_a_quarter
    assert output.bounds is None


def test_a_remainder_has_the_error_of_its_dividend() -> None:
    """If all right dividends have the same quotient."""
    nodes = [node("third", "Divide-1", "x", "three"), node("rest", "Mod-1", "third", "other")]
    output = evaluated_nodes(nodes, x=f32(-1), three=f32(3), other=f32(0.25))["rest"]
    assert output.bounds is not None
    right = np.fmod(f32(-1) / f32(3), f32(0.25))
    assert output.bounds[0] <= right <= output.bounds[1] < output.bounds[0] + 2.0**-24


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("log", "Log-1", "rest")], "Log-1: a rounded number of which a logarithm is taken may not be positive"),
        ([node("root", "Sqrt-1", "rest")], "Sqrt-1: a rounded number of which a root is taken may be negative"),
        *(
            ([node("compared", op, "back", "x")], f"{op}: the errors of rounded elements decide a result")
            for op in ("Less-1", "LessEqual-1", "Greater-1", "GreaterEqual-1", "Equal-1", "NotEqual-1")
        ),
        (
            [node("remainder", "Mod-1", "back", "x")],
            "Mod-1: the errors of rounded numbers decide the quotient of a remainder",
        ),
        ([node("floor", "Floor-1", "back")], "Floor-1: a rounded number may be on both sides of a step"),
        ([node("sign", "Sign-1", "rest")], "Sign-1: a rounded number may be on both sides of a step"),
        ([node("power", "Power-1", "rest", "minus")], "Power-1: a rounded base may be 0, and its exponent is negative"),
        (
            [node("large", "Exp-1", "many"), node("last", "Abs-1", "large")],
            "Abs-1: an element may be beyond the range of its type",
        ),
    ],
)
def test_a_result_that_errors_decide_is_refused(nodes: list[Node], message: str) -> None:
    """At a pole, a jump or the end of a range, the order of rounding decides the result."""
    before = [
        node("third", "Divide-1", "x", "three"),
        node("back", "Multiply-1", "third", "three"),
        node("rest", "Subtract-1", "back", "x"),
    ]
    inputs = {"x": f32(1), "three": f32(3), "minus": f32(-1)}
    inputs["many"] = f32(np.log(np.finfo(np.float32).max))
    with pytest.raises(NoGolden) as error:
        evaluated_nodes([*before, *nodes], **inputs)
    assert str(error.value) == message


def test_the_bounds_of_a_softmax_by_hand_are_narrow() -> None:
    """Five nodes cost a few units in the last place, so that a wrong result is outside."""
    nodes = [
        node("most", "ReduceMax-1", "x", "axes", keep_dims=True),
        node("rest", "Subtract-1", "x", "most"),
        node("power", "Exp-1", "rest"),
        node("total", "ReduceSum-1", "power", "axes", keep_dims=True),
        node("last", "Divide-1", "power", "total"),
    ]
    x = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
    output = evaluated_nodes(nodes, x=x, axes=np.array([1]))["last"]
    assert output.bounds is not None
    lower, upper = (numbers(tensor("f32", end)) for end in output.bounds)
    assert ((upper - lower) / numbers(output) < 2.0**-17).all()


def test_reduced_bounds_of_a_softmax_behind_a_product_are_shares() -> None:
    """Errors of large scores are larger than their differences to the others, and still one element has nearly all."""
    nodes = [node("scores", "MatMul-1", "a", "b"), node("shares", "SoftMax-8", "scores")]
    a, b = np.full((2, 3), 8.01, np.float32), np.array([[8, 0], [4, 0], [4, 0]], np.float32)
    output = evaluated_nodes(nodes, a=a, b=b)["shares"]
    assert output.reduced is not None
    lower, upper = (numbers(tensor("f32", end)) for end in output.reduced)
    assert (lower[:, 0] > 0.8).all()
    assert (upper[:, 0] < 1.2).all()
    assert (upper[:, 1] < 1e-30).all()


def test_errors_of_many_elements_are_refused() -> None:
    """Exact numbers of many elements would take minutes; integers that the type has need none."""
    nodes = [node("sum", "Add-1", "x", "x"), node("last", "Abs-1", "sum")]
    integers = np.ones(1 << 17, np.float32)
    assert evaluated_nodes(nodes, x=integers)["last"].array.tolist() == (2 * integers).tolist()
    with pytest.raises(NoGolden, match=r"^Add-1: errors of more than 65,536 elements are not followed$"):
        evaluated_nodes(nodes, x=integers / 3)
