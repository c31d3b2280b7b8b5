"""Drawing: a tensor and the chunks that an operation cuts it into, in plain characters."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The most rows and columns that are drawn; what is left out is marked.
_ROWS = 12
_COLUMNS = 10
_WIDEST = 12


def drawing_of(data: Array, element_type: str, axis: int | None, sizes: Sequence[int]) -> list[str]:
    """The lines of a drawing: data's elements, the first matrix of them that holds the axis, and lines between chunks.

    Args:
        data: The tensor.
        element_type: Its element type.
        axis: The axis that it is cut along, counted from the front; None where it is not cut.
        sizes: The sizes of the chunks along the axis.
    """
    if data.ndim == 0:
        return [_text(data[()], element_type)]
    plane, rows_are_cut, note = _plane(data, axis)
    if plane.size == 0:
        return [f"(no elements: shape {list(data.shape)})"]
    cuts = set(accumulate(sizes)) - {0} if axis is not None else set()
    cells = [[_text(each, element_type) for each in row[:_COLUMNS]] for row in plane[:_ROWS]]
    width = max(len(each) for row in cells for each in row)
    chunk_of = _chunk_names(sizes) if axis is not None else {}
    lines = [note] if note else []
    for number, row in enumerate(cells):
        line = ""
        for column, each in enumerate(row):
            bar = "│" if not rows_are_cut and column in cuts else " "
            line += f"{bar}{each:>{width}}"
        more = " …" if plane.shape[1] > _COLUMNS else ""
        if rows_are_cut and number in cuts:
            lines.append("─" * len(line))
        label = f"   {chunk_of[number]}" if rows_are_cut and number in chunk_of else ""
        lines.append(f"{line}{more}{label}")
    if plane.shape[0] > _ROWS:
        lines.append(f" … {plane.shape[0] - _ROWS} more rows")
    if axis is not None:
        along = "downwards" if rows_are_cut else "from left to right"
        lines.append(f"axis {axis} runs {along}; its chunks: {_chunks(sizes)}")
    return lines


def _plane(data: Array, axis: int | None) -> tuple[Array, bool, str]:
    """A matrix of the tensor that holds the axis, whether the axis is its rows, and which matrix it is."""
    if data.ndim == 1:
        return data.reshape(1, -1), False, ""
    last = data.ndim - 1
    rows = last - 1 if axis is None or axis == last else axis
    index = tuple(slice(None) if each in (rows, last) else 0 for each in range(data.ndim))
    if 0 in data.shape:
        return np.empty((0, 0), data.dtype), False, ""
    note = "" if data.ndim <= 2 else f"data[{', '.join(':' if isinstance(each, slice) else '0' for each in index)}]"  # noqa: PLR2004
    return data[index], axis == rows, note


def _chunk_names(sizes: Sequence[int]) -> dict[int, str]:
    """The name of each chunk at the row that it begins with."""
    starts = accumulate(sizes, initial=0)
    return {start: f"output_{number}" for number, (start, size) in enumerate(zip(starts, sizes, strict=False)) if size}


def _chunks(sizes: Sequence[int]) -> str:
    shown = ", ".join(f"output_{number}: {size}" for number, size in enumerate(sizes[:_COLUMNS]))
    return f"{shown}, … {len(sizes)} in all" if len(sizes) > _COLUMNS else shown


def _text(element: object, element_type: str) -> str:
    kind = ELEMENT_TYPES[element_type]
    if kind.kind == "string":
        return repr(str(element))[:_WIDEST]
    if kind.kind == "float" and kind.native is not None and kind.bits >= 8:  # noqa: PLR2004 - a byte at the least
        with np.errstate(all="ignore"):
            element = np.atleast_1d(np.asarray(element)).view(kind.native)[0].astype(np.float64)
        return f"{element:.6g}"
    return str(int(element)) if kind.kind == "boolean" else str(element)  # type: ignore[call-overload]  # a number
