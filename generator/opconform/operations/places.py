"""The contents of data inputs that an operation moves: their elements, or the numbers of the elements."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opconform.operations.arguments import Operand
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The bits of a zero that are not all zeros.
_ZEROS = {"nf4": 7}


class Places(Mapping[str, Array]):
    """What an operation moves: an array per data input, and `none`, which stands where no input has an element.

    The arrays are the elements themselves, their numbers through all inputs, or zeros that only have a shape.
    """

    def __init__(self, arrays: Mapping[str, Array], *, none: Array) -> None:
        self._arrays = arrays
        self.none = none

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def zero_of(element_type: str) -> Array:
    """The zero of an element type as a scalar array, which for strings is the empty string."""
    storage = ELEMENT_TYPES[element_type].storage
    return np.zeros((), storage) if storage.kind == "U" else np.array(_ZEROS.get(element_type, 0), storage)


@dataclass(frozen=True, kw_only=True, slots=True)
class Origins:
    """The numbers of the elements of data inputs, and those that came to the outputs.

    Attributes:
        inputs: Per data input an array of its shape; the numbers go on from one input to the next, from 0.
        outputs: Per output an array of its shape; -1 for an element that comes from no input.
    """

    inputs: Mapping[str, Array]
    outputs: tuple[Array, ...]


def origins_of(data: Mapping[str, Operand], moved: Callable[[Places], Sequence[Array]]) -> Origins:
    """The origins of the outputs that `moved` makes of the data inputs."""
    numbers, start = {}, 0
    for name, each in data.items():
        numbers[name] = np.arange(start, start + math.prod(each.shape)).reshape(each.shape)
        start += numbers[name].size
    return Origins(inputs=numbers, outputs=tuple(moved(Places(numbers, none=np.array(-1)))))
