"""Bounds of graphs that compute with rounded results: whatever a right chain of kernels gives is inside.

The kernels round each result to its type, to a wider one or not at all, and sum in several orders.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
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


def _mvn(kernel: Kernel, x: Array) -> Array:
    centred = x - kernel.total(x)[..., None] / x.dtype.type(x.shape[-1])
    variance = kernel.total(centred * centred) / x.dtype.type(x.shape[-1])
    return np.asarray(centred / np.sqrt(variance + x.dtype.type(1e-5))[..., None])


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x), x.dtype)


def _gelu(_: Kernel, x: Array) -> Array:
    return np.asarray(x / 2 * (1 + _erf(x / np.sqrt(x.dtype.type(2)))))


class Step(NamedTuple):
    """A node of a chain: what a kernel computes, and whether it has a second input, which a constant can be."""

    op: str
    of: Callable[..., Array]
    second: str | None = None
    attributes: Mapping[str, Attribute] = {}


STEPS = (
    Step("Add-1", lambda _, x, y: x + y, "b"),
    Step("Subtract-1", lambda _, x, y: x - y, "b"),
    Step("Multiply-1", lambda _, x, y: x * y, "b"),
    Step("Divide-1", lambda _, x, y: x / y, "b"),
    Step("Maximum-1", lambda _, x, y: np.maximum(x, y), "b"),
    Step("Minimum-1", lambda _, x, y: np.minimum(x, y), "b"),
    Step("MatMul-1", lambda k, x, y: k.total(x[:, None, :] * y.T[None]), "b"),
    Step("ReduceSum-1", lambda k, x: k.total(x)[..., None], "axes", {"keep_dims": True}),
    Step("ReduceMean-1", lambda k, x: k.total(x)[..., None] / x.dtype.type(x.shape[-1]), "axes", {"keep_dims": True}),
    Step("ReduceMax-1", lambda _, x: x.max(-1, keepdims=True), "axes", {"keep_dims": True}),
    Step("Abs-1", lambda _, x: np.abs(x)),
    Step("Negative-1", lambda _, x: -x),
    Step("ReLU-1", lambda _, x: np.maximum(x, x.dtype.type(0))),
    Step("Clamp-1", lambda _, x: np.clip(x, x.dtype.type(-0.7), x.dtype.type(0.8)), None, {"min": -0.7, "max": 0.8}),
    Step("Sqrt-1", lambda _, x: np.sqrt(x)),
    Step("Exp-1", lambda _, x: np.exp(x)),
    Step("Log-1", lambda _, x: np.log(x)),
    Step("Tanh-1", lambda _, x: np.tanh(x)),
    Step("Erf-1", lambda _, x: _erf(x)),
    Step("Sigmoid-1", lambda _, x: 1 / (1 + np.exp(-x))),
    Step("Gelu-7", _gelu, None, {"approximation_mode": "erf"}),
    Step("SoftMax-8", _softmax, None, {"axis": 1}),
    Step("MVN-6", _mvn, "axes", {"normalize_variance": True, "eps": 1e-5, "eps_mode": "inside_sqrt"}),
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


def golden(element_type: str, steps: list[Step], x: Array, others: list[Array]) -> Tensor:
    """The output of a chain, with its bounds."""
    inputs = {"x": tensor(element_type, x), "two": tensor(element_type, np.array(2, TYPES[element_type]))}
    inputs |= {name: tensor("i64", np.array(values, np.int64)) for name, values in CONSTANTS.items()}
    nodes: list[Node] = []
    for number, (step, other) in enumerate(zip(steps, others, strict=True)):
        inputs[f"y{number}"] = tensor(element_type, other)
        second = (f"y{number}" if step.second == "b" else step.second,) if step.second else ()
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
