"""The likely cause of wrong outputs. The words before the colon of a cause are the same for cases that fail alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from ml_dtypes import finfo

from opconform.explanation.reference import evaluated_node
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor, patterns

#: The narrower types that elements may have been converted through, the most likely first.
_INTEGERS = ("i32", "u32", "i16", "u16", "i8", "u8")
_FLOATS = ("f32", "bf16", "f16")
#: How the causes begin that change values of any width alike.
CONVERSIONS = ("Truncated", "Clamped", "Converted")
#: The most elements by which an output may be shifted, and the most that look shifted by chance.
_SHIFT = 64
_FEW = 2


def causes_of(expected: Array, actual: Array, element_type: str, others: Mapping[str, Array]) -> list[str]:
    """How all actual elements can follow from the expected ones, the likeliest first; none if none is known.

    Arrays are in storage dtypes. `others` has the inputs and the other expected outputs by name.
    """
    if (expected.dtype.kind, expected.shape) != (actual.dtype.kind, actual.shape) or expected.size == 0:
        return []
    want, got = expected.reshape(-1), patterns(actual.reshape(-1))
    with np.errstate(all="ignore"):
        converted = _converted(want, ELEMENT_TYPES[element_type])
        if names := [name for name, computed in converted if np.array_equal(patterns(computed), got)]:
            return names
    moved = _moved(patterns(want), got, {name: patterns(array.reshape(-1)) for name, array in others.items()})
    return [moved] if moved else []


def overrun(size: Sequence[int], outputs: Sequence[Sequence[int]]) -> str:
    """What outputs of these shapes hold beyond the end of an input that they are consecutive parts of, if anything."""
    axis = divided_axis(size, outputs)
    if axis is None or (end := sum(output[axis] for output in outputs)) <= size[axis]:
        return ""
    past = f"index {size[axis]:,}" if end == size[axis] + 1 else f"indices {size[axis]:,} to {end - 1:,}"
    return f"Read past the end: the input has {size[axis]:,} elements along axis {axis}, and the outputs contain {past}"


def divided_axis(shape: Sequence[int], outputs: Sequence[Sequence[int]]) -> int | None:
    """The dimension in which outputs differ in size from an input; None if there is not exactly one."""
    if any(len(output) != len(shape) for output in outputs):
        return None
    differing = {axis for output in outputs for axis, size in enumerate(output) if size != shape[axis]}
    return differing.pop() if len(differing) == 1 else None


def accepted_as(case: Case, inputs: Mapping[str, Array], outputs: Sequence[Sequence[int]]) -> str:
    """How a backend may have read the setting inputs of an invalid case, so that it has outputs of these shapes."""
    if not case.is_bare:
        return ""
    tensors = {
        input_.name: Tensor(element_type=input_.element_type, array=inputs[input_.name]) for input_ in case.inputs
    }
    for rounded in (np.trunc, np.rint):
        changed = {
            input_.name: Tensor(element_type="i64", array=as_read)
            for input_ in case.inputs
            if input_.role == "setting" and (as_read := _as_32_bits(tensors[input_.name], rounded)) is not None
        }
        node = evaluated_node(case, tensors | changed) if changed else None
        if node is not None and [type_.shape for type_ in node.inference().outputs] == [tuple(x) for x in outputs]:
            read = ", ".join(f"{name} as {x.array.tolist()}" for name, x in changed.items())
            kind = "32-bit integers" if all(tensors[name].type.is_integer for name in changed) else "integers"
            return f"Setting inputs read as {kind}: {read}"
    return ""


def _as_32_bits(tensor: Tensor, rounded: Callable[[Array], Array]) -> Array | None:
    """The elements as signed 32-bit integers; None where they already are, or cannot be."""
    if tensor.type.is_integer:
        exact = tensor.integers()
    elif tensor.type.kind == "boolean":
        exact = [int(value) for value in tensor.array.reshape(-1)]
    elif tensor.type.kind == "float" and tensor.type.native is not None:
        values = tensor.array.view(tensor.type.native).astype(np.float64).reshape(-1)
        if not np.isfinite(values).all():
            return None
        exact = [int(x) for x in rounded(values)]
    else:
        return None
    cut = [(x + (1 << 31)) % (1 << 32) - (1 << 31) for x in exact]
    same = tensor.type.is_integer and cut == exact
    return None if same else np.array(cut, np.int64).reshape(tensor.shape)


def _converted(want: Array, kind: ElementType) -> Iterator[tuple[str, Array]]:
    """The elements after known faults that change values, with the names of the faults."""
    if kind.is_integer and kind.bits == 8 * want.dtype.itemsize:
        yield from _integers(want, kind)
    elif kind.kind == "float" and kind.native is not None and kind.bits >= 16:  # noqa: PLR2004 - those with denormals
        yield from _floats(want.view(kind.native), patterns(want))
    yield f"All elements are {'empty' if kind.kind == 'string' else 'zero'}", np.zeros_like(want)


def _integers(want: Array, kind: ElementType) -> Iterator[tuple[str, Array]]:
    for narrow in (ELEMENT_TYPES[name] for name in _INTEGERS):
        if narrow.bits < kind.bits:
            how = f"Truncated to {narrow.bits} bits and read as {narrow.name}"
            yield how, want.astype(narrow.storage).astype(want.dtype)
        if narrow.bits <= kind.bits and narrow != kind:
            lower, upper = max(narrow.minimum, kind.minimum), min(narrow.maximum, kind.maximum)
            yield f"Clamped to the range of {narrow.name}", np.clip(want, lower, upper)
    for through in (np.float64, np.float32):
        yield f"Converted through f{8 * through().itemsize}", want.astype(through).astype(want.dtype)


def _floats(want: Array, bits: Array) -> Iterator[tuple[str, Array]]:
    info = finfo(want.dtype)  # type: ignore[no-untyped-call]
    small, unit = np.abs(want) < info.smallest_normal, bits.dtype.type(1)
    sign, quiet = bits & unit << (info.bits - 1), np.where(np.isnan(want), unit << (info.nmant - 1), bits.dtype.type(0))
    zeros = {
        "": bits,
        "Negative zero became positive zero": np.where(want == 0, bits ^ sign, bits),
        "Denormals were flushed to zero": np.where(small, sign, bits),
        "Negative zero and denormals became zero": np.where(small, bits.dtype.type(0), bits),
    }
    largest = finfo(ELEMENT_TYPES["bf16"].arithmetic).max.astype(want.dtype)  # type: ignore[no-untyped-call]
    beyond = np.isfinite(want) & (np.abs(want) > largest)
    limits = np.where(beyond, np.copysign(largest, want).view(bits.dtype), bits)
    for (name, changed), quieted, clamped in product(zeros.items(), (False, True), (False, True)):
        names = (
            name,
            "Signalling NaNs became quiet" * quieted,
            "Numbers beyond the range of bf16 became its limits" * clamped,
        )
        result = np.where(beyond, limits, changed) if clamped else changed
        yield "; ".join(filter(None, names)), result | quiet if quieted else result
    for narrow in (ELEMENT_TYPES[name] for name in _FLOATS):
        target = narrow.arithmetic
        if target != want.dtype and target.itemsize <= want.itemsize:
            largest = finfo(target).max.astype(want.dtype)  # type: ignore[no-untyped-call]
            clamped = np.clip(want, -largest, largest)
            yield f"Converted through {narrow.name}", want.astype(target).astype(want.dtype).view(bits.dtype)
            name = f"Converted through {narrow.name}: what is out of its range was clamped"
            yield name, clamped.astype(target).astype(want.dtype).view(bits.dtype)


def _moved(want: Array, got: Array, others: Mapping[str, Array]) -> str:
    """How elements without a fault of their own came to a wrong place."""
    for name, array in others.items():
        if array.dtype.kind == got.dtype.kind and np.array_equal(array[: got.size], got) and got.size > 1:
            return f"Another part of the data: the output has the first elements of {name}"
    if np.array_equal(got, want[::-1]):
        return "The elements are in reverse order"
    kept = int(np.count_nonzero(got == want))
    for step in range(1, min(_SHIFT, want.size // 2, want.size - max(kept, _FEW) - 1) + 1):
        counted = f"{step} element{'s' if step > 1 else ''}"
        if np.array_equal(want[:-step], got[step:]):
            return f"Shifted: the output begins {counted} too early"
        if np.array_equal(want[step:], got[:-step]):
            return f"Shifted: the output begins {counted} too late"
    if np.array_equal(np.sort(got), np.sort(want)):
        return "The right elements in another order"
    if bool(np.all(got == got[0])) and not bool(np.all(want == want[0])):
        return "All elements are the same"
    is_zero = bool(np.all((got == want) | (got == np.zeros_like(got))))
    return (
        f"Some elements are {'empty' if got.dtype.kind == 'U' else 'zero'}, and the others are right" if is_zero else ""
    )
