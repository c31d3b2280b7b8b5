"""IREE: it breaks exactly the known requirements, without harness errors."""

from pathlib import Path

import pytest

from tests.conftest import Run, interpreter_with
from tests.products.compilers import check_findings

pytestmark = pytest.mark.ci_only

#: The valid cases that IREE does not compile for a reason that the backend cannot declare.
NOT_COMPILED_BY_IREE = {
    "Convert-1/wide/488b61b4e3",
    *(f"Reverse-1/element-types/{name}" for name in ("1a136326ce", "64da93a812", "781b28d004", "f217df6110")),
    *(f"Reverse-1/nothing-reversed/{name}" for name in ("4543a51748", "6ac6c76dd9")),
}


def test_it_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """It does not compile some reversals, and flushes numbers."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    of_f64 = ("failed to link executable and generate target dylib",)  # the hyperbolic tangent
    check_findings(opconform, core_suite, "iree", python, tmp_path, NOT_COMPILED_BY_IREE, of_f64)
