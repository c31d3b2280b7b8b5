"""The backends that compile a rendered model break exactly the known requirements, without harness errors."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tests.backends.known_findings import differences
from tests.conftest import Run, interpreter_with
from tests.result_files import report_in

pytestmark = pytest.mark.ci_only

#: The valid cases that IREE does not compile for a reason that the backend cannot declare.
NOT_COMPILED_BY_IREE = {
    "Convert-1/wide/488b61b4e3",
    *(f"Reverse-1/element-types/{name}" for name in ("1a136326ce", "64da93a812", "781b28d004", "f217df6110")),
    *(f"Reverse-1/nothing-reversed/{name}" for name in ("4543a51748", "6ac6c76dd9")),
}


def certified(opconform: Run, backend: str, python: str, out: Path, undeclared: Collection[str] = ()) -> Any:
    """The report on a backend's core, without harness errors, and with nothing unsupported but declared cases and these."""
    options = ("--profile", "core", "--jobs", "2", "--timeout", "60", "--out", out)
    opconform("certify", "--backend", backend, "--python", python, *options, code=None)
    report = report_in(out)

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    found = {case["id"] for case in report["cases"] if "undeclared-unsupported" in case.get("remarks", [])}
    assert found == {*undeclared}
    return report


def test_iree_breaks_reversed_slices_alone(opconform: Run, tmp_path: Path) -> None:
    """It does not compile some reversals; its faults in types narrower than a byte need shapes that the core has not."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    report = certified(opconform, "iree", python, tmp_path, NOT_COMPILED_BY_IREE)

    assert differences(report, "iree") == {}
    assert {case["reason"] for case in report["cases"] if case["verdict"] == "fail"} == {"rejected-valid"}
    assert report["summary"]["pass"] > 600


def test_tvm_breaks_what_it_does_not_check(opconform: Run, tmp_path: Path) -> None:
    """TVM's frontend takes unnamed dimensions for one, and reads neither the count nor the last length of a split."""
    report = certified(opconform, "tvm", interpreter_with("tvm", "OPCONFORM_PYTHON_TVM"), tmp_path)

    assert differences(report, "tvm") == {}
    assert report["summary"]["pass"] > 400
