"""The backends that compile a rendered model break exactly the known requirements, without harness errors."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, interpreter_with
from tests.result_files import report_in
from tests.sampling import SAMPLE, WHOLE

pytestmark = pytest.mark.ci_only

#: What TVM breaks in the core; docs/findings has the reason of each.
BROKEN_BY_TVM = {
    "Concat-1 axis.range",
    "Concat-1 axis.required",
    "Concat-1 inputs.required",
    "Concat-1 inputs.shape",
    "Concat-1 outputs.shape",
    "Gather-8 indices.negative",
    "GatherND-8 batch_dims.broadcastable",
    "GatherND-8 batch_dims.range",
    "GatherND-8 indices.range",
    "GatherND-8 outputs.shape",
    "Pad-12 outputs.shape",
    "Pad-12 pad_value.bits",
    "Pad-12 pad_value.element-type",
    "Pad-12 pad_value.scalar",
    "Reshape-1 outputs.shape",
    "Slice-8 axes.range",
    "Slice-8 data.rank",
    "Slice-8 outputs.empty",
    "Slice-8 outputs.shape",
    "Slice-8 step.increment",
    "Slice-8 step.zero",
    "Split-1 axis.range",
    "Split-1 num_splits.divides",
    "Split-1 num_splits.positive",
    "Split-1 num_splits.required",
    "Split-1 num_splits.type",
    "Split-1 outputs.shape",
    "Tile-1 data.required",
    "Tile-1 outputs.shape",
    "Tile-1 repeats.element-type",
    "Transpose-1 order.negative",
    "Transpose-1 outputs.shape",
    "VariadicSplit-1 axis.range",
    "VariadicSplit-1 lengths.element-type",
    "VariadicSplit-1 lengths.negative",
    "VariadicSplit-1 lengths.rank",
    "VariadicSplit-1 lengths.required",
    "VariadicSplit-1 lengths.sum",
}


#: What IREE breaks in the core, and the valid cases that it does not compile for a reason that the backend cannot declare.
BROKEN_BY_IREE = {
    "Slice-8 axes.others",
    "Slice-8 outputs.shape",
    "Slice-8 step.negative",
    "StridedSlice-1 outputs.shape",
    "StridedSlice-1 stride.negative",
}
NOT_COMPILED_BY_IREE = {
    *(f"Reverse-1/element-types/{name}" for name in ("1a136326ce", "64da93a812", "781b28d004", "f217df6110")),
    *(f"Reverse-1/nothing-reversed/{name}" for name in ("4543a51748", "6ac6c76dd9")),
}


def sampled(opconform: Run, core: Path, backend: str, python: str, out: Path, undeclared: Collection[str] = ()) -> Any:
    """The report on a sample of the core, without harness errors, and with nothing unsupported but declared cases and these."""
    options = ("--select", SAMPLE, "--jobs", "2", "--timeout", "60", "--out", out)
    opconform("run", core, "--backend", backend, "--python", python, *options, code=None)
    report = report_in(out)

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    found = {case["id"] for case in report["cases"] if "undeclared-unsupported" in case.get("remarks", [])}
    assert found == {*undeclared} if WHOLE else found <= {*undeclared}
    return report


def broken(report: Any) -> Iterator[str]:
    """The normative requirements that are broken, as `operation requirement`."""
    for op, requirements in report["requirements"].items():
        for name, requirement in requirements.items():
            if requirement["broken"] and requirement["level"] == "normative":
                yield f"{op} {name}"


def test_iree_breaks_reversed_slices_alone(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """It does not compile some reversals; its faults in types narrower than a byte need shapes that the core has not."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    report = sampled(opconform, core_suite, "iree", python, tmp_path, NOT_COMPILED_BY_IREE)

    assert {*broken(report)} == BROKEN_BY_IREE if WHOLE else set() < {*broken(report)} <= BROKEN_BY_IREE
    assert {case["reason"] for case in report["cases"] if case["verdict"] == "fail"} == {"rejected-valid"}
    assert report["summary"]["pass"] > len(report["cases"]) / 4


def test_tvm_breaks_what_it_does_not_check(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """TVM's frontend takes unnamed dimensions for one, and reads neither the count nor the last length of a split."""
    report = sampled(opconform, core_suite, "tvm", interpreter_with("tvm", "OPCONFORM_PYTHON_TVM"), tmp_path)

    assert {*broken(report)} == BROKEN_BY_TVM if WHOLE else set() < {*broken(report)} <= BROKEN_BY_TVM
    assert report["summary"]["pass"] > len(report["cases"]) / 5
