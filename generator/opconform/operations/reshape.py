"""Reshape-1, from its specification page: the elements of data in other dimensions."""

from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, Rejection, TensorType
from opconform.suite.case import Shape
from opconform.tensors.tensor import Tensor

#: The size that is calculated from the others (Detailed description, second item).
INFERRED = -1
#: What resembles the two values of `special_zero`, as the text of an attribute.
_BOOLEANS = frozenset({"false", "true", "0", "1"})


def _pattern(arguments: Arguments) -> tuple[int, ...] | None:
    """The elements of the input shape, or None if it is not a list of integers."""
    given = arguments.inputs.get("shape")
    return None if given is None or len(given.shape) != 1 else given.integers


def _special_zero(arguments: Arguments) -> bool | None:
    """Whether zeros copy dimensions of data, or None if the attribute does not say it."""
    given = arguments.attributes.get("special_zero")
    return given if isinstance(given, bool) else None


def _attribute_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `special_zero` (Attributes)."""
    if "special_zero" not in arguments.attributes:
        return ["special_zero.required"]
    if _special_zero(arguments) is not None:
        return []
    resembling = str(arguments.attributes["special_zero"]).lower() in _BOOLEANS
    return ["special_zero.spelling" if resembling else "special_zero.type"]


def _shape_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the input shape, apart from its values (Inputs, 2; Types, T_SHAPE)."""
    given = arguments.inputs.get("shape")
    if given is None:
        return ["shape.required"]
    wrong_rank = [] if len(given.shape) == 1 else ["shape.rank"]
    return [*wrong_rank, *([] if given.is_integer else ["shape.element-type"])]


def _value_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the values of shape (Detailed description)."""
    pattern, data, special_zero = _pattern(arguments), arguments.inputs.get("data"), _special_zero(arguments)
    if pattern is None:
        return []
    negative = ["shape.negative"] if any(each < INFERRED for each in pattern) else []
    repeated = ["shape.single-inferred"] if pattern.count(INFERRED) > 1 else []
    if negative or repeated or data is None or special_zero is None:
        return [*negative, *repeated]
    rank = len(data.shape)
    if special_zero and 0 in pattern[rank:]:
        return ["shape.zero-index" if 0 in pattern[rank + 1 :] else "shape.zero-after-last"]
    return _volume_violations(data.shape, _copied(data.shape, pattern, special_zero=special_zero))


def _volume_violations(shape: Shape, sizes: Shape) -> list[str]:
    """The violated requirements on the number of elements, for sizes of which at most one is inferred."""
    volume, others = prod(shape), abs(prod(sizes))
    if INFERRED not in sizes:
        return [] if others == volume else ["shape.volume"]
    if not others:
        return ["shape.inferred-divides" if volume else "shape.inferred-undetermined"]
    return ["shape.inferred-divides"] if volume % others else []


def _copied(shape: Shape, pattern: tuple[int, ...], *, special_zero: bool) -> Shape:
    """The sizes, with those that are copied from data in place of zeros."""
    return tuple(shape[index] if special_zero and not each else each for index, each in enumerate(pattern))


def sizes_of(arguments: Arguments) -> Shape:
    """The dimensions of the output; `Rejection` for invalid arguments."""
    data, pattern, special_zero = arguments.inputs.get("data"), _pattern(arguments), _special_zero(arguments)
    violated = (
        *([] if data is not None else ["data.required"]),
        *_shape_violations(arguments),
        *_attribute_violations(arguments),
        *_value_violations(arguments),
    )
    if violated or data is None or pattern is None or special_zero is None:
        raise Rejection(violated)
    sizes = _copied(data.shape, pattern, special_zero=special_zero)
    return tuple(prod(data.shape) // abs(prod(sizes)) if each == INFERRED else each for each in sizes)


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    sizes = sizes_of(arguments)
    return (TensorType(element_type=arguments.inputs["data"].element_type, shape=sizes),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    data = arguments.tensor("data")
    array = np.ascontiguousarray(data.array).reshape(sizes_of(arguments))
    return (Tensor(element_type=data.element_type, array=array),)


RESHAPE = Operation(
    name="Reshape-1",
    inputs=(Port("data", role="tensor"), Port("shape", role="control")),
    attributes=(AttributeSpec("special_zero", type="boolean"),),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: -1),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "shape"),
        "restored": contexts.restored("data", special_zero=False),
    },
)
