"""Excerpts: the part of a tensor that a page has room for, with what differs in it marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns

#: The most rows and columns of an excerpt, and the longest text of an element.
ROWS = 10
COLUMNS = 10
_WIDEST = 24
#: What stands for an element that nobody kept.
UNKNOWN = "·"


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """A matrix of a tensor, or a part of one.

    Attributes:
        name: What the tensor is called.
        kind: Its element type and shape, as in `f32[2, 3]`.
        where: Which matrix of it is shown, as in `[0, :, :]`; empty where it is the whole.
        rows: The elements in words.
        row: The index of the first row that is shown.
        column: The index of the first column that is shown.
        height: How many rows the matrix has.
        width: How many columns it has.
        along: Which way the axis runs, or nothing where the tensor is not cut.
        chunks: The number of the chunk of each row or column that is shown, along the axis.
        patterns: The bit patterns of the elements that differ, by row and column of the excerpt.
        first: The row and the column of the first element that differs.
    """

    name: str
    kind: str
    where: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    row: int = 0
    column: int = 0
    height: int = 0
    width: int = 0
    along: str = ""
    chunks: tuple[int, ...] = ()
    patterns: Mapping[tuple[int, int], str]
    first: tuple[int, int] | None = None


def excerpt_of(
    name: str,
    array: Array,
    element_type: str,
    *,
    axis: int | None = None,
    chunks: Sequence[int] = (),
    other: Array | None = None,
    at: tuple[int, ...] | None = None,
) -> Excerpt:
    """An excerpt around a place.

    Args:
        name: What the tensor is called.
        array: Its elements.
        element_type: Its element type; what came back as another dtype is shown as that.
        axis: The axis that it is cut along; None where it is not cut.
        chunks: The sizes of the chunks along the axis.
        other: What it is compared with, of the same dtype and shape; elements that differ are marked.
        at: The index of the element that is marked as the first.
    """
    kind = ELEMENT_TYPES[element_type]
    known = array.dtype == kind.storage or array.dtype.kind == kind.storage.kind == "U"
    label = f"{element_type if known else array.dtype}{list(array.shape)}"
    if array.size == 0:
        return Excerpt(name=name, kind=label, patterns={})
    if at is not None and not (
        len(at) == array.ndim and all(0 <= each < size for each, size in zip(at, array.shape, strict=True))
    ):
        at = None
    place = at if at is not None else (0,) * array.ndim
    index, along = _plane(array.ndim, axis, place)
    plane = np.atleast_2d(array[index])
    row, column = (0, 0, *(each for each, held in zip(place, index, strict=True) if isinstance(held, slice)))[-2:]
    top, left = _start(row, plane.shape[0], ROWS), _start(column, plane.shape[1], COLUMNS)
    part = (slice(top, top + ROWS), slice(left, left + COLUMNS))
    differing: dict[tuple[int, int], str] = {}
    if other is not None:
        differs = patterns(plane[part]) != patterns(np.atleast_2d(other[index])[part])
        differing = {
            (int(each[0]), int(each[1])): _pattern(np.asarray(plane[part][tuple(each)]), kind)
            for each in np.argwhere(differs)
        }
    first, size = (top, ROWS) if along == "rows" else (left, COLUMNS)
    names = np.repeat(np.arange(len(chunks)), chunks)[first : first + size] if along and len(chunks) else ()
    return Excerpt(
        name=name,
        kind=label,
        where=f"[{', '.join(':' if isinstance(each, slice) else str(each) for each in index)}]"
        if array.ndim > 2  # noqa: PLR2004 - a matrix is the whole
        else "",
        rows=tuple(
            tuple(_text(line[number : number + 1].reshape(()), kind, known=known) for number in range(line.size))
            for line in plane[part]
        ),
        row=top,
        column=left,
        height=plane.shape[0],
        width=plane.shape[1],
        along=along,
        chunks=tuple(int(each) for each in names),
        patterns=differing,
        first=(row - top, column - left) if at is not None else None,
    )


def _plane(rank: int, axis: int | None, place: Sequence[int]) -> tuple[tuple[slice | int, ...], str]:
    """The index of the matrix that holds the axis and the place, and which way the axis runs in it."""
    last = rank - 1
    rows = last - 1 if axis is None or axis == last else axis
    index = tuple(slice(None) if each in (rows, last) else place[each] for each in range(rank))
    return index, "" if axis is None else "columns" if axis == last else "rows"


def _start(place: int, size: int, room: int) -> int:
    """Where a part begins that shows a place, with some of what stands before it."""
    return max(0, min(place - room // 2, size - room))


def _text(element: Array, kind: ElementType, *, known: bool) -> str:
    """One element, held in an array of rank 0, in words."""
    if known and kind.kind == "float" and kind.native is not None and kind.bits >= 8:  # noqa: PLR2004 - a byte at the least
        with np.errstate(all="ignore"):
            return f"{element.reshape(1).view(kind.native)[0].astype(np.float64):.6g}"
    if element.dtype.kind == "U":
        return repr(str(element))[:_WIDEST]
    if element.dtype.kind in "fc":
        return f"{element:.6g}"
    return str(int(element)) if element.dtype.kind in "biu" else str(element)


def _pattern(element: Array, kind: ElementType) -> str:
    """The bits of an element; a text has none."""
    if element.dtype.kind == "U":
        return ""
    bits = int(patterns(element.reshape(1))[0])
    return f"0x{bits:0{-(-max(kind.bits, 4) // 4)}x}"
