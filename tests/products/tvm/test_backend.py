"""TVM: it breaks exactly the known requirements, without harness errors."""

from pathlib import Path

import pytest

from tests.conftest import Run, interpreter_with
from tests.products.compilers import check_findings

pytestmark = pytest.mark.ci_only

#: What TVM says of what it does not implement, which the backend cannot declare.
NOT_IMPLEMENTED_BY_TVM = (
    "not supported for absolute op",
    "not supported for finiteness ops",
    "not supported for isnan op",
    "layer_norm: only support float32 and float16",
    "power only applies to float",
    "TopK sorted must be 1",
)


def test_it_breaks_what_it_does_not_check(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """TVM's frontend takes unnamed dimensions for one, and reads neither the count nor the last length of a split."""
    python = interpreter_with("tvm", "OPCONFORM_PYTHON_TVM")
    check_findings(opconform, core_suite, "tvm", python, tmp_path, messages=NOT_IMPLEMENTED_BY_TVM)
