"""Tensors: an element type, and an array in its storage dtype."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES, ElementType

Array = np.ndarray[Any, np.dtype[Any]]

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Spans:
    """What the elements of a tensor inside a graph can be, rounded or not: exact numbers, NaNs and infinities.

    Attributes:
        exact: The results of operations that round nothing.
        right: The ends of what right operations give.
        reduced: The ends of what reduced arithmetic gives.
    """

    exact: Array
    right: tuple[Array, Array]
    reduced: tuple[Array, Array]

    @property
    def are_exact(self) -> bool:
        """Whether every right operation gives the same elements."""
        return _are_equal(*self.right)

    @property
    def are_certain(self) -> bool:
        """Whether every right operation gives the same elements, and reduced arithmetic, too."""
        return self.are_exact and _are_equal(*self.reduced)


def _are_equal(low: Array, high: Array) -> bool:
    return all(a == b or (a != a and b != b) for a, b in zip(low.flat, high.flat, strict=True))  # noqa: PLR0124 - NaN


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tensor:
    """An array of one element type, bit for bit.

    Attributes:
        element_type: A name of `ELEMENT_TYPES`.
        array: The elements in the storage dtype; one byte per element for narrower types, and `<U` for strings.
        bounds: The least and the largest right value of each element, where not only the bits of `array` are right.
        reduced: The least and the largest result of reduced arithmetic for each element, where one is less accurate.
        also: Other right values of each element, one array per value; none where the operations leave one right.
        otherwise: The elements by other readings, each with the interpretation or the requirement that is misread.
        flushed: What it is if operations take denormal numbers in inputs for zeros, where that is another one.
        spans: What the next operations of a graph compute with, where that is not only `array`.
        is_computed: Whether its elements were computed, so that every NaN equals every other one.
    """

    element_type: str
    array: Array
    bounds: tuple[Array, Array] | None = None
    reduced: tuple[Array, Array] | None = None
    also: tuple[Array, ...] = ()
    otherwise: "tuple[tuple[str, Tensor], ...]" = ()
    flushed: "Tensor | None" = None
    spans: Spans | None = None
    is_computed: bool = False

    @property
    def type(self) -> ElementType:
        """The element type."""
        return ELEMENT_TYPES[self.element_type]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions, outermost first."""
        return tuple(self.array.shape)

    def integers(self) -> list[int]:
        """The elements of an integer tensor as exact integers, in row-major order."""
        flat = self.array.reshape(-1)
        if self.type.kind == "signed" and self.type.storage.kind == "u":
            sign = 1 << (self.type.bits - 1)
            return [(int(value) ^ sign) - sign for value in flat]
        return [int(value) for value in flat]


def with_one_nan(array: Array, kind: ElementType) -> Array:
    """Computed elements in the storage dtype. Every NaN has the same bits."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        is_nan = np.isnan(array.view(kind.arithmetic)) if kind.kind == "float" else np.zeros(array.shape, np.bool_)
    nan = np.array(np.nan).astype(kind.arithmetic).view(array.dtype) if is_nan.any() else array
    return np.where(is_nan, nan, array) if is_nan.any() else array


def places_in(array: Array, shape: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """The places in some dimensions of an array; none if it has no elements, however large these dimensions are."""
    return np.ndindex(*shape) if array.size else ()


def patterns(array: Array) -> Array:
    """The bit patterns of an array's elements as unsigned integers; strings and unsigned integers as they are."""
    if array.dtype.kind in "Uu":
        return array
    return array.view(_UNSIGNED[array.dtype.itemsize])


def outputs_digest(feeds: Iterable[Sequence[Array]]) -> str:
    """The SHA-256 of the outputs of all feeds: their storage types, shapes and bits, or characters."""
    digest = hashlib.sha256()
    for outputs in feeds:
        for array in outputs:
            is_text = array.dtype.kind == "U"
            digest.update(repr(("U" if is_text else array.dtype.str, array.shape)).encode() + b"\0")
            # As bytes, since a harness may return elements that have no buffer, such as dates.
            elements = repr(array.tolist()).encode() if is_text else np.ascontiguousarray(array).reshape(-1)
            digest.update(elements if isinstance(elements, bytes) else elements.view(np.uint8).data)
        digest.update(b"\0")
    return digest.hexdigest()
