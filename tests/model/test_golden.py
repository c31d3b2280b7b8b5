"""Goldens: the outputs that implementations other than the generator's give."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import Accept
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Array, Tensor, outputs_digest
from opconform_runners.backends.backend import Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.frameworks.numpy import Numpy
from opconform_runners.backends.onnx.reference import OnnxReference
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.rounding_error import errors_of
from opconform_runners.verdicts.verdict import Fail
from tests.declared import declared

#: Cases that ONNX's reference evaluator fails: it adds the text "0" to strings, and takes unsorted slices
#: of the first dimension alone (docs/findings/onnx-1.23.yaml); it computes erf of f64 in f32, and the parts of a sigmoid of
#: f16 in f16.
FAULTS = {
    "Erf-1/binades/46143b9aa4",
    "Erf-1/element-types/8a2821ad53",
    "Erf-1/near-zero/aaa75f6fe1",
    "Erf-1/pieces/80a904ce46",
    "Erf-1/special-values/a5070d9575",
    "Erf-1/tenths/5f1bcea151",
    "Erf-1/tenths/e40e1729ee",
    "Pad-12/default/92b94d7b7f",
    "Pad-12/strings-in-other-modes/9044a00546",
    "Sigmoid-1/tenths/5c835123c5",
    "Unique-10/unsorted-slices/428ece0d90",
}
#: Cases in which it gives the outputs of another reading: it adds blocks to an image of zeros, and broadcasts by a product
#: with ones, which quiets NaNs.
READINGS = {
    "Col2Im-15": ("data.negative-zero",),
    "ReLU-1": ("values.zero",),
    "Maximum-1": ("values.zeros",),
    "Minimum-1": ("values.zeros",),
    "ReduceMax-1": ("values.zeros",),
    "Broadcast-1": ("data.nan-payload",),
    "Broadcast-3": ("data.nan-payload",),
}

Execute = Callable[[Suite, Entry, Sequence[Inputs]], Sequence[Outputs] | None]


def numpys(suite: Suite, entry: Entry, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
    """The outputs of the numpy backend, which shares no code with the generator."""
    return Numpy().run(declared(suite.case(entry)), None, feeds)


def onnxs(suite: Suite, entry: Entry, feeds: Sequence[Inputs]) -> Sequence[Outputs] | None:
    """The outputs of ONNX's reference evaluator, or None where a case cannot be expressed or executed."""
    model = Path(suite.store.root) / entry.id / "onnx" / "model.onnx"
    if not model.exists():
        return None
    try:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return OnnxReference().run(declared(suite.case(entry)), model, feeds)
    except (Rejected, Unsupported):
        return None


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
    return entry.readings.outputs.get(outputs_digest(arrays), ())


@pytest.mark.parametrize(
    ("execute", "least", "faults", "readings"),
    [(numpys, 1.0, set(), {}), (onnxs, 0.3, FAULTS, READINGS)],
    ids=["numpy", "onnx"],
)
def test_every_golden_agrees_with_an_implementation_that_is_not_ours(
    core_suite: Path, execute: Execute, least: float, faults: set[str], readings: dict[str, tuple[str, ...]]
) -> None:
    """All valid cases and all their feeds, bit for bit, unless the implementation follows another reading."""
    suite = open_suite(core_suite)
    valid = [entry for entry in suite.entries if isinstance(suite.case(entry).expect, Accept)]
    compared = [(entry, outputs) for entry in valid if (outputs := execute(suite, entry, feeds_of(suite, entry)))]
    others = {entry.id: reading(suite, entry, outputs) for entry, outputs in compared if differs(suite, entry, outputs)}
    assert {name.partition("/")[0]: names for name, names in others.items() if names} == readings
    assert {name for name, names in others.items() if not names} == faults
    assert len(compared) >= least * len(valid)
