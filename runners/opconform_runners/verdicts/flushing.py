"""Outputs of a backend that declares to flush denormal numbers to zero."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opconform.suite.bounds import Bounds
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import REALS
from opconform.tensors.tensor import Array, patterns
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.rounding_error import errors_of, floats_of

#: The remark on a pass of a backend that is right only since it declares to flush denormal numbers to zero.
FLUSHES_DENORMALS = "flushes-denormals"
#: A right output, and its bounds if it has any.
Right = tuple[Array, Bounds | None]


def is_flushed(suite: Suite, entry: Entry, mismatch: Mismatch, actual: Sequence[Array]) -> bool:
    """Whether the outputs of the feed of a mismatch are right if denormal numbers are flushed to zero.

    Operations that move data keep them.
    """
    outputs, feed = suite.case(entry).outputs, mismatch.feed
    if mismatch.reason not in ("value", "rounding"):
        return False
    if "bits" in suite.header.establishes.get(entry.op, {}) and any(x.comparison == "bits" for x in outputs):
        return False
    golden, bounds, others = suite.golden(entry, feed), suite.bounds(entry, feed), suite.flushed(entry, feed)
    rights = [
        [(golden[output.name], bound), *([others[output.name]] if output.flushed else [])]
        for output, bound in zip(outputs, bounds, strict=True)
    ]
    kinds = [output.element_type for output in outputs]
    return all(map(is_right_if_flushed, actual, rights, kinds))


def is_right_if_flushed(actual: Array, rights: Sequence[Right], element_type: str) -> bool:
    """Whether each element is right, or is the zero that a right denormal number of the same sign becomes.

    `rights` are the golden output and, where it is another one, the output for inputs without denormal numbers. All
    arrays have one shape and the storage dtype.
    """
    kind = ELEMENT_TYPES[element_type]
    ways = [way for right in rights for way in (_is_right(actual, right, kind), _is_flushed(actual, right, kind))]
    return bool(np.logical_or.reduce(ways).all())


def _is_right(actual: Array, right: Right, kind: ElementType) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    golden, bounds = right
    same = patterns(np.atleast_1d(golden)) == patterns(np.atleast_1d(actual))
    return np.asarray(same.reshape(golden.shape) if bounds is None else errors_of(golden, actual, bounds, kind) <= 1)


def _is_flushed(actual: Array, right: Right, kind: ElementType) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Whether elements are zeros, with the sign of the golden ones, where a denormal number is right.

    The least normal number counts as one, since processors flush a result below it before it is rounded to it.
    """
    if kind.name not in REALS:
        return np.zeros(actual.shape, np.bool_)
    golden, returned, lower, upper = (floats_of(x, kind) for x in (right[0], actual, *(right[1] or (right[0],) * 2)))
    least = float(kind.layout.smallest_normal)
    with np.errstate(invalid="ignore"):
        is_denormal = (lower <= least) & (upper >= -least) & (golden != 0)
    return np.asarray(is_denormal & (returned == 0) & (np.signbit(returned) == np.signbit(golden)))
