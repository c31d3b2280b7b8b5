"""What a product computes in f64, and then rounds once, is within the bounds of narrower types.

This checks that goldens mean what others mean, and neither the last digit nor the sign of a zero.
"""

import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.suite.case import Accept
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Inputs, Rejected, Unsupported
from opconform_runners.backends.numpy.backend import Numpy
from tests.declared import declared
from tests.model.oracles import feeds_of

#: The types that f64 has every number of, with digits to spare.
NARROW = ("bf16", "f16", "f32")


def in_double(inputs: Inputs) -> Inputs:
    """The same inputs, those of narrow types in f64."""
    return {
        name: Tensor(element_type="f64", array=numbers(x)) if x.element_type in NARROW else x
        for name, x in inputs.items()
    }


class Compared(NamedTuple):
    """How many elements an output of a case has, and how many of them are outside their bounds."""

    op: str
    case: str
    elements: int
    outside: int


def compared_with(suite: Path, backend: Any) -> Iterator[Compared]:
    """The outputs of narrow types, of every operation that rounds."""
    opened = open_suite(suite)
    for entry in opened.entries:
        case = opened.case(entry)
        rounds = not case.tests_graph and OPERATIONS[entry.op].is_numeric and case.context == "bare"
        if not rounds or not isinstance(case.expect, Accept) or case.inputs[0].element_type not in NARROW:
            continue
        try:
            outputs = backend.run(declared(case), None, [in_double(x) for x in feeds_of(opened, entry)])
        except (Rejected, Unsupported):
            continue
        for feed, actual in enumerate(outputs):
            goldens, limits = opened.golden(entry, feed).values(), opened.bounds(entry, feed)
            for tensor, golden, bounds, known in zip(actual, goldens, limits, case.expect.accept, strict=True):
                if known.element_type in NARROW and tensor.element_type == "f64":  # not one that an attribute names
                    wrong = _outside(tensor.array, known.element_type, golden, *(bounds or (golden, golden)))
                    yield Compared(entry.op, entry.id, golden.size, wrong)


def _outside(array: Array, element_type: str, *expected: Array) -> int:
    """How many numbers of f64, once rounded, are not within the bounds of the golden ones; all if the shape differs."""
    if array.shape != expected[0].shape:
        return expected[0].size or 1
    result = rounded(ELEMENT_TYPES[element_type], array)
    found, golden, low, high = (
        numbers(Tensor(element_type=element_type, array=np.asarray(x))) for x in (result, *expected)
    )
    return int((~((low <= found) & (found <= high) | np.isnan(found) & np.isnan(golden))).sum())


@pytest.mark.ci_only
def test_results_of_numpy_in_double_precision_are_within_the_bounds(core_suite: Path) -> None:
    """Of every operation that rounds, for the valid cases."""
    check_double_precision(core_suite, Numpy(), set())


def check_double_precision(suite: Path, backend: Any, otherwise: Collection[str]) -> None:
    """Check that a backend's results in f64 are within the bounds, but in the named cases."""
    compared, wrong = Counter[str](), set()
    with warnings.catch_warnings(action="ignore"):
        for result in compared_with(suite, backend):
            compared[result.op] += result.elements
            if result.outside:
                wrong.add(result.case)

    assert wrong == {*otherwise}
    assert compared.total() > 300_000
