"""Other values of single elements: values as right as the golden ones, and values of other readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opconform.suite.bounds import Bounds
from opconform.suite.case import Output
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, patterns, with_one_nan
from opconform_runners.verdicts.rounding_error import errors_of

_Mask = np.ndarray[Any, np.dtype[np.bool_]]


def nearest_right(golden: Sequence[Array], actual: Sequence[Array], also: Sequence[Array | None]) -> list[Array]:
    """The outputs with, of the right values of each element, the one that is the actual value if there is one.

    `also` has the other right values along the first dimension.
    """
    outputs = [*golden]
    for number, values in enumerate(also):
        if values is not None and _has_form(actual, number, golden[number]):
            for value in values:
                is_other = patterns(np.asarray(actual[number])) == patterns(value)
                outputs[number] = np.where(is_other, value, outputs[number])
    return outputs


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenElements:
    """What other readings say of the wrong elements of outputs.

    Attributes:
        readings: The interpretations by whose other readings all of them are right, and the normative requirements that
            those which are not right misread; none if an element is wrong by all and misreads none.
        open: Whether other readings have other values for all of them.
    """

    readings: tuple[str, ...] = ()
    open: bool = False


def open_elements(
    suite: Suite,
    entry: Entry,
    feeds: Sequence[Sequence[Array]],
    outputs: Sequence[Output],
    *,
    only: int | None = None,
) -> OpenElements:
    """What other readings say of the wrong elements in all feeds of a case, or of one output alone, by its number."""
    if not any(output.otherwise for output in outputs) or any(len(actual) != len(outputs) for actual in feeds):
        return OpenElements()
    named: dict[str, None] = {}
    levels, stages = suite.header.requirements.get(entry.op, {}), suite.header.establishes.get(entry.op, {})
    # the case tests a requirement on all values, which other wrong ones break
    has_own = not stages.get("open") and not {*stages.get("value", ())}.isdisjoint(entry.requirements)
    is_open = is_explained = True
    for feed, actual in enumerate(feeds):
        golden, bounds, otherwise = suite.golden(entry, feed), suite.bounds(entry, feed), suite.otherwise(entry, feed)
        limits = suite.otherwise_bounds(entry, feed)
        right = nearest_right([golden[output.name] for output in outputs], actual, suite.also(entry, feed))
        for number, output in enumerate(outputs):
            if only not in (None, number):
                continue
            if not _has_form(actual, number, right[number]):
                return OpenElements()
            wrong = _wrong(right[number], actual[number], bounds[number], output)
            if not wrong.any():
                continue
            values = otherwise[number]
            layers = [] if values is None else [*zip(output.otherwise, values, strict=True)]
            is_open = is_open and bool(_differing(right[number], [x for _, x in layers], output)[wrong].all())
            for place, (requirement, value) in enumerate(layers):
                same = wrong & _are_read(value, actual[number], limits[number], place, output)
                named |= {requirement: None} if same.any() else {}
                wrong &= ~same
            exact = layers if limits[number] is None and not has_own else []
            for requirement, value in exact:  # what a normative requirement says of an element is not open
                if requirement in levels and levels[requirement].level == "normative":
                    misread = wrong & _differing(right[number], [value], output)
                    named |= {requirement: None} if misread.any() else {}
                    wrong &= ~misread
            is_explained = is_explained and not wrong.any()
    return OpenElements(readings=tuple(named) if is_explained else (), open=is_open)


def _has_form(actual: Sequence[Array], number: int, want: Array) -> bool:
    """Whether an output exists, with the shape and the storage of the golden one."""
    if number >= len(actual):
        return False
    got = actual[number]
    return got.shape == want.shape and (got.dtype == want.dtype or got.dtype.kind == want.dtype.kind == "U")


def _wrong(want: Array, got: Array, bounds: Bounds | None, output: Output) -> _Mask:
    if bounds is None:
        return ~_are_same(want, got, output)
    return np.asarray(errors_of(want, got, bounds, ELEMENT_TYPES[output.element_type]) > 1)


def _are_read(value: Array, got: Array, limits: Bounds | None, place: int, output: Output) -> _Mask:
    """Which elements another reading gives; of rounded ones all or none, since each is near the golden element."""
    if limits is None:
        return _are_same(value, got, output)
    lower, upper = limits
    inside = errors_of(value, got, (lower[place], upper[place]), ELEMENT_TYPES[output.element_type]) <= 1
    return np.full(got.shape, bool(inside.all()))


def _differing(want: Array, values: Sequence[Array], output: Output) -> _Mask:
    """The elements that have another value in one of the readings."""
    none = np.zeros(want.shape, np.bool_)
    return np.asarray(np.logical_or.reduce([none, *(~_are_same(want, value, output) for value in values)]))


def _are_same(one: Array, other: Array, output: Output) -> _Mask:
    """Which elements of two arrays are the same; every NaN of a computed output is the same."""
    if output.comparison != "bits":
        kind = ELEMENT_TYPES[output.element_type]
        one, other = with_one_nan(np.asarray(one), kind), with_one_nan(np.asarray(other), kind)
    return np.asarray(patterns(np.asarray(one)) == patterns(np.asarray(other)))
