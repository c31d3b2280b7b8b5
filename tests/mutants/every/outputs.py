"""Mutants of every operation that hand out other outputs: too many, too few, in another order or another shape."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.suite.case import Shape
from tests.mutants.row import Hook, MutantRow, derived, gives, moves, refuse

_LOST, _ORDER, _MANY = (
    "openvinotoolkit/openvino#14104",
    "openvinotoolkit/openvino#33216",
    "openvinotoolkit/openvino#24288",
)

Outputs = Callable[[list[Any]], list[Any]]
# fmt: off
#: Changes of several outputs: a name, what is handed out, a public report, and the change.
_OF_SEVERAL: tuple[tuple[str, str, str, Outputs], ...] = (
    ("only-the-first", "only the first output", _ORDER, lambda outputs: outputs[:1]),
    ("backwards", "the outputs from the last to the first", _LOST, lambda outputs: outputs[::-1]),
    ("three-backwards", "three outputs with the first and the last exchanged", "NVIDIA/TensorRT#3424",
        lambda outputs: outputs[::-1] if len(outputs) == 3 else outputs),
    ("first-two-exchanged", "the first two outputs exchanged", _ORDER,
        lambda outputs: [*outputs[1:2], *outputs[:1], *outputs[2:]]),
    ("last-first", "the last output first", _ORDER, lambda outputs: [*outputs[-1:], *outputs[:-1]]),
    ("in-order-of-names", "the outputs in the order of their names, with output_10 after output_1",
        "PINTO0309/onnx2tf#588", lambda outputs: [outputs[number] for number in sorted(range(len(outputs)), key=str)]),
    ("all-the-first", "the first output in place of each one of its shape", "openvinotoolkit/openvino#18469",
        lambda outputs: [next(own for own in outputs if own.shape == output.shape) for output in outputs]),
    ("at-most-64", "at most 64 outputs", _MANY, lambda outputs: outputs[:64]),
    ("number-in-8-bits", "the first output as the 257th", _MANY,
        lambda outputs: [outputs[number & 255] for number in range(len(outputs))]),
    ("over-eight-refused", "no more than eight outputs", "tensorflow/java#45",
        lambda outputs: refuse("there are too many") if len(outputs) > 8 else outputs),
)
#: Changes of any outputs.
_OF_ANY: tuple[tuple[str, str, str, Outputs], ...] = (
    ("last-missing", "all outputs but the last", _LOST, lambda outputs: outputs[:-1]),
    ("last-doubled", "the last output twice", "openvinotoolkit/openvino#1938", lambda outputs: [*outputs, *outputs[-1:]]),
)
# fmt: on


def _without_leading_ones(shape: Shape) -> Shape:
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return shape


# fmt: off
#: Changes of the shape of each output: a name, what happens to it, a public report, and the change.
_SHAPES: tuple[tuple[str, str, str, Callable[[Shape], Shape]], ...] = (
    ("leading-ones-lost", "leading dimensions of 1 are lost", "openvinotoolkit/openvino_contrib#555",
        _without_leading_ones),
    ("ones-lost", "dimensions of 1 are lost", "plaidml/plaidml#1090", lambda shape: tuple(n for n in shape if n != 1)),
    ("always-four", "fewer than four dimensions become four", "PaddlePaddle/Paddle#35127",
        lambda shape: (*(1,) * (4 - len(shape)), *shape)),
    ("at-most-six", "the leading ones of more than six dimensions are merged", "apache/tvm#3520",
        lambda shape: (prod(shape[:-5]), *shape[-5:]) if len(shape) > 6 else shape),
    ("flat", "all dimensions are merged", "apache/tvm#3520", lambda shape: (prod(shape),)),
)
#: Those of outputs that can be scalars.
_SCALARS: tuple[tuple[str, str, str, Callable[[Shape], Shape]], ...] = (
    ("scalar-as-list", "a scalar becomes a list of one element", "kraiskil/onnx2c#68", lambda shape: shape or (1,)),
)
# fmt: on


def _handed(change: Callable[[list[Any]], list[Any]]) -> Hook:
    return gives(lambda _, outputs: change(outputs))


def _reshaped(change: Callable[[Shape], Shape]) -> Hook:
    return moves(lambda _, array: array.reshape(change(array.shape)))


def _rows(op: str) -> Iterator[MutantRow]:
    for name, what, seen, change in (*_OF_ANY, *(_OF_SEVERAL if OPERATIONS[op].requested else ())):
        yield derived(f"outputs/{op}/{name}", op, f"{op} hands out {what}.", seen, _handed(change))
    ranks = OPERATIONS[op].inputs[0].ranks
    for name, what, seen, reshape in (*_SHAPES, *(() if ranks is not None and 0 not in ranks else _SCALARS)):
        yield derived(f"outputs/{op}/{name}", op, f"In the outputs of {op} {what}.", seen, _reshaped(reshape))
    turned = moves(lambda _, array: array.T if array.ndim == 2 else array)
    what = f"Outputs of {op} of two dimensions come back transposed."
    yield derived(f"outputs/{op}/transposed", op, what, "tenstorrent/tt-mlir#6425", turned)


ROWS = tuple(row for op in shipped_operations() for row in _rows(op))
