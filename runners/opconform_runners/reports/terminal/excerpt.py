"""Excerpts of tensors for pictures, and pairs of an expected and an actual one with the differences marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, NamedTuple

import numpy as np

from opconform.explanation.pictures import Highlight, highlight_of
from opconform.suite.bounds import Bounds
from opconform.suite.case import Accept, Case
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns
from opconform_runners.findings.causes.cause import divided_axis
from opconform_runners.findings.causes.feeds import Arrays, FeedArrays, divided_shape
from opconform_runners.verdicts.comparison import Mismatch, output_number
from opconform_runners.verdicts.rounding_error import errors_of

#: The most rows and columns of an excerpt, and the most characters of an element.
ROWS = 10
COLUMNS = 10
_WIDEST = 24
#: What the marked elements of an output with bounds have in common.
OUTSIDE: Final = "is outside its bounds"


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
        marked: The rows and columns of these elements in the excerpt, and their bit patterns, with the allowed numbers
            or the error where there are bounds.
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
    mark: Literal["differs", "is outside its bounds", "is past the end"] = "differs"
    marked: tuple[tuple[int, int, str], ...] = ()
    first: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """The elements to mark in an excerpt.

    Attributes:
        at: The index of the first one; ignored where the tensor has no such element.
        other: An array of the same dtype and shape; elements that differ from it are marked.
        bounds: The bounds of `other` or, if `is_golden`, of this array; only elements outside them are marked.
        past: Whether each element is past the end of the input; instead of `other`.
    """

    at: tuple[int, ...] | None = None
    other: Array | None = None
    bounds: Bounds | None = None
    is_golden: bool = False
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
    left_out = any(not isinstance(x, slice) for x in index)
    matrix = np.atleast_2d(array[index])
    row, column = (0, 0, *(x for x, part in zip(place, index, strict=True) if isinstance(part, slice)))[-2:]
    top, left = _start(row, matrix.shape[0], ROWS), _start(column, matrix.shape[1], COLUMNS)
    part = (slice(top, top + ROWS), slice(left, left + COLUMNS))
    shown = matrix[part]
    rows = _texts(shown, kind, known=known)
    marked: tuple[tuple[int, int, str], ...] = ()
    if marks.past is not None:
        marked = _marked(shown, np.atleast_2d(marks.past[index])[part], kind)
    elif marks.other is not None:
        opposite = np.atleast_2d(marks.other[index])[part]
        if marks.bounds is None:
            marked = _marked(shown, patterns(shown) != patterns(opposite), kind)
        else:
            lower, upper = (np.atleast_2d(x[index])[part] for x in marks.bounds)
            marked = _outside(shown, opposite, (lower, upper), kind, is_golden=marks.is_golden)
    outputs = np.repeat(highlight.names, highlight.sizes) if highlight is not None else np.array([], str)
    return Excerpt(
        name=name,
        kind=label,
        where=f"[{', '.join(':' if isinstance(x, slice) else str(x) for x in index)}]" if left_out else "",
        rows=tuple(map(tuple, rows)),
        at=(top, left),
        size=(matrix.shape[0], matrix.shape[1]),
        along=along,
        outputs=tuple(outputs[part[0 if along == "rows" else 1]].tolist()),
        mark="is past the end" if marks.past is not None else "differs" if marks.bounds is None else OUTSIDE,
        marked=marked,
        first=(row - top, column - left) if at is not None else None,
    )


def _marked(shown: Array, chosen: Array, kind: ElementType) -> tuple[tuple[int, int, str], ...]:
    bits, digits = patterns(shown), -(-max(kind.bits, 4) // 4)
    return tuple(
        (row, column, "" if shown.dtype.kind == "U" else f"0x{int(bits[row, column]):0{digits}x}")
        for row, column in np.argwhere(chosen).tolist()
    )


def _outside(
    shown: Array, opposite: Array, bounds: Bounds, kind: ElementType, *, is_golden: bool
) -> tuple[tuple[int, int, str], ...]:
    """The elements outside their bounds, with the allowed numbers if they are golden, and otherwise with the error."""
    errors = errors_of(*((shown, opposite) if is_golden else (opposite, shown)), bounds, kind)
    lower, upper = (_texts(x, kind, known=True) for x in bounds)

    def note(row: int, column: int) -> str:
        if is_golden:
            smallest, largest = lower[row][column], upper[row][column]
            return f", allowed {smallest} to {largest}" if smallest != largest else ""
        return f", error {errors[row, column]:,.4g} times its bound" if np.isfinite(errors[row, column]) else ""

    return tuple((row, column, bits + note(row, column)) for row, column, bits in _marked(shown, errors > 1, kind))


def _matrix_index(rank: int, axis: int | None, place: Sequence[int]) -> tuple[tuple[slice | int, ...], str]:
    """The index of the matrix that contains the axis and the place, and the direction of the axis in it."""
    last = rank - 1
    rows = last - 1 if axis is None or axis == last else axis
    index = tuple(slice(None) if index in (rows, last) else place[index] for index in range(rank))
    return index, "" if axis is None else "columns" if axis == last else "rows"


def _start(place: int, size: int, room: int) -> int:
    """Where an excerpt with a place near its middle begins."""
    return max(0, min(place - room // 2, size - room))


def _texts(part: Array, kind: ElementType, *, known: bool) -> list[list[str]]:
    if known and kind.kind == "float" and kind.native is not None and kind.bits >= 8:  # noqa: PLR2004 - a byte or more
        part = np.ascontiguousarray(part).view(kind.native)
    return [[_text(value) for value in row] for row in part]


def _text(value: object) -> str:
    """A value of an array, a number as the shortest text that no other number of its type has."""
    if isinstance(value, str):
        return repr(value)[:_WIDEST]
    return str(int(value)) if isinstance(value, np.bool_) else str(value).removesuffix(".0")


#: The most outputs whose elements are drawn, and whose sizes are.
_OUTPUTS = 4
_BARS = 12
Pair = tuple[Excerpt | None, Excerpt | None]


class Bars(NamedTuple):
    """The outputs that divide a dimension of an input: their names, where they begin, and their sizes."""

    axis: int
    size: int
    outputs: list[tuple[str, int, int]]


def bars_of(shape: tuple[int, ...], outputs: Arrays) -> Bars | None:
    """How outputs divide an input of this shape; None if they do not, or if there are too many of them."""
    names = sorted(outputs, key=output_number)
    axis = divided_axis(shape, [outputs[name].shape for name in names])
    if axis is None or len(names) > _BARS:
        return None
    sizes = [outputs[name].shape[axis] for name in names]
    return Bars(axis, shape[axis], list(zip(names, accumulate(sizes, initial=0), sizes, strict=False)))


def pairs_of(case: Case, feed: FeedArrays, mismatch: Mismatch | None) -> Iterator[Pair]:
    """Expected and actual outputs beside each other: the one at fault, or the first ones.

    The differences are marked, or the elements past the end of the input.
    """
    outputs = {output.name: output for output in case.expect.accept} if isinstance(case.expect, Accept) else {}
    data_type = next((input_.element_type for input_ in case.inputs if input_.role == "data"), "f32")
    shape = divided_shape(case, feed)
    bars = None if feed.golden else bars_of(shape, feed.actual)
    starts = {} if bars is None else {name: start for name, start, size in bars.outputs if start + size > bars.size}
    highlight = highlight_of(case, feed.inputs)
    names = sorted(feed.golden.keys() | feed.actual.keys(), key=output_number)[:_OUTPUTS]
    if mismatch is not None and mismatch.output is not None:
        names = [mismatch.output] if mismatch.output in outputs else []
    for name in names:
        want, got = feed.golden.get(name), feed.actual.get(name)
        element_type = outputs[name].element_type if name in outputs else data_type
        at, past = None if mismatch is None else mismatch.at, None
        if bars is not None and got is not None and name in starts:
            room = max(0, bars.size - starts[name])
            at = tuple(room if index == bars.axis else 0 for index in range(got.ndim))
            indices = np.arange(got.shape[bars.axis]).reshape(
                [-1 if index == bars.axis else 1 for index in range(got.ndim)]
            )
            past = np.broadcast_to(indices >= room, got.shape)
        alike = want is not None and got is not None and (want.dtype.kind, want.shape) == (got.dtype.kind, got.shape)
        joined = highlight if highlight is not None and highlight.tensor == name else None
        has_bounds = alike and want is not None and got is not None and want.dtype == got.dtype
        bounds = feed.bounds.get(name) if has_bounds else None
        of_want = Marks(at=at, other=got if alike else None, bounds=bounds, is_golden=True)
        of_got = Marks(at=at, other=want if alike else None, bounds=bounds, past=past)
        yield (
            None if want is None else excerpt_of(name, want, element_type, highlight=joined, marks=of_want),
            None
            if got is None
            else excerpt_of(name, got, element_type, highlight=joined if alike else None, marks=of_got),
        )
