"""Range-4: the goldens against numpy and ONNX's reference, right kernels within the bounds, and wrong ones."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from opconform.model.golden import Golden
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Operand
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.rounding import Number, numbers_of
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.numpy.arithmetic import result_of
from tests.operations.test_reductions import executed, goldens, is_right

OP = "Range-4"
SETTINGS = ("start", "stop", "step")
#: What a kernel makes of the settings and the type of the output.
Kernel = Callable[[Sequence[Number], str], Array]


def own() -> Iterator[tuple[Golden, Tensor]]:
    """The goldens in which no interpretation decides the settings, with their outputs."""
    for golden in goldens(OP):
        if "fractions.cast" not in golden.draft.requirements:
            yield golden, golden.outputs[0][0]


def test_goldens_are_those_of_numpy() -> None:
    """`numpy.arange` of integers, and of f64 where no element is rounded."""
    compared = 0
    for golden, output in own():
        settings = [numbers_of(golden.inputs[0][name])[0] for name in SETTINGS]
        if output.bounds is not None or any(abs(x) >= 1 << 62 for x in settings):
            continue
        assert numbers_of(output) == np.arange(*settings).tolist(), golden.draft.id
        compared += 1
    assert compared > 40


def test_goldens_are_those_of_the_reference_of_onnx() -> None:
    """For the types that ONNX has."""
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (double start, double stop, double step) => (double[n] y) '
        "{ y = Range(start, stop, step) }"
    )
    evaluator, compared = ReferenceEvaluator(model), 0
    for golden, output in own():
        if output.bounds is not None or output.element_type not in ("f32", "f64", "i32"):
            continue
        settings = {name: np.float64(numbers_of(golden.inputs[0][name])[0]) for name in SETTINGS}
        [actual] = evaluator.run(None, settings)
        assert numbers_of(output) == np.asarray(actual).tolist(), golden.draft.id
        compared += 1
    assert compared > 15


def test_numbers_of_elements_are_those_of_the_formula() -> None:
    """A quotient of exact numbers, rounded up."""
    operation = OPERATIONS[OP]
    for start in range(-3, 4):
        for stop in range(-3, 4):
            for step in (-4, -1, 1, 3):
                operands = {
                    name: Operand(element_type="i64", shape=(), integers=(x,))
                    for name, x in zip(SETTINGS, (start, stop, step), strict=True)
                }
                [of_output] = operation.infer(operation.arguments(operands, {"output_type": "f32"}))
                assert of_output.shape == (max(math.ceil((stop - start) / step), 0),)


def kernel_of(kernel: Kernel) -> Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Tensor]]:
    """A kernel as a function of tensors and attributes."""

    def call(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Tensor]:
        kind = attributes["output_type"]
        return result_of(kind, kernel([numbers_of(x)[0] for x in inputs], kind))

    return call


def settings_of(given: Sequence[Number], kind: str) -> list[Any]:
    """The settings without their fractions for a type of integers."""
    return [int(x) if ELEMENT_TYPES[kind].is_integer else float(x) for x in given]


def counted(given: Sequence[Any]) -> int:
    """The number of elements."""
    start, stop, step = given
    if all(isinstance(x, int) for x in given):
        return int(max(-((start - stop) // step), 0))
    return int(max(math.ceil((stop - start) / step), 0))


def elements(given: Sequence[Any], count: int) -> Array:
    """The first elements."""
    start, _, step = given
    kind = object if isinstance(start, int) else np.float64
    return np.array([start + place * step for place in range(count)], kind)


def multiplied(given: Sequence[Number], kind: str) -> Array:
    """A start and a multiple of the step, in f64."""
    settings = settings_of(given, kind)
    return elements(settings, counted(settings))


def added(arithmetic: Callable[[str], type]) -> Kernel:
    """One sum after the other, in a type."""

    def kernel(given: Sequence[Number], kind: str) -> Array:
        settings = settings_of(given, kind)
        count = counted(settings)
        if ELEMENT_TYPES[kind].kind != "float":
            return elements(settings, count)
        of = arithmetic(kind)
        sums = [of(settings[0])]
        for _ in range(count - 1):
            sums.append(of(sums[-1] + of(settings[2])))
        return np.array([float(x) for x in sums[:count]], np.float64)

    return kernel


def native(kind: str) -> type:
    """The type itself."""
    return ELEMENT_TYPES[kind].arithmetic.type


@pytest.mark.parametrize(
    "kernel", [multiplied, added(lambda _: np.float64), added(native)], ids=["multiplied", "in-f64", "in-the-type"]
)
def test_right_kernels_are_within_the_bounds(kernel: Kernel) -> None:
    """The page lets the accumulator be as wide as the output, or wider."""
    wrong = [golden.draft.id for golden, _ in own() if not is_right(golden, executed(golden, kernel_of(kernel)))]
    assert wrong == []


def changed(change: Callable[[list[Any], int], tuple[list[Any], int]]) -> Callable[[str], Any]:
    """The right elements of other settings and another number."""

    def kernel(given: Sequence[Number], kind: str) -> Array:
        settings = settings_of(given, kind)
        return elements(*change(settings, counted(settings)))

    return lambda _: kernel_of(kernel)


def clamped(settings: list[Any], _: int) -> tuple[list[Any], int]:
    """Integers of 32 bits."""
    kept = [type(x)(min(max(x, -(1 << 31)), (1 << 31) - 1)) for x in settings]
    return kept, counted(kept)


def through_f32(settings: list[Any], _: int) -> tuple[list[Any], int]:
    """Integers that pass through f32."""
    kept = [int(np.float32(x)) if isinstance(x, int) else x for x in settings]
    return kept, counted(kept)


def whole(settings: list[Any], _: int) -> tuple[list[Any], int]:
    """Settings without fractions, and a step of at least 1."""
    kept = [type(x)(math.trunc(x)) for x in settings]
    kept[2] = kept[2] or type(kept[2])(1)
    return kept, counted(kept)


#: Per wrong variant: how it is made, and the operation whose cases must catch it.
MUTANTS: Mapping[str, tuple[Callable[[str], Any], Sequence[str]]] = {
    "the stop is an element": (
        changed(lambda x, _: (x, max(math.floor((x[1] - x[0]) / x[2]) + 1, 0))),
        (OP,),
    ),
    "the number of elements is rounded down": (
        changed(lambda x, _: (x, max(math.floor((x[1] - x[0]) / x[2]), 0))),
        (OP,),
    ),
    "there is one element at least": (changed(lambda x, count: (x, max(count, 1))), (OP,)),
    "the sign of the step is lost": (changed(lambda x, count: ([x[0], x[1], abs(x[2])], count)), (OP,)),
    "the start is lost": (changed(lambda x, count: ([x[0] * 0, *x[1:]], count)), (OP,)),
    "the step is 1": (changed(lambda x, count: ([*x[:2], type(x[2])(1)], count)), (OP,)),
    "the settings are clamped to i32": (changed(clamped), (OP,)),
    "integers through f32": (changed(through_f32), (OP,)),
    "settings lose their fractions": (changed(whole), (OP,)),
    "the output is f32": (lambda _: lambda x, a: kernel_of(multiplied)(x, {**a, "output_type": "f32"}), (OP,)),
}


@pytest.mark.parametrize("name", MUTANTS, ids=lambda word: word.replace(" ", "-"))
def test_wrong_variants_are_caught(name: str) -> None:
    """A case of the profile core fails, and not by another reading."""
    function = MUTANTS[name][0](OP)
    caught = (golden for golden, _ in own() if golden.draft.profile == "core")
    assert any(not is_right(golden, executed(golden, function)) for golden in caught)
