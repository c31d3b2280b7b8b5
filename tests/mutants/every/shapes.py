"""Mutants that give their outputs another number of dimensions."""

from collections.abc import Callable
from math import prod

from opconform.operations import OPERATIONS
from opconform.suite.case import Shape
from tests.mutants.model import COMPUTING
from tests.mutants.row import Call, Row, converted, stricter


def _row(name: str, what: str, seen: str, shape_of: Callable[[Shape], Shape]) -> Row:
    """A mutant that hands out outputs in a shape that is a function of the right one."""
    change = {"handed": lambda _, tensor: converted(tensor, tensor.array.reshape(shape_of(tensor.shape)))}
    return Row(f"shapes/{name}", what, seen, change)


def _without_leading_ones(shape: Shape) -> Shape:
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return shape


def _is_over_eight(call: Call) -> bool:
    """Whether a tensor of the case has more than eight dimensions."""
    return any(len(each.shape) > 8 for each in (*call.given.values(), *call.right("outputs")))


# fmt: off
ROWS = (
    _row("leading-ones-lost", "Dimensions of 1 at the front are left out.", "openvinotoolkit/openvino_contrib#555",
        _without_leading_ones),
    _row("always-four", "Outputs of fewer than four dimensions come back with four.", "PaddlePaddle/Paddle#35127",
        lambda shape: (*(1,) * (4 - len(shape)), *shape)),
    _row("at-most-six", "The leading dimensions of outputs of over six dimensions are merged.", "apache/tvm#3520",
        lambda shape: (prod(shape[:-5]), *shape[-5:]) if len(shape) > 6 else shape),
    _row("flat", "Every output has one dimension.", "apache/tvm#3520", lambda shape: (prod(shape),)),
    Row("shapes/transposed", "Outputs of two dimensions come back transposed.", "tenstorrent/tt-mlir#6425",
        {"handed": lambda _, tensor: converted(tensor, tensor.array.T) if len(tensor.shape) == 2 else tensor}),
    *(Row(f"shapes/at-most-eight-of-{op.lower()}", f"{op} refuses tensors of more than eight dimensions.",
        "tenstorrent/tt-metal#12154", stricter("outputs", _is_over_eight), op=op)
      for op in sorted(OPERATIONS) if op not in COMPUTING),
)
# fmt: on
