"""The tolerance of ONNX's test runner: a tight one that accepts every right output of a case."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: How much a tolerance grows at a time until numpy, which rounds when it compares, accepts all bounds.
_GROWTH = 1.001
#: How many absolute tolerances are tried.
_TRIED = 33


class Tolerance(NamedTuple):
    """An element is accepted if |actual - golden| <= atol + rtol * |golden|; there is one for all outputs of a case."""

    rtol: float
    atol: float


def tolerance_of(suite: Suite, entry: Entry) -> Tolerance | None:
    """The tolerance for a case; None if none accepts every right output, since a bound is infinite."""
    case = suite.case(entry)
    triples: list[tuple[Array, Array, Array]] = []
    for feed in range(case.feeds if case.outputs else 0):
        golden = suite.golden(entry, feed)
        for output, bounds in zip(case.outputs, suite.bounds(entry, feed), strict=True):
            if bounds is not None and output.comparison == "bounds":
                lower, wanted, upper = (
                    _as_compared(x, output.element_type) for x in (bounds[0], golden[output.name], bounds[1])
                )
                triples.append((lower, wanted, upper))
    if not triples:
        return Tolerance(0.0, 0.0)
    rows = np.concatenate([np.stack([x.astype(np.float64).ravel() for x in triple], -1) for triple in triples])
    rows = rows[rows[:, 0] < rows[:, 2]]
    return None if not np.isfinite(rows).all() else _accepting(_tight(rows), triples)


def _as_compared(array: Array, element_type: str) -> Array:
    """An array as ONNX's runner compares it: bf16 in f32."""
    values = array.view(ELEMENT_TYPES[element_type].arithmetic)
    return values.astype(np.float32) if element_type == "bf16" else values


def _tight(rows: Array) -> Tolerance:
    """The tolerance that is least wide on average, in multiples of the bounds, of those that accept all bounds."""
    sizes, errors = np.abs(rows[:, 1]), np.maximum(rows[:, 2] - rows[:, 1], rows[:, 1] - rows[:, 0])
    is_zero = sizes == 0
    least = float(errors[is_zero].max(initial=0.0))
    tried = {least, *np.quantile(errors, np.linspace(0, 1, _TRIED)).tolist()} if errors.size else {least}
    with np.errstate(all="ignore"):
        tolerances = [
            Tolerance(float(((errors - atol)[~is_zero] / sizes[~is_zero]).max(initial=0.0)), atol)
            for atol in sorted(tried)
            if atol >= least
        ]
        return min(
            (x for x in tolerances if np.isfinite(x.rtol)), key=lambda x: float(np.log(x.atol + x.rtol * sizes).sum())
        )


def _accepting(tolerance: Tolerance, triples: Sequence[tuple[Array, Array, Array]]) -> Tolerance:
    """The tolerance, enlarged until numpy's comparison accepts all bounds in the types of the outputs."""
    least = max(float(np.finfo(golden.dtype).smallest_subnormal) for _, golden, _ in triples) / 8
    with np.errstate(all="ignore"):
        while not all(
            np.isclose(bound, golden, *tolerance, equal_nan=True).all()
            for lower, golden, upper in triples
            for bound in (lower, upper)
        ):
            tolerance = Tolerance(tolerance.rtol * _GROWTH, tolerance.atol * _GROWTH + least)
    return tolerance
