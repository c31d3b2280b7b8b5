"""Literals: arrays as Python source that numpy turns into the same bits again."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from opconform.errors import UsageError
from opconform.tensors.tensor import Array, patterns

#: The most elements that are written out one by one.
_MOST = 4_096
_WIDTH = 100
_FEW = 2


def array_source(array: Array) -> str:
    """A short expression for an array that keeps every bit; raises `UsageError` if the array is too large."""
    shape, dtype = tuple(array.shape), f"np.{array.dtype.name}" if array.dtype.kind != "U" else ""
    flat = array.reshape(-1)
    if array.dtype.kind == "U":
        return _shaped(f"np.array([{', '.join(repr(str(each)) for each in flat)}])", shape)
    if flat.size == 0:
        return f"np.zeros({shape}, {dtype})"
    if flat.size > _FEW and array.dtype.kind != "b":
        first = int(flat[0]) if np.isfinite(flat[0]) else 0
        if _bits(np.arange(flat.size).astype(object) + first, array) == flat.tobytes():
            start = f"{first}, " if first else ""
            return _shaped(f"np.arange({start}{first + flat.size}, dtype={dtype})", shape)
    if flat.size > _FEW and (patterns(flat) == patterns(flat)[0]).all():
        return f"np.full({shape}, {array_source(flat[:1].reshape(()))})"
    if flat.size > _MOST:
        raise UsageError(f"A tensor of {flat.size:,} elements is too large for a script. Use `opconform run --select`.")
    listed = _listed(flat, dtype)
    if not shape and ".view(" not in listed:
        return listed.replace("[", "", 1).replace("]", "", 1)
    return _shaped(listed, shape)


def output_source(output: Array, inputs: Mapping[str, Array]) -> str:
    """An expression for an output: a slice along one dimension of an input, named by its variable, or the elements."""
    found = (source for name, each in inputs.items() if (source := _slice_source(output, each, name)))
    return next(found, None) or array_source(output)


def _slice_source(output: Array, whole: Array, name: str) -> str:
    """An expression for the slice of `whole` that equals an output; empty if there is no such slice."""
    if output.dtype != whole.dtype or output.ndim != whole.ndim:
        return ""
    if output.shape == whole.shape:
        return name if output.tobytes() == whole.tobytes() else ""
    shorter = [axis for axis in range(whole.ndim) if output.shape[axis] != whole.shape[axis]]
    if len(shorter) != 1 or not output.size:
        return ""
    axis, size = shorter[0], output.shape[shorter[0]]
    before = (slice(None),) * axis
    for start in range(whole.shape[axis] - size + 1):
        if whole[(*before, slice(start, start + size))].tobytes() == output.tobytes():
            return f"{name}[{':, ' * axis}{start}:{start + size}]"
    return ""


def _shaped(source: str, shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return source
    return f"{source}.reshape({', '.join(str(each) for each in shape) or '()'})"


def _listed(flat: Array, dtype: str) -> str:
    values = flat.tolist() if flat.dtype.kind in "biu" else [float(str(each)) for each in flat]
    if flat.dtype.kind == "f" and (not np.isfinite(flat).all() or _bits(values, flat) != flat.tobytes()):
        bits = patterns(flat)
        shown = [f"0x{int(each):0{bits.dtype.itemsize * 2}x}" for each in bits]
        return f"np.array([{_wrapped(shown)}], np.{bits.dtype.name}).view({dtype})"
    return f"np.array([{_wrapped([repr(each) for each in values])}], {dtype})"


def _bits(values: object, like: Array) -> bytes:
    """The bytes of some numbers in an array's dtype; empty if they do not fit."""
    try:
        return np.array(values).astype(like.dtype).tobytes()
    except (OverflowError, ValueError, TypeError):
        return b""


def _wrapped(words: Sequence[str]) -> str:
    line = ", ".join(words)
    if len(line) <= _WIDTH:
        return line
    return "\n" + textwrap.fill(line, _WIDTH, initial_indent="    ", subsequent_indent="    ") + "\n"
