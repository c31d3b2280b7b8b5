"""The dialect openvino on OpenVINO: it loads every model, and returns the goldens."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import openvino

from opconform.dialects import DIALECTS
from opconform.model.golden import Golden
from opconform.suite.case import Case, Reject
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Array
from tests.dialects.models import native
from tests.dialects.neighbours import SOME, check_convolved, check_neighbours
from tests.sampling import WHOLE

#: What the reader says of valid models that it refuses: findings 93, 99 and 115 of OpenVINO 2026.4, and
#: what it says of Transpose-1. Of those with constants that finding 129 is about, it says what memory has after them. It
#: reads no pads of u2, u3 and u6. Under the rule pdpd, it puts a second input of lower rank at the first dimension. It requires
#: the axis of CumSum-3: finding 394.
REFUSED = (
    "All masks of StridedSlice must have the same size",
    "Batch dimensions of data and indices must be the same",
    "src/core/src/op/util/slice_plan.cpp",
    "REFLECT padding mode requires",
    "Axis 1 out of the tensor rank range [-1, 0]",
    "Element not supported",
    "Output type must be i32 or i64",
    "The divisor must not be 0",
    "The block size must be greater than 0",
    "Argument shapes are inconsistent",
    "'Else' tensor shape is not broadcastable",
    "index '1' out of range",
)


#: What ends the process of the reader: finding 296 of OpenVINO 2026.4.
CRASHING = "Col2Im-15/default-"


def has_half_bytes(case: Case) -> bool:
    """Whether a constant decides what the operation does and has 4-bit elements, which OpenVINO reads as bytes."""
    return any(
        input_.role == "setting" and input_.binding == "constant" and input_.element_type in ("i4", "u4")
        for input_ in case.inputs
    )


def test_every_accepted_model_loads(any_suite: Path) -> None:
    """OpenVINO reads the model of a valid case, and finds its inputs and outputs; the XML is well-formed.

    Before a release in all cases, else in one of eight.
    """
    core, suite = openvino.Core(), open_suite(any_suite)
    for entry in suite.entries[:: 1 if WHOLE else 8]:
        case = suite.case(entry)
        path = any_suite / entry.id / "openvino" / "model.xml"
        ET.parse(path)
        ET.parse(path.with_name("layer.xml"))
        if isinstance(case.expect, Reject) or entry.id.startswith(CRASHING):
            continue
        try:
            model = core.read_model(path)
        except RuntimeError as error:
            is_excused = bool(entry.readings.reject)  # by another reading of an interpretation
            assert is_excused or has_half_bytes(case) or any(x in str(error) for x in REFUSED), entry.id
            continue
        fed = [input_.name for input_ in case.inputs if input_.binding == "parameter"]
        assert [input_.any_name for input_ in model.inputs] == fed, entry.id
        assert len(model.outputs) == len(case.expect.accept if case.expect else ()), entry.id


def executed(golden: Golden) -> Iterator[Sequence[Array]]:
    """Its model on the CPU."""
    files = DIALECTS["openvino"].files_of(golden, "it")
    core, weights = openvino.Core(), np.frombuffer(files["openvino/model.bin"] or b"\0", np.uint8)
    compiled = core.compile_model(core.read_model(files["openvino/model.xml"], openvino.Tensor(weights)), "CPU")
    for inputs in golden.inputs:
        results = compiled({source.any_name: native(inputs[source.any_name]) for source in compiled.inputs})
        yield [results[output] for output in compiled.outputs]


@SOME
def test_a_neighbour_is_rendered_with_its_own_settings(tmp_path: Path, step: int) -> None:
    """Behind each of the operations."""
    check_neighbours(tmp_path, "openvino", executed, step)


@SOME
def test_a_convolution_is_rendered_in_front(tmp_path: Path, step: int) -> None:
    """Of each operation that takes its output."""
    check_convolved(tmp_path, "openvino", executed, step)
