"""The backends that compile a rendered model break exactly the known requirements, without harness errors."""

from collections.abc import Collection
from pathlib import Path

import pytest

from tests.backends.known_findings import differences, sampled_report
from tests.conftest import Run, interpreter_with

pytestmark = pytest.mark.ci_only

#: The valid cases that IREE does not compile for a reason that the backend cannot declare.
NOT_COMPILED_BY_IREE = {
    "Convert-1/wide/488b61b4e3",
    *(f"Reverse-1/element-types/{name}" for name in ("1a136326ce", "64da93a812", "781b28d004", "f217df6110")),
    *(f"Reverse-1/nothing-reversed/{name}" for name in ("4543a51748", "6ac6c76dd9")),
}


def sampled(opconform: Run, core: Path, backend: str, python: str, out: Path, undeclared: Collection[str] = ()) -> None:
    """Check the report on a sample of the core, without harness errors, and with nothing unsupported but declared cases and these."""
    report = sampled_report(opconform, core, backend, out, "--jobs", "2", "--python", python)

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    assert differences(report, backend) == {}
    assert report["summary"]["pass"] > len(report["cases"]) / 5
    found = {case["id"] for case in report["cases"] if "undeclared-unsupported" in case.get("remarks", [])}
    assert found <= {*undeclared}


def test_iree_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """It does not compile some reversals, and flushes numbers."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    sampled(opconform, core_suite, "iree", python, tmp_path, NOT_COMPILED_BY_IREE)


def test_tvm_breaks_what_it_does_not_check(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """TVM's frontend takes unnamed dimensions for one, and reads neither the count nor the last length of a split."""
    sampled(opconform, core_suite, "tvm", interpreter_with("tvm", "OPCONFORM_PYTHON_TVM"), tmp_path)
