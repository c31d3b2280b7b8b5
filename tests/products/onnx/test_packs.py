"""ONNX Runtime executes models that are joined from several cases."""

from pathlib import Path

import pytest

from opconform_products.onnx.onnxruntime import OnnxRuntime
from tests.products.joined_models import check_joined_models


@pytest.mark.parametrize("feeds", [1, 2])
def test_every_case_of_a_pack_has_its_outputs(tmp_path: Path, feeds: int) -> None:
    """Although its CPU takes no packs: it builds a small model as quickly as opconform joins it."""
    backend = OnnxRuntime()
    check_joined_models(tmp_path, backend, feeds)

    assert backend.describe().packs == 1
