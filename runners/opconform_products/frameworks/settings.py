"""Settings as Python's own numbers and lists, as a user of a framework writes them, and the operations on them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from opconform.suite.case import Attribute
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Unsupported


class FrameworkOperand(NamedTuple):
    """A tensor of a graph: the framework's own, or Python's numbers and lists; without a rank, its shape is ()."""

    value: Any
    element_type: str
    shape: tuple[int, ...]
    has_rank: bool = True


def plain(tensor: Tensor, known: Collection[str]) -> Any:
    """A setting as Python's own numbers, booleans and texts, in nested lists.

    Raises `Unsupported` if the integer type is not one of the framework's `known` types, or has no Python numbers.
    """
    if tensor.type.kind == "lookup" or (tensor.type.is_integer and tensor.element_type not in known):
        raise Unsupported(f"the framework has no element type {tensor.element_type}")
    if tensor.type.is_integer:
        return np.array(tensor.integers(), object).reshape(tensor.shape).tolist()
    array = tensor.array.view(tensor.type.arithmetic) if tensor.type.kind == "float" else tensor.array
    return array.tolist()


def is_plain(value: Any) -> bool:
    """Whether a value is Python's own, or an array of a type that Python does not have."""
    return isinstance(value, bool | int | float | str | list | np.ndarray)


def _constant(_values: Sequence[Any], attributes: Mapping[str, Attribute]) -> Any:
    value: Any = attributes["value"]
    shape: Any = attributes["shape"]
    kind = ELEMENT_TYPES[str(attributes["element_type"])]
    elements = encoded(kind.name, value).view(kind.arithmetic).tolist() if kind.kind == "float" else [*value]
    return FrameworkOperand(elements if shape else elements[0], kind.name, tuple(shape))


def _dimensions(values: Sequence[Any], attributes: Mapping[str, Attribute]) -> Any:
    try:
        shape = list(values[0].shape)
    except ValueError as error:  # of TensorFlow, for data of unknown rank
        raise Unsupported("the shape of a tensor of unknown rank is a setting") from error
    if None in shape:
        raise Unsupported("a dimension that is only known at run time is a setting")
    return FrameworkOperand(shape, str(attributes.get("output_type", "i64")), (len(shape),))


def _gathered(values: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Any:
    data, indices, *_ = values
    return [data[index] for index in indices] if isinstance(indices, list) else data[indices]


#: The operations that compute settings, integers, of lists; only the last one takes a framework's tensor.
COMPUTING: Mapping[str, Callable[[Sequence[Any], Mapping[str, Attribute]], Any]] = {
    "Concat-1": lambda values, _: [number for numbers in values for number in numbers],
    "Constant-1": _constant,
    "Gather-8": _gathered,
    "ShapeOf-3": _dimensions,
}
