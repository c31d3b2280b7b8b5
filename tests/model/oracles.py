"""What the tests of goldens against other implementations share: inputs of cases, and what their outputs are."""

from collections.abc import Sequence

import numpy as np

from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Inputs, Outputs
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.rounding_error import errors_of
from opconform_runners.verdicts.verdict import Fail


def feeds_of(suite: Suite, entry: Entry) -> list[Inputs]:
    """The inputs of each feed."""
    case = suite.case(entry)
    types = {input_.name: input_.element_type for input_ in case.inputs}
    arrays = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    return [{name: Tensor(element_type=types[name], array=tensor) for name, tensor in feed.items()} for feed in arrays]


def are_same(actual: Array, golden: Array) -> bool:
    """Bit for bit, or text for text: the arrays of texts can have different widths."""
    if (actual.shape, actual.dtype.kind) != (golden.shape, golden.dtype.kind):
        return False
    if golden.dtype.kind == "U":
        return np.array_equal(actual, golden)
    return actual.dtype == golden.dtype and np.ascontiguousarray(actual).tobytes() == golden.tobytes()


def differs(suite: Suite, entry: Entry, outputs: Sequence[Outputs]) -> bool:
    """Whether some outputs of a case are not the goldens, bit for bit, or outside the bounds of rounded ones."""
    for feed, actual in enumerate(outputs):
        expected = suite.golden(entry, feed)
        if [f"output_{number}" for number in range(len(actual))] != list(expected):
            return True
        for tensor, golden, bounds in zip(actual, expected.values(), suite.bounds(entry, feed), strict=True):
            if are_same(tensor.array, golden):
                continue
            if bounds is None or (tensor.shape, tensor.array.dtype) != (golden.shape, golden.dtype):
                return True
            if (errors_of(golden, tensor.array, bounds, tensor.type) > 1).any():
                return True
    return False


def reading(suite: Suite, entry: Entry, outputs: Sequence[Outputs]) -> tuple[str, ...]:
    """The interpretations of which another reading gives these outputs."""
    arrays = tuple(tuple(tensor.array for tensor in feed) for feed in outputs)
    returned = Returned(outputs=arrays, element_types=None, seconds=None)
    verdict = first_verdict(suite, entry, suite.case(entry), returned)
    if isinstance(verdict, Fail) and verdict.reason == "nan-payload":
        return ("data.nan-payload",)
    return verdict.mismatch.readings if isinstance(verdict, Fail) and verdict.mismatch else ()
