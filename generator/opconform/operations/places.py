"""The contents of data inputs that an operation moves: their elements, or the numbers of the elements."""

from collections.abc import Iterator, Mapping

import numpy as np

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
