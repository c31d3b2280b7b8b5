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
#: What TVM says of what it does not implement, which the backend cannot declare.
NOT_IMPLEMENTED_BY_TVM = (
    "not supported for absolute op",
    "not supported for finiteness ops",
    "not supported for isnan op",
    "layer_norm: only support float32 and float16",
    "power only applies to float",
    "TopK sorted must be 1",
)


def sampled(
    opconform: Run,
    core: Path,
    backend: str,
    python: str,
    out: Path,
    undeclared: Collection[str] = (),
    messages: Collection[str] = (),
) -> None:
    """Check the report on a sample of the core: no harness errors, and nothing unsupported but what is declared, these, and what a message says."""
    report = sampled_report(opconform, core, backend, out, "--jobs", "2", "--python", python)

    assert report["summary"]["error"] == 0
    assert report["missing"] == []
    assert differences(report, backend) == {}
    assert report["summary"]["pass"] > len(report["cases"]) / 5
    found = [case for case in report["cases"] if "undeclared-unsupported" in case.get("remarks", [])]
    unknown = [case for case in found if not any(message in case["sentence"] for message in messages)]
    assert {case["id"] for case in unknown} <= {*undeclared}


def test_iree_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """It does not compile some reversals, and flushes numbers."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    of_f64 = ("failed to link executable and generate target dylib",)  # the hyperbolic tangent
    sampled(opconform, core_suite, "iree", python, tmp_path, NOT_COMPILED_BY_IREE, of_f64)


def test_tvm_breaks_what_it_does_not_check(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """TVM's frontend takes unnamed dimensions for one, and reads neither the count nor the last length of a split."""
    python = interpreter_with("tvm", "OPCONFORM_PYTHON_TVM")
    sampled(opconform, core_suite, "tvm", python, tmp_path, messages=NOT_IMPLEMENTED_BY_TVM)
