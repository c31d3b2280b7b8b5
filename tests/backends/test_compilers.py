"""The backends that compile a rendered model break exactly the known requirements, without harness errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, interpreter_with

pytestmark = pytest.mark.ci_only

#: What TVM breaks in the core; docs/findings has the reason of each.
BROKEN_BY_TVM = {
    "Split-1 axis.range",
    "Split-1 num_splits.at-most-dimension",
    "Split-1 num_splits.divides",
    "Split-1 num_splits.positive",
    "Split-1 num_splits.required",
    "Split-1 num_splits.type",
    "Split-1 outputs.shape",
    "VariadicSplit-1 axis.range",
    "VariadicSplit-1 lengths.element-type",
    "VariadicSplit-1 lengths.negative",
    "VariadicSplit-1 lengths.rank",
    "VariadicSplit-1 lengths.required",
    "VariadicSplit-1 lengths.sum",
}


def certified(opconform: Run, backend: str, python: str, out: Path) -> Any:
    """The report on a backend's core, without harness errors."""
    options = ("--profile", "core", "--jobs", "2", "--timeout", "60", "--out", out)
    opconform("certify", "--backend", backend, "--python", python, *options, code=None)
    report = json.loads((out / "report.json").read_text())

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    assert [each["id"] for each in report["cases"] if "undeclared-unsupported" in each.get("findings", [])] == []
    return report


def broken(report: Any) -> Iterator[str]:
    """The normative requirements that are broken, as `operation requirement`."""
    for op, requirements in report["requirements"].items():
        for name, each in requirements.items():
            if each["broken"] and each["level"] == "normative":
                yield f"{op} {name}"


def test_iree_moves_every_bit_of_the_core(opconform: Run, tmp_path: Path) -> None:
    """IREE breaks nothing there: its faults are in types narrower than a byte, on shapes that the core has not."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    report = certified(opconform, "iree", python, tmp_path)

    assert [*broken(report)] == []
    assert report["conformant"] is True
    assert report["summary"]["pass"] > 200


def test_tvm_breaks_what_it_does_not_check(opconform: Run, tmp_path: Path) -> None:
    """TVM's frontend reads neither the count nor the last length, and takes unnamed dimensions for one."""
    report = certified(opconform, "tvm", interpreter_with("tvm", "OPCONFORM_PYTHON_TVM"), tmp_path)

    assert {*broken(report)} == BROKEN_BY_TVM
    assert report["summary"]["pass"] > 180
