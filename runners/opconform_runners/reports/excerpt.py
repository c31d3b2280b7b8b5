"""The excerpt of a tensor that a picture has room for, with the outputs and the differences in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from opconform.model.highlight import Highlight
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns

#: The most rows and columns of an excerpt, and the most characters of an element.
ROWS = 10
COLUMNS = 10
_WIDEST = 24
#: The digits of a floating-point number, and those that tell any two of them apart.
_DIGITS = 6
_EXACT = 17


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """A matrix of a tensor, or a part of one.

    Attributes:
        kind: The tensor's element type and shape, as in `f32[2, 3]`.
        where: The index of the matrix, as in `[0, :, :]`; empty for a tensor of rank 2 or less.
        rows: The elements as text.
        at: The index of the first row and column.
        size: The number of rows and columns of the whole matrix.
        along: The direction of the axis, `rows` or `columns`; empty for a tensor that is not divided into outputs.
        outputs: The name of the output, or of the joined input, of each row or column along the axis.
        mark: What the marked elements have in common.
        marked: The rows and columns of these elements in the excerpt, and their bit patterns.
        first: The row and column in the excerpt of the first of them.
    """

    name: str
    kind: str
    where: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    at: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)
    along: str = ""
    outputs: tuple[str, ...] = ()
    mark: Literal["differs", "is past the end"] = "differs"
    marked: tuple[tuple[int, int, str], ...] = ()
    first: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """The elements to mark in an excerpt.

    Attributes:
        at: The index of the first one; ignored where the tensor has no such element.
        other: An array of the same dtype and shape; elements that differ from it are marked.
        past: Whether each element is past the end of the input; instead of `other`.
    """

    at: tuple[int, ...] | None = None
    other: Array | None = None
    past: Array | None = None


def excerpt_of(
    name: str,
    array: Array,
    element_type: str,
    *,
    highlight: Highlight | None = None,
    marks: Marks = Marks(),
) -> Excerpt:
    """An excerpt around the first marked element.

    Args:
        name: The name of the tensor.
        array: Its elements.
        element_type: Its expected element type; an array of another storage type is shown by its dtype.
        highlight: The outputs that the tensor is divided into.
        marks: The elements to mark.
    """
    kind = ELEMENT_TYPES[element_type]
    known = array.dtype == kind.storage or array.dtype.kind == kind.storage.kind == "U"
    label = f"{element_type if known else array.dtype}{list(array.shape)}"
    if array.size == 0:
        return Excerpt(name=name, kind=label)
    at = marks.at
    if at is None or len(at) != array.ndim or any(i >= size for i, size in zip(at, array.shape, strict=True)):
        at = None
    place = at or (0,) * array.ndim
    index, along = _matrix_index(array.ndim, None if highlight is None else highlight.axis, place)
    left_out = any(not isinstance(each, slice) for each in index)
    matrix = np.atleast_2d(array[index])
    row, column = (0, 0, *(each for each, held in zip(place, index, strict=True) if isinstance(held, slice)))[-2:]
    top, left = _start(row, matrix.shape[0], ROWS), _start(column, matrix.shape[1], COLUMNS)
    part = (slice(top, top + ROWS), slice(left, left + COLUMNS))
    shown = matrix[part]
    rows = _texts(shown, kind, known=known)
    marked: tuple[tuple[int, int, str], ...] = ()
    if marks.past is not None:
        marked = _marked(shown, np.atleast_2d(marks.past[index])[part], kind)
    elif marks.other is not None:
        opposite = np.atleast_2d(marks.other[index])[part]
        marked, texts = _marked(shown, patterns(shown) != patterns(opposite), kind), _texts(opposite, kind, known=known)
        exact = _texts(shown, kind, known=known, digits=_EXACT)
        for y, x, _ in marked:  # as different texts, also where few digits do not show the difference
            rows[y][x] = exact[y][x] if rows[y][x] == texts[y][x] else rows[y][x]
    outputs = np.repeat(highlight.names, highlight.sizes) if highlight is not None else np.array([], str)
    return Excerpt(
        name=name,
        kind=label,
        where=f"[{', '.join(':' if isinstance(each, slice) else str(each) for each in index)}]" if left_out else "",
        rows=tuple(map(tuple, rows)),
        at=(top, left),
        size=(matrix.shape[0], matrix.shape[1]),
        along=along,
        outputs=tuple(outputs[part[0 if along == "rows" else 1]].tolist()),
        mark="differs" if marks.past is None else "is past the end",
        marked=marked,
        first=(row - top, column - left) if at is not None else None,
    )


def _marked(shown: Array, chosen: Array, kind: ElementType) -> tuple[tuple[int, int, str], ...]:
    bits, digits = patterns(shown), -(-max(kind.bits, 4) // 4)
    return tuple(
        (row, column, "" if shown.dtype.kind == "U" else f"0x{int(bits[row, column]):0{digits}x}")
        for row, column in np.argwhere(chosen).tolist()
    )


def _matrix_index(rank: int, axis: int | None, place: Sequence[int]) -> tuple[tuple[slice | int, ...], str]:
    """The index of the matrix that contains the axis and the place, and the direction of the axis in it."""
    last = rank - 1
    rows = last - 1 if axis is None or axis == last else axis
    index = tuple(slice(None) if each in (rows, last) else place[each] for each in range(rank))
    return index, "" if axis is None else "columns" if axis == last else "rows"


def _start(place: int, size: int, room: int) -> int:
    """Where an excerpt with a place near its middle begins."""
    return max(0, min(place - room // 2, size - room))


def _texts(part: Array, kind: ElementType, *, known: bool, digits: int = _DIGITS) -> list[list[str]]:
    return [[_text(each, kind, digits, known=known) for each in np.split(row, row.size)] for row in part]


def _text(element: Array, kind: ElementType, digits: int, *, known: bool) -> str:
    if known and kind.kind == "float" and kind.native is not None and kind.bits >= 8:  # noqa: PLR2004 - a byte or more
        with np.errstate(all="ignore"):
            return f"{element.view(kind.native)[0].astype(np.float64):.{digits}g}"
    [value] = element
    if element.dtype.kind == "U":
        return repr(str(value))[:_WIDEST]
    if element.dtype.kind in "fc":
        return f"{value:.{digits}g}"
    return str(int(value)) if element.dtype.kind in "biu" else str(value)
