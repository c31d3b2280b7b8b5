"""How operations on two tensors broadcast them, from the page on broadcast rules."""

import math
from dataclasses import replace

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Tensor

#: The rules of most pages, and the rules of the pages that do not name `pdpd`.
RULES, FEWER_RULES = ("none", "numpy", "pdpd"), ("none", "numpy")


def attribute(rules: tuple[str, ...]) -> AttributeSpec:
    """The attribute with the rule."""
    return AttributeSpec("auto_broadcast", type="enum", values=rules, default="numpy")


def follows(arguments: Arguments, rule: str) -> bool:
    """Whether the rule is this one."""
    return arguments.attribute("auto_broadcast") == rule


def _aligned(arguments: Arguments) -> tuple[Shape, Shape]:
    """The shapes of both inputs with the same number of dimensions; `Unknown` under `pdpd` if the second has more.

    Under `pdpd`, trailing ones of the second are not compared, but keep their place: the default axis is the number of
    dimensions that the first has more.
    """
    first, second = arguments.shape("a"), arguments.shape("b")
    if follows(arguments, "pdpd") and len(second) > len(first):
        raise Unknown
    rank = max(len(first), len(second))
    return (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second


def broadcast_shape(arguments: Arguments) -> Shape:
    """The shape of the output; `Unknown` if the inputs do not fit each other."""
    pairs = [*zip(*_aligned(arguments), strict=True)]
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise Unknown
    return tuple(b if a == 1 else a for a, b in pairs)


def stretched(arguments: Arguments) -> tuple[Tensor, Tensor]:
    """Both inputs, broadcast to the shape of the output."""
    shape = broadcast_shape(arguments)
    return tuple(
        replace(tensor, array=np.broadcast_to(tensor.array.reshape(aligned), shape))
        for tensor, aligned in zip(map(arguments.tensor, "ab"), _aligned(arguments), strict=True)
    )  # type: ignore[return-value]


def places(arguments: Arguments) -> tuple[list[int], list[int]]:
    """The numbers of the elements of both inputs, broadcast to the shape of the output, in row-major order."""
    shape = broadcast_shape(arguments)
    first, second = (
        np.broadcast_to(np.arange(math.prod(aligned)).reshape(aligned), shape).reshape(-1).tolist()
        for aligned in _aligned(arguments)
    )
    return first, second


def _without_last_ones(arguments: Arguments) -> Arguments:
    """Under `pdpd`, the second input without its trailing ones, so that its last dimension is the last of the first."""
    operand = arguments.operand("b")
    sizes = list(operand.shape)
    while sizes and sizes[-1] == 1:
        sizes.pop()
    if not follows(arguments, "pdpd") or len(sizes) == len(operand.shape) or not sizes:
        return arguments
    tensor = operand.tensor and replace(operand.tensor, array=operand.tensor.array.reshape(sizes))
    return replace(arguments, inputs={**arguments.inputs, "b": replace(operand, shape=tuple(sizes), tensor=tensor)})


def _has_inner_ones(arguments: Arguments) -> bool:
    """Whether, under `pdpd`, the second input repeats a dimension that others than ones follow."""
    if not follows(arguments, "pdpd"):
        return False
    pairs = [*zip(*_aligned(arguments), strict=True)][-len(arguments.shape("b")) or None :]
    last = max((place for place, (_, size) in enumerate(pairs) if size != 1), default=0)
    return any(size == 1 != whole for whole, size in pairs[:last])


#: The other readings of ones of the second input: the default axis may count the last ones or not, and others may be
#: dimensions that the first input does not have.
PDPD_ONES = {
    "pdpd.last-ones": Reading(rewrites=(_without_last_ones,)),
    "pdpd.ones": Reading(rejects=_has_inner_ones),
}
CHECKS = {
    "none.shapes": lambda a: follows(a, "none") and a.shape("a") != a.shape("b"),
    "numpy.dimensions": lambda a: (
        follows(a, "numpy") and any(x != y and 1 not in (x, y) for x, y in zip(*_aligned(a), strict=True))
    ),
    "pdpd.rank": lambda a: follows(a, "pdpd") and len(a.shape("b")) > len(a.shape("a")),
    "pdpd.dimensions": lambda a: follows(a, "pdpd") and any(y not in (x, 1) for x, y in zip(*_aligned(a), strict=True)),
}
FACTS = {
    "both inputs have the same shape": lambda a: a.shape("a") == a.shape("b"),
    "the first input is broadcast": lambda a: a.shape("a") != broadcast_shape(a),
    "the second input is broadcast": lambda a: a.shape("b") != broadcast_shape(a),
    "an input is a scalar": lambda a: () in (a.shape("a"), a.shape("b")),
    "the ranks differ": lambda a: len(a.shape("a")) != len(a.shape("b")),
}
