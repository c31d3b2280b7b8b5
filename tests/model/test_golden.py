"""Goldens: the outputs that implementations other than the generator's give."""

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import Accept
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Tensor
from opconform_products.onnx.reference import OnnxReference
from opconform_runners.backends.backend import Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.numpy.backend import Numpy
from tests.declared import declared
from tests.model.oracles import differs, feeds_of, reading

#: What ONNX's reference evaluator computes otherwise: groups of cases with the element types of data, and why.
FAULTS = {
    **{
        f"{op}/{group}": ({"f16", "f32"}, "NaNs are left out, and windows beyond data start elsewhere or are missing")
        for op in ("AvgPool-1", "AvgPool-14")
        for group in ("*special-values", "beyond*", "rounding*")
    },
    "Cos-1/large": ({"f64"}, "numpy's cosine near a quarter turn (findings of onnx-reference-1.23)"),
    "Erf-1/*": ({"f64"}, "erf returns f32"),
    "HSwish-4/*": ({"f32", "f64"}, "1/6 is an f32, and x/6 + 0.5 cancels (findings of onnx-reference-1.23)"),
    "LogSoftmax-5/*": ({"bf16", "f16", "f32", "f64"}, "it is the logarithm of the rounded quotient, or of 0"),
    **dict.fromkeys(
        ("MaxPool-8/*", "MaxPool-14/*"),
        ({"f16", "f32", "f64", "i8", "u8"}, "indices with pads, odd pads and NaN (findings of onnx-reference-1.23)"),
    ),
    "Pad-12/*": ({"string"}, "the text '0' is added (findings of onnx-reference-1.23)"),
    "ReduceMean-1/*": ({"i32", "i64", "u64"}, "numpy's mean of integers wraps their sum, and divides it in f64"),
    "Tan-1/large": ({"f64"}, "the C library's tangent near a quarter turn"),
    "Unique-10/unsorted-slices": ({"i32"}, "slices of the first dimension alone (findings of onnx-reference-1.23)"),
}
#: The rows for functions that numpy leaves to the C library on processors without AVX-512: elsewhere there is no fault.
OF_PROCESSORS = {"Cos-1/large", "Tan-1/large"}
#: Cases in which it gives the outputs of another reading: it adds blocks to an image of zeros, broadcasts by a product
#: with ones, which quiets NaNs, adds 0 in a sum over no axes, divides a sum of integers that wraps, and rounds f64 to f32
#: before bf16.
READINGS = {
    "Convert-1": ("floats.nearest",),
    "ConvertLike-1": ("floats.clamped", "floats.nan"),
    "Col2Im-15": ("data.negative-zero",),
    "ReLU-1": ("values.zero",),
    **dict.fromkeys(("MaxPool-8", "MaxPool-14"), ("values.nan",)),
    "Maximum-1": ("values.zeros",),
    "Minimum-1": ("values.zeros",),
    "PReLU-1": ("values.special",),
    "ReduceL1-4": ("axes.empty-signs",),
    "ReduceL2-4": ("axes.empty-signs", "values.wide-sums"),
    "ReduceMax-1": ("values.zeros",),
    "ReduceMean-1": ("axes.empty-zeros", "values.wide-sums"),
    "ReduceMin-1": ("values.zeros",),
    "ReduceSum-1": ("axes.empty-zeros",),
    "Broadcast-1": ("data.nan-payload",),
    "Broadcast-3": ("data.nan-payload",),
    "Graph-1": ("Maximum-1:values.zeros@greater", "Minimum-1:values.zeros@lesser"),
}

#: The types whose parts kernels compute in f32.
NARROW = ("f16", "bf16")

Execute = Callable[[Suite, Entry, Sequence[Inputs]], Sequence[Outputs] | None]


def numpys(suite: Suite, entry: Entry, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
    """The outputs of the numpy backend, which shares no code with the generator."""
    return Numpy().run(declared(suite.case(entry)), None, feeds)


def onnxs(suite: Suite, entry: Entry, feeds: Sequence[Inputs]) -> Sequence[Outputs] | None:
    """The outputs of ONNX's reference evaluator, or None where a case cannot be expressed or executed.

    The evaluator rounds every intermediate result to the element type. Bounds suppose an accumulator of f32 for narrow
    types, so the evaluator gets their elements in f32, which it does not check, and its outputs are rounded once.
    """
    model = Path(suite.store.root) / entry.id / "onnx" / "model.onnx"
    if not model.exists():
        return None
    case = suite.case(entry)
    assert isinstance(case.expect, Accept)
    kinds = [ELEMENT_TYPES[output.element_type] for output in case.expect.accept]
    is_bounded = any(output.comparison == "bounds" for output in case.expect.accept)
    if is_bounded:
        feeds = [{name: in_f32(tensor) for name, tensor in feed.items()} for feed in feeds]
    try:
        with np.errstate(all="ignore"):  # signalling NaNs, and numbers beyond the type
            outputs = OnnxReference().run(declared(case), model, feeds)
    except (Rejected, Unsupported):
        return None
    return [[*map(rounded_once, feed, kinds)] for feed in outputs] if is_bounded else outputs


def in_f32(tensor: Tensor) -> Tensor:
    """A tensor of a narrow type in f32, which has its elements exactly."""
    if tensor.element_type not in NARROW:
        return tensor
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return Tensor(element_type="f32", array=numbers(tensor).astype(np.float32))


def rounded_once(tensor: Tensor, kind: ElementType) -> Tensor:
    """An output of f32 in the narrow type of a case."""
    is_wider = kind.name in NARROW and tensor.element_type == "f32"
    return Tensor(element_type=kind.name, array=rounded(kind, numbers(tensor))) if is_wider else tensor


def faults_of(suite: Suite, entry: Entry) -> list[str]:
    """The rows of `FAULTS` for a case."""
    element_type = suite.case(entry).inputs[0].element_type
    return [name for name, (types, _) in FAULTS.items() if element_type in types and fnmatch(entry.id, f"{name}/*")]


@pytest.mark.parametrize(
    ("execute", "least", "faults", "readings"),
    [(numpys, 1.0, {}, {}), (onnxs, 0.3, FAULTS, READINGS)],
    ids=["numpy", "onnx"],
)
def test_every_golden_agrees_with_an_implementation_that_is_not_ours(
    any_core: Path,
    execute: Execute,
    least: float,
    faults: Collection[str],
    readings: dict[str, tuple[str, ...]],
) -> None:
    """All valid cases and all their feeds, bit for bit or within bounds, unless the implementation follows another reading.

    Every case that differs has a known fault of the implementation, and no fault is listed in vain.
    """
    suite = open_suite(any_core)
    valid = [entry for entry in suite.entries if isinstance(suite.case(entry).expect, Accept)]
    compared = [(entry, outputs) for entry in valid if (outputs := execute(suite, entry, feeds_of(suite, entry)))]
    others = [(entry, reading(suite, entry, outputs)) for entry, outputs in compared if differs(suite, entry, outputs)]
    ops = {entry.op for entry in suite.entries}
    found = {op: {name for x, names in others if x.op == op for name in names} for op in ops}
    assert {op: tuple(sorted(names)) for op, names in found.items() if names} == {
        op: names for op, names in readings.items() if op in ops
    }
    explained = {entry.id: faults_of(suite, entry) if faults else [] for entry, names in others if not names}
    assert [name for name, rows in explained.items() if not rows] == []
    found_rows = {row for rows in explained.values() for row in rows}
    assert found_rows | OF_PROCESSORS == {row for row in faults if row.partition("/")[0] in ops} | OF_PROCESSORS
    assert len(compared) >= least * len(valid)
