"""Compares actual outputs with golden ones: bit for bit, or with the bounds of rounded results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from opconform.errors import counted
from opconform.suite.bounds import Bounds
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns
from opconform_runners.verdicts.rounding_error import errors_of, units_in_last_place

Reason = Literal["count", "element-type", "shape", "value", "rounding", "nan-payload"]
#: The differences of results that are nearly right.
SLIGHT: tuple[Reason, ...] = ("rounding", "nan-payload")
#: The bytes of arrays that are compared as bytes first, which takes a tenth of the time.
_SMALL = 1 << 16
#: How many elements are compared at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Mismatch:
    """The first difference between the outputs of a feed and the golden ones.

    Attributes:
        output: The output's name, or None where their number differs.
        at: The index of the first element that differs.
        differing: How many of the output's elements differ.
        expected: The expected bit pattern at that index (`actual`: the actual one), or the string.
        allowed: The least and the largest right value at that index, where they differ, in decimal.
        error: The largest error in the output divided by its bound, if it has bounds; None also without a limit.
        altered: Whether a differing element has a bit pattern that no input has, so that it was changed and not moved.
        readings: The interpretations by whose other readings all outputs are right; none if they are wrong by all.
        open: Whether other readings have other values for all elements that differ.
    """

    reason: Reason
    sentence: str
    feed: Annotated[int, Field(ge=0, le=1)]
    output: Annotated[str, Field(pattern=r"^output_(0|[1-9][0-9]{0,8})$")] | None = None
    at: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    differing: int | None = None
    elements: int | None = None
    expected: str | None = None
    actual: str | None = None
    allowed: tuple[str, str] | None = None
    error: float | None = None
    altered: bool = False
    readings: tuple[str, ...] = ()
    open: bool = False


def mismatch_of(
    expected: Sequence[Array],
    actual: Sequence[Array],
    element_types: Sequence[str],
    *,
    bounds: Sequence[Bounds | None] = (),
    reduced: Sequence[Bounds | None] = (),
    stated: Sequence[str] | None = None,
) -> Mismatch | None:
    """The first difference between the golden outputs of a feed, in their storage dtypes, and the actual ones, or None.

    It is one of the first feed. `bounds` has the bounds of rounded outputs, and `reduced` the bounds of results that
    are less accurate, and not wrong. `stated` has the outputs' element types as the harness reports them, if it does.
    """
    found = mismatches_of(expected, actual, element_types, bounds=bounds, reduced=reduced, stated=stated)
    return worst_of(found)


def mismatches_of(
    expected: Sequence[Array],
    actual: Sequence[Array],
    element_types: Sequence[str],
    *,
    bounds: Sequence[Bounds | None] = (),
    reduced: Sequence[Bounds | None] = (),
    stated: Sequence[str] | None = None,
) -> list[Mismatch]:
    """The first difference of each output that differs, or the one in their number alone."""
    if len(expected) != len(actual):
        sentence = f"expected {counted(len(expected), 'output')}, got {len(actual)}"
        return [Mismatch(reason="count", sentence=sentence, feed=0)]
    none = [None] * len(expected)
    found = []
    outputs = zip(expected, actual, element_types, bounds or none, reduced or none, strict=True)
    for number, (want, got, element_type, bound, wide) in enumerate(outputs):
        kind, name = stated[number] if stated is not None and number < len(stated) else None, f"output_{number}"
        mismatch = _form(want, got, element_type, kind, name)
        if mismatch is None and bound is None:
            mismatch = _values(want, got, element_type, name)
        elif mismatch is None and bound is not None:
            place = Mismatch(reason="value", sentence="", feed=0, output=name)
            mismatch = _rounded((want, got, element_type), bound, wide, place)
        if mismatch is not None:
            found.append(mismatch)
    return found


def worst_of(mismatches: Sequence[Mismatch]) -> Mismatch | None:
    """The first difference in form, or else in value, or else of rounding or between NaNs; None if there is none."""
    return min(mismatches, key=lambda x: (x.reason in SLIGHT) + (x.reason in ("value", *SLIGHT)), default=None)


def is_altered(expected: Array, actual: Array, inputs: Sequence[Array]) -> bool:
    """Whether differing elements have a bit pattern that no input has, so that they were changed and not moved.

    A pattern that as many of the expected ones have, such as zeros of padding, is at another place only. Both outputs
    have the same storage dtype and shape. Inputs of another storage dtype are ignored.
    """
    want, got = patterns(np.atleast_1d(expected)), patterns(np.atleast_1d(actual))
    differs = want != got
    found, counts = np.unique(got[differs][_unknown(np.atleast_1d(actual)[differs], inputs)], return_counts=True)
    return any(count > np.count_nonzero(want[differs] == x) for x, count in zip(found, counts, strict=True))


def is_invented(actual: Array, inputs: Sequence[Array]) -> bool:
    """Whether an element has a bit pattern that no input has. Inputs of another storage dtype are ignored."""
    return bool(_unknown(actual, inputs).any())


def _unknown(actual: Array, inputs: Sequence[Array]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """The elements whose bit pattern no input has."""
    got = patterns(np.atleast_1d(actual))
    flat = [patterns(np.atleast_1d(input_)).reshape(-1) for input_ in inputs if input_.dtype.kind == actual.dtype.kind]
    known = [x for x in flat if x.dtype.kind == "U" or x.dtype == got.dtype]
    return np.asarray(~np.isin(got, np.concatenate(known) if known else np.zeros(0, got.dtype)))


def output_number(name: str) -> int:
    """The number in the name of an output, as in `output_1`."""
    return int(name.removeprefix("output_"))


def _form(want: Array, got: Array, element_type: str, stated_type: str | None, output: str) -> Mismatch | None:
    same_kind = got.dtype == want.dtype or (want.dtype.kind == got.dtype.kind == "U")
    if not same_kind or (stated_type is not None and stated_type != element_type):
        actual = stated_type if stated_type not in (None, element_type) else f"{got.dtype} in the file"
        sentence = f"{output}: expected {element_type}, got {actual}"
        return Mismatch(reason="element-type", sentence=sentence, feed=0, output=output)
    if want.shape != got.shape:
        sentence = f"{output}: expected the shape {list(want.shape)}, got {list(got.shape)}"
        return Mismatch(reason="shape", sentence=sentence, feed=0, output=output)
    return None


def _values(want: Array, got: Array, element_type: str, output: str) -> Mismatch | None:
    """The differences between two arrays of one shape, compared in parts, so that large ones need no more memory."""
    if want is got or (want.dtype == got.dtype and want.nbytes <= _SMALL and want.tobytes() == got.tobytes()):
        return None
    kind, wanted, returned = ELEMENT_TYPES[element_type], want.reshape(-1), got.reshape(-1)
    differing, first, first_value = 0, None, None
    for start in range(0, want.size, _AT_ONCE):
        part, returned_part = wanted[start : start + _AT_ONCE], returned[start : start + _AT_ONCE]
        places = np.flatnonzero(patterns(part) != patterns(returned_part))
        if not places.size:
            continue
        differing += places.size
        first = start + int(places[0]) if first is None else first
        values = np.flatnonzero(~(_is_nan(part[places], kind) & _is_nan(returned_part[places], kind)))
        if values.size and first_value is None:
            first_value = start + int(places[values[0]])
    if first is None:
        return None
    reason: Reason = "nan-payload" if first_value is None else "value"
    first = first if first_value is None else first_value
    at = tuple(int(x) for x in np.unravel_index(first, want.shape)) if want.shape else ()
    expected, actual = wanted[first], returned[first]
    return Mismatch(
        reason=reason,
        sentence=f"{output}{list(at)}: expected {_shown(expected, kind)}, got {_shown(actual, kind)}; "
        f"differing elements: {differing:,} of {want.size:,}",
        feed=0,
        output=output,
        at=at,
        differing=differing,
        elements=want.size,
        expected=_pattern(expected, kind),
        actual=_pattern(actual, kind),
    )


def _rounded(
    output: tuple[Array, Array, str], bounds: Bounds, reduced: Bounds | None, place: Mismatch
) -> Mismatch | None:
    """The first element outside its bounds, or outside the reduced ones if there is one."""
    want, got, kind = output[0], output[1], ELEMENT_TYPES[output[2]]
    errors = errors_of(want, got, bounds, kind)
    wrong = np.flatnonzero(errors > 1)
    if not wrong.size:
        return None
    far = np.flatnonzero((errors > 1) & (errors_of(want, got, reduced or bounds, kind) > 1))
    first = (far if far.size else wrong)[0]
    at = tuple(int(x) for x in np.unravel_index(first, want.shape)) if want.shape else ()
    expected, actual, lower, upper = (x.reshape(-1)[first] for x in (want, got, *bounds))
    numbers = [float(x.view(kind.arithmetic)) for x in (expected, actual, lower, upper)]
    units = units_in_last_place(numbers[0], numbers[1], kind)
    largest = float(errors.max())
    ends = [x.view(kind.arithmetic) for x in (lower, upper)]
    allowed = f", allowed are {ends[0]} to {ends[1]}" if numbers[2] < numbers[3] else ""
    off = f"; error: {units:,.4g} units in the last place" if 0 < units < np.inf else ""
    if off and np.isfinite(times := errors.reshape(-1)[first]):
        off += f", {times:,.4g} times its bound"
    return replace(
        place,
        reason="value" if far.size else "rounding",
        sentence=f"{place.output}{list(at)}: expected {_shown(expected, kind)}{allowed}, "
        f"got {_shown(actual, kind)}{off}; elements outside their bounds: {wrong.size:,} of {want.size:,}",
        at=at,
        differing=int(wrong.size),
        elements=want.size,
        expected=_pattern(expected, kind),
        actual=_pattern(actual, kind),
        allowed=(f"{numbers[2]!r}", f"{numbers[3]!r}") if numbers[2] < numbers[3] else None,
        error=largest if np.isfinite(largest) else None,
    )


def _is_nan(array: Array, kind: ElementType) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    if kind.kind != "float" or kind.native is None or kind.bits < 8:  # noqa: PLR2004 - f4e2m1 has no NaN
        return np.zeros(array.shape, np.bool_)
    with np.errstate(all="ignore"):
        return np.asarray(np.isnan(array.view(kind.native)), np.bool_)


def _pattern(element: Any, kind: ElementType) -> str:
    if kind.kind == "string":
        return str(element).encode("utf-8", "backslashreplace").decode()  # a byte that is not UTF-8 is a surrogate
    bits = int(patterns(np.atleast_1d(np.asarray(element)))[0])
    return f"0x{bits:0{-(-max(kind.bits, 4) // 4)}x}"


def _shown(element: Any, kind: ElementType) -> str:
    if kind.kind == "string":
        return repr(str(element))
    pattern = _pattern(element, kind)
    if kind.kind in ("boolean", "lookup") or kind.native is None:
        return pattern
    try:
        with np.errstate(all="ignore"):
            return f"{np.atleast_1d(np.asarray(element)).view(kind.native)[0]} ({pattern})"
    except (TypeError, ValueError):
        return pattern
